"""What every remote model has in common: retries, truncated answers, usage that can be believed, and a report of every
try. The SDKs' own retries are off: they wait half an hour for a dead peer and sleep any ``retry-after``.
"""

from __future__ import annotations

import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import TracebackType
from typing import ClassVar, Literal, Self, TypedDict

from pkg_pipeline.adapters.llm.own_servers import WithoutSchema
from pkg_pipeline.adapters.llm.prices import PRICES, PriceRow, price, price_row
from pkg_pipeline.adapters.llm.retrying import Transient, retried
from pkg_pipeline.memory.records import Usage
from pkg_pipeline.memory.window.model_window import MODEL_WINDOW_TOKENS
from pkg_pipeline.stages.llm.ask import hash_of, prompt_tokens, worst_usage
from pkg_pipeline.stages.ports import (
    LlmAttempt,
    LlmError,
    LlmMisconfigured,
    LlmOutcome,
    LlmRefused,
    LlmRejected,
    LlmReply,
    LlmRequest,
    LlmTooLong,
    LlmUnanswered,
    LlmUnavailable,
    TokenCounter,
)

TIMEOUT_SECONDS = 60.0
MAX_TRIES = 5

TOKENIZERS_APART = 4
"""Token counts differ less than this factor between tokenizers; others are not believed."""

