"""The third hop: due interactions → published summaries. Claim, ask, check, save; one interaction at a time.

What counts as due is ``Eligibility``, what may be published is the gate's word, how often something is tried again is
P19. No transaction is open while a model answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from uuid import UUID

from pkg_pipeline.stages.llm.leased_work import Workers, claimed_at_once, workers
from pkg_pipeline.stages.llm.reports import AskedReport
from pkg_pipeline.stages.llm.run import Run
from pkg_pipeline.stages.llm.stores import BudgetStore
from pkg_pipeline.stages.ports import Clock, Llm, TokenCounter
from pkg_pipeline.stages.summaries.call import Made, Outcome, SummarizeDeps
from pkg_pipeline.stages.summaries.estimate import Estimate as Estimate
from pkg_pipeline.stages.summaries.estimate import estimate as estimate
from pkg_pipeline.stages.summaries.small import let_go_of_small
from pkg_pipeline.stages.summaries.stores import (
    ALL_DUE,
    Claimed,
    Eligibility,
    FinishedPartition,
    Lane,
    PartitionCounts,
    PartitionStore,
    Scope,
    SummaryStore,
)
from pkg_pipeline.stages.summaries.summarize import summarize_one

ASSET = "interaction_summaries"

WORKED_TOGETHER = 32
"""Sparse days are worked off together up to about this many interactions: threads stay busy, and among them those with
the fewest attempts come first (P12)."""


@dataclass(frozen=True, slots=True)
class SummaryParams:
    """P11, P12, P19, P32 and the lease. Caps of None do not apply (the offline summariser has none). Summaries by the
    prompts ``also_current`` are no more stale than those by the run's own.
    """

    due_after_seconds: float
    minimum_messages: int
    attempt_limit: int
    backoff_seconds: float
    lease_seconds: float
    window_messages: int
    fact_confidence: float
    timezone: str
    calls_cap: int | None
    usd_cap: float
    concurrency: int = 1
    gap_seconds: float = 0.0
    update_messages: int = 10
    also_current: tuple[str, ...] = ()
    schema_version: int = 1


@dataclass(frozen=True, slots=True)
class SummaryDeps:
    """The ports this stage works with."""

    store: SummaryStore
    partitions: PartitionStore
    budgets: BudgetStore
    llm: Llm
    counter: TokenCounter
    clock: Clock


@dataclass(slots=True)
class DayReport(AskedReport):
    """What an attempt at one day did; numbers only, so that it can become metadata. ``rest_seconds``: a cap or the
    service stopped it, and for so long it stays so.
    """

    day: date
    summarized: int = 0
    updated: int = 0
    carried: int = 0
    lost: int = 0
    rest_seconds: float = 0.0
    stop_reason: str = ""

    def add(self, made: Made) -> None:
        self.add_effort(made)
        if made.outcome is Outcome.PUBLISHED:
            self.summarized += 1
            self.updated += made.method == "update"
            self.carried += made.carried
            self.lost += made.lost
            self.add_text(made)
        elif made.outcome is Outcome.DEFERRED:
            self.deferred += 1
        elif made.outcome is Outcome.QUARANTINED:
            self.quarantined += 1


def eligibility_of(
    deps: SummaryDeps, params: SummaryParams, prompt_version: str, *, scope: Scope = ALL_DUE
) -> Eligibility:
    """What a run may take. A backfill chose its interactions by their age: they only have to be complete still."""
    return Eligibility(
        now=deps.clock.now(),
        due_after_seconds=params.due_after_seconds if scope.backfill_id is None else 0.0,
        minimum_messages=params.minimum_messages,
        attempt_limit=params.attempt_limit,
        prompt_version=prompt_version,
        model=deps.llm.model,
        current_versions=(prompt_version, *params.also_current),
        schema_version=params.schema_version,
        gap_seconds=params.gap_seconds,
        scope=scope,
    )


def summarize_days(
    days: tuple[date, date],
    *,
    deps: SummaryDeps,
    params: SummaryParams,
    prompt_version: str,
    lane: Lane,
    holder: str,
    run_id: str | None = None,
    scope: Scope = ALL_DUE,
    on_day: Callable[[DayReport], None] = lambda _: None,
) -> list[DayReport]:
    """Summarise what is due in each day of the closed range, oldest day first; ``on_day`` hears of each when done.

    One interaction failing fails nothing else. Raises ``LlmMisconfigured`` when every further call would fail alike;
    what was published by then stays, and the day can be run again. A day without marks, leftovers and work is not
    written to. A backfill leaves the marks of its days: it looks at its own interactions only.
    """
    eligibility = eligibility_of(deps, params, prompt_version, scope=scope)
    deps.store.revive(prompt_version=prompt_version, model=deps.llm.model)
    let_go_of_small(days, store=deps.store, eligibility=eligibility)
    keys = _keys(days)
    marks: Mapping[str, tuple[int, ...]] = {}
    if scope.backfill_id is None:
        marks = deps.partitions.begin(ASSET, keys, now=eligibility.now)
    before = deps.partitions.counts(days, eligibility=eligibility)
    run = Run(
        deps.budgets,
        lane=lane,
        calls_cap=params.calls_cap,
        usd_cap=params.usd_cap,
        run_id=run_id,
        backfill_id=scope.backfill_id,
        lease_seconds=params.lease_seconds,
    )
    one = SummarizeDeps(
        store=deps.store,
        llm=deps.llm,
        counter=deps.counter,
        run=run,
        fact_confidence=params.fact_confidence,
        backoff_seconds=params.backoff_seconds,
        window_messages=params.window_messages,
        update_messages=params.update_messages,
    )
    reports: list[DayReport] = []
    with workers(deps.store, lease_seconds=params.lease_seconds, concurrency=params.concurrency) as hands:
        work = _Work(one, eligibility, params, holder, hands)
        for group in _groups(keys, before):
            found = [DayReport(day) for day in group]
            work.off({report.day: report for report in found}, before)
            _finish(
                found,
                deps=deps,
                run=run,
                eligibility=eligibility,
                due_after_seconds=params.due_after_seconds,
                marks=marks,
                before=before,
            )
            for report in found:
                reports.append(report)
                on_day(report)
    return reports


@dataclass(frozen=True, slots=True)
class _Work:
    """Claims and makes until nothing is left that can be done now."""

    deps: SummarizeDeps
    eligibility: Eligibility
    params: SummaryParams
    holder: str
    workers: Workers[Claimed]

    def off(self, reports: Mapping[date, DayReport], before: Mapping[date, PartitionCounts]) -> None:
        waiting = [day for day in reports if day in before and before[day].pending]
        if not waiting:
            return
        handled: list[UUID] = []
        limit = claimed_at_once(self.params.concurrency)
        while not self.deps.run.is_stopped:
            claimed = self.deps.store.claim(
                (waiting[0], waiting[-1]),
                eligibility=self.eligibility,
                limit=limit,
                holder=self.holder,
                lease_seconds=self.params.lease_seconds,
                # what a run has dealt with it does not take again, whatever came of it: nothing spins
                without=handled,
            )
            if not claimed:
                return
            handled += [one.source.interaction_id for one in claimed]
            for one, made in zip(claimed, self._made(claimed), strict=True):
                if made is not None:
                    reports[one.day].add(made)

    def _made(self, claimed: Sequence[Claimed]) -> list[Made | None]:
        """None for what is given back untouched."""

        def make(one: Claimed) -> Made | None:
            if self.deps.run.is_stopped:
                return None
            return summarize_one(one, deps=self.deps, eligibility=self.eligibility)

        return self.workers.work_off(claimed, make, keeps_lease=lambda made: made is None)


def _finish(
    reports: Sequence[DayReport],
    *,
    deps: SummaryDeps,
    run: Run,
    eligibility: Eligibility,
    due_after_seconds: float,
    marks: Mapping[str, tuple[int, ...]],
    before: Mapping[date, PartitionCounts],
) -> None:
    """Writes down what each day left. Days that neither had marks nor leftovers nor work are passed over."""
    touched = [
        report
        for report in reports
        if report.day.isoformat() in marks or (report.day in before and before[report.day].pending)
    ]
    for report in reports:
        known = before.get(report.day)
        report.failed = known.failed if known else 0
    if not touched:
        return
    # the scope is this run's only: what failed again is failed, and what is stale is served, neither is pending
    plain = replace(eligibility, due_after_seconds=due_after_seconds, scope=ALL_DUE)
    after = deps.partitions.counts((touched[0].day, touched[-1].day), eligibility=plain)
    nothing = PartitionCounts(0, 0, 0, 0, None)
    done: list[FinishedPartition] = []
    for report in touched:
        left = after.get(report.day, nothing)
        report.pending, report.failed = left.pending, left.failed
        key = report.day.isoformat()
        rest = 0.0
        if run.stop_reason is not None:
            report.rest_seconds, report.stop_reason = run.rest_seconds, run.stop_reason
            if left.resume_at is not None:
                report.add_reason(run.stop_reason)
                # the backfill lane's cap keeps nobody else from the day
                rest = 0.0 if eligibility.scope.backfill_id else run.rest_seconds
        done.append(FinishedPartition(key, marks.get(key, ()), left.pending, left.due_at, left.resume_at, rest))
    deps.partitions.finish(ASSET, done)


def _groups(keys: Sequence[str], before: Mapping[date, PartitionCounts]) -> Iterator[list[date]]:
    """Consecutive days that are worked off together."""
    group: list[date] = []
    pending = 0
    for key in keys:
        day = date.fromisoformat(key)
        waiting = before[day].pending if day in before else 0
        if group and waiting and pending + waiting > WORKED_TOGETHER:
            yield group
            group, pending = [], 0
        group.append(day)
        pending += waiting
    if group:
        yield group


def _keys(days: tuple[date, date]) -> list[str]:
    count = (days[1] - days[0]).days + 1
    return [(days[0] + timedelta(days=index)).isoformat() for index in range(count)]
