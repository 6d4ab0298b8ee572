"""Classifies errors of the Anthropic API. Messages contain status, type and code; the service's text only if it repeats
nothing of the prompt, since errors are logged.
"""

from __future__ import annotations

import json
import re
from datetime import datetime

import httpx2
from anthropic import APIConnectionError, APIStatusError

from pkg_pipeline.adapters.llm.retrying import WRONG_SETUP, Transient, is_worth_retrying, retry_after
from pkg_pipeline.stages.ports import (
    LlmError,
    LlmMisconfigured,
    LlmRejected,
    LlmRequest,
    LlmTooLong,
    LlmUnanswered,
    LlmUnavailable,
)

ECHO_CHARS = 24
"""So many characters in common with the prompt count as an echo."""

MAX_DETAIL_CHARS = 200

_NOT_SENT = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.ProxyError,
    httpx2.UnsupportedProtocol,
    httpx2.LocalProtocolError,
)
"""The request was not received, hence not billed; other connection errors may have been."""

_GATEWAY_TIMEOUTS = frozenset({504, 524})
"""A gateway timed out after passing the request on."""

_NO_MONEY = re.compile(r"spend(?:ing)?[ _]limit|usage[ _]limit|credit balance|quota", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"prompt is too long|too many (?:input )?tokens|context (?:window|length|limit)|exceed\w* .{0,30}context"
    r"|request_too_large",
    re.IGNORECASE,
)


def classify(error: Exception, *, request: LlmRequest, now: datetime) -> LlmError | Transient:
    """The failure for an exception of the SDK; never the exception itself, which may quote texts."""
    match error:
        case APIStatusError():
            return _by_status(error, request=request, now=now)
        case APIConnectionError() if isinstance(error.__cause__, _NOT_SENT):
            return Transient("the service cannot be reached")
        case APIConnectionError() if isinstance(error.__cause__, httpx2.TimeoutException):
            return LlmUnanswered("the service did not answer in time (PKG_LLM_TIMEOUT_SECONDS)")
        case APIConnectionError():
            return LlmUnanswered("the connection to the service broke before the answer was whole")
        case json.JSONDecodeError() | AttributeError():
            return LlmUnanswered("a success whose body is no whole JSON")
        case UnicodeEncodeError():
            return LlmRejected("the prompt holds half a character (a lone surrogate)")
        case _:
            return LlmRejected(f"the request could not be made ({type(error).__name__})")


def _by_status(error: APIStatusError, *, request: LlmRequest, now: datetime) -> LlmError | Transient:
    status, request_id = error.status_code, error.request_id
    code, words = error.error_code or "", error.api_message if isinstance(error.api_message, str) else ""
    label = " ".join(part for part in (f"the service answered {status}", error.type or "", code) if part)
    label += _detail(words, request)
    if _NO_MONEY.search(code) or (status in {400, 403, 429} and _NO_MONEY.search(words)):
        return LlmUnavailable(
            f"a spending limit of the account is reached: {label}",
            retry_after_seconds=retry_after(error.response.headers, now=now),
            request_id=request_id,
        )
    if status == 413 or (status == 400 and (_TOO_LONG.search(words) or _TOO_LONG.search(code))):
        return LlmTooLong(label, request_id=request_id)
    if status in WRONG_SETUP:
        return LlmMisconfigured(
            f"{label}; check ANTHROPIC_API_KEY, the account and PKG_LLM_MODEL", request_id=request_id
        )
    if status in _GATEWAY_TIMEOUTS:
        return LlmUnanswered(label, request_id=request_id)
    if is_worth_retrying(status):
        return Transient(
            label,
            retry_after_seconds=retry_after(error.response.headers, now=now),
            may_retry=error.response.headers.get("x-should-retry", "").lower() != "false",
            request_id=request_id,
        )
    return LlmRejected(label, request_id=request_id)


def _detail(words: str, request: LlmRequest) -> str:
    shown = " ".join(words.split())[:MAX_DETAIL_CHARS]
    prompt = request.user + request.system
    runs = (shown[index : index + ECHO_CHARS] for index in range(max(1, len(shown) - ECHO_CHARS + 1)))
    return f": {shown}" if shown and not any(run in prompt for run in runs) else ""