Ending = Literal["whole", "truncated", "refused", "too_long"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a service answered. ``usage`` None: not reported; ``stop_reason`` in its own words."""

    text: str
    ending: Ending
    stop_reason: str
    usage: Usage | None
    request_id: str | None = None
    category: str | None = None


class RemoteOptions(TypedDict, total=False):
    """Of every remote model; the defaults are those of ``RemoteLlm``."""

    on_attempt: Callable[[LlmAttempt], None] | None
    max_tries: int
    window_tokens: int
    prices: Sequence[PriceRow]
    sleep: Callable[[float], None]
    draw: Callable[[], float]
    monotonic: Callable[[], float]
    now: Callable[[], datetime]


class RemoteLlm(ABC):
    """``ports.Llm`` over HTTP; ``_call`` is the service's own part. Close it, or use it as a context manager.

    ``on_attempt`` gets every try before its answer is validated, so that the ledger has every cost (B6). ``sleep``,
    ``draw`` (uniform in [0, 1)), ``monotonic`` and ``now`` are there for tests. Raises ``LlmMisconfigured`` for a model
    without a price.
    """

    errors: ClassVar[tuple[type[Exception], ...]]
    """What ``_call`` may raise."""

    def __init__(
        self,
        *,
        model: str,
        counter: TokenCounter,
        on_attempt: Callable[[LlmAttempt], None] | None = None,
        max_tries: int = MAX_TRIES,
        window_tokens: int = MODEL_WINDOW_TOKENS,
        prices: Sequence[PriceRow] = PRICES,
        sleep: Callable[[float], None] = time.sleep,
        draw: Callable[[], float] = random.random,
        monotonic: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        price_row(model, table=prices)
        self._model, self._prices, self._window_tokens = model, prices, window_tokens
        self._counter = counter
        self._on_attempt = on_attempt
        self._max_tries = max_tries
        self._sleep, self._draw, self._monotonic, self._now = sleep, draw, monotonic, now

    @abstractmethod
    def _call(self, request: LlmRequest, room: int) -> Answer | None:
        """One call with at most ``room`` tokens of answer; None for a success without an answer in it."""

    @abstractmethod
    def _failure(self, error: Exception, request: LlmRequest) -> LlmError | Transient:
        """What an exception of ``_call`` means; never the exception itself, which may quote texts."""

    @abstractmethod
    def close(self) -> None: ...

    @property
    def model(self) -> str:
        """The exact name sent, stored and part of the replay key."""
        return self._model

    @property
    def is_paid(self) -> bool:
        """Always: the caps of P12 and P32 apply."""
        return True

    @property
    def window_tokens(self) -> int:
        """The largest prompt, answer included."""
        return self._window_tokens

    def price(self, usage: Usage) -> float:
        """USD by the price in force now."""
        return price(self._model, usage, at=self._now(), table=self._prices)

    def batch_price(self, usage: Usage) -> float:
        """The same in a message batch."""
        return price(self._model, usage, at=self._now(), batched=True, table=self._prices)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def complete(self, request: LlmRequest) -> LlmReply:
        """The model's answer, not validated; ``usage`` of the try that answered.

        At most ``max_tries`` while requests are refused unbilled; a truncated answer is requested once more with twice
        the tokens. No retry after a try of unknown outcome. Raises an ``LlmError``.
        """
        room = request.max_output_tokens
        started = self._monotonic()

        def one_try() -> LlmReply:
            nonlocal room
            try:
                return self._try(request, room)
            except _Truncated as cut:
                cut.may_retry = room == request.max_output_tokens
                room = max(room, 2 * request.max_output_tokens) if cut.may_retry else room
                raise

        try:
            reply, tries = retried(one_try, tries=self._max_tries, sleep=self._sleep, draw=self._draw)
        except _Truncated as cut:
            raise LlmTooLong(str(cut), usage=cut.usage, request_id=cut.request_id) from None
        except Transient as failure:
            raise LlmUnavailable(
                f"{failure} (try {failure.tries} of {self._max_tries})",
                retry_after_seconds=failure.retry_after_seconds,
                usage=failure.usage,
                request_id=failure.request_id,
            ) from None
        return replace(reply, duration_seconds=self._monotonic() - started, tries=tries)

    def _try(self, request: LlmRequest, room: int) -> LlmReply:
        """One call: report it, then return its text or raise."""
        started = self._monotonic()
        try:
            answer = self._call(request, room)
        except self.errors as error:
            failure = self._failure(error, request)
            self._report(request, started, room, failure=failure, status_code=getattr(error, "status_code", None))
            if isinstance(failure, WithoutSchema):
                return self._try(request, room)
            raise failure from None
        if answer is None:
            failure = LlmUnanswered("a success without an answer in it (a gateway's page or a cut body)")
            self._report(request, started, room, failure=failure, status_code=200)
            raise failure
        reply, outcome, failure = self.judged(answer, prompt_tokens(request, self._counter), room)
        self._report(request, started, room, reply=reply, outcome=outcome)
        if failure is not None:
            raise failure
        return reply

    def judged(
        self, answer: Answer, prompt_tokens: int, room: int
    ) -> tuple[LlmReply, LlmOutcome, LlmError | Transient | None]:
        """The reply, with usage counted here where it is not reported (T5), and what is wrong with it."""
        ours = Usage(prompt_tokens, self._counter.count(answer.text), estimated=True)
        reply = LlmReply(
            text=answer.text,
            model=self._model,
            usage=_believable(answer.usage, ours=ours, room=room),
            stop_reason=answer.stop_reason,
            request_id=answer.request_id,
            counted_tokens=prompt_tokens,
        )
        return reply, *self._verdict(answer, reply, room)

    def _report(
        self,
        request: LlmRequest,
        started: float,
        room: int,
        *,
        reply: LlmReply | None = None,
        failure: LlmError | Transient | None = None,
        outcome: LlmOutcome | None = None,
        status_code: int | None = None,
    ) -> None:
        if self._on_attempt is None:
            return
        outcome = outcome or _outcome_of(failure)
        usage = reply.usage if reply else None
        if outcome == "unknown":
            usage = worst_usage(prompt_tokens(request, self._counter), room)
        self._on_attempt(
            LlmAttempt(
                task=request.task,
                model=self._model,
                prompt_version=request.prompt_version,
                subject=request.subject,
                billing=request.billing,
                request_hash=hash_of(self._model, request),
                outcome=outcome,
                usage=reply.usage if reply else None,
                cost_usd=self.price(usage) if usage else 0.0,
                duration_seconds=self._monotonic() - started,
                request_id=reply.request_id if reply else getattr(failure, "request_id", None),
                stop_reason=reply.stop_reason if reply else None,
                status_code=200 if reply else status_code,
                counted_tokens=reply.counted_tokens if reply else None,
            )
        )

    def _verdict(self, answer: Answer, reply: LlmReply, room: int) -> tuple[LlmOutcome, LlmError | _Truncated | None]:
        """The outcome by how the answer ended; the text of unknown endings is validated later."""
        usage, request_id = reply.usage, reply.request_id
        match answer.ending:
            case "truncated":
                cut = f"the answer did not fit into {room} tokens"
                return "truncated", _Truncated(cut, usage=usage, request_id=request_id)
            case "refused":
                said = "the model declined to answer"
                return "refused", LlmRefused(said, category=answer.category, usage=usage, request_id=request_id)
            case "too_long":
                said = "prompt and answer exceed the window"
                return "too_long", LlmTooLong(said, usage=usage, request_id=request_id)
            case _ if not reply.text.strip():
                said = f"the answer holds no text (stop reason {reply.stop_reason[:40]})"
                return "empty", LlmRejected(said, usage=usage, request_id=request_id)
            case _:
                return "ok", None


class _Truncated(Transient):
    """Truncated at ``max_tokens``; the next try has twice as many."""

    at_once = True


def _believable(told: Usage | None, *, ours: Usage, room: int) -> Usage:
    """Reported usage, or ``ours``. Implausible counts (below a quarter or above four times ours, over ``max_tokens``)
    are replaced and marked as estimated.
    """
    if told is None:
        return ours
    most = ours.input_tokens * TOKENIZERS_APART
    cache_read, cache_write = (max(0, min(n, most)) for n in (told.cache_read_tokens, told.cache_write_tokens))
    least = max(0, ours.input_tokens // TOKENIZERS_APART - cache_read - cache_write)
    believed = Usage(
        input_tokens=max(least, min(told.input_tokens, most)),
        output_tokens=max(ours.output_tokens // TOKENIZERS_APART, min(told.output_tokens, room)),
        cache_read_tokens=cache_read,
        cache_write_tokens=cache_write,
    )
    return believed if believed == told else replace(believed, estimated=True)


def _outcome_of(failure: LlmError | Transient | None) -> LlmOutcome:
    match failure:
        case LlmMisconfigured():
            return "misconfigured"
        case LlmTooLong():
            return "too_long"
        case LlmRejected():
            return "rejected"
        case LlmUnanswered():
            return "unknown"
        case _:
            return "unavailable"
