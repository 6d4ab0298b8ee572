"""A pass whose answers cost money: several talks of the same people in one question, people without a talk in common
at the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from uuid import UUID

from pkg_pipeline.memory.items.batches import batches, circle_of
from pkg_pipeline.memory.items.shown import shown_hash
from pkg_pipeline.memory.items.states import TalkKey
from pkg_pipeline.stages.items.reading import LINE_TOKENS, Answered, PassParts
from pkg_pipeline.stages.items.stores import DueTalk
from pkg_pipeline.stages.llm.answer_validation import NOTHING_PASSED, NotPublishable
from pkg_pipeline.stages.llm.ask import Tally
from pkg_pipeline.stages.ports import LlmMisconfigured, LlmRefused, LlmRejected, LlmTooLong

DUE_AT_ONCE = 1_000
"""Due talks put into batches together."""

BATCH_TOKENS = 6_000
BATCH_TALKS = 40
"""Most tokens and talks of one question of several talks."""

OF_THE_TALKS = (NotPublishable, LlmTooLong, LlmRejected, LlmRefused)
"""Errors that lie in what is asked about: half of the talks may pass."""

Batch = tuple[DueTalk, ...]


class PaidPass:
    def __init__(self, parts: PassParts) -> None:
        self._parts = parts

    def run(self) -> None:
        parts, after = self._parts, None
        while talks := parts.store.due(parts.due, after=after, limit=DUE_AT_ONCE):
            after: TalkKey | None = talks[-1].key
            self._work_off(self._batches(talks))
            if len(talks) < DUE_AT_ONCE or parts.asking.run.is_stopped:
                return

    def _batches(self, talks: Sequence[DueTalk]) -> list[Batch]:
        made = batches(
            talks,
            most_tokens=BATCH_TOKENS,
            most_talks=BATCH_TALKS,
            line_tokens=LINE_TOKENS,
            alone=lambda talk: talk.is_waiting or talk.shown_hash is not None,
            kind=lambda talk: talk.language,
        )
        # what was read between two talks belongs between them
        apart = self._parts.store.interrupted([batch for batch in made if len(batch) > 1])
        return [part for batch in made for part in ([(talk,) for talk in batch] if batch[0].id in apart else [batch])]

    def _work_off(self, waiting: list[Batch]) -> None:
        """In time order for each person; people without a talk in common at the same time."""
        running: dict[Future[None], frozenset[UUID]] = {}
        with ThreadPoolExecutor(max_workers=self._parts.work.concurrency) as threads:
            try:
                while waiting or running:
                    waiting = self._start(threads, waiting, running)
                    done, _ = wait(running, return_when=FIRST_COMPLETED)
                    for one in done:
                        running.pop(one)
                        one.result()
                    self._parts.on_progress(self._parts.report)
            finally:
                # what is under way is finished and saved
                wait(running)

    def _start(
        self, threads: ThreadPoolExecutor, waiting: list[Batch], running: dict[Future[None], frozenset[UUID]]
    ) -> list[Batch]:
        """Start what shares no person with what runs or comes before; returns the rest."""
        if self._parts.asking.run.is_stopped:
            return []
        rest: list[Batch] = []
        busy = set[UUID]().union(*running.values())
        for batch in waiting:
            circle = circle_of(batch)
            if len(running) < self._parts.work.concurrency and not circle & busy:
                running[threads.submit(self._read, batch)] = circle
            else:
                rest.append(batch)
            busy |= circle
        return rest

    def _read(self, batch: Batch) -> None:
        parts = self._parts
        if parts.asking.run.is_stopped or not all(map(parts.may_read, batch)):
            return
        with parts.store.work(parts.held) as work:
            sources = work.talks(batch)
            shown = work.shown(_for_all(batch))
            if len(batch) == 1 and batch[0].shown_hash == shown_hash(shown):
                work.checked(batch)
                parts.report.unchanged += 1
                return
        tally = Tally()
        try:
            reader = parts.reader(tally)
            if len(batch) == 1:
                answered = reader.alone(batch[0], sources[batch[0].id], shown)
            else:
                answered = reader.together([sources[talk.id] for talk in batch], shown)
        except OF_THE_TALKS as error:
            parts.count(tally)
            if len(batch) > 1:
                middle = len(batch) // 2
                self._read(batch[:middle])
                self._read(batch[middle:])
                return
            self._fail(batch, error, tally)
        except NOTHING_PASSED as error:
            parts.count(tally)
            self._fail(batch, error, tally)
            if isinstance(error, LlmMisconfigured):
                raise
        else:
            parts.count(tally)
            self._keep(batch, answered, tally)

    def _fail(self, batch: Batch, error: Exception, tally: Tally) -> None:
        with self._parts.store.work(self._parts.held) as work:
            self._parts.failed(work, batch, error, tally)

    def _keep(self, batch: Batch, answered: Answered, tally: Tally) -> None:
        """Each talk after the other: a later one is matched with what an earlier one opened."""
        readings, dropped = answered
        size = sum(talk.token_count for talk in batch) or 1
        same: dict[UUID, UUID] = {}
        with self._parts.store.work(self._parts.held) as work:
            for talk, reading in zip(batch, readings, strict=True):
                share = tally.cost_usd * talk.token_count / size
                self._parts.keep(work, talk, reading, work.shown(talk), dropped=dropped, same=same, cost_usd=share)
                dropped = ()


def _for_all(batch: Batch) -> DueTalk:
    """The first talk with the people of all: whom what is shown has to concern."""
    return replace(batch[0], people=tuple(dict.fromkeys(person for talk in batch for person in talk.people)))
