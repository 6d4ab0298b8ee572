"""The memory's clock: the real time, or one moment that was pinned. Leases and ledger use the database's own."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class SystemClock:
    """The real time."""

    def now(self) -> datetime:
        return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class PinnedClock:
    """``PKG_NOW``: age, tiers and eligibility are reckoned from one moment."""

    moment: datetime

    def now(self) -> datetime:
        return self.moment
