"""Windows of sessions with the adapters that the settings name: the read, its recall, the record of what was served."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import fields
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

if TYPE_CHECKING:
    from pkg_pipeline.wiring.process import Process

LOOKED_AT = 15
"""Recalled pieces that are looked at for some that the window does not hold anyway."""

FLUSH_SECONDS = 1.0


def window_parts(
    settings: Settings,
    connections: ConnectionPool,
    counter: TokenCounter,
    *,
    recall: RecallParts | None = None,
    served: WindowSink | None = None,
) -> WindowParts:
    """What the read works with, over connections that need not be able to write."""
    return WindowParts(
        store=PostgresWindowStore(connections),
        counter=RememberedCounts(counter),
        settings=WindowSettings(**{one.name: getattr(settings, one.name) for one in fields(WindowSettings)}),
        recall=None if recall is None else RememberedRecall(recaller(recall, zone=settings.zone)),
        served=served,
    )


def recaller(parts: RecallParts, *, zone: ZoneInfo) -> Recaller:
    """Recall within a session: the stages do not know one another, this is where they meet."""

    def recalled(question: RecallQuestion) -> Recalled:
        asked = RecallRequest(query=question.query, now=question.now, chat_id=question.session_id, top_k=LOOKED_AT)
        found = find(parts, asked)
        return Recalled(tuple(_piece(one.candidate, zone) for one in found.ranked[:LOOKED_AT]), found.warnings)

    return recalled


def _piece(one: Candidate, zone: ZoneInfo) -> RecalledPiece:
    day = one.at.astimezone(zone).date().isoformat()
    said = f"{day}, {one.speaker}: {one.text}" if one.speaker else f"{day}: {one.text}"
    return RecalledPiece(one.id, said, one.message_ids, one.subject_id)


def price_of(model: str, input_tokens: int, output_tokens: int) -> float | None:
    """USD by the price table, None for a model without a price."""
    try:
        return prices.price(model, Usage(input_tokens, output_tokens))
    except LlmMisconfigured:
        return None


class WindowWork:
    """``memory.windows``: the next prompt of a session, what was reported of it, what a session is about."""

    def __init__(self, process: Process, *, recall: Callable[[], RecallParts], ensure: Callable[[str], object]) -> None:
        """``recall`` gives the parts of recall when first asked, ``ensure`` makes a chat a session."""
        self._process, self._recall, self._ensure = process, recall, ensure
        self.records = PostgresServedWindows(process.connections, price=price_of)
        self._background: BackgroundSink[ServedWindow] | None = None

    @cached_property
    def parts(self) -> WindowParts:
        """Over the memory's own connections; what was served is recorded at once, unless ``serving`` was called."""
        process = self._process
        served = self._background or self.records
        return window_parts(
            process.settings, process.connections, process.counter, recall=self._recall(), served=served
        )

    def serving(self, reads: ConnectionPool, recall: RecallParts) -> WindowParts:
        """For a server: reads over connections that cannot write, recording behind the answer. ``close`` ends it."""
        self._background = BackgroundSink(self.records, name="served-windows")
        process = self._process
        self.parts = window_parts(process.settings, reads, process.counter, recall=recall, served=self._background)
        return self.parts

    def close(self) -> None:
        """Write what is waiting to be recorded."""
        if self._background is not None:
            self._background.close()

    @property
    def lost(self) -> int:
        """Records of served windows that were not kept."""
        return self.records.lost if self._background is None else self._background.lost

    def window(self, session_id: UUID, **options: Unpack[WindowOptions]) -> WindowResult:
        """The next prompt; a chat that nobody followed yet becomes a session by it.

        Raises SessionUnknown, BadRequest, LiveTurnTooLong, StoreUnavailable.
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
        """What a model reported for the session's last window (T3, B12). Fails nobody."""
        if self._background is not None:
            self._background.flush(FLUSH_SECONDS)  # the window may be waiting to be recorded itself
        return self.records.record_usage(
            session_id, input_tokens=input_tokens, output_tokens=output_tokens, cost_usd=cost_usd, model=model
        )

    def reported(self, session_id: UUID, usage: Usage) -> None:
        """The same for usage that came with an appended answer; the prompt's tokens from a cache are its tokens too."""
        prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        self.record_usage(session_id, input_tokens=prompt, output_tokens=usage.output_tokens)


KEPT_SECONDS = 30.0
"""Less than a sensor's tick away: what is made searchable meanwhile is found by the next question at the latest."""

KEPT_QUESTIONS = 256


class RememberedRecall:
    """``Recaller`` that keeps answers for the calls that an agent makes about one question. Safe between threads.

    Searched for again after ``KEPT_SECONDS``, after a warning, or when the folded part of the session changed: messages
    that no fold covers are never recalled.
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
