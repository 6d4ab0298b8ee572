"""Ports of message batches: the service's part, and the store of what is on its way. No I/O here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, Protocol
from uuid import UUID

from pkg_pipeline.memory.records import Usage
from pkg_pipeline.stages.llm.stores import Caps, LedgerRow, PlannedCall, Refusal
from pkg_pipeline.stages.ports import (
    LlmError,
    LlmOutcome,
    LlmRefused,
    LlmRejected,
    LlmRequest,
    LlmTooLong,
    Subject,
)

BatchOutcome = LlmOutcome | Literal["expired", "canceled"]
"""Of one question. ``unavailable``, ``expired``, ``canceled``: it was not answered and may be asked again."""

ANSWERLESS: frozenset[BatchOutcome] = frozenset({"unavailable", "misconfigured", "expired", "canceled", "unknown"})


class BatchGone(LlmError):
    """The service knows the batch no more, or keeps its results no longer."""


@dataclass(frozen=True, slots=True)
class BatchSeen:
    """A batch as the service lists it; ``questions`` 0: it does not say how many."""

    id: str
    created_at: datetime
    is_ended: bool
    questions: int


@dataclass(frozen=True, slots=True)
class Size:
    """By which a reported usage is believed: tokens of the prompt, room for the answer."""

    prompt_tokens: int
    room: int


@dataclass(frozen=True, slots=True)
class BatchReply:
    """The result of one question; ``error`` holds none of the service's words."""

    name: str
    outcome: BatchOutcome
    text: str = ""
    usage: Usage | None = None
    error: str | None = None


class LlmBatches(Protocol):
    """Message batches of a model's service. All raise an ``LlmError`` and retry nothing."""

    def are_served(self) -> bool:
        """Asked once; False where the service has none or does not answer."""
        ...

    def price(self, usage: Usage) -> float: ...

    def create(self, requests: Sequence[tuple[str, LlmRequest]]) -> str:
        """The id of a new batch of named requests. ``LlmUnanswered``: it may be there, or not."""
        ...

    def seen(self, batch_id: str) -> BatchSeen:
        """Raises ``BatchGone``."""
        ...

    def since(self, moment: datetime) -> Iterable[BatchSeen]:
        """Those created since, of whoever uses the same key; newest first."""
        ...

    def replies(self, batch_id: str, sizes: Mapping[str, Size]) -> list[BatchReply]:
        """Of an ended batch, in any order; of unknown names too, without usage. Raises ``BatchGone``."""
        ...

    def cancel(self, batch_id: str) -> None: ...

    def delete(self, batch_id: str) -> None:
        """Prompts and results of an ended batch."""
        ...


# ── the store ─────────────────────────────────────────────────────────────────────────────────

BatchState = Literal["submitting", "sent", "read", "done", "dropped"]


@dataclass(frozen=True, slots=True)
class Planned:
    """A question to send; ``usd``: the most it can cost. ``tokens``: the fencing tokens of its subjects' leases."""

    call: PlannedCall
    usd: float
    size: Size
    subjects: tuple[Subject, ...]
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Begun:
    """A batch on record, to be sent; ``ids`` by question, None: not in it, its lease lost or ``refusal``."""

    batch_id: UUID | None
    ids: tuple[UUID | None, ...]
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class OpenBatch:
    """``is_overdue``: whoever was sending it has long ended. ``is_wanted`` False: its backfill was cancelled."""

    id: UUID
    service_id: str | None
    state: BatchState
    backfill_id: UUID | None
    redo_stale: bool
    questions: int
    created_at: datetime
    is_overdue: bool
    is_lost: bool
    is_wanted: bool


@dataclass(frozen=True, slots=True)
class BatchItem:
    """One question of a batch; its id is that of its reservation and of its row in the ledger."""

    id: UUID
    request_hash: str
    task: str
    model: str
    prompt_version: str
    prompt_tokens: int
    room: int
    backfill_id: UUID | None
    run_id: str | None
    day: date
    is_forgotten: bool
    outcome: BatchOutcome | None
    error: str | None

    @property
    def name(self) -> str:
        return name_of(self.id)

    @property
    def failure(self) -> LlmError | None:
        """What the service told instead of an answer, to be handled as if it had been told now."""
        said = self.error or str(self.outcome)
        match self.outcome:
            case "refused":
                return LlmRefused(said)
            case "truncated" | "too_long":
                return LlmTooLong(said)
            case "empty" | "rejected":
                return LlmRejected(said)
            case _:
                return None


@dataclass(frozen=True, slots=True)
class HeldItem:
    """A question whose result is read, with the conversations that it is about and the leases on them."""

    item: BatchItem
    ids: tuple[UUID, ...]
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class InFlight:
    """What is on its way, for reports."""

    batches: int
    questions: int
    subjects: int
    oldest_at: datetime | None


def name_of(item_id: UUID) -> str:
    """The ``custom_id`` of a question."""
    return f"pkg-{item_id.hex}"


class BatchStore(Protocol):
    """Every step is one transaction and may be repeated."""

    def begin(
        self, planned: Sequence[Planned], *, task: str, caps: Caps, held_seconds: float, redo_stale: bool
    ) -> Begun:
        """Puts a batch on record before it is sent: reserves the money, lengthens the leases."""
        ...

    def sent(self, batch_id: UUID, service_id: str) -> None: ...

    def drop(self, batch_id: UUID) -> None:
        """It was never sent: gives money and leases back."""
        ...

    def open(self) -> list[OpenBatch]:
        """Batches that are not done, oldest first."""
        ...

    def service_ids(self) -> set[str]:
        """All that are ours, or are known not to be."""
        ...

    def not_ours(self, batch_id: UUID, service_id: str) -> None:
        """What was adopted was somebody else's."""
        ...

    def items(self, batch_id: UUID) -> list[BatchItem]: ...

    def book(self, item: BatchItem, row: LedgerRow | None, outcome: BatchOutcome) -> bool:
        """Puts a result into the ledger under the question's id, in place of its reservation; ``row`` None: not
        billed. False: it was there already.
        """
        ...

    def read(self, batch_id: UUID) -> None:
        """All results are booked."""
        ...

    def lose(self, batch_id: UUID) -> None:
        """The results are gone: what was not read is booked at the most it can cost."""
        ...

    def held(self, batch_id: UUID) -> list[HeldItem]:
        """Read, and not worked off yet."""
        ...

    def take_over(self, held: Mapping[UUID, int], *, holder: str, lease_seconds: float) -> dict[UUID, int]:
        """New leases in place of the batch's or of ended ones, with tokens; not of what another holds."""
        ...

    def worked(self, items: Sequence[HeldItem]) -> None:
        """Gives back the batch's own leases on them, where nobody took them over."""
        ...

    def finish(self, batch_id: UUID) -> None:
        """Done, unless something is still to be worked off."""
        ...

    def in_flight(self) -> InFlight: ...
