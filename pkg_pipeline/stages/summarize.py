"""One claimed interaction up the ladder of P19: ask, gate, publish; else stricter, in windows, or recorded.

Which interactions are claimed, and in what order, is ``summaries``. Every paid answer is in the ledger before it is
looked at; an answer that does not pass is never "no facts".
"""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass, field
from enum import Enum

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.gate import check
from pkg_pipeline.memory.gate_records import GateResult
from pkg_pipeline.memory.merging import merge_windows, windows
from pkg_pipeline.memory.records import Quarantined, SummaryContent, SummaryInput, Usage
from pkg_pipeline.prompts import interaction_summary as prompt
from pkg_pipeline.stages.ports import (
    Llm,
    LlmMisconfigured,
    LlmRefused,
    LlmRejected,
    LlmReply,
    LlmRequest,
    LlmTooLong,
    LlmUnavailable,
    TokenCounter,
)
from pkg_pipeline.stages.stores import (
    BudgetStore,
    Claimed,
    Eligibility,
    Failure,
    Lane,
    LedgerRow,
    SummaryRow,
    SummaryStore,
)

TASK = "interaction_summary"
ANSWER_LIMIT_TOKENS = 4_000
UNAVAILABLE_SECONDS = 300.0
"""How long work rests after transport or quota trouble that named no time itself."""


class Outcome(Enum):
    PUBLISHED = "published"
    DEFERRED = "deferred"
    QUARANTINED = "quarantined"
    LOST = "lost"


@dataclass(slots=True)
class Made:
    """What became of one interaction, and what it took."""

    outcome: Outcome = Outcome.DEFERRED
    reason: str = ""
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    source_tokens: int = 0
    summary_tokens: int = 0
    seconds: float = 0.0


class _OutOfBudget(Exception):
    """The cap of the day is reached: work stops, nothing fails (P32)."""


