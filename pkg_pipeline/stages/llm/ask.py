"""One question to the model, whatever it is about: replay, budget, call, ledger. What the words mean is the asker's.

Every paid answer is in the ledger before anybody looks at it (B6); what was paid for before is not asked again (B8).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from pkg_pipeline.memory.records import Usage
from pkg_pipeline.memory.text.cleaning import clean_text
from pkg_pipeline.stages.llm.run import Run
from pkg_pipeline.stages.llm.stores import PlannedCall
from pkg_pipeline.stages.ports import (
    Llm,
    LlmError,
    LlmReply,
    LlmRequest,
    LlmTooLong,
    LlmUnanswered,
    LlmUnavailable,
    TokenCounter,
)
from pkg_pipeline.stages.summaries.stores import LedgerRow, LedgerStore, Subject

WORST_TOKENIZER = 2.0
"""A model may count up to twice the tokens that we do (B12); window and budget are reckoned with that."""

UNAVAILABLE_SECONDS = 60.0
MOST_REST_SECONDS = 3_600.0
"""Work rests 60 s × 2ⁿ after transport or quota trouble that named no time itself, at most an hour."""

MOST_OBEYED_SECONDS = 86_400.0
"""A ``retry-after`` beyond a day is looked at again after a day."""


@dataclass(slots=True)
class Tally:
    """What questions took so far. ``cost_usd`` is what the ledger says."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0

    def count(self, usage: Usage) -> None:
        self.calls += 1
        self.input_tokens += usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        self.output_tokens += usage.output_tokens


def answer(
    request: LlmRequest,
    *,
    subject: Subject,
    ledger: LedgerStore,
    llm: Llm,
    counter: TokenCounter,
    run: Run,
    tally: Tally,
) -> tuple[str, str]:
    """The model's words, and the hash they are kept under (``LedgerStore.refuse`` takes it when they do not pass).

    Raises an ``LlmError``, or ``OutOfBudget`` before anything is sent.
    """
    request_hash = hash_of(llm.model, request)
    if not llm.is_paid:
        return _booked(request, request_hash, llm.complete(request), subject, ledger, llm, run, tally), request_hash
    if (kept := ledger.replay(request_hash)) is not None:
        return kept[0], request_hash
    usd = most_usd(request, llm=llm, counter=counter)
    call = PlannedCall(subject, request_hash, request.task, llm.model, request.prompt_version)
    for left in reversed(range(run.tries_unanswered)):
        # Settled only where the outcome is in the ledger: whatever else ends the call leaves the reservation, which is
        # booked in full when its lease ends.
        reservation = run.take(usd, call)
        try:
            text = _booked(request, request_hash, llm.complete(request), subject, ledger, llm, run, tally)
        except LlmError as error:
            tally.cost_usd += run.settle(reservation, subject=subject)
            if isinstance(error, LlmUnanswered) and left:
                continue
            if error.usage is not None:
                tally.count(error.usage)
            raise
        tally.cost_usd += run.settle(reservation, subject=subject)
        run.answered()
        return text, request_hash
    raise AssertionError("the last try returns or raises")


def rest_after(error: LlmUnavailable, deferrals: int) -> float:
    """Seconds until a question that was put off ``deferrals`` times already is asked again (P19)."""
    asked = error.retry_after_seconds
    if asked is not None:
        return min(max(asked, 1.0), MOST_OBEYED_SECONDS)
    return min(UNAVAILABLE_SECONDS * 2**deferrals, MOST_REST_SECONDS)


def most_usd(request: LlmRequest, *, llm: Llm, counter: TokenCounter) -> float:
    """The most that a question can cost: its prompt by the worst tokenizer, asked again for an answer cut at its
    limit, with twice the room. Raises ``LlmTooLong`` before anything is sent for what cannot fit.
    """
    limit = request.max_output_tokens
    tokens = prompt_tokens(request, counter)
    if tokens + limit > llm.window_tokens:
        raise LlmTooLong(f"the prompt has {tokens} tokens, the model's window {llm.window_tokens}")
    return sum(llm.price(worst_usage(tokens, room)) for room in (limit, 2 * limit))


def prompt_tokens(request: LlmRequest, counter: TokenCounter) -> int:
    """The prompt and its schema by our own count."""
    schema = json.dumps(request.schema, sort_keys=True)
    return sum(counter.count(text) for text in (request.system, request.user, schema))


def worst_usage(tokens: int, room: int) -> Usage:
    """The most that one try with a prompt of ``tokens`` and an answer of at most ``room`` can use."""
    return Usage(int(tokens * WORST_TOKENIZER), room, estimated=True)


def hash_of(model: str, request: LlmRequest) -> str:
    """What is asked, by content: the replay key, and the adapter's name for all tries of it."""
    asked = [model, request.prompt_version, request.system, request.user, dict(request.schema)]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def _booked(
    request: LlmRequest,
    request_hash: str,
    reply: LlmReply,
    subject: Subject,
    ledger: LedgerStore,
    llm: Llm,
    run: Run,
    tally: Tally,
) -> str:
    text = clean_text(reply.text)
    tally.count(reply.usage)
    ledger.record(
        LedgerRow(
            subject=subject,
            request_hash=request_hash,
            task=request.task,
            model=reply.model,
            prompt_version=request.prompt_version,
            lane=run.lane,
            outcome="ok",
            usage=reply.usage,
            cost_usd=llm.price(reply.usage),
            duration_seconds=reply.duration_seconds,
            run_id=run.run_id,
            request_id=reply.request_id,
            # an offline answer can be made again at no cost; a paid one is kept (B8)
            reply=text if llm.is_paid else None,
            backfill_id=run.backfill_id,
        )
    )
    return text
