"""The summaries hop: due interactions → published summaries."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from pkg_pipeline.memory.records import Usage
from pkg_pipeline.memory.window.calibration import expected
from pkg_pipeline.prompts import summary as prompt
from pkg_pipeline.prompts.versions import CURRENT_VERSIONS
from pkg_pipeline.stages.llm.ask import Asking, LlmAccess
from pkg_pipeline.stages.llm.gathering import Gathering
from pkg_pipeline.stages.llm.leased_work import Workers, workers
from pkg_pipeline.stages.llm.reports import AskedReport
from pkg_pipeline.stages.partitions import FinishedPartition, PartitionStore
from pkg_pipeline.stages.ports import Billing, Clock, Llm
from pkg_pipeline.stages.summaries.making import TASK, Made, MakingRules, Outcome
from pkg_pipeline.stages.summaries.stores import (
    ALL_DUE,
    Claimed,
    DayCounts,
    Eligibility,
    Joining,
    Scope,
    Waiting,
)
from pkg_pipeline.stages.summaries.summarize import Summarizer
from pkg_pipeline.stages.summaries.together import MOST_TOKENS, SHORT_TOKENS, Together, grouped, in_turn

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.summaries.store import PostgresSummaryStore

ASSET = "interaction_summaries"

WORKED_TOGETHER = 32
"""Days with few interactions are processed together up to about this many, fewest attempts first (P12)."""

GROUPS_AT_ONCE = 8
"""Claimed together where one question is about several talks, so that those of a chat and a language meet in one."""

FILLED = 0.7
"""How full questions about several talks are, by talks or tokens: those of a language meet by chance."""

PROMPT_TOKENS = 660
"""Around the conversations of a question; fitted on the demo's prompts."""

TALK_TOKENS = 15
"""Around each conversation: its people and day; fitted likewise."""

MESSAGE_TOKENS = 10
"""Around each message, and a model's higher token count; fitted likewise."""

