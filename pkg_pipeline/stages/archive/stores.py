"""What the archive stage needs from storage, as Protocols it owns, and the records that pass between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Protocol
from uuid import UUID

from pkg_pipeline.memory.message.archiving import HeldBack, Ready


@dataclass(frozen=True, slots=True)
class ArchiveAge:
    """What counts as old enough: ended before ``ended_before``. ``now`` is the memory's clock; holds follow it too.

    ``minimum_messages``: shorter interactions are never summarised, so they wait for nothing.
    """

    now: datetime
    ended_before: datetime
    minimum_messages: int


@dataclass(frozen=True, slots=True)
class Moved:
    """What one batch moved. ``mismatched`` are ids of messages whose stored copy did not have their hash."""

    interactions: int = 0
    messages: int = 0
    bytes: int = 0
    kept_important: int = 0
    mismatched: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MonthLeft:
    """What of a month is not archived: interactions by reason, and when the next one comes of age by itself."""

    held_back: Mapping[HeldBack, int] = field(default_factory=dict[HeldBack, int])
    due_at: datetime | None = None

    @property
    def pending(self) -> int:
        return sum(self.held_back.values())


@dataclass(frozen=True, slots=True)
class KeptMonth:
    """A month of the archive. Of a dropped one the numbers say what it held."""

    month: date
    is_dropped: bool
    messages: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Given:
    """What one batch gave back."""

    messages: int = 0
    bytes: int = 0
    interactions: int = 0


@dataclass(frozen=True, slots=True)
class RestoreScope:
    """What is to be restored: exactly one of these."""

    message: tuple[str, str, str] | None = None
    interaction_id: UUID | None = None
    chat: tuple[str, str] | None = None
    month: date | None = None


class ArchiveStore(Protocol):
    """Moves texts out; every call may be repeated, ``move`` is one transaction."""

    def unattempted(self, age: ArchiveAge) -> list[date]:
        """Months with something old enough that no run has looked at yet."""
        ...

    def ready(self, month: date, age: ArchiveAge) -> list[Ready]:
        """Interactions of the month with texts to move, oldest first."""
        ...

    def move(self, month: date, batch: Sequence[Ready], age: ArchiveAge) -> Moved:
        """Copy, verify, mark and blank; what is no longer ready stays as it is."""
        ...

    def waiting(self) -> list[date]:
        """Months of which the last run left something."""
        ...

    def left_of(self, months: Sequence[date], age: ArchiveAge) -> Mapping[date, MonthLeft]:
        """What each of the months holds back; those that hold back nothing are missing."""
        ...

    def vacuum(self) -> None:
        """What was blanked can be written over. Outside of any transaction."""
        ...


class RetentionStore(Protocol):
    """Months as wholes."""

    def months(self) -> list[KeptMonth]:
        """All that the archive ever held, oldest first."""
        ...

    def drop(self, month: date) -> int | None:
        """Drop a month with its earlier versions, for good; how many messages. None where somebody reads it now."""
        ...


class DeletedStore(Protocol):
    """Words of messages that were deleted at their source."""

    def blank_deleted(self, before: datetime, *, limit: int) -> int:
        """Blank at most ``limit`` of those deleted by then: text, parts, metadata, copies, earlier versions. All else
        of a row stays, and all hashes. One transaction; how many.
        """
        ...


class RestoreStore(Protocol):
    """Gives texts back; ``give_back`` is one transaction."""

    def archived(self, scope: RestoreScope) -> list[int] | None:
        """Ids of the archived messages, chat by chat; None where there is no such message, interaction or chat."""
        ...

    def give_back(self, ids: Sequence[int], *, held_until: datetime) -> Given:
        """Texts back into their rows, copies out of the archive, their interactions held; mismatches stay."""
        ...

    def still_archived(self, ids: Sequence[int]) -> tuple[list[int], int]:
        """Of these: those whose copy has not their hash, and how many have no copy any more."""
        ...
