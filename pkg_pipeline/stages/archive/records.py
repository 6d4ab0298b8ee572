"""Records between the archive stage and its store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from uuid import UUID

from pkg_pipeline.memory.message.archiving import HeldBack


@dataclass(frozen=True, slots=True)
class ArchiveAge:
    """Interactions that ended before ``ended_before`` are old enough; ``now`` is the memory's clock.

    Interactions below ``minimum_messages`` are never summarised, so they wait for no summary.
    """

    now: datetime
    ended_before: datetime
    minimum_messages: int


@dataclass(frozen=True, slots=True)
class Moved:
    """The result of one batch. ``mismatched``: ids of messages whose stored copy has another hash."""

    interactions: int = 0
    messages: int = 0
    bytes: int = 0
    kept_important: int = 0
    mismatched: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MonthLeft:
    """Interactions of a month not archived, by reason, and when the next becomes old enough."""

    held_back: Mapping[HeldBack, int] = field(default_factory=dict[HeldBack, int])
    due_at: datetime | None = None

    @property
    def pending(self) -> int:
        return sum(self.held_back.values())


@dataclass(frozen=True, slots=True)
class KeptMonth:
    """A month of the archive; of a dropped one the counts before."""

    month: date
    is_dropped: bool
    messages: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Restored:
    messages: int = 0
    bytes: int = 0
    interactions: int = 0


@dataclass(frozen=True, slots=True)
class RestoreScope:
    """What to restore: exactly one of these."""

    message: tuple[str, str, str] | None = None
    interaction_id: UUID | None = None
    chat: tuple[str, str] | None = None
    month: date | None = None
