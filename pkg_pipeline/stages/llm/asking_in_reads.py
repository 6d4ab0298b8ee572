"""Questions to a model within a read: it waits for one up to a deadline, and goes on without (L10).

A call uses replay, budget and ledger on the live lane (B6, B8, P32). A late answer is still paid, stored and replayed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import Final, Generic, TypeVar

from pkg_pipeline.stages.llm.answer_validation import NotPublishable, Question
from pkg_pipeline.stages.llm.ask import Asking, Tally, rest_after
from pkg_pipeline.stages.llm.run import OutOfBudget, Run
from pkg_pipeline.stages.llm.stores import BudgetStore, Caps, LedgerStore, PlannedCall, Refusal, Reservation
from pkg_pipeline.stages.ports import (
    Billing,
    Llm,
    LlmError,
    LlmMisconfigured,
    LlmRefused,
    LlmTask,
    LlmUnavailable,
    Subject,
    TokenCounter,
)

SLOW_REST_SECONDS: Final = 60.0
MISCONFIGURED_REST_SECONDS: Final = 600.0
"""Pauses after a timeout or configuration error."""

Source = TypeVar("Source")
Content = TypeVar("Content")


class ReadAsker(Generic[Source, Content]):
    """Asks the model; shared by all reads of a process, to be closed.

    ``caps`` are the live lane's. Equal sources (hashable) at the same time share one call. ``prepared`` completes a
    source in the thread that asks. ``llm`` should time out soon after ``deadline_seconds``.
    """

    def __init__(
        self,
        question: Question[Source, Content],
        subject: Callable[[Source], Subject],
        *,
        ledger: LedgerStore,
        llm: Llm,
        counter: TokenCounter,
        budgets: BudgetStore,
        caps: Caps,
        deadline_seconds: float,
        prepared: Callable[[Source], Source] = lambda source: source,
        concurrency: int = 4,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._question, self._subject, self._prepared = question, subject, prepared
        self._ledger, self._llm, self._counter, self._budgets = ledger, llm, counter, budgets
        self._caps = caps
        self._deadline_seconds, self._monotonic = deadline_seconds, monotonic
        self._rests_until = float("-inf")
        self._lock = threading.Lock()
        self._asked: dict[Source, Future[Content]] = {}
        self._threads = ThreadPoolExecutor(max_workers=concurrency, thread_name_prefix=question.task)

    @property
    def is_offline(self) -> bool:
        return not self._llm.is_paid

    @property
    def model(self) -> str:
        return self._llm.model

    def close(self) -> None:
        """Waits for running calls, so that their cost is recorded."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    def answer(self, source: Source) -> Content:
        """What passes the gate.

        Raises ``TimeoutError`` after the deadline, an ``LlmError``, ``OutOfBudget``, ``NotPublishable``, or errors of
        the stores.
        """
        future = self._begun(source)
        try:
            return future.result(timeout=self._deadline_seconds)
        except TimeoutError:
            if not future.cancel():  # it waited for the model, not for a thread
                self._rest(SLOW_REST_SECONDS)
            raise

    def _begun(self, source: Source) -> Future[Content]:
        with self._lock:
            under_way = self._asked.get(source)
            if under_way is not None and not under_way.cancelled():
                return under_way
            future = self._asked[source] = self._threads.submit(self._ask, source)
        future.add_done_callback(lambda done: self._forget(source, done))
        return future

    def _forget(self, source: Source, done: Future[Content]) -> None:
        with self._lock:
            if self._asked.get(source) is done:
                del self._asked[source]

    def _ask(self, source: Source) -> Content:
        run = _LiveRun(self._budgets, self._left_of_rest, self._caps, self._question.task)
        asking = Asking(self._llm, self._ledger, self._counter, run)
        try:
            content, _ = self._question.ask(
                self._prepared(source), subject=self._subject(source), asking=asking, tally=Tally()
            )
        except LlmUnavailable as away:
            self._rest(rest_after(away, 0))
            raise
        except LlmMisconfigured:
            self._rest(MISCONFIGURED_REST_SECONDS)
            raise
        return content

    def _rest(self, seconds: float) -> None:
        with self._lock:
            self._rests_until = max(self._rests_until, self._monotonic() + seconds)

    def _left_of_rest(self) -> float:
        with self._lock:
            return self._rests_until - self._monotonic()


class _LiveRun(Run):
    """The run of one question: reserves nothing while the model rests; replays still work."""

    def __init__(self, budgets: BudgetStore, left_of_rest: Callable[[], float], caps: Caps, task: LlmTask) -> None:
        # no second try: a read waits for it
        super().__init__(budgets, Billing("live"), caps, task=task, tries_unanswered=1)
        self._left_of_rest = left_of_rest

    def take(self, usd: float, call: PlannedCall) -> Reservation:
        left = self._left_of_rest()
        if left > 0:
            raise OutOfBudget(Refusal("the model did not answer a moment ago", left))
        return super().take(usd, call)


def reason_of(error: Exception) -> str:
    """Why there is no answer, in own words: an error of the service may repeat what was asked."""
    match error:
        case TimeoutError() | CancelledError():
            return "the model did not answer in time"
        case OutOfBudget():
            return error.refusal.reason
        case NotPublishable():
            return f"the model's answer cannot be used: {error.problem}"
        case LlmUnavailable():
            return "the model is unavailable"
        case LlmMisconfigured():
            return "the model is not set up rightly"
        case LlmRefused():
            return "the model declined"
        case LlmError():
            return f"the model gave no answer ({type(error).__name__})"
        case _:
            return f"it could not be asked ({type(error).__name__})"
