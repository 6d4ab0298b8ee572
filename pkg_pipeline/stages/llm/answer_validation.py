"""One question and the gate's word on its answer, and what becomes of a subject that got none that passes (P19).

No ladder, no lease, no publication: those are the asker's, whatever the question is about.

An answer that does not pass is never "no facts" (B9).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Protocol, TypeVar

from pkg_pipeline.memory.records import Quarantined
from pkg_pipeline.prompts.answers import AnswerInvalid, RenderedPrompt
from pkg_pipeline.stages.llm.ask import Tally, answer, rest_after
from pkg_pipeline.stages.llm.run import OutOfBudget, Run
from pkg_pipeline.stages.ports import (
    Llm,
    LlmError,
    LlmMisconfigured,
    LlmRequest,
    LlmTask,
    LlmTooLong,
    LlmUnavailable,
    TokenCounter,
)
from pkg_pipeline.stages.summaries.stores import Failure, LedgerStore, Subject

Content = TypeVar("Content")
ContentCo = TypeVar("ContentCo", covariant=True)


class Prompt(Protocol):
    """A versioned file of ``prompts``."""

    @property
    def VERSION(self) -> str: ...

    @property
    def MAX_OUTPUT_TOKENS(self) -> int: ...

    def schema(self) -> Mapping[str, Any]: ...


class Judgement(Protocol[ContentCo]):
    """What a gate says: either ``content`` may be published, or ``quarantine_reason`` tells why nothing may."""

    @property
    def content(self) -> ContentCo | None: ...

    @property
    def dropped(self) -> tuple[Quarantined, ...]: ...

    @property
    def quarantine_reason(self) -> str | None: ...


class NotPublishable(Exception):
    """An answer came and did not pass; ``problem`` holds none of its words."""

    def __init__(self, problem: str, answer: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.answer = answer


NOTHING_PASSED = (LlmError, OutOfBudget, NotPublishable)
"""What ``failure_of`` knows."""


def request_of(
    prompt: Prompt, rendered: RenderedPrompt, *, task: LlmTask, payload: object, subject: Subject
) -> LlmRequest:
    """The question that ``prompt`` words as ``rendered``."""
    return LlmRequest(
        task=task,
        prompt_version=prompt.VERSION,
        system=rendered.system,
        user=rendered.user,
        schema=_schema(prompt.schema),
        max_output_tokens=prompt.MAX_OUTPUT_TOKENS,
        payload=payload,
        subject=str(subject),
    )


def ask_and_judge(
    request: LlmRequest,
    judge: Callable[[str], Judgement[Content]],
    *,
    subject: Subject,
    ledger: LedgerStore,
    llm: Llm,
    counter: TokenCounter,
    run: Run,
    tally: Tally,
) -> tuple[Content, tuple[Quarantined, ...]]:
    """What passed of the answer, and what was taken out of it. Raises one of ``NOTHING_PASSED``."""
    text, request_hash = answer(request, subject=subject, ledger=ledger, llm=llm, counter=counter, run=run, tally=tally)
    content, dropped, verdict = _judged(text, judge)
    if content is None:
        ledger.refuse(request_hash, reason=verdict)
        raise NotPublishable(verdict, text)
    return content, dropped


def climb(ask: Callable[[str | None], Content], *, smaller: Callable[[str | None, Exception], Content]) -> Content:
    """P19: as usual, stricter with what was wrong with the answer, then ``smaller``.

    ``smaller`` gets that problem, None where no answer came, and what the last rung raised: to raise where there is
    nothing smaller. A prompt that is too long is not asked again as it is.
    """
    problem: str | None = None
    try:
        return ask(None)
    except LlmTooLong as too_long:
        last: Exception = too_long
    except NotPublishable as failure:
        problem = failure.problem
        try:
            return ask(problem)
        except (NotPublishable, LlmTooLong) as again:
            last = again
    return smaller(problem, last)


def failure_of(
    error: Exception, *, run: Run, attempts: int, deferrals: int, backoff_seconds: float, tally: Tally
) -> Failure:
    """What ``error``, one of ``NOTHING_PASSED``, is to the subject: put off, or an attempt that failed.

    ``attempts`` and ``deferrals`` are those before this one; the backoff doubles with each attempt. The run is told of
    a service that is away or misconfigured; the caller raises ``LlmMisconfigured`` again.
    """
    said = str(error)
    if isinstance(error, OutOfBudget):
        wait = 0.0 if error.refusal.is_for_all else error.refusal.retry_after_seconds
        return Failure(said, wait, counts=False)
    if isinstance(error, LlmUnavailable):
        wait = rest_after(error, deferrals)
        run.unavailable(said, wait)
        return Failure(f"the model is unavailable: {said}", wait, counts=False)
    if isinstance(error, LlmMisconfigured):
        run.misconfigured(said)
        return Failure(said, 0.0, counts=False)
    refused = error.answer if isinstance(error, NotPublishable) else ""
    backoff = backoff_seconds * 2**attempts
    return Failure(said, backoff, counts=True, quarantined=(refused, said), cost_usd=tally.cost_usd)


def _judged(
    text: str, judge: Callable[[str], Judgement[Content]]
) -> tuple[Content | None, tuple[Quarantined, ...], str]:
    """The gate's word. An answer that the checks themselves stumble over does not pass either: it stops nobody else."""
    if "\\u0000" in text:
        return None, (), "the answer holds a character that cannot be stored"
    try:
        result = judge(text)
    except AnswerInvalid as invalid:
        return None, (), f"the answer is no JSON of the schema: {invalid.problem}"
    except Exception as error:  # noqa: BLE001 - pure code over a model's words: whatever breaks, breaks this one only
        return None, (), f"the answer could not be checked ({type(error).__name__})"
    return result.content, result.dropped, result.quarantine_reason or "the gate let nothing pass"


@cache
def _schema(made: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
    """Made once: pydantic needs milliseconds for it."""
    return made()
