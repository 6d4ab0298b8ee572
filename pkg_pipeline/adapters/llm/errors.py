"""What errors of language-model services mean. Messages contain status, type and code; the service's text only if it
repeats nothing of the prompt, since errors are logged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

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

_NOT_SENT = frozenset(
    {"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol", "LocalProtocolError"}
)
"""Errors of httpx with which the request was not received, hence not billed; others may have been."""

_TIMEOUTS = frozenset({"ReadTimeout", "WriteTimeout", "TimeoutException"})

_GATEWAY_TIMEOUTS = frozenset({504, 524})
"""A gateway timed out after passing the request on."""

_NO_MONEY = re.compile(
    r"spend(?:ing)?[ _]limit|usage[ _]limit|hard_limit|billing_not_active|credit balance|quota", re.IGNORECASE
)
TOO_LONG = re.compile(
    r"prompt is too long|too many (?:input )?tokens|context[ _](?:window|length|limit|size)|exceed\w* .{0,30}context"
    r"|request_too_large",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Status:
    """An answer other than a success, as a service tells it."""

    status: int
    kind: str
    code: str
    words: str
    headers: Mapping[str, str]
    request_id: str | None


def of_connection(error: Exception) -> LlmError | Transient:
    """A connection that failed, by the name of the cause in httpx."""
    names = {kind.__name__ for kind in type(error.__cause__).__mro__}
    if names & _NOT_SENT:
        return Transient("the service cannot be reached")
    if names & _TIMEOUTS:
        return LlmUnanswered("the service did not answer in time (PKG_LLM_TIMEOUT_SECONDS)")
    return LlmUnanswered("the connection to the service broke before the answer was whole")


def of_other(error: Exception) -> LlmError:
    """Anything else that an SDK raises."""
    match error:
        case json.JSONDecodeError() | AttributeError():
            return LlmUnanswered("a success whose body is no whole JSON")
        case UnicodeEncodeError():
            return LlmRejected("the prompt holds half a character (a lone surrogate)")
        case _:
            return LlmRejected(f"the request could not be made ({type(error).__name__})")


def of_status(told: Status, *, request: LlmRequest | None, now: datetime, check: str) -> LlmError | Transient:
    """``check``: what to look at if the setup is wrong. ``request`` None: many at once; then no word is repeated."""
    status, request_id = told.status, told.request_id
    label = " ".join(part for part in (f"the service answered {status}", told.kind, told.code) if part)
    label += _detail(told.words, request)
    if _NO_MONEY.search(told.code) or (status in {400, 403, 429} and _NO_MONEY.search(told.words)):
        return LlmUnavailable(
            f"a spending limit of the account is reached: {label}",
            retry_after_seconds=retry_after(told.headers, now=now),
            request_id=request_id,
        )
    if status == 413 or (status == 400 and (TOO_LONG.search(told.words) or TOO_LONG.search(told.code))):
        return LlmTooLong(label, request_id=request_id)
    if status in WRONG_SETUP:
        return LlmMisconfigured(f"{label}; check {check}", request_id=request_id)
    if status in _GATEWAY_TIMEOUTS:
        return LlmUnanswered(label, request_id=request_id)
    if is_worth_retrying(status):
        return Transient(
            label,
            retry_after_seconds=retry_after(told.headers, now=now),
            may_retry=told.headers.get("x-should-retry", "").lower() != "false",
            request_id=request_id,
        )
    return LlmRejected(label, request_id=request_id)


def _detail(words: str, request: LlmRequest | None) -> str:
    if request is None:
        return ""
    shown = " ".join(words.split())[:MAX_DETAIL_CHARS]
    prompt = request.user + request.system
    runs = (shown[index : index + ECHO_CHARS] for index in range(max(1, len(shown) - ECHO_CHARS + 1)))
    return f": {shown}" if shown and not any(run in prompt for run in runs) else ""
