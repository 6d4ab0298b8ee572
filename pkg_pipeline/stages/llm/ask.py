"""One question to the model: replay, budget, call, ledger; recorded before use (B6), never paid twice (B8)."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from pkg_pipeline.memory.records import Usage
from pkg_pipeline.memory.text.cleaning import clean_text
from pkg_pipeline.memory.window.calibration import calibration_of
from pkg_pipeline.stages.llm.leased_work import WorkRules
from pkg_pipeline.stages.llm.run import Run
from pkg_pipeline.stages.llm.stores import BudgetStore, Caps, LedgerRow, LedgerStore, PlannedCall
from pkg_pipeline.stages.ports import (
    Billing,
    Lane,
    Llm,
    LlmError,
    LlmRequest,
    LlmTooLong,
    LlmUnanswered,
    LlmUnavailable,
    Subject,
    TokenCounter,
)

WORST_TOKENIZER = 2.0
"""A model may count up to twice our tokens (B12); limits include that, and more if its calls say so."""

SPREAD = 1.15
"""One prompt is counted worse than the median of a model's prompts by no more than this."""

UNAVAILABLE_SECONDS = 60.0
MOST_REST_SECONDS = 3_600.0
"""Limit of the pause of 60 s × 2ⁿ after transport or quota trouble."""

MOST_OBEYED_SECONDS = 86_400.0
"""Limit of an obeyed ``retry-after``."""