class _NotPublishable(Exception):
    """An answer came and did not pass; ``problem`` holds none of its words."""

    def __init__(self, problem: str, answer: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.answer = answer


@dataclass(slots=True)
class Budget:
    """The day's caps of one lane as this run sees them; ``is_spent`` once a reservation was refused."""

    store: BudgetStore
    lane: Lane
    calls_cap: int | None
    usd_cap: float
    reason: str | None = None

    @property
    def is_spent(self) -> bool:
        return self.reason is not None

    def take(self, usd: float) -> None:
        reason = self.store.reserve(lane=self.lane, task=TASK, usd=usd, calls_cap=self.calls_cap, usd_cap=self.usd_cap)
        if reason is not None:
            self.reason = reason
            raise _OutOfBudget(reason)

    def settle(self, *, reserved_usd: float, spent_usd: float, used: bool) -> None:
        self.store.settle(lane=self.lane, task=TASK, reserved_usd=reserved_usd, spent_usd=spent_usd, used=used)


@dataclass(frozen=True, slots=True)
class SummarizeDeps:
    store: SummaryStore
    llm: Llm
    counter: TokenCounter
    budget: Budget
    lane: Lane
    run_id: str | None
    fact_confidence: float
    backoff_seconds: float
    window_messages: int


@dataclass(slots=True)
class _Attempt:
    """One interaction on its way: what it cost so far."""

    claimed: Claimed
    deps: SummarizeDeps
    made: Made = field(default_factory=Made)


def summarize_one(claimed: Claimed, *, deps: SummarizeDeps, eligibility: Eligibility) -> Made:
    """Publish a summary of the claimed interaction, or record why not. Raises ``LlmMisconfigured`` only."""
    attempt = _Attempt(claimed, deps)
    started = time.perf_counter()
    try:
        content, dropped = _climb(attempt)
    except _OutOfBudget as stop:
        _give_back(attempt, eligibility, Failure(str(stop), 0.0, counts=False))
    except LlmUnavailable as error:
        wait = error.retry_after_seconds or UNAVAILABLE_SECONDS
        _give_back(attempt, eligibility, Failure(f"the model is unavailable: {error}", wait, counts=False))
    except LlmMisconfigured as error:
        _give_back(attempt, eligibility, Failure(str(error), 0.0, counts=False))
        raise
    except (_NotPublishable, LlmRefused, LlmRejected, LlmTooLong) as error:
        backoff = deps.backoff_seconds * 2**claimed.attempts
        answer = error.answer if isinstance(error, _NotPublishable) else ""
        _give_back(attempt, eligibility, Failure(str(error), backoff, counts=True, quarantined=(answer, str(error))))
        attempt.made.outcome = Outcome.QUARANTINED
    else:
        attempt.made.seconds = time.perf_counter() - started
        _publish(attempt, content, dropped)
    attempt.made.seconds = time.perf_counter() - started
    return attempt.made


def _give_back(attempt: _Attempt, eligibility: Eligibility, failure: Failure) -> None:
    attempt.made.outcome, attempt.made.reason = Outcome.DEFERRED, failure.error
    attempt.deps.store.fail(attempt.claimed, failure, eligibility=eligibility)


def _climb(attempt: _Attempt) -> tuple[SummaryContent, tuple[Quarantined, ...]]:
    """The rungs of P19: as usual, stricter, in smaller windows."""
    source, deps = attempt.claimed.source, attempt.deps
    total = len(source.messages)
    needed = 1
    if deps.llm.is_paid and total > deps.window_messages:
        needed = -(-total // deps.window_messages)
    try:
        if needed > 1:
            return _in_windows(attempt, needed)
        return _ask(attempt, source)
    except LlmTooLong:
        problem = "too long"
    except _NotPublishable as failure:
        problem = failure.problem
        if needed == 1:
            try:
                return _ask(attempt, source, problem=problem)
            except (_NotPublishable, LlmTooLong) as again:
                problem = str(again)
                if total < 2:
                    raise
    return _in_windows(attempt, max(2, needed * 2), problem=problem)


def _in_windows(
    attempt: _Attempt, count: int, *, problem: str | None = None
) -> tuple[SummaryContent, tuple[Quarantined, ...]]:
    parts: list[SummaryContent] = []
    dropped: list[Quarantined] = []
    for part in windows(attempt.claimed.source, count=count, hash_of=_window_hash):
        content, out = _ask(attempt, part, problem=problem)
        parts.append(content)
        dropped += out
    return merge_windows(parts), tuple(dropped)


def _window_hash(input_hash: str, index: int) -> str:
    return hashing.input_hash([(index, input_hash)])


def _ask(
    attempt: _Attempt, source: SummaryInput, *, problem: str | None = None
) -> tuple[SummaryContent, tuple[Quarantined, ...]]:
    """One question and its verdict. Raises _NotPublishable, _OutOfBudget or an ``LlmError``."""
    deps = attempt.deps
    rendered = prompt.render(source, strict=problem is not None, problem=problem)
    request = LlmRequest(
        task=TASK,
        prompt_version=prompt.VERSION,
        system=rendered.system,
        user=rendered.user,
        schema=prompt.schema(),
        max_output_tokens=ANSWER_LIMIT_TOKENS,
        payload=source,
        subject=str(source.interaction_id),
    )
    request_hash = _request_hash(deps.llm.model, request)
    text = _answer(attempt, request, request_hash)
    result: GateResult | None = None
    try:
        result = check(prompt.to_candidate(prompt.parse(text)), source)
        verdict = result.quarantine_reason
    except prompt.AnswerInvalid as invalid:
        verdict = f"the answer is no JSON of the schema: {invalid.problem}"
    if result is None or result.content is None:
        verdict = verdict or "the gate let nothing pass"
        deps.store.refuse(request_hash, reason=verdict)
        raise _NotPublishable(verdict, text)
    return result.content, result.dropped


def _answer(attempt: _Attempt, request: LlmRequest, request_hash: str) -> str:
    deps = attempt.deps
    if deps.llm.is_paid and (kept := deps.store.replay(request_hash)) is not None:
        return kept[0]
    reserved = _reserve(attempt, request)
    spent, used = 0.0, False
    try:
        reply = deps.llm.complete(request)
        spent, used = deps.llm.price(reply.usage), True
    except (LlmRefused, LlmTooLong, LlmRejected, LlmUnavailable) as error:
        if error.usage is not None:
            spent, used = deps.llm.price(error.usage), True
            _count(attempt, error.usage, spent)
        raise
    finally:
        if deps.llm.is_paid:
            deps.budget.settle(reserved_usd=reserved, spent_usd=spent, used=used)
    _count(attempt, reply.usage, spent)
    deps.store.record(_ledger(attempt, request, request_hash, reply, spent))
    return reply.text


def _reserve(attempt: _Attempt, request: LlmRequest) -> float:
    deps = attempt.deps
    if not deps.llm.is_paid:
        return 0.0
    tokens = deps.counter.count(request.system) + deps.counter.count(request.user)
    if tokens + ANSWER_LIMIT_TOKENS > deps.llm.window_tokens:
        raise LlmTooLong(f"the prompt has {tokens} tokens, the model's window {deps.llm.window_tokens}")
    usd = deps.llm.price(Usage(tokens, ANSWER_LIMIT_TOKENS // 4))
    deps.budget.take(usd)
    return usd


def _count(attempt: _Attempt, usage: Usage, cost_usd: float) -> None:
    made = attempt.made
    made.calls += 1
    made.input_tokens += usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    made.output_tokens += usage.output_tokens
    made.cost_usd += cost_usd


def _ledger(attempt: _Attempt, request: LlmRequest, request_hash: str, reply: LlmReply, cost_usd: float) -> LedgerRow:
    return LedgerRow(
        interaction_id=attempt.claimed.source.interaction_id,
        request_hash=request_hash,
        task=request.task,
        model=reply.model,
        prompt_version=request.prompt_version,
        lane=attempt.deps.lane,
        outcome="ok",
        usage=reply.usage,
        cost_usd=cost_usd,
        duration_seconds=reply.duration_seconds,
        run_id=attempt.deps.run_id,
        request_id=reply.request_id,
        # an offline answer can be made again at no cost; a paid one is kept (B8)
        reply=reply.text if attempt.deps.llm.is_paid else None,
    )


def _request_hash(model: str, request: LlmRequest) -> str:
    asked = [model, request.prompt_version, request.system, request.user, dict(request.schema)]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def _publish(attempt: _Attempt, content: SummaryContent, dropped: tuple[Quarantined, ...]) -> None:
    claimed, deps, made = attempt.claimed, attempt.deps, attempt.made
    source = claimed.source
    made.source_tokens = claimed.token_count
    made.summary_tokens = sum(deps.counter.count_many(_printed(content)))
    row = SummaryRow(
        id=hashing.summary_id(
            source.interaction_id,
            source.input_hash,
            prompt_version=prompt.VERSION,
            model=deps.llm.model,
            parent_id=claimed.parent_summary_id,
        ),
        source=source,
        content=content,
        prompt_version=prompt.VERSION,
        model=deps.llm.model,
        parent_summary_id=claimed.parent_summary_id,
        revision_count=claimed.parent_revision + 1,
        source_token_count=made.source_tokens,
        summary_token_count=made.summary_tokens,
        cost_usd=made.cost_usd,
        generation_seconds=made.seconds,
        quarantined=dropped,
    )
    published = deps.store.publish(row, token=claimed.token, fact_confidence=deps.fact_confidence)
    made.outcome = Outcome.PUBLISHED if published else Outcome.LOST


def _printed(content: SummaryContent) -> list[str]:
    """What a context may print of a summary: its compression is measured against this."""
    return [
        content.summary,
        *content.key_points,
        *(item.description for item in content.decisions),
        *(item.description for item in content.action_items),
    ]
