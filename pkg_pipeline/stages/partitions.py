"""Partitions with work to do: begin, finish, report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True)
class DuePartition:
    asset: str
    key: str
    version: int
    attempt: int


@dataclass(frozen=True, slots=True)
class FinishedPartition:
    """A partition after an attempt; ``rest_seconds``: pause of deferred work (budget, service)."""

    key: str
    marks: Sequence[int]
    pending: int
    due_at: datetime | None
    resume_at: datetime | None = None
    rest_seconds: float = 0.0


@dataclass(slots=True, kw_only=True)
class PartitionReport:
    """Numbers and reasons for metadata; ``pending`` waits, for the ``reasons``."""

    pending: int = 0
    seconds: float = 0.0
    reasons: list[str] = field(default_factory=list[str])

    def add_reason(self, reason: str | None) -> None:
        if reason and reason not in self.reasons:
            self.reasons.append(reason)


class PartitionStore(Protocol):
    """The dirty table: marks and leftovers of partitions."""

    def due(self, asset: str, *, now: datetime, limit: int | None = None) -> list[DuePartition]:
        """Due keys, ascending."""
        ...

    def begin(self, asset: str, keys: Sequence[str], *, now: datetime) -> Mapping[str, tuple[int, ...]]:
        """Key → its marks, for keys with marks or leftovers; ``finish`` removes only these."""
        ...

    def finish(self, asset: str, done: Sequence[FinishedPartition]) -> None:
        """Record attempts in one transaction."""
        ...
