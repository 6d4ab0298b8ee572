"""A pass whose answers are free: talk after talk; where what a later talk is shown changed, it is read anew."""

from __future__ import annotations

import heapq
from collections.abc import Collection
from typing import TYPE_CHECKING
from uuid import UUID

from pkg_pipeline.memory.items.shown import shown_hash
from pkg_pipeline.memory.items.states import TalkKey
from pkg_pipeline.memory.records import SummaryInput
from pkg_pipeline.stages.items.reading import PassParts
from pkg_pipeline.stages.items.stores import Due, DueTalk
from pkg_pipeline.stages.llm.answer_validation import NOTHING_PASSED
from pkg_pipeline.stages.llm.ask import Tally
from pkg_pipeline.stages.ports import LlmMisconfigured

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.items.store import ItemWork, PostgresItemStore

DUE_AT_ONCE = 5_000
"""Due talks held in memory."""

READ_AT_ONCE = 32
"""Talks read in one transaction."""


class FreePass:
    def __init__(self, parts: PassParts) -> None:
        self._parts = parts
        self._queue = _Queue(parts.store, parts.due)

    def run(self) -> None:
        parts = self._parts
        while talks := self._queue.take(READ_AT_ONCE):
            changed: Collection[UUID] = ()
            with parts.store.work(parts.held) as work:
                sources = work.talks(talks)
                for place, talk in enumerate(talks, 1):
                    if parts.may_read(talk):
                        changed = self._read(work, talk, sources[talk.id])
                    if changed:
                        # some of these may come before the next one
                        self._queue.put(talks[place:])
                        break
            self._queue.again(changed)
            parts.on_progress(parts.report)

    def _read(self, work: ItemWork, talk: DueTalk, source: SummaryInput) -> Collection[UUID]:
        """Returns later talks that may have been shown something else."""
        parts, tally, shown = self._parts, Tally(), work.shown(talk, with_silent=True)
        if talk.shown_hash == shown_hash(shown):
            work.checked([talk])
            parts.report.unchanged += 1
            return ()
        try:
            (reading,), dropped = parts.reader(tally).alone(talk, source, shown)
        except NOTHING_PASSED as error:
            parts.failed(work, [talk], error, tally)
            if isinstance(error, LlmMisconfigured):
                raise
            return ()
        finally:
            parts.count(tally)
        return parts.keep(work, talk, reading, shown, dropped=dropped).unchecked


class _Queue:
    """Due talks in time order; talks that become due again come at their place."""

    def __init__(self, store: PostgresItemStore, due: Due) -> None:
        self._store, self._due = store, due
        self._waiting: dict[UUID, DueTalk] = {}
        self._heap: list[TalkKey] = []
        self._last: TalkKey | None = None
        self._has_more = True

    def take(self, most: int) -> list[DueTalk]:
        if not self._heap and self._has_more:
            self._load()
        taken = [heapq.heappop(self._heap) for _ in range(min(most, len(self._heap)))]
        return [self._waiting.pop(key[1]) for key in taken]

    def put(self, talks: Collection[DueTalk]) -> None:
        for talk in talks:
            if talk.id not in self._waiting:
                self._waiting[talk.id] = talk
                heapq.heappush(self._heap, talk.key)

    def again(self, ids: Collection[UUID]) -> None:
        """Those behind what was loaded so far are loaded in their turn."""
        if not ids:
            return
        found = self._store.due(self._due, only=ids, limit=len(ids))
        self.put([talk for talk in found if not self._has_more or self._last is None or talk.key <= self._last])

    def _load(self) -> None:
        found = self._store.due(self._due, after=self._last, limit=DUE_AT_ONCE)
        self._has_more = len(found) == DUE_AT_ONCE
        if found:
            self._last = found[-1].key
        self.put(found)
