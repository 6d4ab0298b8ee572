"""``ports.Llm`` over the Anthropic API; every try is reported. The SDK's retries are off: they wait half an hour for a
dead peer and sleep any ``retry-after``.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

from anthropic import Anthropic, AnthropicError, transform_schema
from anthropic.types import Message
from pydantic import SecretStr

from pkg_pipeline.adapters.llm.anthropic_errors import classify
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

DEFAULT_MODEL = "claude-haiku-5-5"

TIMEOUT_SECONDS = 60.0
MAX_TRIES = 5

TOKENIZERS_APART = 4
"""Token counts differ less than this factor between tokenizers; others are not believed."""


class AnthropicLlm:
    """A model of the Messages API. Close it, or use it as a context manager.

    ``on_attempt`` gets every try before its answer is validated, so that the ledger has every cost (B6). ``sleep``,
    ``draw`` (uniform in [0, 1)), ``monotonic`` and ``now`` are there for tests. Raises ``LlmMisconfigured`` for an
    empty key or a model without a price.
    """

    def __init__(
        self,
        *,
        api_key: SecretStr,
        counter: TokenCounter,
        model: str = DEFAULT_MODEL,
        base_url: str | None = None,
        on_attempt: Callable[[LlmAttempt], None] | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
        max_tries: int = MAX_TRIES,
        window_tokens: int = MODEL_WINDOW_TOKENS,
        prices: Sequence[PriceRow] = PRICES,
        sleep: Callable[[float], None] = time.sleep,
        draw: Callable[[], float] = random.random,
        monotonic: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        if not api_key.get_secret_value().strip():
            raise LlmMisconfigured("ANTHROPIC_API_KEY is empty; set it, or PKG_LLM=offline")
        price_row(model, table=prices)
        self._model, self._prices, self._window_tokens = model, prices, window_tokens
        self._counter = counter
        self._on_attempt = on_attempt
        self._max_tries = max_tries
        self._sleep, self._draw, self._monotonic, self._now = sleep, draw, monotonic, now
        self._client = Anthropic(
            api_key=api_key.get_secret_value().strip(), base_url=base_url, timeout=timeout_seconds, max_retries=0
        )

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

    def close(self) -> None:
        self._client.close()

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
            message = self._client.messages.create(**request_params(request, model=self._model, max_tokens=room))
        except (AnthropicError, ValueError, TypeError, AttributeError) as error:
            failure = classify(error, request=request, now=self._now())
            self._report(request, started, room, failure=failure, status_code=getattr(error, "status_code", None))
            raise failure from None
        if not _has_shape(message):
            failure = LlmUnanswered("a success without an answer in it (a gateway's page or a cut body)")
            self._report(request, started, room, failure=failure, status_code=200)
            raise failure
        reply = self._reply(request, message, room)
        outcome, failure = _verdict(message, reply, room)
        self._report(request, started, room, reply=reply, outcome=outcome)
        if failure is not None:
            raise failure
        return reply

    def _reply(self, request: LlmRequest, message: Message, room: int) -> LlmReply:
        text = "".join(block.text for block in message.content if block.type == "text" and isinstance(block.text, str))
        return LlmReply(
            text=text,
            model=self._model,
            usage=_believable(_usage(message), ours=self._estimated(request, text), room=room),
            stop_reason=str(message.stop_reason),
            request_id=message._request_id,  # noqa: SLF001 - the SDK's documented way to it
        )

    def _estimated(self, request: LlmRequest, text: str) -> Usage:
        """T5: counted here if not reported."""
        return Usage(prompt_tokens(request, self._counter), self._counter.count(text), estimated=True)

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
            )
        )


class _Truncated(Transient):
    """Truncated at ``max_tokens``; the next try has twice as many."""

    at_once = True


def request_params(request: LlmRequest, *, model: str, max_tokens: int) -> dict[str, Any]:
    """Parameters of a call, single or batched; the stable part first (prompt cache)."""
    return {
        "model": model,
        "max_tokens": max_tokens,
        "system": [{"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": request.user}],
        "output_config": {"format": {"type": "json_schema", "schema": transform_schema(dict(request.schema))}},
        "thinking": {"type": "disabled"},
    }


def _has_shape(message: object) -> bool:
    """The SDK returns any body of a 200: text for HTML, incomplete messages for other JSON."""
    return isinstance(message, Message) and isinstance(message.content, list)  # pyright: ignore[reportUnnecessaryIsInstance]


def _usage(message: Message) -> Usage | None:
    reported: Any = message.usage
    counts = [
        count if isinstance(count := getattr(reported, name, None), int) else None
        for name in ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    ]
    match counts:
        case [int(read), int(written), cache_read, cache_written]:
            return Usage(read, written, cache_read or 0, cache_written or 0)
        case _:
            return None


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


def _verdict(message: Message, reply: LlmReply, room: int) -> tuple[LlmOutcome, LlmError | _Truncated | None]:
    """The outcome by stop reason; the text of unknown reasons is validated later."""
    usage, request_id = reply.usage, reply.request_id
    match message.stop_reason:
        case "max_tokens":
            cut = f"the answer did not fit into {room} tokens"
            return "truncated", _Truncated(cut, usage=usage, request_id=request_id)
        case "refusal":
            category = getattr(message.stop_details, "category", None)
            return "refused", LlmRefused(
                "the model declined to answer", category=category, usage=usage, request_id=request_id
            )
        case "model_context_window_exceeded":
            return "too_long", LlmTooLong("prompt and answer exceed the window", usage=usage, request_id=request_id)
        case _ if not reply.text.strip():
            return "empty", LlmRejected(
                f"the answer holds no text (stop reason {reply.stop_reason[:40]})", usage=usage, request_id=request_id
            )
        case _:
            return "ok", None


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
