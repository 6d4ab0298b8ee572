"""Rephrases a question for recall by the model (off by default); never fails a read, delays it up to a deadline (L10).

A call uses replay, budget and ledger on the live lane (B6, B8, P32). A late answer is still paid, stored and replayed.
The question's text is not stored; the ledger has its hash and the model's phrasings.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import date, datetime
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.hashing import question_id
from pkg_pipeline.memory.recall.rewrite_gate import Question, check_rewrite, no_rewrite_reason
from pkg_pipeline.memory.records import Language
from pkg_pipeline.prompts import question_rewrite as prompt
from pkg_pipeline.stages.llm import answer_validation
from pkg_pipeline.stages.llm.answer_validation import NotPublishable
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

TASK: Final[LlmTask] = "question_rewrite"

REWRITE: Final[answer_validation.Question[Question, tuple[str, ...]]] = answer_validation.Question(
    TASK, prompt, lambda text, question: check_rewrite(prompt.parse(text).queries, question.text)
)

DEADLINE_SECONDS: Final = 4.0
"""The longest a read waits."""

SLOW_REST_SECONDS: Final = 60.0
MISCONFIGURED_REST_SECONDS: Final = 600.0
"""Pauses of the rewriting after a timeout or configuration error."""

OFFLINE: Final = "the offline model does not rewrite"


class Rewritten(NamedTuple):
    """The original question, then up to three phrasings; ``reason``: why there are none."""

    queries: tuple[str, ...]
    reason: str | None = None


class Asker:
    """Asks the model; shared by all reads of a process, to be closed.

    ``caps`` are the live lane's. Equal questions at the same time share one call. ``languages``: of the memory's texts
    on a day; phrasings in them are wanted too. ``llm`` should time out soon after ``deadline_seconds``.
    """

    def __init__(
        self,
        *,
        ledger: LedgerStore,
        llm: Llm,
        counter: TokenCounter,
        budgets: BudgetStore,
        caps: Caps,
        languages: Callable[[date], Sequence[Language]] = lambda _: (),
        concurrency: int = 4,
        deadline_seconds: float = DEADLINE_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ledger, self._llm, self._counter, self._budgets = ledger, llm, counter, budgets
        self._caps, self._languages = caps, languages
        self._deadline_seconds, self._monotonic = deadline_seconds, monotonic
        self._rests_until = float("-inf")
        self._lock = threading.Lock()
        self._asked: dict[Question, Future[tuple[str, ...]]] = {}
        self._threads = ThreadPoolExecutor(max_workers=concurrency, thread_name_prefix=TASK)

    @property
    def is_offline(self) -> bool:
        return not self._llm.is_paid

    def close(self) -> None:
        """Waits for running calls, so that their cost is recorded."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    def phrasings(self, question: Question) -> tuple[str, ...]:
        """The accepted phrasings; may be empty.

        Raises ``TimeoutError`` after the deadline, an ``LlmError``, ``OutOfBudget``, ``NotPublishable``, or errors of
        the stores.
        """
        future = self._begun(question)
        try:
            return future.result(timeout=self._deadline_seconds)
        except TimeoutError:
            if not future.cancel():  # it waited for the model, not for a thread
                self._rest(SLOW_REST_SECONDS)
            raise

    def _begun(self, question: Question) -> Future[tuple[str, ...]]:
        with self._lock:
            under_way = self._asked.get(question)
            if under_way is not None and not under_way.cancelled():
                return under_way
            future = self._asked[question] = self._threads.submit(self._ask, question)
        future.add_done_callback(lambda done: self._forget(question, done))
        return future

    def _forget(self, question: Question, done: Future[tuple[str, ...]]) -> None:
        with self._lock:
            if self._asked.get(question) is done:
                del self._asked[question]

    def _ask(self, question: Question) -> tuple[str, ...]:
        question = replace(question, languages=tuple(self._languages(question.asked_on)))
        subject = Subject("question", question_id(question.text))
        run = _LiveRun(self._budgets, self._left_of_rest, self._caps)
        asking = Asking(self._llm, self._ledger, self._counter, run)
        try:
            content, _ = REWRITE.ask(question, subject=subject, asking=asking, tally=Tally())
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

    def __init__(self, budgets: BudgetStore, left_of_rest: Callable[[], float], caps: Caps) -> None:
        # no second try: a read waits for it
        super().__init__(budgets, Billing("live"), caps, task=TASK, tries_unanswered=1)
        self._left_of_rest = left_of_rest

    def take(self, usd: float, call: PlannedCall) -> Reservation:
        left = self._left_of_rest()
        if left > 0:
            raise OutOfBudget(Refusal("the model did not answer a moment ago", left))
        return super().take(usd, call)


def rewritten(question: str, *, asked_at: datetime, zone: ZoneInfo, ask: Asker) -> Rewritten:
    """``question`` and its phrasings; never raises (L10). ``asked_at`` (aware) is the base of "last month"."""
    reason = OFFLINE if ask.is_offline else no_rewrite_reason(question)
    if reason is not None:
        return Rewritten((question,), reason)
    day = asked_at.astimezone(zone).date()
    try:
        found = ask.phrasings(Question(question, day, zone.key))
    except Exception as error:  # noqa: BLE001 - a read is never stopped by what was to make it better (L10)
        return Rewritten((question,), _reason_of(error))
    return Rewritten((question, *found), None if found else "the model knows no other words for it")


def _reason_of(error: Exception) -> str:
    """Own wording: an error of the service may repeat the question."""
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
