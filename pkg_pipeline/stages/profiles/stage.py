"""The fourth hop: published summaries → one profile of each person a week (P20–P23), as of the week's end.

Here: which weeks are due, who of a week is worked on in what order, leases, caps and reports. One person is
``profile_making``. As of means: interactions count and summaries go in by when they ended, never by when they were
made, so that a week built a year later says what it would have said then. The versions of summaries served now are
used: what was corrected, edited or deleted since is so in every week that is built again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.profile import rules as rules
from pkg_pipeline.memory.profile.rules import Week
from pkg_pipeline.memory.records import Person
from pkg_pipeline.stages.llm.leased_work import Workers, claimed_at_once, workers
from pkg_pipeline.stages.llm.reports import AskedReport
from pkg_pipeline.stages.llm.run import Run
from pkg_pipeline.stages.llm.stores import BudgetStore
from pkg_pipeline.stages.ports import Clock, Llm, TokenCounter
from pkg_pipeline.stages.profiles.making import TASK, MadeProfile, MakingDeps, Outcome, make_one, prompt_of
from pkg_pipeline.stages.profiles.stores import ClaimedProfile, ProfileReads, ProfileWrites, WeekStore
from pkg_pipeline.stages.summaries.stores import FinishedPartition, Lane, LedgerStore, PartitionStore

ASSET = "entity_relationship_profiles"


@dataclass(frozen=True, slots=True)
class ProfileParams:
    """P19, P20, P22, P32 and the lease. ``calls_cap`` is a local week's; None does not apply."""

    min_age_days: float
    lag_days: float
    attempt_limit: int
    backoff_seconds: float
    lease_seconds: float
    timezone: str
    calls_cap: int | None
    usd_cap: float
    concurrency: int = 1

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    def week(self, sunday: date) -> Week:
        """Raises ``ValueError`` for a day that is no Sunday."""
        return rules.week(sunday, self.zone, lag_days=self.lag_days, min_age_days=self.min_age_days)


@dataclass(frozen=True, slots=True)
class ProfileDeps:
    """The ports this stage works with."""

    reads: ProfileReads
    writes: ProfileWrites
    weeks: WeekStore
    ledger: LedgerStore
    partitions: PartitionStore
    budgets: BudgetStore
    llm: Llm
    counter: TokenCounter
    clock: Clock


@dataclass(slots=True)
class WeekReport(AskedReport):
    """What an attempt at one week did; numbers only, so that it can become metadata.

    ``persons`` = ``profiled`` + ``carried_over`` (words of an equal input, no call) + ``unchanged`` (the row stood like
    that) + ``pending`` + ``failed``. ``source_tokens`` are of the summaries behind the rows, ``summary_tokens`` of
    their words.
    """

    week: date
    persons: int = 0
    profiled: int = 0
    carried_over: int = 0
    unchanged: int = 0

    def add(self, made: MadeProfile) -> None:
        self.add_effort(made)
        self.add_text(made)
        self.profiled += made.outcome is Outcome.PROFILED
        self.carried_over += made.outcome is Outcome.CARRIED_OVER
        self.unchanged += made.outcome is Outcome.UNCHANGED
        self.deferred += made.outcome is Outcome.DEFERRED
        self.quarantined += made.outcome is Outcome.QUARANTINED
        self.persons -= made.outcome is Outcome.NOTHING
        self.pending += made.is_pending
        self.failed += made.is_given_up


def due_weeks(weeks: WeekStore, partitions: PartitionStore, *, now: datetime, zone: ZoneInfo) -> list[date]:
    """Sundays of the weeks that need work now, ascending: the newest complete one if nobody attempted it yet, and any
    with marks or leftovers that are due. A week that is not over is never among them. Nothing is written.
    """
    newest = rules.newest_complete_week(now, zone)
    due = {date.fromisoformat(partition.key) for partition in partitions.due(ASSET, now=now)}
    if not weeks.is_attempted(newest):
        due.add(newest)
    return sorted(sunday for sunday in due if sunday <= newest)


