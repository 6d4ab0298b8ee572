"""Moves texts of old, summarised interactions to ``archived_messages`` by month, and back; repeatable."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.message import archiving
from pkg_pipeline.stages.archive.records import (
    ArchiveAge,
    KeptMonth,
    MonthLeft,
    Moved,
    RestoreScope,
)
from pkg_pipeline.stages.partitions import FinishedPartition, PartitionReport, PartitionStore
from pkg_pipeline.stages.ports import Clock

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.archive.store import PostgresArchiveStore

ASSET = "archived_messages"

BATCH_MESSAGES = 2_000
"""Per transaction: short, so that imports hardly wait."""

VACUUM_AFTER_MESSAGES = 200_000
"""Within a run; it also vacuums at its end. A vacuum reads all indexes of the table."""

RECHECK_SECONDS = 28 * 86_400.0
"""Database clock: when a month held back for other reasons than time is checked again."""


@dataclass(frozen=True, slots=True)
class ArchiveParams:
    """P24 and P26. ``keep_months`` None keeps forever."""

    after_days: float
    keep_months: int | None
    minimum_messages: int
    zone: ZoneInfo


@dataclass(frozen=True, slots=True)
class ArchiveDeps:
    store: PostgresArchiveStore
    partitions: PartitionStore
    clock: Clock


@dataclass(slots=True)
class MonthReport(PartitionReport):
    """The result for one month; flat, used as metadata.

    ``bytes`` of text and parts; ``kept_important``: messages whose text stays; ``pending`` interactions wait, for the
    ``reasons``; ``mismatched`` messages were not moved; ``dropped`` messages were deleted with their month.
    """

    month: date
    interactions: int = 0
    messages: int = 0
    bytes: int = 0
    kept_important: int = 0
    mismatched: int = 0
    dropped: int = 0

    def add(self, moved: Moved) -> None:
        self.interactions += moved.interactions
        self.messages += moved.messages
        self.bytes += moved.bytes
        self.kept_important += moved.kept_important
        self.mismatched += len(moved.mismatched)
        self.reasons += [f"message {key}: its copy has not its hash, it stays as it is" for key in moved.mismatched]


def age_of(clock: Clock, params: ArchiveParams) -> ArchiveAge:
    now = clock.now()
    before = archiving.ended_before(now, after_days=params.after_days)
    return ArchiveAge(now=now, ended_before=before, minimum_messages=params.minimum_messages)


def due_months(deps: ArchiveDeps, params: ArchiveParams) -> list[date]:
    """Months to archive or drop now, oldest first: never processed, marked dirty, old enough since, expired."""
    age = age_of(deps.clock, params)
    marked = [date.fromisoformat(one.key) for one in deps.partitions.due(ASSET, now=age.now)]
    expired = [one.month for one in expiring(deps.store.months(), age, params)]
    return sorted({*deps.store.unattempted(age), *marked, *expired})


def expiring(months: Sequence[KeptMonth], age: ArchiveAge, params: ArchiveParams) -> list[KeptMonth]:
    """Months that the next run drops."""
    if params.keep_months is None:
        return []
    first = archiving.first_kept_month(age.now, keep_months=params.keep_months, zone=params.zone)
    return [one for one in months if not one.is_dropped and one.month < first]


def archive_months(
    months: Sequence[date],
    *,
    deps: ArchiveDeps,
    params: ArchiveParams,
    on_month: Callable[[MonthReport], None] = lambda _: None,
) -> list[MonthReport]:
    """Archive what is ready, oldest month first, and drop expired months (P24–P26); ``on_month`` gets each report."""
    age = age_of(deps.clock, params)
    reports: list[MonthReport] = []
    unswept = 0
    wanted = sorted({archiving.month_of(month) for month in months})
    marks = deps.partitions.begin(ASSET, [month.isoformat() for month in wanted], now=age.now)
    for month in wanted:
        begun = time.perf_counter()
        report = MonthReport(month)
        for batch in archiving.batches(deps.store.ready(month, age), messages=BATCH_MESSAGES):
            report.add(deps.store.move(month, batch, age))
        unswept += report.messages
        # the last vacuum also cleans up after a killed run
        if unswept >= VACUUM_AFTER_MESSAGES or month == wanted[-1]:
            deps.store.vacuum()
            unswept = 0
        _drop_expired(report, deps=deps, age=age, params=params)
        left = deps.store.left_of([month], age).get(month, MonthLeft())
        _finish(report, left, marks=marks.get(month.isoformat()), deps=deps)
        report.seconds = time.perf_counter() - begun
        reports.append(report)
        on_month(report)
    return reports


def _drop_expired(report: MonthReport, *, deps: ArchiveDeps, age: ArchiveAge, params: ArchiveParams) -> None:
    if not any(one.month == report.month for one in expiring(deps.store.months(), age, params)):
        return
    dropped = deps.store.drop(report.month)
    if dropped is None:
        report.reasons.append("the month is over its time, but somebody reads the archive now: dropped by the next run")
        return
    report.dropped = dropped
    report.reasons.append(f"over its time ({params.keep_months} months are kept): {dropped} texts dropped for good")


def _finish(report: MonthReport, left: MonthLeft, *, marks: tuple[int, ...] | None, deps: ArchiveDeps) -> None:
    """Record what is left. A month where everything is too young is not written: time alone makes it due."""
    report.pending = left.pending
    report.reasons += [f"{count} {reason}" for reason, count in sorted(left.held_back.items())]
    others = left.held_back.keys() - archiving.BY_TIME
    is_young = left.pending == left.held_back.get("too young", 0) > 0 and not report.messages
    if marks is None and is_young:
        return
    rest = RECHECK_SECONDS if others else 0.0
    done = FinishedPartition(report.month.isoformat(), marks or (), left.pending, left.due_at, rest_seconds=rest)
    deps.partitions.finish(ASSET, [done])


# ── what was deleted ──────────────────────────────────────────────────────────────────────────


def blank_deleted(store: PostgresArchiveStore, *, clock: Clock, after_days: float) -> int:
    """Blank messages deleted at their source ``after_days`` ago, in batches; returns how many."""
    before, total = archiving.ended_before(clock.now(), after_days=after_days), 0
    while blanked := store.blank_deleted(before, limit=BATCH_MESSAGES):
        total += blanked
    return total


# ── what there is ─────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class MonthStatus:
    """Counts (a dropped month: before); ``ready`` interactions are moved, ``will_drop``: the month is dropped next."""

    month: date
    state: str
    messages: int
    bytes: int
    is_due: bool
    will_drop: bool
    ready: int
    left: MonthLeft

    def to_json(self) -> dict[str, Any]:
        return {
            "month": f"{self.month:%Y-%m}",
            "state": self.state,
            "messages": self.messages,
            "bytes": self.bytes,
            "due": self.is_due,
            "will_drop": self.will_drop,
            "ready": self.ready,
            "held_back": dict(sorted(self.left.held_back.items())),
            "due_at": None if self.left.due_at is None else self.left.due_at.isoformat(),
        }


@dataclass(frozen=True, slots=True)
class ArchiveStatus:
    as_of: datetime
    after_days: float
    keep_months: int | None
    months: tuple[MonthStatus, ...]

    def to_json(self) -> dict[str, Any]:
        kept = [one for one in self.months if one.state == "kept"]
        return {
            "as_of": self.as_of.isoformat(),
            "archive_after_days": self.after_days,
            "archive_keep_months": self.keep_months,
            "messages": sum(one.messages for one in kept),
            "bytes": sum(one.bytes for one in kept),
            "due": [f"{one.month:%Y-%m}" for one in self.months if one.is_due],
            "will_drop": [f"{one.month:%Y-%m}" for one in self.months if one.will_drop],
            "months": [one.to_json() for one in self.months],
        }


def status(deps: ArchiveDeps, params: ArchiveParams) -> ArchiveStatus:
    """Months that are archived, dropped, or waiting. Reads only."""
    age = age_of(deps.clock, params)
    known = {one.month: one for one in deps.store.months()}
    due, drops = set(due_months(deps, params)), {one.month for one in expiring([*known.values()], age, params)}
    open_months = sorted(due.union(deps.store.waiting()))
    left = deps.store.left_of(open_months, age)
    found: list[MonthStatus] = []
    for month in sorted(due.union(known, open_months)):
        kept = known.get(month, KeptMonth(month, is_dropped=False, messages=0, bytes=0))
        found.append(
            MonthStatus(
                month=month,
                state="none" if month not in known else "dropped" if kept.is_dropped else "kept",
                messages=kept.messages,
                bytes=kept.bytes,
                is_due=month in due,
                will_drop=month in drops,
                ready=len(deps.store.ready(month, age)) if month in due else 0,
                left=left.get(month, MonthLeft()),
            )
        )
    return ArchiveStatus(age.now, params.after_days, params.keep_months, tuple(found))


# ── back ──────────────────────────────────────────────────────────────────────────────────────


class NothingThere(Exception):
    """There is no such message, interaction or chat."""


@dataclass(slots=True)
class RestoreReport:
    """Restored ``messages`` of ``interactions``, in ``bytes`` of text and parts.

    ``dropped`` were deleted with their month; ``mismatched`` (message ids) differ from their hash and stay archived.
    """

    messages: int = 0
    bytes: int = 0
    interactions: int = 0
    dropped: int = 0
    mismatched: list[int] = field(default_factory=list[int])
    seconds: float = 0.0


def restore(
    scope: RestoreScope,
    *,
    store: PostgresArchiveStore,
    clock: Clock,
    after_days: float,
) -> RestoreReport:
    """Restore texts in batches; safe to repeat after a kill. Raises NothingThere.

    Restored interactions are not archived again for ``after_days``.
    """
    begun = time.perf_counter()
    ids = store.archived(scope)
    if ids is None:
        raise NothingThere("there is no such message, interaction or chat in this memory")
    until = archiving.held_until(clock.now(), after_days=after_days)
    report = RestoreReport()
    for at in range(0, len(ids), BATCH_MESSAGES):
        given = store.give_back(ids[at : at + BATCH_MESSAGES], held_until=until)
        report.messages += given.messages
        report.bytes += given.bytes
        report.interactions += given.interactions
    report.mismatched, report.dropped = store.still_archived(ids) if report.messages < len(ids) else ([], 0)
    report.seconds = time.perf_counter() - begun
    return report
