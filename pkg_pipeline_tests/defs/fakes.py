"""A memory without a database, in the shape that assets, schedules and sensors see; it keeps marks and reports."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from pkg_pipeline.adapters.inbox import Inbox, Refused
from pkg_pipeline.adapters.postgres.monitoring.work import Unreported
from pkg_pipeline.defs.keys import keys_between
from pkg_pipeline.memory.verdicts import Verdict
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.interactions.stage import InteractionsReport
from pkg_pipeline.stages.llm.batch_ports import InFlight
from pkg_pipeline.stages.monitoring.verification import CHECKS
from pkg_pipeline.stages.partitions import DuePartition, FinishedPartition
from pkg_pipeline.stages.ports import Billing, Lane
from pkg_pipeline.stages.recall.chunks import DayReport as ChunkedDay
from pkg_pipeline.stages.summaries.stage import DayReport
from pkg_pipeline.stages.summaries.stores import Scope

NOW = datetime(2026, 3, 15, 12, tzinfo=UTC)
FIRST_DAY = date(2000, 1, 1)
"""With which partitions begin."""
SUMMARIES = "interaction_summaries"
PROFILES = "entity_relationship_profiles"
ARCHIVE = "archived_messages"
FOLDS = "session_summaries"
CHUNKS = "memory_chunks"
ITEMS = "items"


@dataclass
class StandingClock:
    at: datetime = NOW

    def now(self) -> datetime:
        return self.at


@dataclass
class FakePartitions:
    """Keys that are due, by asset; finishing one takes it away and counts its attempt."""

    due_keys: dict[str, list[str]] = field(default_factory=dict)
    attempts: dict[str, int] = field(default_factory=dict)

    def due(self, asset: str, *, now: datetime, limit: int | None = None) -> list[DuePartition]:
        keys = sorted(self.due_keys.get(asset, []))[:limit]
        return [DuePartition(asset, key, version=7, attempt=self.attempts.get(key, 0) + 1) for key in keys]

    def begin(self, asset: str, keys: Sequence[str], *, now: datetime) -> Mapping[str, tuple[int, ...]]:
        return dict.fromkeys(keys, (7,))

    def finish(self, asset: str, done: Sequence[FinishedPartition]) -> None:
        for one in done:
            self.attempts[one.key] = self.attempts.get(one.key, 0) + 1
            if one.key in self.due_keys.get(asset, []):
                self.due_keys[asset].remove(one.key)


@dataclass
class FakeBackfills:
    """Open backfills with the days they have left, and when those go on that rest."""

    days: dict[UUID, list[str]] = field(default_factory=dict)
    resume_at: dict[UUID, datetime] = field(default_factory=dict)

    def open(self) -> list[tuple[UUID, datetime | None]]:
        return [(found, self.resume_at.get(found)) for found in self.days]

    def ready_days(self, backfill_id: UUID) -> list[str]:
        return list(self.days.get(backfill_id, []))

    def settle(self, backfill_id: UUID) -> int:
        return len(self.ready_days(backfill_id))


@dataclass
class FakeReport:
    counts: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        return self.counts


@dataclass
class FakeWeek:
    """The numbers of a week as the stage reports them."""

    week: date
    persons: int = 5
    profiled: int = 3
    carried_over: int = 1
    unchanged: int = 0
    pending: int = 1
    failed: int = 0
    quarantined: int = 0
    deferred: int = 1
    calls: int = 3
    input_tokens: int = 900
    output_tokens: int = 100
    cost_usd: float = 0.5
    source_tokens: int = 2000
    summary_tokens: int = 100
    seconds: float = 0.5
    compression_ratio: float = 20.0


@dataclass
class FakeMonth:
    """The numbers of a month as the stage reports them."""

    month: date
    interactions: int = 4
    messages: int = 30
    bytes: int = 4096
    kept_important: int = 6
    pending: int = 2
    seconds: float = 0.5


@dataclass
class FakeFolds:
    """The numbers of a run over live sessions as the stage reports them."""

    sessions: int = 3
    folds: int = 2
    refolds: int = 1
    messages: int = 60
    pending: int = 1
    failed: int = 0
    deferred: int = 1
    calls: int = 3
    input_tokens: int = 900
    output_tokens: int = 100
    source_tokens: int = 2000
    summary_tokens: int = 100
    cost_usd: float = 0.5
    compression_ratio: float = 20.0
    seconds: float = 0.5
    warnings: tuple[str, ...] = ("no drift of topics, it is taken as 0: no answer",)


@dataclass
class FakeItems:
    """The numbers of a pass over conversations as the stage reports them."""

    read: int = 4
    unchanged: int = 1
    items_new: int = 3
    items_changed: int = 2
    left: int = 1
    failed: int = 0
    deferred: int = 1
    calls: int = 2
    input_tokens: int = 900
    output_tokens: int = 100
    cost_usd: float = 0.5
    seconds: float = 0.5
    stop_reason: str = "the budget of the live lane is used up"
    reasons: dict[str, int] = field(default_factory=dict)


class FakeMemory:
    """``fail_at``: (key, error) raised when that partition's turn comes; ``left`` is what ``pending`` answers;
    ``wrong`` are verdicts by (asset, check) instead of a passed one.
    """

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
        now: datetime = NOW,
    ) -> None:
        self.settings = Settings(marts=False, home=home, timezone=timezone)
        self.clock = StandingClock(now)
        self.inbox = Inbox(self.settings.inbox, wall=lambda: time.time() + 60)  # whatever was written has settled
        self.partitions = FakePartitions({asset: list(keys) for asset, keys in (due or {}).items()})
        self.database_url = "postgresql://nobody@127.0.0.1:1/none"
        self.summarized: list[tuple[str, Lane, str | None]] = []
        self.scopes: list[Scope] = []
        self.backfills = FakeBackfills()
        self.batches = InFlight(0, 0, 0, None)
        self.batches_told: bool | Exception = False
        self.collected: list[str | None] = []
        self.built: list[tuple[str, Lane, str | None]] = []
        self.archived: list[str] = []
        self.chunked: list[str] = []
        self.imported: list[str] = []
        self.folded: list[tuple[Lane, bool]] = []
        self.sessions = len(self.partitions.due_keys.get(FOLDS, []))
        self.unread = bool(self.partitions.due_keys.get(ITEMS))
        self.items_read: list[tuple[Lane, bool]] = []
        self.partitions_start = FIRST_DAY
        self.elsewhere: dict[str, list[Unreported]] = {}
        self.rows: dict[tuple[str, str | None], list[dict[str, Any]]] = {}
        self.wrong: dict[tuple[str, str], Verdict] = {}
        self.verified: list[tuple[str, tuple[str, ...], tuple[date, date] | None]] = []
        self._silent, self._left, self._fail_at, self._refuse = silent, left, fail_at, refuse

    def preview(self, asset: str, partition: str | None) -> list[dict[str, Any]]:
        return self.rows.get((asset, partition), [])

    def unreported(self, asset: str) -> list[Unreported]:
        return list(self.elsewhere.get(asset, ()))

    def drop_reported(self, shown: Sequence[Unreported]) -> None:
        for held in self.elsewhere.values():
            held[:] = [one for one in held if one not in shown]

    def import_drop(self, path: Path, /) -> FakeReport:
        if path.name in self._refuse:
            raise Refused(f"{path.name} is no export of a known format")
        self.imported.append(path.name)
        return FakeReport({"messages_new": 3, "messages_unchanged": 1, "rejected": [], "rejected_count": 0})

    def make_searchable(self) -> InteractionsReport:
        self.partitions.due_keys["interactions"] = []
        completed, self._silent = self._silent, 0
        return InteractionsReport(chats=2, interactions=5, completed=completed, messages=40)

    def has_unread_talks(self) -> bool:
        return self.unread

    def read_items(self, billing: Billing, *, stale: bool) -> FakeItems:
        self._maybe_fail(ITEMS)
        self.items_read.append((billing.lane, stale))
        self.unread = False
        return FakeItems()

    def due_sessions(self, *, limit: int) -> int:
        return min(self.sessions, limit)

    def unfolded_sessions(self, *, limit: int) -> int:
        return min(self.sessions, limit)

    def fold_sessions(self, billing: Billing, *, asks_all: bool) -> FakeFolds:
        self._maybe_fail(FOLDS)
        self.folded.append((billing.lane, asks_all))
        self.sessions = 0
        return FakeFolds()

    def batches_in_flight(self) -> InFlight:
        return self.batches

    def batches_ready(self) -> bool:
        if isinstance(self.batches_told, Exception):
            raise self.batches_told
        return self.batches_told

    def collect_batches(self, run_id: str | None) -> list[DayReport]:
        self.collected.append(run_id)
        return [DayReport(FIRST_DAY, summarized=2, calls=1, cost_usd=0.01)]

    def summarize(
        self, days: tuple[date, date], billing: Billing, scope: Scope, on_day: Callable[[DayReport], None]
    ) -> list[DayReport]:
        reports: list[DayReport] = []
        self.scopes.append(scope)
        for key in keys_between(*days):
            self._maybe_fail(key)
            self.summarized.append((key, billing.lane, billing.run_id))
            report = DayReport(
                date.fromisoformat(key), summarized=2, pending=1, failed=0, calls=2, input_tokens=100, output_tokens=20
            )
            report.cost_usd, report.seconds = 0.25, 0.5
            self.partitions.finish(SUMMARIES, [FinishedPartition(key, marks=(7,), pending=1, due_at=None)])
            reports.append(report)
            on_day(report)
        return reports

    def build_chunks(self, days: tuple[date, date], *, on_day: Callable[[ChunkedDay], None]) -> list[ChunkedDay]:
        reports: list[ChunkedDay] = []
        for key in keys_between(*days):
            self._maybe_fail(key)
            self.chunked.append(key)
            self.partitions.finish(CHUNKS, [FinishedPartition(key, marks=(7,), pending=1, due_at=None)])
            report = ChunkedDay(date.fromisoformat(key), interactions=2, chunks=9, kept=4, embedded=5, refused=1)
            report.pending, report.seconds = 1, 0.5
            report.add_reason("no vectors from offline:none: it rests")
            reports.append(report)
            on_day(report)
        return reports

    def due_weeks(self) -> list[date]:
        return [date.fromisoformat(key) for key in sorted(self.partitions.due_keys.get(PROFILES, []))]

    def build_weeks(
        self, weeks: Sequence[date], billing: Billing, *, on_week: Callable[[FakeWeek], None]
    ) -> list[FakeWeek]:
        reports: list[FakeWeek] = []
        for week in weeks:
            self._maybe_fail(week.isoformat())
            self.built.append((week.isoformat(), billing.lane, billing.run_id))
            self.partitions.finish(PROFILES, [FinishedPartition(week.isoformat(), (), 1, None)])
            reports.append(FakeWeek(week))
            on_week(reports[-1])
        return reports

    def due_months(self) -> list[date]:
        return [date.fromisoformat(key) for key in sorted(self.partitions.due_keys.get(ARCHIVE, []))]

    def archive_months(
        self, months: Sequence[date], *, run_id: str | None, on_month: Callable[[FakeMonth], None]
    ) -> list[FakeMonth]:
        reports: list[FakeMonth] = []
        for month in months:
            self._maybe_fail(month.isoformat())
            self.archived.append(month.isoformat())
            self.partitions.finish(ARCHIVE, [FinishedPartition(month.isoformat(), (), 2, None)])
            reports.append(FakeMonth(month))
            on_month(reports[-1])
        return reports

    def verify(self, asset: str, names: Sequence[str], span: tuple[date, date] | None) -> list[Verdict]:
        self.verified.append((asset, tuple(names), span))
        fine = {name: Verdict(name, True, True, "all well", {"checked": 3}) for name in CHECKS[asset]}
        return [self.wrong.get((asset, name), fine[name]) for name in CHECKS[asset] if name in names]

    def _maybe_fail(self, key: str) -> None:
        if self._fail_at is not None and key == self._fail_at[0]:
            raise self._fail_at[1]

    def silent_interactions(self) -> int:
        return self._silent

    def is_empty(self) -> bool:
        return False

    def pending(self, asset: str) -> int:
        return self._left
