"""A meter of model usage, and a stand-in for recall: as many pieces, by vectors or common words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from pkg_pipeline.memory.message.blocks import text_of
from pkg_pipeline.memory.message.turns import live_turn
from pkg_pipeline.memory.records import Usage
from pkg_pipeline.memory.session.records import SessionMessage
from pkg_pipeline.memory.text.marks import named
from pkg_pipeline.memory.text.normalise import stems
from pkg_pipeline.stages.llm.stores import LedgerRow, LedgerStore
from pkg_pipeline.stages.ports import Embedder, Llm, LlmError, LlmReply, LlmRequest, Vectors

PIECES: Final = 5

PIECE_CHARACTERS: Final = 600
"""About the length of a chunk of one message."""

EMBEDDED_AT_ONCE: Final = 128


@dataclass(slots=True)
class Meter:
    """Usage since ``reset``, replayed answers included."""

    used: list[Usage] = field(default_factory=list[Usage])

    def reset(self) -> None:
        self.used = []


class MeteredLlm:
    """``ports.Llm`` that reports every usage to ``meter``."""

    def __init__(self, llm: Llm, meter: Meter) -> None:
        self._llm, self._meter = llm, meter

    @property
    def model(self) -> str:
        return self._llm.model

    @property
    def is_paid(self) -> bool:
        return self._llm.is_paid

    @property
    def window_tokens(self) -> int:
        return self._llm.window_tokens

    def complete(self, request: LlmRequest) -> LlmReply:
        try:
            reply = self._llm.complete(request)
        except LlmError as error:
            if error.usage is not None:
                self._meter.used.append(error.usage)
            raise
        self._meter.used.append(reply.usage)
        return reply

    def price(self, usage: Usage) -> float:
        return self._llm.price(usage)


class MeteredLedger:
    """``LedgerStore`` that reports the usage of replayed answers to ``meter``."""

    def __init__(self, ledger: LedgerStore, meter: Meter) -> None:
        self._ledger, self._meter = ledger, meter

    def replay(self, request_hash: str) -> tuple[str, Usage, str] | None:
        kept = self._ledger.replay(request_hash)
        if kept is not None:
            self._meter.used.append(kept[1])
        return kept

    def record(self, row: LedgerRow) -> None:
        self._ledger.record(row)

    def calibration(self, model: str) -> float | None:
        return self._ledger.calibration(model)

    def refuse(self, request_hash: str, *, reason: str) -> None:
        self._ledger.refuse(request_hash, reason=reason)


class NoLedger:
    """For a free model: records nothing."""

    def replay(self, request_hash: str) -> tuple[str, Usage, str] | None:
        del request_hash

    def record(self, row: LedgerRow) -> None:
        del row

    def calibration(self, model: str) -> float | None:
        del model

    def refuse(self, request_hash: str, *, reason: str) -> None:
        del request_hash, reason


class Finder:
    """Cached vectors of messages, and recall of ``name: text`` pieces, best first. Raises an ``EmbedderError``."""

    def __init__(self, embedder: Embedder | None = None, *, pieces: int = PIECES) -> None:
        self._embedder = embedder
        self._pieces = pieces
        self._vectors: dict[int, Vectors] = {}
        self._stems: dict[int, frozenset[str]] = {}

    @property
    def has_embedder(self) -> bool:
        return self._embedder is not None

    def vectors(self, messages: Sequence[SessionMessage]) -> Vectors:
        """float32 (messages, dimensions). Needs an embedder."""
        assert self._embedder is not None, "asked only where has_embedder"
        missing = [message for message in messages if message.id not in self._vectors]
        for at in range(0, len(missing), EMBEDDED_AT_ONCE):
            some = missing[at : at + EMBEDDED_AT_ONCE]
            for message, vector in zip(some, self._embedder.embed([said(one) for one in some]), strict=True):
                self._vectors[message.id] = vector
        return np.stack([self._vectors[message.id] for message in messages])

    def find(self, shown: Sequence[SessionMessage], folded: Sequence[SessionMessage]) -> tuple[str, ...]:
        """Pieces of ``folded`` for the live turn in ``shown``, or its last message."""
        asked = shown[min(live_turn(shown), len(shown) - 1)]
        told = [message for message in folded if said(message).strip()]
        if not told or not said(asked).strip():
            return ()
        scores = self._by_vectors(asked, told) if self.has_embedder else self._by_words(asked, told)
        best = sorted(range(len(told)), key=lambda at: (-scores[at], -at))[: self._pieces]
        return tuple(_piece(told[at]) for at in best if scores[at] > 0)

    def _by_vectors(self, asked: SessionMessage, told: Sequence[SessionMessage]) -> Sequence[float]:
        return (self.vectors(told) @ self.vectors([asked])[0]).tolist()

    def _by_words(self, asked: SessionMessage, told: Sequence[SessionMessage]) -> Sequence[float]:
        wanted = self._words(asked)
        return [len(wanted & self._words(message)) for message in told]

    def _words(self, message: SessionMessage) -> frozenset[str]:
        if message.id not in self._stems:
            self._stems[message.id] = stems(said(message))
        return self._stems[message.id]


def said(message: SessionMessage) -> str:
    return message.text or text_of(message.parts or ())


def _piece(message: SessionMessage) -> str:
    words = said(message)[:PIECE_CHARACTERS]
    return f"{named(message.sender_name)}: {words}" if message.sender_name else words
