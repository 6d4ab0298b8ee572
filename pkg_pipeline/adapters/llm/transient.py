"""Failures of a service that another try may mend: which statuses they have, what they carry, how long to wait.

Shared by the SDKs' adapters. What any other failure means is each adapter's; nobody waits here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pkg_pipeline.memory.records import Usage

WRONG_SETUP: Final = frozenset({401, 402, 403, 404})
"""Key, billing, permission, address or model: every further call would fail alike."""

_WORTH_RETRYING: Final = frozenset({408, 409, 425, 429, 499})

BACKOFF_BASE_SECONDS: Final = 0.5
BACKOFF_CAP_SECONDS: Final = 8.0


class Transient(Exception):
    """A try that gave nothing; the loop decides on another, ``retry_after_seconds`` later if the service asked so."""

    def __init__(
        self,
        message: str,
        *,
        retry_after_seconds: float | None = None,
        may_retry: bool = True,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds
        self.may_retry = may_retry
        self.request_id = request_id
        self.usage: Usage | None = None


def is_worth_retrying(status: int) -> bool:
    """Whether an HTTP status may be another one soon."""
    return status in _WORTH_RETRYING or status >= 500


def wait_seconds(failure: Transient, number: int, *, draw: Callable[[], float]) -> float:
    """Before the try after the ``number``-th: full jitter over 0.5 s × 2ⁿ up to 8 s, at least what the service asked.

    ``draw`` is uniform in [0, 1).
    """
    jitter = draw() * min(BACKOFF_CAP_SECONDS, BACKOFF_BASE_SECONDS * 2 ** (number - 1))
    return max(failure.retry_after_seconds or 0.0, jitter)
