"""One claimed interaction: made, then published, or recorded as failed or put off (P19).

Which interactions are claimed, and in what order, is ``summaries``; how the content comes about is ``summary_making``.
"""

from __future__ import annotations

import time

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.records import SummaryContent
from pkg_pipeline.prompts import interaction_summary as prompt
from pkg_pipeline.stages.asking import UNAVAILABLE_SECONDS, rest_after
from pkg_pipeline.stages.ports import LlmMisconfigured, LlmRefused, LlmRejected, LlmTooLong, LlmUnavailable
from pkg_pipeline.stages.stores import Claimed, Eligibility, Failure, SummaryRow
from pkg_pipeline.stages.summary_call import Attempt, Made, NotPublishable, Outcome, SummarizeDeps
from pkg_pipeline.stages.summary_making import Making, Moved, make
from pkg_pipeline.stages.summary_run import OutOfBudget

CALLS_PER_WINDOW = 4
"""The most answers that one attempt at one window asks for: as usual, stricter, and one for each half."""


def summarize_one(claimed: Claimed, *, deps: SummarizeDeps, eligibility: Eligibility) -> Made:
    """Publish a summary of the claimed interaction, or record why not. Raises ``LlmMisconfigured`` only."""
    attempt = Attempt(claimed, deps)
    started = time.perf_counter()
    try:
        making = make(attempt)
    except OutOfBudget as stop:
        wait = 0.0 if stop.refusal.is_for_all else stop.refusal.retry_after_seconds
        _give_back(attempt, eligibility, Failure(str(stop), wait, counts=False))
    except Moved as moved:
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
        _publish(attempt, making)
    attempt.made.seconds = time.perf_counter() - started
    return attempt.made


def _deferral(attempt: Attempt, error: LlmUnavailable) -> Failure:
    wait = rest_after(error, attempt.claimed.deferrals)
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
