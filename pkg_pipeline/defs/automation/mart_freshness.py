"""Which days and weeks of the marts are older than what they are made of. Told by Dagster's own events, no table.

A key is fresh when its newest build succeeded and was planned after the newest materialisation above it: what was
committed while a build was reading counts as newer than the build.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date

import dagster as dg

from pkg_pipeline.defs.keys import keys_between

PLANNED = dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED
DONE = dg.DagsterEventType.ASSET_MATERIALIZATION


def stale(instance: dg.DagsterInstance, upstream: dg.AssetKey, marts: Iterable[dg.AssetKey]) -> set[str]:
    """Keys that ``upstream`` has and at least one of ``marts`` has not taken in."""
    made = _newest(instance, upstream, DONE)
    found: set[str] = set()
    for mart in marts:
        planned, done = _newest(instance, mart, PLANNED), _newest(instance, mart, DONE)
        found |= {key for key, event in made.items() if not event < planned.get(key, 0) < done.get(key, 0)}
    return found


def since_last_build(
    instance: dg.DagsterInstance, mart: dg.AssetKey, *, today: date, recent_days: int, first: date
) -> list[str]:
    """Days that change without a materialisation above them: the ledger's, and those too young to be summarised.

    From the newest day that was built, or ``recent_days`` before ``today`` if that is earlier; before the first build
    from the day of the first run. Never before ``first``.
    """
    built = _newest(instance, mart, DONE)
    begin = date.fromisoformat(max(built)) if built else _first_run(instance, today)
    recent = date.fromordinal(today.toordinal() - recent_days)
    return keys_between(max(first, min(begin, recent)), today)


def _first_run(instance: dg.DagsterInstance, today: date) -> date:
    records = instance.get_run_records(limit=1, ascending=True)
    if not records:
        return today
    return records[0].create_timestamp.replace(tzinfo=UTC).date()


def _newest(instance: dg.DagsterInstance, asset: dg.AssetKey, kind: dg.DagsterEventType) -> dict[str, int]:
    return dict(instance.event_log_storage.get_latest_storage_id_by_partition(asset, kind))
