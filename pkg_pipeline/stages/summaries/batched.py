"""Results of message batches become summaries, by the gate, ladder and publication of answers that come at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from uuid import UUID

from pkg_pipeline.stages.llm.batch_ports import HeldItem, OpenBatch
from pkg_pipeline.stages.llm.batches import Batches, Told, is_answered
from pkg_pipeline.stages.llm.leased_work import Workers, workers
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.stages.summaries.making import TASK, Made, Outcome
from pkg_pipeline.stages.summaries.stage import DayReport, Summaries
from pkg_pipeline.stages.summaries.stores import Claimed, Scope
from pkg_pipeline.stages.summaries.summarize import Summarizer
from pkg_pipeline.stages.summaries.together import Together, in_turn

WORKED_AT_ONCE = 240
"""Conversations whose results are worked off under one set of leases."""


@dataclass(frozen=True, slots=True)
class BatchedSummaries:
    """What was asked in batches. ``watched``: what hears of the days of a backfill."""

    summaries: Summaries
    batches: Batches
    watched: Callable[[UUID, Callable[[DayReport], None]], Callable[[DayReport], None]]
    without_answers: Callable[[UUID], object]
    """Hears of a backfill of which a whole batch brought no answer."""
    recount: Callable[[], object]
    """Done after summaries were published."""

    def collect(
        self, run_id: str | None = None, on_day: Callable[[DayReport], None] = lambda _: None
    ) -> list[DayReport]:
        """Reads what has ended and works it off: publishes, asks again at once what was refused, lets go what was not
        answered. A kill loses nothing, and nothing is paid for again. Raises ``LlmMisconfigured``.
        """
        self.batches.read()
        reports: list[DayReport] = []
        for batch in self.batches.store.open():
            if batch.state == "read":
                reports += self._work_off(batch, Billing("backfill", run_id, batch.backfill_id), on_day)
                self.batches.store.finish(batch.id)
        if reports:
            self.recount()
        return reports

    def _work_off(self, batch: OpenBatch, billing: Billing, on_day: Callable[[DayReport], None]) -> Iterator[DayReport]:
        store, summaries = self.batches.store, self.summaries
        held = store.held(batch.id)
        let_go = [one for one in held if not is_answered(one.item)]
        store.worked(let_go)
        if batch.backfill_id is not None and len(let_go) == batch.questions:
            self.without_answers(batch.backfill_id)
        answered = [one for one in held if is_answered(one.item)]
        if not answered:
            return
        scope = Scope(redo_stale=batch.redo_stale, backfill_id=batch.backfill_id)
        eligibility = summaries.eligibility(scope)
        told = Told((one.item for one in answered), asks=batch.is_wanted)
        asking = replace(summaries.access.asking(TASK, billing), elsewhere=told, looks_up=True)
        summarizer = summaries.summarizer(asking, eligibility)
        heard = on_day if batch.backfill_id is None else self.watched(batch.backfill_id, on_day)
        with workers(summaries.store, summaries.access.work) as hands:
            for items in _in_parts(answered):
                made = self._made(items, summarizer, hands)
                found = [DayReport(day) for day in sorted({one.day for one, _ in made})]
                by_day = {report.day: report for report in found}
                for one, done in made:
                    if done is not None:
                        by_day[one.day].add(done)
                keys = [report.day.isoformat() for report in found]
                summaries.finish(found, asking, eligibility, dict.fromkeys(keys, ()), {})
                for report in found:
                    heard(report)
                    yield report

    def _made(
        self, items: Sequence[HeldItem], summarizer: Summarizer, hands: Workers
    ) -> list[tuple[Claimed, Made | None]]:
        store, summaries = self.batches.store, self.summaries
        work = summaries.access.work
        held = {key: token for one in items for key, token in zip(one.ids, one.tokens, strict=True)}
        got = store.take_over(held, holder=work.holder, lease_seconds=work.lease_seconds)
        # what another holds is worked off when that one's lease has ended; it may be a worker that died here
        items = [one for one in items if got.keys() >= set(one.ids)]
        mine = {key: got[key] for one in items for key in one.ids}
        claimed = summaries.store.taken_over(mine, eligibility=summarizer.eligibility)
        by_id = {one.lease_id: one for one in claimed}
        together = [tuple(by_id[key] for key in one.ids if key in by_id) for one in items if len(one.ids) > 1]
        groups: dict[UUID, Together] = {}
        for talks in together:
            groups.update(dict.fromkeys((one.lease_id for one in talks), summarizer.together(talks)))
        claimed = in_turn(claimed, together)
        done = hands.batch(
            claimed,
            lambda one: summarizer.one(one, groups.get(one.lease_id)),
            keeps_lease=lambda made: made is None or made.outcome is Outcome.IN_BATCH,
        )
        store.worked(items)
        return list(zip(claimed, done, strict=True))


def _in_parts(items: Sequence[HeldItem]) -> Iterator[list[HeldItem]]:
    """Those of one conversation stay together; they follow each other."""
    part: list[HeldItem] = []
    size = 0
    for _, several in groupby(items, key=lambda one: one.ids[:1]):
        same = list(several)
        if part and size + len(same[0].ids) > WORKED_AT_ONCE:
            yield part
            part, size = [], 0
        part += same
        size += len(same[0].ids)
    if part:
        yield part
