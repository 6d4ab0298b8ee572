"""The third hop: due interactions → published summaries. Claim, ask, check, save; one interaction at a time.

What counts as due is ``Eligibility``, what may be published is the gate's word, how often something is tried again is
P19. No transaction is open while a model answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.records import Usage
from pkg_pipeline.stages.ports import Clock, Llm, TokenCounter
from pkg_pipeline.stages.stores import (
    BudgetStore,
    Claimed,
    Eligibility,
    Lane,
    PartitionCounts,
    PartitionStore,
    SummaryStore,
)
from pkg_pipeline.stages.summarize import Budget, Made, Outcome, SummarizeDeps, summarize_one

ASSET = "interaction_summaries"

CLAIMED_AT_ONCE = 8
"""Leases taken in one transaction: few enough that a killed worker delays little."""


@dataclass(frozen=True, slots=True)
class SummaryParams:
    """P11, P12, P19, P32 and the lease. Caps of None do not apply (the offline summariser has none)."""

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
class DayReport:
    """What an attempt at one day did; numbers only, so that it can become metadata."""

    day: date
    summarized: int = 0
    pending: int = 0
    failed: int = 0
    quarantined: int = 0
    deferred: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    source_tokens: int = 0
    summary_tokens: int = 0
    seconds: float = 0.0
    reasons: list[str] = field(default_factory=list[str])

    @property
    def compression_ratio(self) -> float:
        return round(self.source_tokens / self.summary_tokens, 2) if self.summary_tokens else 0.0

    def add(self, made: Made) -> None:
        self.calls += made.calls
        self.input_tokens += made.input_tokens
        self.output_tokens += made.output_tokens
        self.cost_usd += made.cost_usd
        self.seconds += made.seconds
        if made.outcome is Outcome.PUBLISHED:
            self.summarized += 1
            self.source_tokens += made.source_tokens
            self.summary_tokens += made.summary_tokens
        elif made.outcome is Outcome.DEFERRED:
            self.deferred += 1
        elif made.outcome is Outcome.QUARANTINED:
            self.quarantined += 1
        if made.reason and made.reason not in self.reasons:
            self.reasons.append(made.reason)


def eligibility_of(deps: SummaryDeps, params: SummaryParams, prompt_version: str, *, retry_failed: bool) -> Eligibility:
    return Eligibility(
        now=deps.clock.now(),
        due_after_seconds=params.due_after_seconds,
        minimum_messages=params.minimum_messages,
        attempt_limit=params.attempt_limit,
        prompt_version=prompt_version,
        model=deps.llm.model,
        retry_failed=retry_failed,
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
    retry_failed: bool = False,
    on_day: Callable[[DayReport], None] = lambda _: None,
) -> list[DayReport]:
    """Summarise what is due in each day of the closed range, oldest day first; ``on_day`` hears of each when done.

    One interaction failing fails nothing else. Raises ``LlmMisconfigured`` when every further call would fail alike;
    what was published by then stays, and the day can be run again.
    """
    eligibility = eligibility_of(deps, params, prompt_version, retry_failed=retry_failed)
    keys = _keys(days)
    marks = deps.partitions.begin(ASSET, keys, now=eligibility.now)
    before = deps.partitions.counts(days, eligibility=eligibility)
    budget = Budget(deps.budgets, lane=lane, calls_cap=params.calls_cap, usd_cap=params.usd_cap)
    one = SummarizeDeps(
        store=deps.store,
        llm=deps.llm,
        counter=deps.counter,
        budget=budget,
        lane=lane,
        run_id=run_id,
        fact_confidence=params.fact_confidence,
        backoff_seconds=params.backoff_seconds,
        window_messages=params.window_messages,
    )
    reports: list[DayReport] = []
    for key in keys:
        day = date.fromisoformat(key)
        report = DayReport(day)
        left = before.get(day, PartitionCounts(0, 0, 0, 0, None))
        if left.pending and not budget.is_spent:
            _work_off(day, report, deps=one, eligibility=eligibility, params=params, holder=holder)
            left = deps.partitions.counts((day, day), eligibility=eligibility).get(day, left)
        report.pending, report.failed = left.pending, left.failed
        due_at = left.due_at
        if budget.is_spent and left.pending:
            due_at = max(due_at or eligibility.now, _next_day(eligibility.now, params.timezone))
            report.reasons.append(budget.reason or "")
        deps.partitions.finish(ASSET, key, marks=marks.get(key, ()), pending=left.pending, due_at=due_at)
        reports.append(report)
        on_day(report)
    return reports


def _work_off(
    day: date,
    report: DayReport,
    *,
    deps: SummarizeDeps,
    eligibility: Eligibility,
    params: SummaryParams,
    holder: str,
) -> None:
    while not deps.budget.is_spent:
        claimed = deps.store.claim(
            (day, day),
            eligibility=eligibility,
            limit=CLAIMED_AT_ONCE,
            holder=holder,
            lease_seconds=params.lease_seconds,
        )
        if not claimed:
            return
        for made in _make_all(claimed, deps=deps, eligibility=eligibility, concurrency=params.concurrency):
            report.add(made)


def _make_all(
    claimed: Sequence[Claimed], *, deps: SummarizeDeps, eligibility: Eligibility, concurrency: int
) -> list[Made]:
    if concurrency <= 1:
        return [summarize_one(one, deps=deps, eligibility=eligibility) for one in claimed]

    def make(one: Claimed) -> Made:
        return summarize_one(one, deps=deps, eligibility=eligibility)

    with ThreadPoolExecutor(max_workers=concurrency) as workers:
        return list(workers.map(make, claimed))


def _keys(days: tuple[date, date]) -> list[str]:
    count = (days[1] - days[0]).days + 1
    return [(days[0] + timedelta(days=index)).isoformat() for index in range(count)]


def _next_day(now: datetime, timezone: str) -> datetime:
    local = now.astimezone(ZoneInfo(timezone))
    return (local + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)


# ── what it would cost ────────────────────────────────────────────────────────────────────────

PROMPT_TOKENS = 900
"""Instructions around the conversation, measured on the prompts in force."""

MESSAGE_TOKENS = 40
"""Number, speaker, time and JSON around each message of the prompt, measured likewise."""

ANSWER_TOKENS = 450
"""A usual answer; replies of a real model vary by half of it either way."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What summarising all that waits would take: ``tokens`` in and out together, ``usd`` by today's prices."""

    interactions: int
    tokens: int
    usd: float

    def to_json(self) -> dict[str, float | int]:
        return {"interactions": self.interactions, "tokens": self.tokens, "usd": round(self.usd, 4)}


def estimate(llm: Llm, *, interactions: int, messages: int, message_tokens: int) -> Estimate:
    """The price of summarising ``interactions`` with ``messages`` of ``message_tokens`` text tokens in all."""
    tokens_in = interactions * PROMPT_TOKENS + messages * MESSAGE_TOKENS + message_tokens
    tokens_out = interactions * ANSWER_TOKENS
    usd = llm.price(Usage(tokens_in, tokens_out)) if interactions and llm.is_paid else 0.0
    return Estimate(interactions=interactions, tokens=tokens_in + tokens_out, usd=usd)
