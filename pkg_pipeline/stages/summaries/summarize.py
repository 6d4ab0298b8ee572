"""One claimed interaction: published, failed or deferred (P19)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import UUID

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.records import Quarantined, SummaryContent
from pkg_pipeline.prompts import summary as prompt
from pkg_pipeline.stages.llm.answer_validation import attempt
from pkg_pipeline.stages.llm.ask import UNAVAILABLE_SECONDS, Asking, InBatch, Tally
from pkg_pipeline.stages.llm.stores import Failure
from pkg_pipeline.stages.summaries.making import Made, Making, MakingRules, Moved, Outcome, SummaryMaker
from pkg_pipeline.stages.summaries.stores import Claimed, Eligibility, SummaryRow
from pkg_pipeline.stages.summaries.together import Passed, Share, Together

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.summaries.store import PostgresSummaryStore

CALLS_PER_WINDOW = 4
"""Answers per attempt at a window: normal, strict, two halves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarizer:
    """What a run summarises with."""

    store: PostgresSummaryStore
    asking: Asking
    eligibility: Eligibility
    rules: MakingRules
    backoff_seconds: float

    def together(self, talks: tuple[Claimed, ...]) -> Together:
        by_id = {one.lease_id: one for one in talks}

        def save(passed: Passed, share: Share) -> Mapping[UUID, Made]:
            return self._save([(by_id[key], *content) for key, content in passed.items()], share)

        return Together(talks, save)

    def one(self, claimed: Claimed, group: Together | None = None) -> Made | None:
        """Publish a summary of the claimed interaction, record why not, or leave it ``IN_BATCH``; None: it is to be
        released untouched.

        ``group``: what it is asked about with first. Raises only ``LlmMisconfigured``.
        """
        if self.asking.is_over and (group is None or not group.is_done):
            return None
        made, own = Made(), Tally()

        def fail(failure: Failure) -> None:
            made.outcome = Outcome.QUARANTINED if failure.counts else Outcome.DEFERRED
            made.reason = failure.error
            if group is not None:
                cost = failure.cost_usd - own.cost_usd + group.share.usd
                failure = replace(failure, cost_usd=cost)
            self.store.fail(claimed, failure, eligibility=self.eligibility)

        def make() -> None:
            if group is not None:
                group.ask_once(self.asking, made)
                own.cost_usd = made.cost_usd
                if group.is_in_batch:
                    raise InBatch
                if (shared := group.made.get(claimed.lease_id)) is not None:
                    _carry(shared, made)
                    return
                if made.calls == 0 and (self.asking.is_over or not group.is_done):
                    made.outcome = Outcome.UNTOUCHED
                    return
            self._alone(claimed, made, own, fail)

        try:
            attempt(
                make, run=self.asking.run, effort=made, past=claimed, backoff_seconds=self.backoff_seconds, fail=fail
            )
        except InBatch:
            made.outcome = Outcome.IN_BATCH
        return None if made.outcome is Outcome.UNTOUCHED else made

    def _alone(self, claimed: Claimed, made: Made, before: Tally, fail: Callable[[Failure], None]) -> None:
        """``before``: what ``made`` counts that was not for this interaction alone."""
        started = time.perf_counter()
        try:
            making = SummaryMaker(claimed, self.store, self.asking, self.rules, made).make()
        except Moved as moved:
            fail(Failure(str(moved), UNAVAILABLE_SECONDS, counts=False))
            return
        share = Share(made.cost_usd - before.cost_usd, time.perf_counter() - started)
        (is_ours,) = self.store.publish([(_row(claimed, making, made, self.asking, share), claimed.token)])
        _end(made, is_ours, making.reason)

    def _save(
        self, passed: Sequence[tuple[Claimed, SummaryContent, tuple[Quarantined, ...]]], share: Share
    ) -> Mapping[UUID, Made]:
        """What one question gave, in one transaction."""
        made = {claimed.lease_id: Made() for claimed, _, _ in passed}
        rows = list[tuple[SummaryRow, int]]()
        for claimed, content, dropped in passed:
            one = made[claimed.lease_id]
            making = SummaryMaker(claimed, self.store, self.asking, self.rules, one).told(content, dropped)
            rows.append((_row(claimed, making, one, self.asking, share), claimed.token))
        for one, is_ours in zip(made.values(), self.store.publish(rows), strict=True):
            _end(one, is_ours, "")
        return made


def _end(made: Made, is_ours: bool, reason: str) -> None:
    made.outcome = Outcome.PUBLISHED if is_ours else Outcome.LOST
    made.reason = reason if is_ours else "another worker had taken it over"


def _carry(shared: Made, made: Made) -> None:
    """What a question about several gave one of them, without its cost."""
    for name in ("outcome", "reason", "method", "windows", "source_tokens", "summary_tokens"):
        setattr(made, name, getattr(shared, name))


def _row(claimed: Claimed, making: Making, made: Made, asking: Asking, share: Share) -> SummaryRow:
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
        cost_usd=share.usd,
        generation_seconds=share.seconds,
        quarantined=making.dropped,
        message_ids=making.message_ids,
        method=made.method,
        window_count=made.windows,
        schema_version=prompt.SCHEMA_VERSION,
        is_paid=asking.llm.is_paid,
    )


def _printed(content: SummaryContent) -> list[str]:
    return [content.summary, *content.key_points]
