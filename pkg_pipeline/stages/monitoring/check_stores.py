"""What the asset checks ask of storage, as Protocols the stage owns. Read-only: a check repairs nothing.

Every question is bounded: by days, by a number of summaries, or by a sample of pages of a large table.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Protocol

from pkg_pipeline.memory.verdicts import Coverage, Found

Days = tuple[date, date]
"""A closed range of local days on which interactions began."""


class SummaryChecks(Protocol):
    """Whether what is published may be relied on (P11, P17, P28)."""

    def coverage(self, days: Days, *, now: datetime, due_after_seconds: float, minimum_messages: int) -> Coverage: ...

    def ungrounded(self, days: Days) -> Found:
        """Published items whose messages are not in their interaction or whose quote stands in none of them."""
        ...

    def lost(self, days: Days) -> Found:
        """Items of superseded summaries that are neither in the live one nor explained."""
        ...

    def summary_orphans(self) -> Found:
        """Items, facts and live summaries whose summary or interaction is gone."""
        ...


class PartitionChecks(Protocol):
    """Whether rows are where their partition says."""

    def interaction_orphans(self) -> Found:
        """Messages that point to an interaction that is gone."""
        ...

    def misfiled_days(self) -> Found:
        """Interactions filed under another day than the local one on which they began."""
        ...

    def miscounted(self, weeks: Days) -> Found:
        """Profiles of these weeks whose totals are not those of a recount."""
        ...

    def misfiled_months(self, months: Days) -> Found:
        """Texts archived in these months of interactions that began in another one."""
        ...


class ChunkChecks(Protocol):
    """Whether recall searches what there is, and nothing else (L7)."""

    def unindexed(self, days: Days) -> Found:
        """Live messages with words, of interactions of these days outside mass chats, that have no chunk."""
        ...

    def chunk_orphans(self) -> Found:
        """Chunks whose message or interaction is gone, codes whose chunk is."""
        ...


class SessionChecks(Protocol):
    """Whether folds stand for what they cover (H10, H16)."""

    def misfolded(self) -> Found:
        """Sessions whose folds overlap, leave a message out below the HWM or end elsewhere, or whose counters are not
        those of a recount.
        """
        ...


class CheckStore(SummaryChecks, PartitionChecks, ChunkChecks, SessionChecks, Protocol):
    """All of it; one adapter implements them."""
