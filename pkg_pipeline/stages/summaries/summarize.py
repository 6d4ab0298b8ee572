"""One claimed interaction: published, failed or deferred (P19)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.records import SummaryContent
from pkg_pipeline.prompts import summary as prompt
from pkg_pipeline.stages.llm.answer_validation import attempt
from pkg_pipeline.stages.llm.ask import UNAVAILABLE_SECONDS, Asking
from pkg_pipeline.stages.llm.stores import Failure
from pkg_pipeline.stages.summaries.making import Made, Making, MakingRules, Moved, Outcome, SummaryMaker
from pkg_pipeline.stages.summaries.stores import Claimed, Eligibility, SummaryRow

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.summaries.store import PostgresSummaryStore

CALLS_PER_WINDOW = 4
"""Answers per attempt at a window: normal, strict, two halves."""


def summarize_one(
    claimed: Claimed,
    *,
    store: PostgresSummaryStore,
    asking: Asking,
    eligibility: Eligibility,
    rules: MakingRules,
    backoff_seconds: float,
) -> Made:
    """Publish a summary of the claimed interaction, or record why not. Raises only ``LlmMisconfigured``."""
    made, started = Made(), time.perf_counter()

    def fail(failure: Failure) -> None:
        made.outcome = Outcome.QUARANTINED if failure.counts else Outcome.DEFERRED
        made.reason = failure.error
        store.fail(claimed, failure, eligibility=eligibility)

    def make() -> None:
        try:
            making = SummaryMaker(claimed, store, asking, rules, made).make()
        except Moved as moved:
            fail(Failure(str(moved), UNAVAILABLE_SECONDS, counts=False))
            return
        made.seconds = time.perf_counter() - started
        row = _row(claimed, making, made, asking)
        is_ours = store.publish(row, token=claimed.token)
        made.outcome = Outcome.PUBLISHED if is_ours else Outcome.LOST
        made.reason = making.reason if is_ours else "another worker had taken it over"

    attempt(make, run=asking.run, effort=made, past=claimed, backoff_seconds=backoff_seconds, fail=fail)
    return made


def _row(claimed: Claimed, making: Making, made: Made, asking: Asking) -> SummaryRow:
    source, content = claimed.source, making.content
    made.source_tokens = claimed.token_count
    made.summary_tokens = sum(asking.counter.count_many(_printed(content)))
    return SummaryRow(
        id=hashing.summary_id(
            source.interaction_id,
            source.input_hash,
            prompt_version=making.prompt_version,
            model=asking.llm.model,
            parent_id=claimed.parent_summary_id,
        ),
        source=source,
        content=content,
        prompt_version=making.prompt_version,
        model=asking.llm.model,
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
        is_paid=asking.llm.is_paid,
    )


def _printed(content: SummaryContent) -> list[str]:
    return [content.summary, *content.key_points]
