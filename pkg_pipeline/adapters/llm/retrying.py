"""The retry loop of all remote clients, on tenacity."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final, TypeVar

from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt

from pkg_pipeline.memory.records import Usage

T = TypeVar("T")

WRONG_SETUP: Final = frozenset({401, 402, 403, 404})
"""Key, billing, permission, address or model: every further call would fail too."""

_WORTH_RETRYING: Final = frozenset({408, 409, 425, 429, 499})

BACKOFF_BASE_SECONDS: Final = 0.5
BACKOFF_CAP_SECONDS: Final = 8.0
RETRY_AFTER_CAP_SECONDS: Final = 60.0
"""A longer ``retry-after`` is not slept: the work is postponed by it (P19)."""


class Transient(Exception):
    """A failed try, repeatable ``retry_after_seconds`` later if the service said so; ``tries`` if given up."""

    at_once = False

    def __init__(
        self,
        message: str,
        *,
        retry_after_seconds: float | None = None,
        may_retry: bool = True,
        request_id: str | None = None,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds
        self.may_retry = may_retry
        self.request_id = request_id
        self.usage = usage
        self.tries = 0


def is_worth_retrying(status: int) -> bool:
    return status in _WORTH_RETRYING or status >= 500


def retried(
    one_try: Callable[[], T],
    *,
    tries: int,
    sleep: Callable[[float], None],
    draw: Callable[[], float],
    longest_wait_seconds: float = RETRY_AFTER_CAP_SECONDS,
    seconds_left: Callable[[], float] = lambda: math.inf,
) -> tuple[T, int]:
    """The result of ``one_try`` and the number of the try.

    Full jitter over 0.5 s × 2ⁿ up to 8 s (``draw`` is uniform in [0, 1)), at least ``retry-after``. Raises the last
    ``Transient`` after ``tries``, if the wait exceeds the cap or ``seconds_left``, or if it may not be retried. Other
    exceptions pass.
    """

    def wait(state: RetryCallState) -> float:
        failure = _failure(state)
        if failure.at_once:
            return 0.0
        jitter = draw() * min(BACKOFF_CAP_SECONDS, BACKOFF_BASE_SECONDS * 2 ** (state.attempt_number - 1))
        return max(failure.retry_after_seconds or 0.0, jitter)

    def too_long(state: RetryCallState) -> bool:
        return state.upcoming_sleep > longest_wait_seconds or state.upcoming_sleep >= seconds_left()

    loop = Retrying(
        retry=retry_if_exception(lambda error: isinstance(error, Transient) and error.may_retry),
        stop=lambda state: stop_after_attempt(tries)(state) or too_long(state),
        wait=wait,
        sleep=sleep,
        reraise=True,
    )
    try:
        return loop(one_try), loop.statistics["attempt_number"]
    except Transient as failure:
        failure.tries = loop.statistics["attempt_number"]
        raise


def _failure(state: RetryCallState) -> Transient:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, Transient)
    return error


def retry_after(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """Seconds (from ``retry-after-ms``, seconds or an HTTP date), or None."""
    seconds = _number(headers.get("retry-after-ms"), scale=0.001)
    if seconds is None:
        seconds = _number(headers.get("retry-after"))
    if seconds is None and headers.get("retry-after"):
        try:
            moment = parsedate_to_datetime(headers["retry-after"])
        except (ValueError, TypeError, OverflowError):
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - now).total_seconds()
    return None if seconds is None else max(0.0, seconds)


def _number(text: str | None, *, scale: float = 1.0) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value * scale if math.isfinite(value) else None