ANSWER_TOKENS = 80
"""Of a usual answer, for each conversation."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """``tokens`` in and out, ``usd`` by current prices; ``later``: interactions too young or deferred, not counted."""

    interactions: int
    tokens: int
    usd: float
    later: int = 0

    def to_json(self) -> dict[str, float | int]:
        return {
            "interactions": self.interactions,
            "tokens": self.tokens,
            "usd": round(self.usd, 4),
            "later": self.later,
        }


@dataclass(slots=True)
class DayReport(AskedReport):
    """The result for one day; numbers for metadata. ``batched``: interactions in message batches.
    ``rest_seconds``: pause after a cap or service trouble.
    """

    day: date
    summarized: int = 0
    updated: int = 0
    batched: int = 0
    rest_seconds: float = 0.0
    stop_reason: str = ""

    def add(self, made: Made) -> None:
        self.add_effort(made)
        self.deferred += made.outcome is Outcome.DEFERRED
        self.quarantined += made.outcome is Outcome.QUARANTINED
        self.batched += made.outcome is Outcome.IN_BATCH
        if made.outcome is Outcome.PUBLISHED:
            self.summarized += 1
            self.updated += made.method == "update"
            self.add_text(made)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summaries:
    """P11, P12, P18, P19. Prompts in ``also_current`` are as current as ``prompt_version``."""

    store: PostgresSummaryStore
    partitions: PartitionStore
    access: LlmAccess
    clock: Clock
    rules: MakingRules
    due_after_seconds: float
    minimum_messages: int
    gap_seconds: float
    gathering: Callable[[Asking, Scope], Gathering | None] = lambda _asking, _scope: None
    prompt_version: str = prompt.VERSION
    also_current: tuple[str, ...] = tuple(sorted(CURRENT_VERSIONS - {prompt.VERSION}))
    schema_version: int = prompt.SCHEMA_VERSION

    def eligibility(self, scope: Scope = ALL_DUE) -> Eligibility:
        """What a run may take now; a backfill's selection only has to be complete."""
        return Eligibility(
            now=self.clock.now(),
            due_after_seconds=self.due_after_seconds if scope.backfill_id is None else 0.0,
            minimum_messages=self.minimum_messages,
            attempt_limit=self.access.work.attempt_limit,
            prompt_version=self.prompt_version,
            model=self.access.model,
            current_versions=(self.prompt_version, *self.also_current),
            schema_version=self.schema_version,
            gap_seconds=self.gap_seconds,
            scope=scope,
        )

    def revive(self) -> int:
        """Make due again what failed under another prompt or model (P19); returns how many."""
        return self.store.revive(prompt_version=self.prompt_version, model=self.access.model)

    def estimate(self) -> Estimate:
        joining = self.joining()
        waiting = self.store.waiting(eligibility=self.eligibility(), joining=joining)
        return estimate(self.access.llm(), waiting, most=joining.most, calibration=self.access.calibration())

    def joining(self) -> Joining:
        """Only for a model that is paid one question is about several talks."""
        most = self.rules.talks_together if self.access.llm().is_paid else 1
        return Joining(self.rules.window_messages, most, SHORT_TOKENS)

    def run(
        self,
        days: tuple[date, date],
        billing: Billing,
        scope: Scope = ALL_DUE,
        on_day: Callable[[DayReport], None] = lambda _: None,
    ) -> list[DayReport]:
        """Summarise what is due in the closed range of days, oldest first; ``on_day`` gets each report.

        A failed interaction fails no other. Raises ``LlmMisconfigured``; published summaries stay and the day can be
        repeated. Days without marks, leftovers or work are not written; backfills leave marks alone.
        """
        eligibility = self.eligibility(scope)
        self.revive()
        self.store.supersede_small(days, eligibility=eligibility)
        keys = [days[0] + timedelta(days=index) for index in range((days[1] - days[0]).days + 1)]
        marks: Mapping[str, tuple[int, ...]] = {}
        if scope.backfill_id is None:
            marks = self.partitions.begin(ASSET, [day.isoformat() for day in keys], now=eligibility.now)
        before = self.store.day_counts(days, eligibility=eligibility)
        asking = self.access.asking(TASK, replace(billing, backfill_id=scope.backfill_id))
        reports: list[DayReport] = []
        gathering = self.gathering(asking, scope) if scope.in_batches and billing.lane == "backfill" else None
        with workers(self.store, self.access.work) as hands, gathering or nullcontext():
            asking = replace(asking, elsewhere=gathering)
            most = self.joining().most
            together = max(WORKED_TOGETHER, GROUPS_AT_ONCE * most if most > 1 else 0)
            for group in _groups(keys, before, together) if gathering is None else [keys]:
                found = [DayReport(day) for day in group]
                self._work_off({report.day: report for report in found}, before, eligibility, asking, hands, gathering)
                self.finish(found, asking, eligibility, marks, before)
                for report in found:
                    reports.append(report)
                    on_day(report)
        return reports

    def _work_off(
        self,
        reports: Mapping[date, DayReport],
        before: Mapping[date, DayCounts],
        eligibility: Eligibility,
        asking: Asking,
        hands: Workers,
        gathering: Gathering | None,
    ) -> None:
        """Claims and makes until nothing is left that can be done now, and sends what was gathered instead."""
        waiting = [day for day in reports if day in before and before[day].pending]
        handled: list[UUID] = []
        work, most = self.access.work, self.joining().most
        summarizer = self.summarizer(asking, eligibility)
        groups: dict[UUID, Together] = {}

        def claim() -> Sequence[Claimed]:
            if gathering is not None and gathering.is_full:
                gathering.submit()
            if not waiting or asking.run.is_stopped:
                return ()
            claimed = self.store.claim(
                (waiting[0], waiting[-1]),
                eligibility=eligibility,
                limit=work.claimed_at_once if most == 1 else max(work.claimed_at_once, GROUPS_AT_ONCE * most),
                holder=work.holder,
                lease_seconds=work.lease_seconds,
                # nothing is claimed twice in a run
                without=handled,
            )
            if gathering is not None:
                gathering.claimed(claimed)
            handled.extend(one.source.interaction_id for one in claimed)
            together = grouped(claimed, most=most) if most > 1 else []
            for talks in together:
                groups.update(dict.fromkeys((one.lease_id for one in talks), summarizer.together(talks)))
            return in_turn(claimed, together)

        def make(one: Claimed) -> Made | None:
            return summarizer.one(one, groups.pop(one.lease_id, None))

        for one, made in hands.all(claim, make, keeps_lease=lambda made: made is None):
            if made is not None:
                reports[one.day].add(made)
        if gathering is not None:
            gathering.submit()

    def summarizer(self, asking: Asking, eligibility: Eligibility) -> Summarizer:
        return Summarizer(
            store=self.store,
            asking=asking,
            eligibility=eligibility,
            rules=self.rules,
            backoff_seconds=self.access.work.backoff_seconds,
        )

    def finish(
        self,
        reports: Sequence[DayReport],
        asking: Asking,
        eligibility: Eligibility,
        marks: Mapping[str, tuple[int, ...]],
        before: Mapping[date, DayCounts],
    ) -> None:
        """Record what each day left; skips days without marks, leftovers or work."""
        nothing, run = DayCounts(0, 0, 0, 0, None), asking.run
        for report in reports:
            report.failed = before.get(report.day, nothing).failed
        touched = [one for one in reports if one.day.isoformat() in marks or before.get(one.day, nothing).pending]
        if not touched:
            return
        # without the run's scope: retried failures are failed, stale ones are served, neither is pending
        plain = replace(eligibility, due_after_seconds=self.due_after_seconds, scope=ALL_DUE)
        after = self.store.day_counts((touched[0].day, touched[-1].day), eligibility=plain)
        done: list[FinishedPartition] = []
        for report in touched:
            left = after.get(report.day, nothing)
            report.pending, report.failed = left.pending, left.failed
            key, rest = report.day.isoformat(), 0.0
            if run.stop_reason is not None:
                report.rest_seconds, report.stop_reason = run.rest_seconds, run.stop_reason
                if left.resume_at is not None:
                    report.add_reason(run.stop_reason)
                    # the backfill lane's cap does not pause the day for others
                    rest = 0.0 if eligibility.scope.backfill_id else run.rest_seconds
            done.append(FinishedPartition(key, marks.get(key, ()), left.pending, left.due_at, left.resume_at, rest))
        self.partitions.finish(ASSET, done)