@dataclass(slots=True)
class Tally:
    """Totals of questions; ``cost_usd`` by the ledger."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0

    def count(self, usage: Usage) -> None:
        self.calls += 1
        self.input_tokens += usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        self.output_tokens += usage.output_tokens


class InBatch(Exception):
    """Nobody was asked: the question waits for a message batch, or belongs to another run."""


class Elsewhere(Protocol):
    """What becomes of questions that have no kept answer."""

    def asked(self, request: LlmRequest, request_hash: str) -> None:
        """Returns to have the model asked now. Raises ``InBatch``, or the ``LlmError`` that a batch brought for it."""
        ...

    def answered(self, request: LlmRequest) -> None:
        """It had a kept answer."""
        ...


@dataclass(frozen=True, slots=True)
class Asking:
    llm: Llm
    ledger: LedgerStore
    counter: TokenCounter
    run: Run
    elsewhere: Elsewhere | None = None
    calibration: float | None = None
    """Tokens that the model reports for one of ours, if it was asked often enough (B12)."""
    looks_up: bool = False
    """Kept answers are made use of even when the run has stopped asking."""

    @property
    def is_over(self) -> bool:
        return self.run.is_stopped and not self.looks_up

    def answer(self, request: LlmRequest, *, tally: Tally) -> tuple[str, str]:
        """(answer, its hash for ``LedgerStore.refuse``). Raises an ``LlmError``, ``OutOfBudget`` before sending, or
        ``InBatch``.
        """
        llm, run, subject = self.llm, self.run, request.subject
        assert subject is not None, "every question of a stage is about something"
        request = replace(request, billing=run.billing)
        request_hash = hash_of(llm.model, request)
        if not llm.is_paid:
            return self._booked(request, request_hash, subject, tally), request_hash
        if (kept := self.ledger.replay(request_hash)) is not None:
            if self.elsewhere is not None:
                self.elsewhere.answered(request)
            return kept[0], request_hash
        if self.elsewhere is not None:
            self.elsewhere.asked(request, request_hash)
        if self.looks_up and run.is_stopped:
            raise InBatch
        usd = most_usd(request, llm=llm, counter=self.counter, calibration=self.calibration)
        version, seconds = request.prompt_version, run.lease_seconds
        call = PlannedCall(subject, request_hash, request.task, llm.model, version, run.billing, seconds)
        for left in reversed(range(run.tries_unanswered)):
            # settled only if the outcome is in the ledger; otherwise the reservation is booked in full when its lease
            # ends
            reservation = run.take(usd, call)
            try:
                text = self._booked(request, request_hash, subject, tally)
            except LlmError as error:
                tally.cost_usd += run.settle(reservation, subject=subject)
                if isinstance(error, LlmUnanswered) and left:
                    continue
                if error.usage is not None:
                    tally.count(error.usage)
                raise
            tally.cost_usd += run.settle(reservation, subject=subject)
            run.answered()
            return text, request_hash
        raise AssertionError("the last try returns or raises")

    def _booked(self, request: LlmRequest, request_hash: str, subject: Subject, tally: Tally) -> str:
        """Calls the model; the answer is in the ledger before it returns."""
        reply = self.llm.complete(request)
        text = clean_text(reply.text)
        tally.count(reply.usage)
        self.ledger.record(
            LedgerRow(
                subject=subject,
                billing=request.billing,
                request_hash=request_hash,
                task=request.task,
                model=reply.model,
                prompt_version=request.prompt_version,
                outcome="ok",
                usage=reply.usage,
                cost_usd=self.llm.price(reply.usage),
                duration_seconds=reply.duration_seconds,
                request_id=reply.request_id,
                # offline answers cost nothing to repeat; paid ones are kept (B8)
                reply=text if self.llm.is_paid else None,
                also=request.also,
                counted_tokens=reply.counted_tokens,
            )
        )
        return text


def rest_after(error: LlmUnavailable, deferrals: int) -> float:
    """Seconds until a question deferred ``deferrals`` times is asked again (P19)."""
    asked = error.retry_after_seconds
    if asked is not None:
        return min(max(asked, 1.0), MOST_OBEYED_SECONDS)
    return min(UNAVAILABLE_SECONDS * 2**deferrals, MOST_REST_SECONDS)


def most_usd(request: LlmRequest, *, llm: Llm, counter: TokenCounter, calibration: float | None = None) -> float:
    """Upper limit of USD: prompt by the worst tokenizer, a retry with twice the room. Raises ``LlmTooLong``."""
    limit = request.max_output_tokens
    tokens = fitting_tokens(request, llm=llm, counter=counter, calibration=calibration)
    return sum(llm.price(worst_usage(tokens, room, calibration)) for room in (limit, 2 * limit))


def fitting_tokens(request: LlmRequest, *, llm: Llm, counter: TokenCounter, calibration: float | None = None) -> int:
    """Tokens of the prompt as we count them. Raises ``LlmTooLong`` if the model would count more than its window."""
    tokens = prompt_tokens(request, counter)
    theirs = math.ceil(tokens * calibration_of(calibration))
    if theirs + request.max_output_tokens > llm.window_tokens:
        raise LlmTooLong(f"the prompt has {theirs} tokens, the model's window {llm.window_tokens}")
    return tokens


def worst_tokenizer(calibration: float | None) -> float:
    """So many tokens a model may count for one of ours. Never below ``WORST_TOKENIZER``: where long talks are cut must
    not move with every call, or a rebuild would ask other questions (B8).
    """
    return max(WORST_TOKENIZER, calibration_of(calibration) * SPREAD)


def prompt_tokens(request: LlmRequest, counter: TokenCounter) -> int:
    schema = json.dumps(request.schema, sort_keys=True)
    return sum(counter.count(text) for text in (request.system, request.user, schema))


def worst_usage(tokens: int, room: int, calibration: float | None = None) -> Usage:
    """Upper limit of one try; ``room``: answer tokens."""
    return Usage(int(tokens * worst_tokenizer(calibration)), room, estimated=True)


def hash_of(model: str, request: LlmRequest) -> str:
    """Hash of the content of a request: replay key, and common key of its tries."""
    asked = [model, request.prompt_version, request.system, request.user, dict(request.schema)]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmAccess:
    """For stages that ask; ``llm`` loads the ``model`` on first call and may raise ``LlmMisconfigured``."""

    llm: Callable[[], Llm]
    model: str
    ledger: LedgerStore
    budgets: BudgetStore
    counter: TokenCounter
    caps: Callable[[str, Lane], Caps]
    work: WorkRules

    def asking(self, task: str, billing: Billing) -> Asking:
        """For one run paid by ``billing``; first books what dead processes may have spent."""
        self.budgets.settle_lost()
        caps = self.caps(task, billing.lane)
        run = Run(self.budgets, billing, caps, task=task, lease_seconds=self.work.lease_seconds)
        return Asking(self.llm(), self.ledger, self.counter, run, calibration=self.calibration())

    def calibration(self) -> float | None:
        """Tokens that a paid model reports for one of ours, if it was asked often enough (B12)."""
        llm = self.llm()
        return self.ledger.calibration(llm.model) if llm.is_paid else None