def build_weeks(
    weeks: Sequence[date],
    *,
    deps: ProfileDeps,
    params: ProfileParams,
    lane: Lane,
    holder: str,
    run_id: str | None = None,
    retry_failed: bool = False,
    on_week: Callable[[WeekReport], None] = lambda _: None,
) -> list[WeekReport]:
    """The profiles of each week; ``on_week`` hears of each when done. The live lane takes the newest week first, since
    that is what is served when its cap bites; a backfill goes from the oldest on.

    One person failing fails nobody else. Raises ``ValueError`` for a week that is not over or no week, and
    ``LlmMisconfigured`` when every further call would fail alike; what was saved by then stays. A week that was
    attempted, has neither marks nor leftovers and gives no other row is not written to.
    """
    newest = rules.newest_complete_week(deps.clock.now(), params.zone)
    chosen = [params.week(sunday) for sunday in sorted(set(weeks), reverse=lane == "live")]
    for week in chosen:
        if week.sunday > newest:
            raise ValueError(f"the week {week.key} is not over: the newest complete one is {newest.isoformat()}")
    deps.weeks.revive(prompt_of(deps.llm.model))
    run = Run(
        deps.budgets,
        lane=lane,
        calls_cap=params.calls_cap,
        usd_cap=params.usd_cap,
        period="week",
        task=TASK,
        run_id=run_id,
        lease_seconds=params.lease_seconds,
    )
    making = MakingDeps(
        reads=deps.reads,
        writes=deps.writes,
        ledger=deps.ledger,
        llm=deps.llm,
        counter=deps.counter,
        run=run,
        zone=params.zone,
        attempt_limit=params.attempt_limit,
        backoff_seconds=params.backoff_seconds,
        retry_failed=retry_failed,
    )
    reports: list[WeekReport] = []
    with workers(deps.writes, lease_seconds=params.lease_seconds, concurrency=params.concurrency) as hands:
        work = _Work(making, params, holder, hands)
        for week in chosen:
            report = _build(week, work=work, deps=deps)
            reports.append(report)
            on_week(report)
    return reports


def _build(week: Week, *, work: _Work, deps: ProfileDeps) -> WeekReport:
    was_attempted = deps.weeks.begin(week)
    marks = deps.partitions.begin(ASSET, [week.key], now=deps.clock.now())
    persons = deps.reads.persons(week)
    report = WeekReport(week.sunday, persons=len(persons))
    left = work.off(week, persons, report)
    has_news = report.profiled + report.carried_over + report.pending + report.quarantined > 0
    if was_attempted and not has_news and week.key not in marks:
        return report
    run, resume_at, rest = work.deps.run, None, 0.0
    if left:
        resume_at = deps.weeks.resume_at(week, left)
        if run.is_stopped:
            rest = run.rest_seconds
            report.add_reason(run.stop_reason)
    finished = FinishedPartition(week.key, marks.get(week.key, ()), report.pending, None, resume_at, rest)
    deps.partitions.finish(ASSET, [finished])
    return report


@dataclass(frozen=True, slots=True)
class _Work:
    """Claims and makes, a few at a time, the most important first."""

    deps: MakingDeps
    params: ProfileParams
    holder: str
    workers: Workers[ClaimedProfile]

    def off(self, week: Week, persons: Sequence[Person], report: WeekReport) -> dict[UUID, UUID]:
        """All persons of the week; returns what is still pending, as profile id → entity id."""
        left: dict[UUID, UUID] = {}
        named = [(hashing.profile_id(person.entity_id, week.key), person) for person in persons]
        size = claimed_at_once(self.params.concurrency)
        for start in range(0, len(named), size):
            batch = named[start : start + size]
            claimed = self.deps.writes.claim(batch, holder=self.holder, lease_seconds=self.params.lease_seconds)
            mine = {one.profile_id for one in claimed}
            for key, person in batch:
                if key not in mine:
                    report.add(MadeProfile(reason="another worker is at it"))
                    left[key] = person.entity_id
            for one, made in zip(claimed, self._made(claimed, week), strict=True):
                report.add(made)
                if made.is_pending:
                    left[one.profile_id] = one.entity.entity_id
        return left

    def _made(self, claimed: Sequence[ClaimedProfile], week: Week) -> list[MadeProfile]:
        def make(one: ClaimedProfile) -> MadeProfile:
            return make_one(one, week, deps=self.deps)

        # not every outcome is written down: giving back once more what a row or an attempt gave back does nothing
        return self.workers.work_off(claimed, make, keeps_lease=lambda _: True)