def calls_for(waiting: Waiting, most: int) -> int:
    """Questions, up to ``most`` talks in one."""
    together = max(waiting.joined / most, waiting.joined_tokens / MOST_TOKENS) / FILLED
    return waiting.prompts + min(waiting.joined, math.ceil(together))


def estimate(
    llm: Llm,
    waiting: Waiting,
    *,
    most: int = 1,
    price: Callable[[Usage], float] | None = None,
    calibration: float | None = None,
) -> Estimate:
    """``price``: another than the model's own; ``calibration``: its tokens for one of ours (B12)."""
    calls = calls_for(waiting, most)
    talks = waiting.prompts + waiting.joined
    around = calls * PROMPT_TOKENS + talks * TALK_TOKENS + waiting.messages * MESSAGE_TOKENS
    tokens_in = round((around + waiting.message_tokens) * expected(calibration))
    tokens_out = talks * ANSWER_TOKENS
    usd = 0.0
    if calls and llm.is_paid:
        # per prompt: prices may depend on prompt length
        usd = (price or llm.price)(Usage(round(tokens_in / calls), round(tokens_out / calls))) * calls
    return Estimate(interactions=waiting.interactions, tokens=tokens_in + tokens_out, usd=usd, later=waiting.later)


def _groups(days: Sequence[date], before: Mapping[date, DayCounts], most: int) -> Iterator[list[date]]:
    group: list[date] = []
    pending = 0
    for day in days:
        waiting = before[day].pending if day in before else 0
        if group and waiting and pending + waiting > most:
            yield group
            group, pending = [], 0
        group.append(day)
        pending += waiting
    if group:
        yield group
