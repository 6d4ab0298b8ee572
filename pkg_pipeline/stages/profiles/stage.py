"""The fourth hop: published summaries → one profile of each person a week (P20–P23), as of the week's end.

Here: which weeks are due, who of a week is worked on in what order, leases, caps and reports. One person is ``making``.
As of means: interactions count and summaries go in by when they ended, never by when they were made, so that a week
built a year later says what it would have said then. The versions of summaries served now are used: what was corrected,
edited or deleted since is so in every week that is built again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING
from uuid import UUID
from zoneinfo import ZoneInfo

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.profile import rules
from pkg_pipeline.memory.profile.rules import Week
from pkg_pipeline.memory.records import Person
from pkg_pipeline.stages.llm.ask import Asking, LlmAccess
from pkg_pipeline.stages.llm.leased_work import Workers, workers
from pkg_pipeline.stages.llm.reports import AskedReport
from pkg_pipeline.stages.partitions import FinishedPartition, PartitionStore
from pkg_pipeline.stages.ports import Billing, Clock
from pkg_pipeline.stages.profiles.making import TASK, MadeProfile, Outcome, ProfileMaker, prompt_of

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.profiles.reads import PostgresProfileReads
    from pkg_pipeline.adapters.postgres.profiles.store import PostgresProfileStore, PostgresWeekStore

ASSET = "entity_relationship_profiles"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Profiles:
    """P19, P20, P22 over the ports given."""

    reads: PostgresProfileReads
    writes: PostgresProfileStore
    weeks: PostgresWeekStore
    partitions: PartitionStore
    access: LlmAccess
    clock: Clock
    zone: ZoneInfo
    min_age_days: float
    lag_days: float

    def week(self, sunday: date) -> Week:
        """Raises ``ValueError`` for a day that is no Sunday."""
        return rules.week(sunday, self.zone, lag_days=self.lag_days, min_age_days=self.min_age_days)

    def revive(self) -> int:
        """What was given up under another prompt or model is due again (P19); how many profiles."""
        return self.weeks.revive(prompt_of(self.access.model))

    def due_weeks(self) -> list[date]:
        """Sundays of the weeks that need work now, ascending: the newest complete one if nobody attempted it yet, and
        any with marks or leftovers that are due. A week that is not over is never among them. Nothing is written.
        """
        now = self.clock.now()
        newest = rules.newest_complete_week(now, self.zone)
        due = {date.fromisoformat(partition.key) for partition in self.partitions.due(ASSET, now=now)}
        if not self.weeks.is_attempted(newest):
            due.add(newest)
        return sorted(sunday for sunday in due if sunday <= newest)

    def build_weeks(
        self,
        weeks: Sequence[date],
        billing: Billing,
        *,
        retry_failed: bool = False,
        on_week: Callable[[WeekReport], None] = lambda _: None,
    ) -> list[WeekReport]:
        """The profiles of each week; ``on_week`` hears of each when done. The live lane takes the newest week first,
        since that is what is served when its cap bites; a backfill goes from the oldest on.

        One person failing fails nobody else. Raises ``ValueError`` for a week that is not over or no week, and
        ``LlmMisconfigured`` when every further call would fail alike; what was saved by then stays. A week that was
        attempted, has neither marks nor leftovers and gives no other row is not written to.
        """
        newest = rules.newest_complete_week(self.clock.now(), self.zone)
        chosen = [self.week(sunday) for sunday in sorted(set(weeks), reverse=billing.lane == "live")]
        for week in chosen:
            if week.sunday > newest:
                raise ValueError(f"the week {week.key} is not over: the newest complete one is {newest.isoformat()}")
        self.revive()
        asking = self.access.asking(TASK, billing)
        reports: list[WeekReport] = []
        with workers(self.writes, self.access.work) as hands:
            for week in chosen:
                maker = ProfileMaker(
                    self.reads, self.writes, asking, week, self.zone, self.access.work, retry_failed=retry_failed
                )
                report = self._build(week, maker, asking, hands)
                reports.append(report)
                on_week(report)
        return reports

    def _build(self, week: Week, maker: ProfileMaker, asking: Asking, hands: Workers) -> WeekReport:
        was_attempted = self.weeks.begin(week)
        marks = self.partitions.begin(ASSET, [week.key], now=self.clock.now())
        persons = self.reads.persons(week)
        report = WeekReport(week.sunday, persons=len(persons))
        left = self._work_off(week, persons, report, maker, hands)
        has_news = report.profiled + report.carried_over + report.pending + report.quarantined > 0
        if was_attempted and not has_news and week.key not in marks:
            return report
        resume_at, rest = None, 0.0
        if left:
            resume_at = self.weeks.resume_at(week, left)
            if asking.run.is_stopped:
                rest = asking.run.rest_seconds
                report.add_reason(asking.run.stop_reason)
        finished = FinishedPartition(week.key, marks.get(week.key, ()), report.pending, None, resume_at, rest)
        self.partitions.finish(ASSET, [finished])
        return report

    def _work_off(
        self,
        week: Week,
        persons: Sequence[Person],
        report: WeekReport,
        maker: ProfileMaker,
        hands: Workers,
    ) -> dict[UUID, UUID]:
        """All persons of the week, the most important first; returns what is still pending, as profile id → entity
        id.
        """
        left: dict[UUID, UUID] = {}
        named = [(hashing.profile_id(person.entity_id, week.key), person) for person in persons]
        work = self.access.work
        for start in range(0, len(named), work.claimed_at_once):
            batch = named[start : start + work.claimed_at_once]
            claimed = self.writes.claim(batch, holder=work.holder, lease_seconds=work.lease_seconds)
            mine = {one.profile_id for one in claimed}
            for key, person in batch:
                if key not in mine:
                    report.add(MadeProfile(reason="another worker is at it"))
                    left[key] = person.entity_id
            # not every outcome is written down: giving back once more what a row or an attempt gave back does nothing
            for one, made in zip(claimed, hands.batch(claimed, maker.make), strict=True):
                report.add(made)
                if made.is_pending:
                    left[one.profile_id] = one.entity.entity_id
        return left
