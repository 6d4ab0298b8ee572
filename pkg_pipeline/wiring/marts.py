"""Wiring of the marts: outdated days and weeks, and their build."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from pkg_pipeline.adapters import dbt_project
from pkg_pipeline.adapters.postgres.monitoring.work import PostgresWorkStore

if TYPE_CHECKING:
    from pkg_pipeline.adapters.dbt_project import Built
    from pkg_pipeline.settings import Settings
    from pkg_pipeline.wiring.process import Process

SOURCES = {"by_day": "interaction_summaries", "by_week": "entity_relationship_profiles"}
"""Kind of mart → asset whose partitions make its keys outdated."""

WIDEST_GAP_DAYS = 30


@dataclass(frozen=True, slots=True)
class MartsBuilt:
    """``keys``: the rebuilt ones by kind of mart."""

    results: Sequence[Built]
    keys: Mapping[str, Sequence[str]]


class MartWork:
    def __init__(self, process: Process) -> None:
        self._process = process
        self._work = PostgresWorkStore(process.connections)

    def are_outdated(self) -> bool:
        """Whether a source was attempted or the dbt project changed since the last build."""
        if any(self.outdated(kind) for kind in SOURCES):
            return True
        last = self._work.last_marts()
        return self._work.has_summaries() if last is None else last[0] != dbt_project.digest()

    def outdated(self, kind: str) -> dict[str, int]:
        """Outdated keys, ascending, with their number of attempts (for ``note_built``)."""
        return self._work.outdated_marts(kind, SOURCES[kind])

    def note_built(self, kind: str, keys: Mapping[str, int]) -> None:
        """Record that the keys are built as of these attempts."""
        self._work.marts_built(kind, keys)

    def build(self) -> MartsBuilt:
        """Build all views and the outdated parts of tables, at first everything. Raises DbtFailed."""
        outdated = {kind: self.outdated(kind) for kind in SOURCES}
        chosen, today = variables(self._process.settings), self._today(max)
        last = self._work.last_marts()
        if last is not None and last[0] == dbt_project.digest():
            # days that change without an attempt: of the ledger, and those too young to be summarised
            recent = self._today(min) - timedelta(days=round(self._process.settings.summary_min_age_days) + 1)
            days = {date.fromisoformat(key) for keys in outdated.values() for key in keys}
            stretches = _stretches(sorted({*days, *_days(min(last[1], recent), today)}))
            chosen |= {"stretches": stretches, "min_date": stretches[0][0], "max_date": stretches[-1][1]}
        results = dbt_project.build(self._process.url, chosen)
        found = MartsBuilt(results, {kind: list(keys) for kind, keys in outdated.items()})
        if not dbt_project.failed(results):
            for kind, keys in outdated.items():
                self.note_built(kind, keys)
            self._work.keep_last_marts(dbt_project.digest(), today)
        return found

    def _today(self, choose: Callable[..., datetime]) -> date:
        """``choose`` (min or max) of the memory clock's day and the real one."""
        return choose(self._process.clock.now(), datetime.now(UTC)).astimezone(self._process.settings.zone).date()


def _days(first: date, last: date) -> Iterator[date]:
    return (date.fromordinal(number) for number in range(first.toordinal(), last.toordinal() + 1))


def variables(settings: Settings, *, first: str | None = None, last: str | None = None) -> dict[str, Any]:
    span = {} if first is None else {"min_date": first, "max_date": last}
    return {
        **span,
        "now": settings.now.isoformat() if settings.now is not None else None,
        "minimum_messages": settings.summary_min_messages,
        "minimum_tokens": settings.summary_min_tokens,
        "due_after_seconds": max(settings.summary_min_age_days * 86_400, settings.gap_hours * 3_600),
        "live_cap_usd": settings.live_usd_per_day,
        "backfill_cap_usd": settings.backfill_usd_per_day,
    }


def _stretches(days: Sequence[date]) -> list[list[str]]:
    found: list[list[str]] = []
    for day in days:
        if found and (day - date.fromisoformat(found[-1][1])).days <= WIDEST_GAP_DAYS:
            found[-1][1] = day.isoformat()
        else:
            found.append([day.isoformat(), day.isoformat()])
    return found
