"""Partitions that need work: what every hop begins, finishes and reports of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True)
class DuePartition:
    """A partition that needs work, with the version and attempt that make its run key."""

    asset: str
    key: str
    version: int
    attempt: int


@dataclass(frozen=True, slots=True)
class FinishedPartition:
    """A partition after an attempt. ``rest_seconds``: nothing put off goes on earlier (budget, service)."""

    key: str
    marks: Sequence[int]
    pending: int
    due_at: datetime | None
    resume_at: datetime | None = None
    rest_seconds: float = 0.0


@dataclass(slots=True, kw_only=True)
class PartitionReport:
    """Numbers and reasons only, so that they can become metadata. ``pending`` waits, for the ``reasons``."""

    pending: int = 0
    seconds: float = 0.0
    reasons: list[str] = field(default_factory=list[str])

    def add_reason(self, reason: str | None) -> None:
        """Each is said once."""
        if reason and reason not in self.reasons:
            self.reasons.append(reason)


class PartitionStore(Protocol):
    """The dirty table: marks and leftovers of partitions."""

    def due(self, asset: str, *, now: datetime, limit: int | None = None) -> list[DuePartition]:
        """Keys in ascending order whose marks or leftovers are due."""
        ...

    def begin(self, asset: str, keys: Sequence[str], *, now: datetime) -> Mapping[str, tuple[int, ...]]:
        """The marks of each key that has marks or leftovers; only these are taken away when it is done."""
        ...

    def finish(self, asset: str, done: Sequence[FinishedPartition]) -> None:
        """Records attempts, all in one transaction."""
        ...
