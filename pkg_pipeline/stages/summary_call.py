"""One question to the model about one window, and the gate's word on its answer. No ladder, no lease, no publication.

An answer that does not pass is never "no facts" (B9).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from typing import Any

from pkg_pipeline.memory.gate import check
from pkg_pipeline.memory.records import Quarantined, SummaryContent, SummaryInput
from pkg_pipeline.prompts import interaction_summary as prompt
from pkg_pipeline.stages.asking import Tally, answer
from pkg_pipeline.stages.ports import Llm, LlmRequest, TokenCounter
from pkg_pipeline.stages.stores import Claimed, Subject, SummaryStore
from pkg_pipeline.stages.summary_run import TASK, Run

ANSWER_LIMIT_TOKENS = prompt.MAX_OUTPUT_TOKENS


class Outcome(Enum):
    PUBLISHED = "published"
    DEFERRED = "deferred"
    QUARANTINED = "quarantined"
    LOST = "lost"


@dataclass(slots=True)
class Made(Tally):
    """What became of one interaction, and what it took."""

    outcome: Outcome = Outcome.DEFERRED
    reason: str = ""
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
    subject = Subject("interaction", source.interaction_id)
    rendered = prompt.render(source, strict=problem is not None, problem=problem)
    request = LlmRequest(
        task=TASK,
        prompt_version=prompt.VERSION,
        system=rendered.system,
        user=rendered.user,
        schema=_schema(),
        max_output_tokens=ANSWER_LIMIT_TOKENS,
        payload=source,
        subject=str(subject),
    )
    text, request_hash = answer(
        request,
        subject=subject,
        ledger=deps.store,
        llm=deps.llm,
        counter=deps.counter,
        run=deps.run,
        tally=attempt.made,
    )
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


@cache
def _schema() -> Mapping[str, Any]:
    """Made once: pydantic needs milliseconds for it."""
    return prompt.schema()
