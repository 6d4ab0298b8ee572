"""Tokens and costs per turn (a model call: messages since its last answer, and the answer) in both modes (T3, T4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, groupby
from typing import Any, NamedTuple

from pkg_pipeline.memory.session.records import SessionMessage


@dataclass(frozen=True, slots=True)
class FoldUse:
    """One fold and its cost, with running summary and retries."""

    trigger: str
    messages: int
    calls: int
    input_tokens: int
    output_tokens: int
    usd: float


@dataclass(frozen=True, slots=True)
class TurnUse:
    """One turn in both modes. ``number`` from 1; ``message_id``: external id of the answer's first message.

    ``prompt_tokens`` with compression, ``hypothetical_tokens`` without, both with system prompt; ``completion_tokens``
    of the real answer; ``folds`` caused by its messages.
    """

    number: int
    message_id: str
    at: datetime
    prompt_tokens: int
    hypothetical_tokens: int
    completion_tokens: int
    usd: float
    hypothetical_usd: float
    folds: tuple[FoldUse, ...] = ()

    @property
    def fold_usd(self) -> float:
        return sum(fold.usd for fold in self.folds)

    @property
    def fold_tokens(self) -> int:
        return sum(fold.input_tokens + fold.output_tokens for fold in self.folds)


class Spent(NamedTuple):
    """Cumulative USD: compressed with folds, and uncompressed."""

    usd: float
    hypothetical_usd: float


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over all turns. ``*_percent`` of the uncompressed conversation, negative for a loss."""

    turns: int
    prompt_tokens: int
    hypothetical_tokens: int
    completion_tokens: int
    folds: int
    folded_messages: int
    fold_tokens: int
    fold_usd: float
    usd: float
    hypothetical_usd: float

    @property
    def mean_prompt_tokens(self) -> float:
        return self.prompt_tokens / self.turns if self.turns else 0.0

    @property
    def mean_hypothetical_tokens(self) -> float:
        return self.hypothetical_tokens / self.turns if self.turns else 0.0

    @property
    def saved_tokens_percent(self) -> float:
        """Of prompt tokens, folds deducted."""
        return _saved(self.prompt_tokens + self.fold_tokens, self.hypothetical_tokens)

    @property
    def saved_usd_percent(self) -> float:
        return _saved(self.usd, self.hypothetical_usd)

    def to_json(self) -> dict[str, Any]:
        return {
            "turns": self.turns,
            "prompt_tokens": self.prompt_tokens,
            "hypothetical_tokens": self.hypothetical_tokens,
            "completion_tokens": self.completion_tokens,
            "mean_prompt_tokens": round(self.mean_prompt_tokens, 1),
            "mean_hypothetical_tokens": round(self.mean_hypothetical_tokens, 1),
            "folds": self.folds,
            "folded_messages": self.folded_messages,
            "fold_tokens": self.fold_tokens,
            "fold_usd": self.fold_usd,
            "usd": self.usd,
            "hypothetical_usd": self.hypothetical_usd,
            "saved_tokens_percent": round(self.saved_tokens_percent, 1),
            "saved_usd_percent": round(self.saved_usd_percent, 1),
        }


def answers(messages: Sequence[SessionMessage]) -> list[tuple[int, int]]:
    """Half-open ranges of the messages that count as answers, each preceded by a question.

    With roles: consecutive assistant messages. Between people: those of others after the owner's; without owner,
    anyone's after another's.
    """
    speakers: Sequence[object]
    is_any = False
    if any(message.role == "assistant" for message in messages):
        speakers = [message.role == "assistant" for message in messages]
    elif any(message.is_self for message in messages):
        speakers = [not message.is_self for message in messages]
    else:
        speakers, is_any = [message.sender_entity_id or message.sender_name for message in messages], True
    found: list[tuple[int, int]] = []
    start = 0
    for speaker, run in groupby(speakers):
        end = start + sum(1 for _ in run)
        if start and (is_any or speaker):
            found.append((start, end))
        start = end
    return found


def spent(turns: Sequence[TurnUse]) -> list[Spent]:
    compressed = accumulate(turn.usd + turn.fold_usd for turn in turns)
    uncompressed = accumulate(turn.hypothetical_usd for turn in turns)
    return [Spent(*both) for both in zip(compressed, uncompressed, strict=True)]


def pays_from(turns: Sequence[TurnUse]) -> int | None:
    """Number of the turn from which on the cumulative cost with compression stays lower; None if never."""
    found: int | None = None
    for turn, paid in zip(reversed(turns), reversed(spent(turns)), strict=True):
        if paid.usd >= paid.hypothetical_usd:
            break
        found = turn.number
    return found


def overflows_from(turns: Sequence[TurnUse], available_tokens: int) -> int | None:
    """Number of the first turn whose uncompressed prompt exceeds the window; None if all fit."""
    return next((turn.number for turn in turns if turn.hypothetical_tokens > available_tokens), None)


def totals(turns: Sequence[TurnUse]) -> Totals:
    folds = [fold for turn in turns for fold in turn.folds]
    fold_usd = sum(fold.usd for fold in folds)
    return Totals(
        turns=len(turns),
        prompt_tokens=sum(turn.prompt_tokens for turn in turns),
        hypothetical_tokens=sum(turn.hypothetical_tokens for turn in turns),
        completion_tokens=sum(turn.completion_tokens for turn in turns),
        folds=len(folds),
        folded_messages=sum(fold.messages for fold in folds),
        fold_tokens=sum(fold.input_tokens + fold.output_tokens for fold in folds),
        fold_usd=fold_usd,
        usd=sum(turn.usd for turn in turns) + fold_usd,
        hypothetical_usd=sum(turn.hypothetical_usd for turn in turns),
    )


def sampled(turns: Sequence[TurnUse], most: int, *, keep: Sequence[int | None] = ()) -> Iterator[TurnUse]:
    """At most ``most`` evenly spread turns, with first, last and those numbered in ``keep``."""
    if len(turns) <= most:
        yield from turns
        return
    steps = max(most - 1, 1)
    chosen = {round(step * (len(turns) - 1) / steps) for step in range(steps + 1)}
    for place, turn in enumerate(turns):
        if place in chosen or turn.number in keep:
            yield turn


def _saved(used: float, without: float) -> float:
    return 100.0 * (1.0 - used / without) if without else 0.0
