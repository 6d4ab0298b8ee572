"""Wiring of windows: read, recall, receipts."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Unpack
from uuid import UUID
from zoneinfo import ZoneInfo

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.llm import prices
from pkg_pipeline.adapters.postgres.background_sink import BackgroundSink
from pkg_pipeline.adapters.postgres.sessions.window import PostgresServedWindows, PostgresWindowStore
from pkg_pipeline.adapters.text.remembered_counts import RememberedCounts
from pkg_pipeline.memory.recall.records import Candidate
from pkg_pipeline.memory.records import Usage
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import LlmMisconfigured, TokenCounter
from pkg_pipeline.stages.recall.stage import RecallParts, RecallRequest, find
from pkg_pipeline.stages.sessions.records import SessionUnknown
from pkg_pipeline.stages.window.records import (
    Recalled,
    RecalledPiece,
    Recaller,
    RecallQuestion,
    ServedWindow,
    WindowSink,
)
from pkg_pipeline.stages.window.stage import (
    WindowOptions,
    WindowParts,
    WindowRequest,
    WindowResult,
    WindowSettings,
    window,
)
from pkg_pipeline.wiring.models import price_table

if TYPE_CHECKING:
    from pkg_pipeline.wiring.process import Process

LOOKED_AT = 15
"""Pieces fetched, to drop those already in the window."""

FLUSH_SECONDS = 1.0


def window_parts(
    settings: Settings,
    connections: ConnectionPool,
    counter: TokenCounter,
    *,
    recall: RecallParts | None = None,
    served: WindowSink | None = None,
) -> WindowParts:
    """Dependencies of the read; the connections may be read-only."""
    return WindowParts(
        store=PostgresWindowStore(connections),
        counter=RememberedCounts(counter),
        settings=WindowSettings(**{one.name: getattr(settings, one.name) for one in fields(WindowSettings)}),
        recall=None if recall is None else RememberedRecall(recaller(recall, zone=settings.zone)),
        served=served,
    )


def recaller(parts: RecallParts, *, zone: ZoneInfo) -> Recaller:
    def recalled(question: RecallQuestion) -> Recalled:
        asked = RecallRequest(query=question.query, now=question.now, chat_id=question.session_id, top_k=LOOKED_AT)
        found = find(parts, asked)
        return Recalled(tuple(_piece(one.candidate, zone) for one in found.ranked[:LOOKED_AT]), found.warnings)

    return recalled


def _piece(one: Candidate, zone: ZoneInfo) -> RecalledPiece:
    day = one.at.astimezone(zone).date().isoformat()
    said = f"{day}, {one.speaker}: {one.text}" if one.speaker else f"{day}: {one.text}"
    return RecalledPiece(one.id, said, one.message_ids, one.subject_id)


def price_of(settings: Settings) -> Callable[[str, int, int], float | None]:
    """(model, tokens in, tokens out) → USD; None for unknown models."""
    table = price_table(settings)

    def priced(model: str, input_tokens: int, output_tokens: int) -> float | None:
        try:
            return prices.price(model, Usage(input_tokens, output_tokens), table=table)
        except LlmMisconfigured:
            return None

    return priced


class WindowHoles:
    """Counts what windows of this process left out that no summary stands for (T2)."""

    def __init__(self) -> None:
        self.messages = 0
        self._lock = threading.Lock()

    def before(self, sink: WindowSink) -> WindowSink:
        return _Counting(self, sink)

    def add(self, messages: int) -> None:
        with self._lock:
            self.messages += messages


@dataclass(frozen=True, slots=True)
class _Counting:
    holes: WindowHoles
    sink: WindowSink

    def put(self, receipt: ServedWindow) -> None:
        self.holes.add(receipt.unsummarised)
        self.sink.put(receipt)


class WindowWork:
    """``memory.windows``: next prompts, reported usage, topics."""

    def __init__(self, process: Process, *, recall: Callable[[], RecallParts], ensure: Callable[[str], object]) -> None:
        """``recall`` builds its parts on first use; ``ensure`` makes a chat a session."""
        self._process, self._recall, self._ensure = process, recall, ensure
        self.records = PostgresServedWindows(process.connections, price=price_of(process.settings))
        self._background: BackgroundSink[ServedWindow] | None = None
        self.holes = WindowHoles()

    @cached_property
    def parts(self) -> WindowParts:
        """Over the memory's connections; receipts are written at once unless ``serving`` was called."""
        process = self._process
        served = self.holes.before(self._background or self.records)
        return window_parts(
            process.settings, process.connections, process.counter, recall=self._recall(), served=served
        )

    def serving(self, reads: ConnectionPool, recall: RecallParts) -> WindowParts:
        """For a server: read-only connections, receipts written after the answer. ``close`` ends it."""
        self._background = BackgroundSink(self.records, name="served-windows")
        process = self._process
        served = self.holes.before(self._background)
        self.parts = window_parts(process.settings, reads, process.counter, recall=recall, served=served)
        return self.parts

    def close(self) -> None:
        if self._background is not None:
            self._background.close()

    @property
    def lost(self) -> int:
        return self.records.lost if self._background is None else self._background.lost

    def window(self, session_id: UUID, **options: Unpack[WindowOptions]) -> WindowResult:
        """The next prompt; makes a session if needed. Raises SessionUnknown, BadRequest, LiveTurnTooLong,
        StoreUnavailable.
        """
        request = WindowRequest(session_id, self._process.clock.now(), **options)
        try:
            return window(self.parts, request)
        except SessionUnknown:
            self._ensure(str(session_id))
            return window(self.parts, request)

    def record_usage(
        self,
        session_id: UUID,
        *,
        input_tokens: int,
        output_tokens: int,
        cost_usd: float | None = None,
        model: str | None = None,
    ) -> bool:
        """Record usage for the session's last window (T3, B12). Never raises."""
        if self._background is not None:
            self._background.flush(FLUSH_SECONDS)  # the window may be waiting to be recorded itself
        return self.records.record_usage(
            session_id, input_tokens=input_tokens, output_tokens=output_tokens, cost_usd=cost_usd, model=model
        )

    def reported(self, session_id: UUID, usage: Usage) -> None:
        """The same for usage in an appended answer; cached prompt tokens count too."""
        prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        self.record_usage(session_id, input_tokens=prompt, output_tokens=usage.output_tokens)


KEPT_SECONDS = 30.0
"""Shorter than a sensor's tick."""

KEPT_QUESTIONS = 256


class RememberedRecall:
    """``Recaller`` with a cache for an agent's calls about one question; thread-safe.

    Not used after ``KEPT_SECONDS``, after a warning, or when the session's folds changed.
    """

    def __init__(self, recall: Recaller, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._recall, self._monotonic = recall, monotonic
        self._kept: OrderedDict[tuple[object, ...], tuple[float, Recalled]] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, question: RecallQuestion) -> Recalled:
        key = (question.session_id, question.query, question.folded)
        now = self._monotonic()
        with self._lock:
            found = self._kept.get(key)
        if found is not None and now - found[0] < KEPT_SECONDS:
            return found[1]
        answer = self._recall(question)
        if not answer.warnings:
            with self._lock:
                self._kept[key] = (now, answer)
                self._kept.move_to_end(key)
                while len(self._kept) > KEPT_QUESTIONS:
                    self._kept.popitem(last=False)
        return answer
