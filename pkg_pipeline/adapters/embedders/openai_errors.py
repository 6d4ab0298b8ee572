"""What a failed call of an OpenAI-compatible endpoint means for us. No call is made here.

Messages name status and code alone: what a service writes may repeat the text or the key, and errors end in logs.
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
    """The request was refused for what it holds; smaller ones find the text."""


def classify(error: Exception, *, now: datetime) -> EmbedderMisconfigured | Transient | Refused:
    """The failure that an exception of the SDK amounts to; never the exception itself, whose words may hold texts."""
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
