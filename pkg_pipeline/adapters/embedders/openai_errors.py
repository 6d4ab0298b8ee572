"""Classifies errors of an OpenAI-compatible endpoint. Messages contain status and code only: the service's text may
repeat inputs or keys.
"""

from __future__ import annotations

import json
import re
from datetime import datetime

from openai import APIConnectionError, APIStatusError, APITimeoutError

from pkg_pipeline.adapters.llm.retrying import WRONG_SETUP, Transient, is_worth_retrying, retry_after
from pkg_pipeline.stages.ports import EmbedderMisconfigured

CHECK = "check MEMORY_EMBEDDING_BASE_URL, MEMORY_EMBEDDING_API_KEY and MEMORY_EMBEDDING_MODEL"

_CODE = re.compile(r"[a-z][a-z_]{2,40}")
_NO_MONEY = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})


class Refused(Exception):
    """The content was refused; smaller requests find the text."""


def classify(error: Exception, *, now: datetime) -> EmbedderMisconfigured | Transient | Refused:
    """The failure for an exception of the SDK; never the exception itself, which may quote texts."""
    match error:
        case APIStatusError():
            return _by_status(error, now=now)
        case APITimeoutError():
            return Transient("the service did not answer in time")
        case APIConnectionError():
            return Transient("the connection to the service broke")
        case json.JSONDecodeError() | AttributeError():
            return Transient("a success whose body is no whole JSON")
        case _:
            return Refused(f"the request could not be made ({type(error).__name__})")


def _by_status(error: APIStatusError, *, now: datetime) -> EmbedderMisconfigured | Transient | Refused:
    status, code = error.status_code, str(error.code or "")
    label = f"HTTP {status}" + (f" ({code})" if _CODE.fullmatch(code) else "")
    if status in WRONG_SETUP:
        return EmbedderMisconfigured(f"{label}; {CHECK}")
    if is_worth_retrying(status):
        return Transient(
            label,
            retry_after_seconds=retry_after(error.response.headers, now=now),
            may_retry=code not in _NO_MONEY and error.response.headers.get("x-should-retry", "").lower() != "false",
        )
    return Refused(label)
