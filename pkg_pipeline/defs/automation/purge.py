"""Deletes Dagster's old runs each morning, except those with a partition's newest materialisation."""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import dagster as dg

from pkg_pipeline.defs.pipeline_memory import PipelineMemory
from pkg_pipeline.settings import Settings

JOB = "purge_runs"
SCHEDULE = "purge_runs_at_seven"
HOUR = "0 7 * * *"
PAGE_RUNS = 200
MOST_DELETED = 2_000
"""Per call; the next morning goes on. Deleting a run takes some hundredths of a second."""

FINISHED = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]

MADE = dg.DagsterEventType.ASSET_MATERIALIZATION
HOLDING = {MADE, dg.DagsterEventType.ASSET_CHECK_EVALUATION}

Wall = Callable[[], float]


def build_job(settings: Settings, *, wall: Wall = time.time) -> dg.JobDefinition:
    @dg.op(name="delete_old_runs", description="Delete finished runs that are old and made no partition what it is.")
    def delete_old_runs(context: dg.OpExecutionContext) -> None:
        deleted, kept = purge(context.instance, before=wall() - settings.purge_runs_after_days * 86_400)
        context.log.info(f"{deleted} runs deleted, {kept} kept for what they materialised")
        context.add_output_metadata({"deleted": deleted, "kept": kept})

    @dg.op(name="reconcile_memory", description="Bring marks into line with settings and program, also in quiet times.")
    def reconcile_memory(memory: dg.ResourceParam[PipelineMemory]) -> None:
        del memory  # opening it for the run has done it

    @dg.job(
        name=JOB,
        executor_def=dg.in_process_executor,
        description=f"Delete finished runs older than {settings.purge_runs_after_days:g} days; reconcile the memory.",
    )
    def purge_runs() -> None:
        delete_old_runs()
        reconcile_memory()

    return purge_runs


def build_schedule(settings: Settings) -> dg.ScheduleDefinition:
    return dg.ScheduleDefinition(
        name=SCHEDULE,
        job_name=JOB,
        cron_schedule=HOUR,
        execution_timezone=settings.timezone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Each morning, runs older than the setting; the newest of each partition stay.",
    )


def purge(instance: dg.DagsterInstance, *, before: float, most: int = MOST_DELETED) -> tuple[int, int]:
    """Deletes runs that ended before ``before`` (unix seconds), oldest first; returns how many went and stayed."""
    needed = _Needed(instance)
    doomed: list[str] = []
    kept = 0
    for run_id in _ended(instance, before):
        if needed.holds(run_id):
            kept += 1
        else:
            doomed.append(run_id)
        if len(doomed) == most:
            break
    for run_id in doomed:
        instance.delete_run(run_id)
    return len(doomed), kept


def _ended(instance: dg.DagsterInstance, before: float) -> Iterator[str]:
    """Ids of finished runs, oldest first, in pages; nothing may be deleted while this is read."""
    old = dg.RunsFilter(statuses=FINISHED, updated_before=datetime.fromtimestamp(before, UTC))
    cursor: str | None = None
    while records := instance.get_run_records(old, limit=PAGE_RUNS, cursor=cursor, ascending=True):
        cursor = records[-1].dagster_run.run_id
        yield from (one.dagster_run.run_id for one in records if (one.end_time or before) <= before)


class _Needed:
    """Which runs hold the newest materialisation of a partition, of an asset, or the newest result of a check."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self._instance = instance
        self._newest: dict[dg.AssetKey, frozenset[int]] = {}
        self._checked_by: dict[dg.AssetCheckKey, str | None] = {}

    def holds(self, run_id: str) -> bool:
        """Whether deleting the run would make a partition, asset or check look older or missing."""
        for record in self._instance.get_records_for_run(run_id, of_type=HOLDING).records:
            event = record.event_log_entry.dagster_event
            if event is None:
                continue
            if event.event_type == dg.DagsterEventType.ASSET_CHECK_EVALUATION:
                if self._checker_of(event.asset_check_evaluation_data.asset_check_key) == run_id:
                    return True
            elif event.asset_key is not None and record.storage_id in self._newest_of(event.asset_key):
                return True
        return False

    def _newest_of(self, key: dg.AssetKey) -> frozenset[int]:
        if key not in self._newest:
            by_partition = self._instance.get_latest_storage_id_by_partition(key, MADE)
            last = self._instance.fetch_materializations(key, limit=1).records
            self._newest[key] = frozenset((*by_partition.values(), *(one.storage_id for one in last)))
        return self._newest[key]

    def _checker_of(self, key: dg.AssetCheckKey) -> str | None:
        if key not in self._checked_by:
            found = self._instance.event_log_storage.get_latest_asset_check_execution_by_key([key])
            self._checked_by[key] = found[key].run_id if key in found else None
        return self._checked_by[key]
