"""The profiles hop: published summaries → one profile per person and week, as of the week's end (P20–P23).

Interactions and summaries count by when they ended, in the versions served now: a week built later equals one built in
time, but for corrections and deletions.
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
    """The result for one week; numbers for metadata.

    ``persons`` = ``profiled`` + ``carried_over`` (text of an equal input) + ``unchanged`` + ``pending`` + ``failed``.
    ``source_tokens`` of the summaries, ``summary_tokens`` of the text.
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
    """P19, P20, P22."""

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
        """Raises ``ValueError`` unless a Sunday."""
        return rules.week(sunday, self.zone, lag_days=self.lag_days, min_age_days=self.min_age_days)

    def revive(self) -> int:
        """Make due again what failed under another prompt or model (P19); returns how many."""
        return self.weeks.revive(prompt_of(self.access.model))

    def due_weeks(self) -> list[date]:
        """Sundays of weeks with work, ascending: the newest complete one if never attempted, and due marks or
        leftovers.
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
        """Build each week's profiles; ``on_week`` gets each report. The live lane starts with the newest week, a
        backfill with the oldest.

        A failed person fails no other. Raises ``ValueError`` for an incomplete or invalid week, ``LlmMisconfigured``;
        saved profiles stay. An attempted week without marks, leftovers or changed rows is not written.
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
        """The week's persons, most important first; returns pending ones as profile id → entity id."""
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
            # releasing a released lease does nothing
            for one, made in zip(claimed, hands.batch(claimed, maker.make), strict=True):
                report.add(made)
                if made.is_pending:
                    left[one.profile_id] = one.entity.entity_id
        return left
