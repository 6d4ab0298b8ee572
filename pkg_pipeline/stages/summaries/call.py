"""What the model is asked of an interaction: about a window, an update, summaries to be told as one.

No ladder, no lease, no publication. How an answer is judged is ``judging``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from pkg_pipeline.memory.gate.records import GateResult
from pkg_pipeline.memory.records import Quarantined, SummaryContent, SummaryInput
from pkg_pipeline.memory.summary.gate import check
from pkg_pipeline.memory.summary.increments import UpdateInput
from pkg_pipeline.memory.summary.merging import MergeInput
from pkg_pipeline.memory.summary.update_gate import check_update
from pkg_pipeline.prompts import interaction_summary as prompt
from pkg_pipeline.prompts import interaction_summary_merge as merge_prompt
from pkg_pipeline.prompts import interaction_summary_update as update_prompt
from pkg_pipeline.stages.llm.answer_validation import ask_and_judge, request_of
from pkg_pipeline.stages.llm.reports import Effort
from pkg_pipeline.stages.llm.run import TASK, Run
from pkg_pipeline.stages.ports import Llm, LlmRequest, TokenCounter
from pkg_pipeline.stages.summaries.stores import Claimed, Subject, SummaryMethod, SummaryStore

ANSWER_LIMIT_TOKENS = prompt.MAX_OUTPUT_TOKENS


class Outcome(Enum):
    PUBLISHED = "published"
    DEFERRED = "deferred"
    QUARANTINED = "quarantined"
    LOST = "lost"


@dataclass(slots=True)
class Made(Effort):
    """What became of one interaction, and what it took."""

    outcome: Outcome = Outcome.DEFERRED
    method: SummaryMethod = "whole"
    windows: int = 0
    carried: int = 0
    lost: int = 0


@dataclass(frozen=True, slots=True)
class SummarizeDeps:
    store: SummaryStore
    llm: Llm
    counter: TokenCounter
    run: Run
    fact_confidence: float
    backoff_seconds: float
    window_messages: int
    update_messages: int = 10


@dataclass(slots=True)
class Attempt:
    """One interaction on its way: what it cost so far."""

    claimed: Claimed
    deps: SummarizeDeps
    made: Made = field(default_factory=Made)


Content = tuple[SummaryContent, tuple[Quarantined, ...]]
"""What passed, and what was taken out of it."""


def ask(attempt: Attempt, source: SummaryInput, *, problem: str | None = None) -> Content:
    """A summary of ``source``; ``problem`` is what was wrong with the last answer."""
    rendered = prompt.render(source, strict=problem is not None, problem=problem)
    request = request_of(prompt, rendered, task=TASK, payload=source, subject=_subject(source))
    return _asked(attempt, request, lambda text: check(prompt.to_candidate(prompt.parse(text)), source))


def ask_update(attempt: Attempt, update: UpdateInput, *, problem: str | None = None) -> Content:
    """The whole content after the new messages of ``update`` (P27)."""
    rendered = update_prompt.render(update, strict=problem is not None, problem=problem)
    request = request_of(
        update_prompt,
        rendered,
        task="interaction_summary_update",
        payload=update,
        subject=_subject(update.source),
    )
    return _asked(
        attempt, request, lambda text: check_update(update_prompt.to_candidate(update_prompt.parse(text)), update)
    )


def ask_merge(attempt: Attempt, merge: MergeInput) -> Content:
    """One summary, without items, of the summaries of consecutive windows (P18)."""
    rendered = merge_prompt.render(merge)
    request = request_of(
        merge_prompt, rendered, task="interaction_summary_merge", payload=merge, subject=_subject(merge.source)
    )
    return _asked(
        attempt, request, lambda text: check(merge_prompt.to_candidate(merge_prompt.parse(text)), merge.source)
    )


def _subject(source: SummaryInput) -> Subject:
    return Subject("interaction", source.interaction_id)


def _asked(attempt: Attempt, request: LlmRequest, judge: Callable[[str], GateResult]) -> Content:
    deps = attempt.deps
    return ask_and_judge(
        request,
        judge,
        subject=_subject(attempt.claimed.source),
        ledger=deps.store,
        llm=deps.llm,
        counter=deps.counter,
        run=deps.run,
        tally=attempt.made,
    )
