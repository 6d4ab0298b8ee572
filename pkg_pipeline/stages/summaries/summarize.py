"""One claimed interaction: made, then published, or recorded as failed or put off (P19).

Which interactions are claimed, and in what order, is ``summaries``; how the content comes about is ``summary_making``.
"""

from __future__ import annotations

import time

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.records import SummaryContent
from pkg_pipeline.prompts import interaction_summary as prompt
from pkg_pipeline.stages.llm.answer_validation import NOTHING_PASSED, failure_of
from pkg_pipeline.stages.llm.ask import UNAVAILABLE_SECONDS
from pkg_pipeline.stages.ports import LlmMisconfigured
from pkg_pipeline.stages.summaries.call import Attempt, Made, Outcome, SummarizeDeps
from pkg_pipeline.stages.summaries.making import Making, Moved, make
from pkg_pipeline.stages.summaries.stores import Claimed, Eligibility, Failure, SummaryRow

CALLS_PER_WINDOW = 4
"""The most answers that one attempt at one window asks for: as usual, stricter, and one for each half."""


def summarize_one(claimed: Claimed, *, deps: SummarizeDeps, eligibility: Eligibility) -> Made:
    """Publish a summary of the claimed interaction, or record why not. Raises ``LlmMisconfigured`` only."""
    attempt = Attempt(claimed, deps)
    started = time.perf_counter()
    try:
        making = make(attempt)
    except Moved as moved:
        _give_back(attempt, eligibility, Failure(str(moved), UNAVAILABLE_SECONDS, counts=False))
    except NOTHING_PASSED as error:
        _give_back(attempt, eligibility, _failure(attempt, error))
        if isinstance(error, LlmMisconfigured):
            raise
    else:
        attempt.made.seconds = time.perf_counter() - started
        _publish(attempt, making)
    attempt.made.seconds = time.perf_counter() - started
    return attempt.made


def _failure(attempt: Attempt, error: Exception) -> Failure:
    claimed, deps = attempt.claimed, attempt.deps
    return failure_of(
        error,
        run=deps.run,
        attempts=claimed.attempts,
        deferrals=claimed.deferrals,
        backoff_seconds=deps.backoff_seconds,
        tally=attempt.made,
    )


def _give_back(attempt: Attempt, eligibility: Eligibility, failure: Failure) -> None:
    attempt.made.outcome = Outcome.QUARANTINED if failure.counts else Outcome.DEFERRED
    attempt.made.reason = failure.error
    attempt.deps.store.fail(attempt.claimed, failure, eligibility=eligibility)


def _publish(attempt: Attempt, making: Making) -> None:
    claimed, deps, made = attempt.claimed, attempt.deps, attempt.made
    source, content = claimed.source, making.content
    made.source_tokens = claimed.token_count
    made.summary_tokens = sum(deps.counter.count_many(_printed(content)))
    row = SummaryRow(
        id=hashing.summary_id(
            source.interaction_id,
            source.input_hash,
            prompt_version=making.prompt_version,
            model=deps.llm.model,
            parent_id=claimed.parent_summary_id,
        ),
        source=source,
        content=content,
        prompt_version=making.prompt_version,
        model=deps.llm.model,
        parent_summary_id=claimed.parent_summary_id,
        revision_count=claimed.parent_revision + 1,
        source_token_count=made.source_tokens,
        summary_token_count=made.summary_tokens,
        cost_usd=made.cost_usd,
        generation_seconds=made.seconds,
        quarantined=making.dropped,
        message_ids=making.message_ids,
        method=made.method,
        window_count=made.windows,
        schema_version=prompt.SCHEMA_VERSION,
        is_paid=deps.llm.is_paid,
    )
    published = deps.store.publish(row, token=claimed.token, fact_confidence=deps.fact_confidence)
    made.outcome = Outcome.PUBLISHED if published else Outcome.LOST
    made.reason = making.reason if published else "another worker had taken it over"


def _printed(content: SummaryContent) -> list[str]:
    """What a context may print of a summary: its compression is measured against this."""
    return [
        content.summary,
        *content.key_points,
        *(item.description for item in content.decisions),
        *(item.description for item in content.action_items),
    ]
