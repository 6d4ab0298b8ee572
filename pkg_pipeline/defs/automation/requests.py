"""From due partitions to run requests: batches, run keys, what is already running, and when to wait."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

import dagster as dg

from pkg_pipeline.defs.automation import orphans
from pkg_pipeline.defs.hops import GRAIN_OF, SUMMARIES
from pkg_pipeline.defs.keys import DAY, Grain, batches
from pkg_pipeline.defs.lanes import BACKFILL_TAG, lane_of, range_of, range_tags
from pkg_pipeline.stages.partitions import DuePartition
from pkg_pipeline.stages.ports import Lane

RUNS_PER_TICK = 4
"""The rest waits for the next tick, so that a first import does not fill the queue."""

IN_FLIGHT = (
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
)

FIRST_PAUSE_SECONDS = 60.0
LONGEST_PAUSE_SECONDS = 3600.0
REMEMBERED_RUNS = 8

MOST_MATERIALIZATIONS = 1_000
"""Materialisations of months that are looked at."""


@dataclass(frozen=True, slots=True)
class Streak:
    """How many of a job's newest runs failed in a row, and when the last of them ended (unix seconds)."""

    failures: int
    ended_at: float

    @property
    def pause_until(self) -> float:
        """Unix seconds until which no run is requested: 1, 2, 4 … minutes after the last failure, at most an hour."""
        if self.failures == 0:
            return 0.0
        return self.ended_at + min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** (self.failures - 1))


def streak(instance: dg.DagsterInstance, job: str, tags: Mapping[str, str] | None = None) -> Streak:
    """Of the job's runs, or of those with these tags."""
    bad = (dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)
    finished = dg.RunsFilter(job_name=job, statuses=[*bad, dg.DagsterRunStatus.SUCCESS], tags=dict(tags or {}))
    records = instance.get_run_records(finished, limit=REMEMBERED_RUNS)
    failures = 0
    for record in records:
        if record.dagster_run.status not in bad:
            break
        failures += 1
    return Streak(failures, records[0].end_time or records[0].update_timestamp.timestamp() if failures else 0.0)


def under_way(instance: dg.DagsterInstance, asset: str, job: str) -> list[Mapping[str, str]]:
    """Tags of every queued or running run of ``asset``, whoever started it, except runs of a backfill's own choice."""
    runs = instance.get_runs(dg.RunsFilter(statuses=list(IN_FLIGHT)))
    key = dg.AssetKey(asset)
    mine = (run.tags for run in runs if run.job_name == job or key in (run.asset_selection or ()))
    return [tags for tags in mine if BACKFILL_TAG not in tags and not orphans.is_dead(tags)]


def held_off(instance: dg.DagsterInstance, asset: str, job: str, wall: Wall) -> str | None:
    """Why no run of a job without partitions is requested now."""
    if under_way(instance, asset, job):
        return f"a run of {asset} is already under way"
    return pause(instance, job, wall)


def pause(instance: dg.DagsterInstance, job: str, wall: Wall) -> str | None:
    """Why no run of ``job`` is requested now: its last runs failed."""
    failed = streak(instance, job)
    if wall() >= failed.pause_until:
        return None
    until = datetime.fromtimestamp(failed.pause_until, UTC)
    return f"the last {failed.failures} runs of {job} failed; asks again at {until:%H:%M:%S} UTC"


def backfills_under_way(instance: dg.DagsterInstance) -> list[str]:
    """Backfill ids of the queued and running runs."""
    runs = instance.get_runs(dg.RunsFilter(statuses=list(IN_FLIGHT)))
    return [run.tags[BACKFILL_TAG] for run in runs if BACKFILL_TAG in run.tags and not orphans.is_dead(run.tags)]


def not_under_way(due: Iterable[DuePartition], running: Iterable[Mapping[str, str]]) -> list[DuePartition]:
    spans = [span for tags in running if (span := range_of(tags)) is not None]
    return [one for one in due if not any(first <= one.key <= last for first, last in spans)]


def wait_for_summaries(instance: dg.DagsterInstance) -> str | None:
    """Why profiles wait: live runs of summaries are working. Backfills make the weeks due again and
    are not waited for.
    """
    running = under_way(instance, SUMMARIES.asset, SUMMARIES.job)
    live = [tags for tags in running if lane_of(tags) == "live"]
    return f"{len(live)} runs of the night's summaries are under way; the weeks follow them" if live else None


def materialized_since(instance: dg.DagsterInstance, due: Sequence[DuePartition], since: datetime) -> set[str]:
    """Keys of those partitions that were materialised since."""
    if not due:
        return set()
    wanted = dg.AssetRecordsFilter(
        asset_key=dg.AssetKey(due[0].asset),
        asset_partitions=[one.key for one in due],
        after_timestamp=since.timestamp(),
    )
    records = instance.fetch_materializations(wanted, limit=MOST_MATERIALIZATIONS).records
    return {record.partition_key for record in records if record.partition_key is not None}


def run_key(batch: Sequence[DuePartition], failures: int) -> str:
    """partition:version:attempt; for a range its ends and maxima.

    Dagster never runs a key twice. The number of failures is part of the key, so that a run that died before it
    recorded its attempt is requested again.
    """
    first, last = batch[0].key, batch[-1].key
    span = first if first == last else f"{first}...{last}"
    key = f"{span}:{max(one.version for one in batch)}:{max(one.attempt for one in batch)}:{len(batch)}"
    return f"{key}:after-{failures}-failures" if failures else key


def for_partitions(
    due: Sequence[DuePartition], *, lane: Lane, failures: int | None = 0, limit: int | None = None
) -> list[dg.RunRequest]:
    """Run requests over batches of due partitions, oldest first; a run skips what is not due in its range. ``failures``
    in a row become part of the run keys; None leaves the keys out.
    """
    found: list[dg.RunRequest] = []
    if not due:
        return found
    grain = GRAIN_OF[due[0].asset]
    for batch in islice(batches(due, key=lambda one: one.key, grain=grain), limit):
        reason = describe([one.key for one in batch], grain)
        tags = range_tags(batch[0].key, batch[-1].key, lane=lane, only_due=True, reason=reason)
        key = None if failures is None else run_key(batch, failures)
        found.append(dg.RunRequest(run_key=key, tags=tags))
    return found


def describe(keys: Sequence[str], grain: Grain = DAY) -> str:
    """``2024-05-01``, or ``12 days from 2024-05-01 to 2024-05-20``."""
    return keys[0] if len(keys) == 1 else f"{len(keys)} {grain.noun}s from {keys[0]} to {keys[-1]}"


Wall = Callable[[], float]
"""Unix seconds. Pauses follow the real time, not ``PKG_NOW``."""
