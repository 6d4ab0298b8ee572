"""The memory's clock, real or pinned. Leases and ledger use the database's clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class PinnedClock:
    """``PKG_NOW``: age, tiers and eligibility are computed from one moment."""

    moment: datetime

    def now(self) -> datetime:
        return self.moment
