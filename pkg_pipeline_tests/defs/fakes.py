"""A memory without a database, in the shape that assets, schedules and sensors see; it keeps marks and reports."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from pkg_pipeline.adapters.inbox import Inbox, Refused
from pkg_pipeline.defs.keys import keys_between
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.interactions import InteractionsReport
from pkg_pipeline.stages.stores import DuePartition, Eligibility, FinishedPartition, Lane, PartitionCounts
from pkg_pipeline.stages.summaries import DayReport

NOW = datetime(2026, 3, 15, 12, tzinfo=UTC)
SUMMARIES = "interaction_summaries"


class StandingClock:
    def now(self) -> datetime:
        return NOW


@dataclass
class FakePartitions:
    """Keys that are due, by asset; finishing one takes it away and counts its attempt."""

    due_keys: dict[str, list[str]] = field(default_factory=dict)
    attempts: dict[str, int] = field(default_factory=dict)

    def due(self, asset: str, *, now: datetime, limit: int | None = None) -> list[DuePartition]:
        assert now == NOW
        keys = sorted(self.due_keys.get(asset, []))[:limit]
        return [DuePartition(asset, key, version=7, attempt=self.attempts.get(key, 0) + 1) for key in keys]

    def begin(self, asset: str, keys: Sequence[str], *, now: datetime) -> Mapping[str, tuple[int, ...]]:
        return dict.fromkeys(keys, (7,))

    def finish(self, asset: str, done: Sequence[FinishedPartition]) -> None:
        for one in done:
            self.attempts[one.key] = self.attempts.get(one.key, 0) + 1
            if one.key in self.due_keys.get(asset, []):
                self.due_keys[asset].remove(one.key)

    def counts(self, days: tuple[date, date], *, eligibility: Eligibility) -> Mapping[date, PartitionCounts]:
        return {}


@dataclass
class FakeReport:
    counts: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        return self.counts


class FakeMemory:
    """``fail_at``: (day, error) raised when that day's turn comes; ``left`` is what ``pending`` answers."""

    def __init__(
        self,
        home: Path,
        *,
        due: Mapping[str, list[str]] | None = None,
        silent: int = 0,
        left: int = 0,
        fail_at: tuple[str, Exception] | None = None,
        refuse: frozenset[str] = frozenset(),
        timezone: str = "UTC",
    ) -> None:
        self.settings = Settings(home=home, timezone=timezone)
        self.clock = StandingClock()
        self.inbox = Inbox(self.settings.inbox, wall=lambda: time.time() + 60)  # whatever was written has settled
        self.partitions = FakePartitions({asset: list(keys) for asset, keys in (due or {}).items()})
        self.database_url = "postgresql://nobody@127.0.0.1:1/none"
        self.summarized: list[tuple[str, Lane, str | None]] = []
        self.imported: list[str] = []
        self._silent, self._left, self._fail_at, self._refuse = silent, left, fail_at, refuse

    def import_drop(self, path: Path, /) -> FakeReport:
        if path.name in self._refuse:
            raise Refused(f"{path.name} is no export of a known format")
        self.imported.append(path.name)
        return FakeReport({"messages_new": 3, "messages_unchanged": 1, "rejected": [], "rejected_count": 0})

    def build_interactions(self) -> InteractionsReport:
        self.partitions.due_keys["interactions"] = []
        completed, self._silent = self._silent, 0
        return InteractionsReport(chats=2, interactions=5, completed=completed, messages=40)

    def summarize(
        self, days: tuple[date, date], *, lane: Lane, run_id: str | None, on_day: Callable[[DayReport], None]
    ) -> list[DayReport]:
        reports: list[DayReport] = []
        for key in keys_between(*days):
            if self._fail_at is not None and key == self._fail_at[0]:
                raise self._fail_at[1]
            self.summarized.append((key, lane, run_id))
            report = DayReport(
                date.fromisoformat(key), summarized=2, pending=1, failed=0, calls=2, input_tokens=100, output_tokens=20
            )
            report.cost_usd, report.seconds = 0.25, 0.5
            self.partitions.finish(SUMMARIES, [FinishedPartition(key, marks=(7,), pending=1, due_at=None)])
            reports.append(report)
            on_day(report)
        return reports

    def silent_interactions(self) -> int:
        return self._silent

    def pending(self, asset: str) -> int:
        return self._left
