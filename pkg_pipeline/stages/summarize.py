"""One claimed interaction up the ladder of P19: as usual, stricter, in windows; then published or recorded.

Which interactions are claimed, and in what order, is ``summaries``; how one question is asked is ``summary_call``.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.merging import merge_windows
from pkg_pipeline.memory.records import Quarantined, SummaryContent, SummaryInput
from pkg_pipeline.memory.windows import halves, windows
from pkg_pipeline.prompts import interaction_summary as prompt
from pkg_pipeline.stages.asking import WORST_TOKENIZER
from pkg_pipeline.stages.ports import LlmMisconfigured, LlmRefused, LlmRejected, LlmTooLong, LlmUnavailable
from pkg_pipeline.stages.stores import Claimed, Eligibility, Failure, SummaryRow
from pkg_pipeline.stages.summary_call import (
    ANSWER_LIMIT_TOKENS,
    Attempt,
    Content,
    Made,
    NotPublishable,
    Outcome,
    SummarizeDeps,
    ask,
)
from pkg_pipeline.stages.summary_run import OutOfBudget

CALLS_PER_WINDOW = 4
"""The most answers that one attempt at one window asks for: as usual, stricter, and one for each half."""

PROMPT_ROOM_TOKENS = 4_000
"""Kept free in a window for instructions and schema."""

LINE_TOKENS = 60
"""Number, speaker, time and JSON around a message of the prompt, generously."""

UNAVAILABLE_SECONDS = 60.0
MOST_REST_SECONDS = 3_600.0
"""Work rests 60 s × 2ⁿ after transport or quota trouble that named no time itself, at most an hour."""

MOST_OBEYED_SECONDS = 86_400.0
"""A ``retry-after`` beyond a day is looked at again after a day."""


class _Moved(Exception):
    """There is nothing to ask about: the interactions hop is behind."""


def summarize_one(claimed: Claimed, *, deps: SummarizeDeps, eligibility: Eligibility) -> Made:
    """Publish a summary of the claimed interaction, or record why not. Raises ``LlmMisconfigured`` only."""
    attempt = Attempt(claimed, deps)
    started = time.perf_counter()
    try:
        content, dropped = _climb(attempt)
    except OutOfBudget as stop:
        wait = 0.0 if stop.refusal.is_for_all else stop.refusal.retry_after_seconds
        _give_back(attempt, eligibility, Failure(str(stop), wait, counts=False))
    except _Moved as moved:
        _give_back(attempt, eligibility, Failure(str(moved), UNAVAILABLE_SECONDS, counts=False))
    except LlmUnavailable as error:
        _give_back(attempt, eligibility, _deferral(attempt, error))
    except LlmMisconfigured as error:
        deps.run.misconfigured(str(error))
        _give_back(attempt, eligibility, Failure(str(error), 0.0, counts=False))
        raise
    except (NotPublishable, LlmRefused, LlmRejected, LlmTooLong) as error:
        _fail(attempt, eligibility, error)
    else:
        attempt.made.seconds = time.perf_counter() - started
        _publish(attempt, content, dropped)
    attempt.made.seconds = time.perf_counter() - started
    return attempt.made


def _deferral(attempt: Attempt, error: LlmUnavailable) -> Failure:
    asked = error.retry_after_seconds
    own = min(UNAVAILABLE_SECONDS * 2**attempt.claimed.deferrals, MOST_REST_SECONDS)
    wait = min(max(asked, 1.0), MOST_OBEYED_SECONDS) if asked is not None else own
    attempt.deps.run.unavailable(str(error), wait)
    return Failure(f"the model is unavailable: {error}", wait, counts=False)


def _fail(attempt: Attempt, eligibility: Eligibility, error: Exception) -> None:
    backoff = attempt.deps.backoff_seconds * 2**attempt.claimed.attempts
    answer = error.answer if isinstance(error, NotPublishable) else ""
    failure = Failure(
        str(error), backoff, counts=True, quarantined=(answer, str(error)), cost_usd=attempt.made.cost_usd
    )
    _give_back(attempt, eligibility, failure)
    attempt.made.outcome = Outcome.QUARANTINED


def _give_back(attempt: Attempt, eligibility: Eligibility, failure: Failure) -> None:
    attempt.made.outcome, attempt.made.reason = Outcome.DEFERRED, failure.error
    attempt.deps.store.fail(attempt.claimed, failure, eligibility=eligibility)


def _climb(attempt: Attempt) -> Content:
    """Windows first where the whole is too long (P18), then each up its rungs."""
    source = attempt.claimed.source
    if not source.messages:
        raise _Moved("its messages are gone; its chat has to be looked at again")
    return _merged([_rungs(attempt, part) for part in _windows(attempt)], source)


def _windows(attempt: Attempt) -> tuple[SummaryInput, ...]:
    source, deps = attempt.claimed.source, attempt.deps
    if not deps.llm.is_paid:
        return (source,)
    most_tokens = int(deps.llm.window_tokens / WORST_TOKENIZER) - ANSWER_LIMIT_TOKENS - PROMPT_ROOM_TOKENS
    most_tokens = max(1_000, most_tokens)
    count = len(source.messages)
    if count <= deps.window_messages and attempt.claimed.token_count + count * LINE_TOKENS <= most_tokens:
        return (source,)
    tokens = [size + LINE_TOKENS for size in deps.counter.count_many([message.text for message in source.messages])]
    return windows(source, most_messages=deps.window_messages, most_tokens=most_tokens, tokens=tokens)


def _rungs(attempt: Attempt, part: SummaryInput) -> Content:
    """P19: as usual, stricter, in halves. Raises what the last rung raised."""
    problem: str | None = None
    try:
        return ask(attempt, part)
    except LlmTooLong as too_long:
        last: Exception = too_long
    except NotPublishable as failure:
        try:
            return ask(attempt, part, problem=failure.problem)
        except (NotPublishable, LlmTooLong) as again:
            problem, last = failure.problem, again
    smaller = halves(part)
    if len(smaller) < 2:
        raise last
    return _merged([ask(attempt, half, problem=problem) for half in smaller], part)


def _merged(found: Sequence[Content], source: SummaryInput) -> Content:
    content = merge_windows([content for content, _ in found], source)
    return content, tuple(entry for _, dropped in found for entry in dropped)


def _publish(attempt: Attempt, content: SummaryContent, dropped: tuple[Quarantined, ...]) -> None:
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
    if not published:
        made.reason = "another worker had taken it over"


def _printed(content: SummaryContent) -> list[str]:
    """What a context may print of a summary: its compression is measured against this."""
    return [
        content.summary,
        *content.key_points,
        *(item.description for item in content.decisions),
        *(item.description for item in content.action_items),
    ]
