"""Questions gathered into a message batch instead of being asked: on record with their money and leases before they are
sent (P31, B8).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from uuid import UUID

from pkg_pipeline.stages.llm.ask import Asking, InBatch, fitting_tokens, rest_after, worst_usage
from pkg_pipeline.stages.llm.batch_ports import BatchStore, LlmBatches, Planned, Size, name_of
from pkg_pipeline.stages.llm.leased_work import Heartbeat, Leased, Leases
from pkg_pipeline.stages.llm.stores import PlannedCall
from pkg_pipeline.stages.ports import (
    LlmError,
    LlmMisconfigured,
    LlmRequest,
    LlmUnanswered,
    LlmUnavailable,
    Subject,
)

MOST_QUESTIONS = 1_000
MOST_CHARACTERS = 40_000_000
"""Of one batch, which is held in memory until it is sent; the service takes 100,000 questions and 256 MB."""

HELD_SECONDS = 26 * 3_600.0
"""A batch ends within a day: so long nobody else may claim what it asks about."""

RESERVED_SECONDS = 48 * 3_600.0
"""After that a question whose result nobody read is booked at the most it can cost, until somebody reads it."""

REFUSED_REST_SECONDS = 3_600.0
"""After the service did not take a batch as it is."""


@dataclass(frozen=True, slots=True)
class _Question:
    request: LlmRequest
    request_hash: str
    prompt_tokens: int


class Gathering:
    """``Elsewhere`` of a run that asks through batches. Context manager: what was not sent is given back.

    First questions go into the batch. Whoever had an answer already is asked on at once: what follows an answer hangs
    on it, and would otherwise wait a day for every step. Threads may share it; ``submit`` is for the main one.
    """

    def __init__(
        self,
        batches: LlmBatches,
        store: BatchStore,
        asking: Asking,
        leases: Leases,
        *,
        redo_stale: bool = False,
    ) -> None:
        self._batches, self._store, self._asking, self._leases = batches, store, asking, leases
        self._redo_stale = redo_stale
        self._heartbeat = Heartbeat(leases, lease_seconds=asking.run.lease_seconds)
        self._lock = threading.Lock()
        self._questions: dict[str, _Question] = {}
        self._claimed: dict[UUID, Leased] = {}
        self._answered: set[UUID] = set()
        self._characters = 0
        self.sent = 0
        """Questions in batches so far."""

    def __enter__(self) -> Self:
        self._heartbeat.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._give_back(question.request for question in self._take())
        self._heartbeat.__exit__(kind, error, trace)

    @property
    def is_full(self) -> bool:
        return len(self._questions) >= MOST_QUESTIONS or self._characters >= MOST_CHARACTERS

    def claimed(self, held: Iterable[Leased]) -> None:
        """What questions may be about from now on."""
        self._claimed.update({one.lease_id: one for one in held})

    def answered(self, request: LlmRequest) -> None:
        with self._lock:
            self._answered.update(one.id for one in _subjects(request))

    def asked(self, request: LlmRequest, request_hash: str) -> None:
        subjects = [one.id for one in _subjects(request)]
        with self._lock:
            if not self._answered.isdisjoint(subjects):
                return
        tokens = fitting_tokens(
            request, llm=self._asking.llm, counter=self._asking.counter, calibration=self._asking.calibration
        )
        with self._lock:
            if request_hash not in self._questions:
                self._questions[request_hash] = _Question(request, request_hash, tokens)
                self._characters += len(request.system) + len(request.user)
            self._heartbeat.hold(self._claimed[key] for key in subjects)
        raise InBatch

    def submit(self) -> None:
        """Sends what was gathered. If a cap or the service does not let it through, the run stops. Raises
        ``LlmMisconfigured``.
        """
        questions = self._take()
        if not questions:
            return
        run = self._asking.run
        planned = [self._planned(one) for one in questions]
        begun = self._store.begin(
            planned, task=run.task, caps=run.caps, held_seconds=HELD_SECONDS, redo_stale=self._redo_stale
        )
        if begun.refusal is not None and begun.refusal.is_for_all:
            run.stop(begun.refusal.reason, begun.refusal.retry_after_seconds)
        pairs = list(zip(questions, begun.ids, strict=True))
        self._give_back(one.request for one, key in pairs if key is None)
        if begun.batch_id is None:
            return
        requests = [(name_of(key), one.request) for one, key in pairs if key is not None]
        self._send(begun.batch_id, requests)

    def _send(self, batch_id: UUID, requests: Sequence[tuple[str, LlmRequest]]) -> None:
        try:
            service_id = self._batches.create(requests)
        except LlmUnanswered:
            # it may be there: it is looked for once nobody can be sending it any more
            self.sent += len(requests)
            return
        except LlmError as error:
            self._store.drop(batch_id)
            if isinstance(error, LlmMisconfigured):
                raise
            wait = rest_after(error, 0) if isinstance(error, LlmUnavailable) else REFUSED_REST_SECONDS
            self._asking.run.stop(f"the service took no batch: {error}", wait)
            return
        self._store.sent(batch_id, service_id)
        self.sent += len(requests)

    def _take(self) -> list[_Question]:
        with self._lock:
            questions, self._questions, self._characters = list(self._questions.values()), {}, 0
        for one in questions:
            for subject in _subjects(one.request):
                self._heartbeat.stop_renewing(self._claimed[subject.id])
        return questions

    def _give_back(self, requests: Iterable[LlmRequest]) -> None:
        ids = {subject.id for request in requests for subject in _subjects(request)}
        self._leases.release([self._claimed[key] for key in ids])

    def _planned(self, one: _Question) -> Planned:
        request, asking = one.request, self._asking
        assert request.subject is not None, "every question of a stage is about something"
        call = PlannedCall(
            request.subject,
            one.request_hash,
            request.task,
            asking.llm.model,
            request.prompt_version,
            asking.run.billing,
            RESERVED_SECONDS,
        )
        room = request.max_output_tokens
        return Planned(
            call=call,
            usd=self._batches.price(worst_usage(one.prompt_tokens, room, self._asking.calibration)),
            size=Size(one.prompt_tokens, room),
            subjects=tuple(_subjects(request)),
            tokens=tuple(self._claimed[subject.id].token for subject in _subjects(request)),
        )


def _subjects(request: LlmRequest) -> list[Subject]:
    return [] if request.subject is None else [request.subject, *request.also]
