"""The marts' part of the composition root: which of their days and weeks are outdated, and one build of those."""

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
"""How a mart is kept → the asset whose partitions make its keys outdated."""

WIDEST_GAP_DAYS = 30


@dataclass(frozen=True, slots=True)
class MartsBuilt:
    """``keys``: by how a mart is kept, the outdated ones that were built anew."""

    results: Sequence[Built]
    keys: Mapping[str, Sequence[str]]

    @property
    def failed(self) -> list[str]:
        """Names of the models that could not be built; a failing test is a check."""
        return [one.name for one in self.results if not one.is_test and not one.succeeded]


class MartWork:
    """What ``Memory`` does with marts."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._work = PostgresWorkStore(process.connections)

    def are_outdated(self) -> bool:
        """Whether something that they are made of was attempted since, or the last build was by another program."""
        if any(self.outdated(kind) for kind in SOURCES):
            return True
        last = self._work.last_marts()
        return self._work.has_summaries() if last is None else last[0] != dbt_project.digest()

    def outdated(self, kind: str) -> dict[str, int]:
        """Outdated keys, ascending, each with the attempts that a build from here on takes in (see ``note_built``)."""
        return self._work.outdated_marts(kind, SOURCES[kind])

    def note_built(self, kind: str, keys: Mapping[str, int]) -> None:
        """The keys are built, as of so many attempts each."""
        self._work.marts_built(kind, keys)

    def build(self) -> MartsBuilt:
        """Every view, and of the tables what is outdated; at the first time everything. Raises DbtFailed."""
        outdated = {kind: self.outdated(kind) for kind in SOURCES}
        chosen, today = variables(self._process.settings), self._today(max)
        last = self._work.last_marts()
        if last is not None and last[0] == dbt_project.digest():
            # days that change without an attempt: the ledger's, and those too young to be summarised
            recent = self._today(min) - timedelta(days=round(self._process.settings.summary_min_age_days) + 1)
            days = {date.fromisoformat(key) for keys in outdated.values() for key in keys}
            stretches = _stretches(sorted({*days, *_days(min(last[1], recent), today)}))
            chosen |= {"stretches": stretches, "min_date": stretches[0][0], "max_date": stretches[-1][1]}
        results = dbt_project.build(self._process.url, chosen)
        found = MartsBuilt(results, {kind: list(keys) for kind, keys in outdated.items()})
        if not found.failed:
            for kind, keys in outdated.items():
                self.note_built(kind, keys)
            self._work.keep_last_marts(dbt_project.digest(), today)
        return found

    def _today(self, choose: Callable[..., datetime]) -> date:
        """The earlier or later of two todays: days of age go by the memory's clock, days of calls by the real one."""
        return choose(self._process.clock.now(), datetime.now(UTC)).astimezone(self._process.settings.zone).date()


def _days(first: date, last: date) -> Iterator[date]:
    return (date.fromordinal(number) for number in range(first.toordinal(), last.toordinal() + 1))


def variables(settings: Settings, *, first: str | None = None, last: str | None = None) -> dict[str, Any]:
    """What a build is told (``dbt_project.yml`` says what each means): the range of keys, clock, thresholds, caps."""
    span = {} if first is None else {"min_date": first, "max_date": last}
    return {
        **span,
        "now": settings.now.isoformat() if settings.now is not None else None,
        "minimum_messages": settings.summary_min_messages,
        "due_after_seconds": max(settings.summary_min_age_days * 86_400, settings.gap_hours * 3_600),
        "live_cap_usd": settings.live_usd_per_day,
        "backfill_cap_usd": settings.backfill_usd_per_day,
    }


def _stretches(days: Sequence[date]) -> list[list[str]]:
    """Closed ranges of days; a wide gap parts them."""
    found: list[list[str]] = []
    for day in days:
        if found and (day - date.fromisoformat(found[-1][1])).days <= WIDEST_GAP_DAYS:
            found[-1][1] = day.isoformat()
        else:
            found.append([day.isoformat(), day.isoformat()])
    return found
