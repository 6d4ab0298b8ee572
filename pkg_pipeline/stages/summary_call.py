"""One question to the model about one window: replay, budget, call, ledger, gate. No ladder, no lease, no publication.

Every paid answer is in the ledger before it is looked at; an answer that does not pass is never "no facts" (B9).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from typing import Any

from pkg_pipeline.memory.cleaning import clean_text
from pkg_pipeline.memory.gate import check
from pkg_pipeline.memory.records import Quarantined, SummaryContent, SummaryInput, Usage
from pkg_pipeline.prompts import interaction_summary as prompt
from pkg_pipeline.stages.ports import (
    Llm,
    LlmRefused,
    LlmRejected,
    LlmReply,
    LlmRequest,
    LlmTooLong,
    LlmUnavailable,
    TokenCounter,
)
from pkg_pipeline.stages.stores import Claimed, LedgerRow, SummaryStore
from pkg_pipeline.stages.summary_run import TASK, Run

ANSWER_LIMIT_TOKENS = prompt.MAX_OUTPUT_TOKENS

WORST_TOKENIZER = 2.0
"""A model may count up to twice the tokens that we do (B12); window and budget are reckoned with that."""


class Outcome(Enum):
    PUBLISHED = "published"
    DEFERRED = "deferred"
    QUARANTINED = "quarantined"
    LOST = "lost"


@dataclass(slots=True)
class Made:
    """What became of one interaction, and what it took. ``cost_usd`` is what the ledger says."""

    outcome: Outcome = Outcome.DEFERRED
    reason: str = ""
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    source_tokens: int = 0
    summary_tokens: int = 0
    seconds: float = 0.0


class NotPublishable(Exception):
    """An answer came and did not pass; ``problem`` holds none of its words."""

    def __init__(self, problem: str, answer: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.answer = answer


@dataclass(frozen=True, slots=True)
class SummarizeDeps:
    store: SummaryStore
    llm: Llm
    counter: TokenCounter
    run: Run
    run_id: str | None
    fact_confidence: float
    backoff_seconds: float
    window_messages: int


@dataclass(slots=True)
class Attempt:
    """One interaction on its way: what it cost so far."""

    claimed: Claimed
    deps: SummarizeDeps
    made: Made = field(default_factory=Made)


Content = tuple[SummaryContent, tuple[Quarantined, ...]]
"""What passed, and what was taken out of it."""


def ask(attempt: Attempt, source: SummaryInput, *, problem: str | None = None) -> Content:
    deps = attempt.deps
    rendered = prompt.render(source, strict=problem is not None, problem=problem)
    request = LlmRequest(
        task=TASK,
        prompt_version=prompt.VERSION,
        system=rendered.system,
        user=rendered.user,
        schema=_schema(),
        max_output_tokens=ANSWER_LIMIT_TOKENS,
        payload=source,
        subject=str(source.interaction_id),
    )
    request_hash = _request_hash(deps.llm.model, request)
    text = _answer(attempt, request, request_hash)
    content, dropped, verdict = _judged(text, source)
    if content is None:
        deps.store.refuse(request_hash, reason=verdict)
        raise NotPublishable(verdict, text)
    return content, dropped


def _judged(text: str, source: SummaryInput) -> tuple[SummaryContent | None, tuple[Quarantined, ...], str]:
    """The gate's word. An answer that the checks themselves stumble over does not pass either: it stops nobody else."""
    if "\\u0000" in text:
        return None, (), "the answer holds a character that cannot be stored"
    try:
        result = check(prompt.to_candidate(prompt.parse(text)), source)
    except prompt.AnswerInvalid as invalid:
        return None, (), f"the answer is no JSON of the schema: {invalid.problem}"
    except Exception as error:  # noqa: BLE001 - pure code over a model's words: whatever breaks, breaks this one only
        return None, (), f"the answer could not be checked ({type(error).__name__})"
    return result.content, result.dropped, result.quarantine_reason or "the gate let nothing pass"


def _answer(attempt: Attempt, request: LlmRequest, request_hash: str) -> str:
    """The model's words: kept ones where they were paid for before (B8), else asked for, booked, then given."""
    deps, interaction_id = attempt.deps, attempt.claimed.source.interaction_id
    if not deps.llm.is_paid:
        reply = deps.llm.complete(request)
        return _booked(attempt, request, request_hash, reply)
    if (kept := deps.store.replay(request_hash)) is not None:
        return kept[0]
    reservation = deps.run.take(_most_usd(attempt, request))
    try:
        text = _booked(attempt, request, request_hash, deps.llm.complete(request))
    except (LlmRefused, LlmTooLong, LlmRejected, LlmUnavailable) as error:
        if error.usage is not None:
            _count(attempt, error.usage)
        raise
    finally:
        attempt.made.cost_usd += deps.run.settle(reservation, interaction_id=interaction_id)
    deps.run.answered()
    return text


def _booked(attempt: Attempt, request: LlmRequest, request_hash: str, reply: LlmReply) -> str:
    text = clean_text(reply.text)
    _count(attempt, reply.usage)
    attempt.deps.store.record(_ledger(attempt, request, request_hash, reply, text))
    return text


def _most_usd(attempt: Attempt, request: LlmRequest) -> float:
    """The most that a question can cost: its prompt by the worst tokenizer, asked again for an answer cut at its
    limit, with twice the room. Raises ``LlmTooLong`` before anything is sent for what cannot fit.
    """
    deps = attempt.deps
    tokens = deps.counter.count(request.system) + deps.counter.count(request.user) + _schema_tokens(deps.counter)
    if tokens + ANSWER_LIMIT_TOKENS > deps.llm.window_tokens:
        raise LlmTooLong(f"the prompt has {tokens} tokens, the model's window {deps.llm.window_tokens}")
    worst = int(tokens * WORST_TOKENIZER)
    return sum(deps.llm.price(Usage(worst, room)) for room in (ANSWER_LIMIT_TOKENS, 2 * ANSWER_LIMIT_TOKENS))


@cache
def _schema() -> Mapping[str, Any]:
    """Made once: pydantic needs milliseconds for it."""
    return prompt.schema()


@cache
def _schema_text() -> str:
    return json.dumps(_schema(), sort_keys=True)


def _schema_tokens(counter: TokenCounter) -> int:
    return counter.count(_schema_text())


def _count(attempt: Attempt, usage: Usage) -> None:
    made = attempt.made
    made.calls += 1
    made.input_tokens += usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    made.output_tokens += usage.output_tokens


def _ledger(attempt: Attempt, request: LlmRequest, request_hash: str, reply: LlmReply, text: str) -> LedgerRow:
    deps = attempt.deps
    return LedgerRow(
        interaction_id=attempt.claimed.source.interaction_id,
        request_hash=request_hash,
        task=request.task,
        model=reply.model,
        prompt_version=request.prompt_version,
        lane=deps.run.lane,
        outcome="ok",
        usage=reply.usage,
        cost_usd=deps.llm.price(reply.usage),
        duration_seconds=reply.duration_seconds,
        run_id=deps.run_id,
        request_id=reply.request_id,
        # an offline answer can be made again at no cost; a paid one is kept (B8)
        reply=text if deps.llm.is_paid else None,
    )


def _request_hash(model: str, request: LlmRequest) -> str:
    """What is asked, by content: the replay key, and the adapter's name for all tries of it."""
    asked = [model, request.prompt_version, request.system, request.user, dict(request.schema)]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
