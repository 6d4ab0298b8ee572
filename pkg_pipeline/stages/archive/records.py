"""What passes between the archive stage and its store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from uuid import UUID

from pkg_pipeline.memory.message.archiving import HeldBack


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
class Restored:
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
