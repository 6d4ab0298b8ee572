"""Validation of answers, the retry ladder, and failures (P19). An invalid answer never counts as "no facts" (B9)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, Protocol, TypeVar

from pkg_pipeline.memory.records import Quarantined
from pkg_pipeline.prompts.answers import AnswerInvalid, RenderedPrompt
from pkg_pipeline.stages.llm.ask import Asking, Tally, rest_after
from pkg_pipeline.stages.llm.reports import Effort
from pkg_pipeline.stages.llm.run import OutOfBudget, Run
from pkg_pipeline.stages.llm.stores import Failure
from pkg_pipeline.stages.ports import (
    LlmError,
    LlmMisconfigured,
    LlmRequest,
    LlmTask,
    LlmTooLong,
    LlmUnavailable,
    Subject,
)

Source = TypeVar("Source")
Content = TypeVar("Content")
ContentCo = TypeVar("ContentCo", covariant=True)


class Prompt(Protocol):
    """A versioned module of ``prompts``."""

    @property
    def VERSION(self) -> str: ...
    @property
    def MAX_OUTPUT_TOKENS(self) -> int: ...
    @property
    def schema(self) -> Callable[[], Mapping[str, Any]]: ...
    @property
    def render(self) -> Callable[..., RenderedPrompt]: ...


class Checked(Protocol[ContentCo]):
    """A gate's result: ``content`` to publish, or the ``quarantine_reason``."""

    @property
    def content(self) -> ContentCo | None: ...
    @property
    def dropped(self) -> tuple[Quarantined, ...]: ...
    @property
    def quarantine_reason(self) -> str | None: ...
    @property
    def hints(self) -> tuple[str, ...]: ...


MOST_TOLD = 5
"""Faults that a second prompt is told of."""


class NotPublishable(Exception):
    """The answer is invalid; ``problem`` holds none of its text, ``told`` names words of it for a second prompt."""

    def __init__(self, problem: str, answer: str = "", told: Sequence[str] = ()) -> None:
        super().__init__(problem)
        self.problem = problem
        self.answer = answer
        self.told = "; ".join((problem, *told[:MOST_TOLD]))


NOTHING_PASSED = (LlmError, OutOfBudget, NotPublishable)
"""All errors of asking; handled by ``failure_of``."""


@dataclass(frozen=True, slots=True)
class Question(Generic[Source, Content]):
    """A kind of question: task, prompt, and gate; ``check`` (answer, source) may raise ``AnswerInvalid``."""

    task: LlmTask
    prompt: Prompt
    check: Callable[[str, Source], Checked[Content]]

    def request(
        self, source: Source, *, subject: Subject, also: tuple[Subject, ...] = (), problem: str | None = None
    ) -> LlmRequest:
        """``problem``: what was wrong with the last answer, for the prompt; ``also``: what else it is about."""
        prompt = self.prompt
        rendered = prompt.render(source) if problem is None else prompt.render(source, strict=True, problem=problem)
        return LlmRequest(
            task=self.task,
            prompt_version=prompt.VERSION,
            system=rendered.system,
            user=rendered.user,
            schema=_schema(prompt.schema),
            max_output_tokens=prompt.MAX_OUTPUT_TOKENS,
            payload=source,
            subject=subject,
            also=also,
        )

    def ask(
        self,
        source: Source,
        *,
        subject: Subject,
        asking: Asking,
        tally: Tally,
        problem: str | None = None,
        also: tuple[Subject, ...] = (),
    ) -> tuple[Content, tuple[Quarantined, ...]]:
        """The valid content and the quarantined rest. Raises one of ``NOTHING_PASSED``."""
        text, request_hash = asking.answer(
            self.request(source, subject=subject, also=also, problem=problem), tally=tally
        )
        checked = self._checked(text, source)
        if isinstance(checked, str) or checked.content is None:
            reason = checked if isinstance(checked, str) else checked.quarantine_reason or "the gate let nothing pass"
            asking.ledger.refuse(request_hash, reason=reason)
            raise NotPublishable(reason, text, () if isinstance(checked, str) else checked.hints)
        return checked.content, checked.dropped

    def _checked(self, text: str, source: Source) -> Checked[Content] | str:
        """The gate's result, or why there is none. An unexpected error in a check makes the answer invalid."""
        if "\\u0000" in text:
            return "the answer holds a character that cannot be stored"
        try:
            return self.check(text, source)
        except AnswerInvalid as invalid:
            return f"the answer is no JSON of the schema: {invalid.problem}"
        except Exception as error:  # noqa: BLE001 - pure code over a model's words: whatever breaks, breaks this one only
            return f"the answer could not be checked ({type(error).__name__})"


def retry_ladder(
    ask: Callable[[str | None], Content], *, smaller: Callable[[str | None, Exception], Content]
) -> Content:
    """P19: normal, strict with the problem of the last answer, then ``smaller``.

    ``smaller`` gets that problem (None: no answer) and the last error, to raise if it cannot go smaller. A prompt that
    is too long is not repeated.
    """
    problem: str | None = None
    try:
        return ask(None)
    except LlmTooLong as too_long:
        last: Exception = too_long
    except NotPublishable as failure:
        problem = failure.told
        try:
            return ask(problem)
        except (NotPublishable, LlmTooLong) as again:
            last = again
    return smaller(problem, last)


class Past(Protocol):
    @property
    def attempts(self) -> int: ...
    @property
    def deferrals(self) -> int: ...


def attempt(
    make: Callable[[], None],
    *,
    run: Run,
    effort: Effort,
    past: Past | None,
    backoff_seconds: float,
    fail: Callable[[Failure], None],
) -> None:
    """Runs ``make``, timed; on failure calls ``fail`` with the reason. Raises ``LlmMisconfigured`` afterwards."""
    started = time.perf_counter()
    try:
        make()
    except NOTHING_PASSED as error:
        attempts, deferrals = (past.attempts, past.deferrals) if past else (0, 0)
        failure = failure_of(
            error, run=run, attempts=attempts, deferrals=deferrals, backoff_seconds=backoff_seconds, tally=effort
        )
        effort.reason = failure.error
        fail(failure)
        if isinstance(error, LlmMisconfigured):
            raise
    finally:
        effort.seconds = time.perf_counter() - started


def failure_of(
    error: Exception, *, run: Run, attempts: int, deferrals: int, backoff_seconds: float, tally: Tally
) -> Failure:
    """The effect of ``error`` (one of ``NOTHING_PASSED``): deferral or failed attempt. Tells the run about service
    trouble.

    ``attempts`` and ``deferrals`` are earlier ones; the backoff doubles with each attempt.
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


@cache
def _schema(made: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
    """Cached: pydantic needs milliseconds."""
    return made()
