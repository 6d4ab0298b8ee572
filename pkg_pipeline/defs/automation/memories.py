"""The memories with names, under the same Dagster as the own one: one job works off what is due of one memory, a sensor
goes round all of them, a schedule asks each once a night.

A run is about the memory of its tag. Inside it the jobs of the own memory run in this process over that one, as
``pkg-pipeline run`` does it, with Dagster's records in the memory's own database: its partitions, checks, marks and
budgets are its own, are backed up and erased with it, and hold off no other. Pages show what a run did as assets whose
keys begin with the memory's name.
"""

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import dagster as dg

from pkg_pipeline.defs.automation import orphans, purge, requests
from pkg_pipeline.defs.automation.due import has_work
from pkg_pipeline.defs.automation.hours import DAILY
from pkg_pipeline.defs.failures import translated
from pkg_pipeline.defs.hops import ASSETS, CHUNKS, FOLDS, INTERACTIONS, ITEMS, MESSAGES, SUMMARIES
from pkg_pipeline.defs.lanes import INBOX_QUEUE, LANE_TAG, MEMORY_TAG, QUEUE_TAG, REASON_TAG, SCHEDULED_TAG, asks_all
from pkg_pipeline.defs.pipeline_memory import PipelineMemory, opened
from pkg_pipeline.settings import Settings, SettingsError

if TYPE_CHECKING:
    from pkg_pipeline.defs.local_runs import LocalRuns, OnRow, RunRow

JOB = "work_off_memory"
SENSOR = "memories"
SCHEDULE = "memories_at_three"
TICK_SECONDS = 30
LOOKING_SECONDS = 20.0
"""A tick asks as many memories as it can in this time; the next one goes on behind them."""

WORKING_SECONDS = 600.0
"""After so long a run begins nothing more, and its memory waits until the others had their turn."""

REST_SECONDS = 60.0
"""Between two runs of one memory."""

BATCHES_SECONDS = 900.0
"""So often it is asked whether message batches have ended."""

RUNS_WAITING = 4
BY_DAY = tuple(hop.asset for hop in (MESSAGES, INTERACTIONS, ITEMS, FOLDS, SUMMARIES, CHUNKS))
"""What a sensor asks for; profiles, archive and marts are the night's."""


def build_job(settings: Settings) -> dg.JobDefinition:
    @dg.op(name="work_off", description="What is due of the memory in the run's tag, for ten minutes at most.")
    def work_off(context: dg.OpExecutionContext) -> None:
        from pkg_pipeline.adapters import dagster_home
        from pkg_pipeline.defs.local_runs import LocalRuns
        from pkg_pipeline.wiring import memories
        from pkg_pipeline.wiring.process import running

        name = context.run.tags.get(MEMORY_TAG, "")
        rows: list[RunRow] = []

        def heard(row: "RunRow") -> None:
            rows.append(row)
            numbers = {"rows": row.rows, "pending": row.pending, "failed": row.failed, "cost_usd": row.cost_usd}
            key = dg.AssetKey([name, row.asset])
            if row.error is None:
                context.log_event(dg.AssetMaterialization(key, partition=row.partition, metadata=numbers))
            else:
                context.log.error(f"{row.asset} {row.partition or ''}: {row.error}")

        with translated(f"the work of {name or 'no memory'}"):
            chosen = memories.settings_of(settings, name)
            if chosen.memory is None:
                raise SettingsError(f"{MEMORY_TAG}: the run's tag names no memory")
            with (
                opened(chosen) as memory,
                dagster_home.instance(chosen.dagster_home, memory.database_url, running(chosen)) as own,
            ):
                _work_off(context, memory, LocalRuns(memory, own, lane="live"), heard)
                if asks_all(context.run.tags):
                    purge.purge(own, before=time.time() - settings.purge_runs_after_days * 86_400)
        failed = [row for row in rows if row.status == "failed"]
        context.add_output_metadata({"memory": name, "runs": len({row.run_id for row in rows}), "failed": len(failed)})
        if failed:
            said = "; ".join(f"{row.asset}: {row.error}" for row in failed[:3])
            raise dg.Failure(description=f"{name}: {said}", allow_retries=False)

    @dg.job(name=JOB, executor_def=dg.in_process_executor, description="Work off what is due of one named memory.")
    def work_off_memory() -> None:
        work_off()

    return work_off_memory


def _work_off(context: dg.OpExecutionContext, memory: PipelineMemory, runs: "LocalRuns", heard: "OnRow") -> None:
    from pkg_pipeline.defs.local_runs import run_due

    ends = time.monotonic() + WORKING_SECONDS

    def is_over() -> bool:
        found = context.instance.get_run_by_id(context.run_id)
        if found is None or found.status in (dg.DagsterRunStatus.CANCELING, dg.DagsterRunStatus.CANCELED):
            raise dg.Failure(description="it was told to end", allow_retries=False)
        return time.monotonic() > ends

    is_nightly = asks_all(context.run.tags)
    if memory.batches_in_flight().batches:
        memory.collect_batches(context.run_id)
    if is_nightly and memory.unfolded_sessions(limit=1):
        for row in runs.asset(FOLDS.asset, more={SCHEDULED_TAG: "true"}):
            heard(row)
    run_due(runs, memory, ASSETS if is_nightly else BY_DAY, heard, is_over=is_over)


def build_sensor(settings: Settings, *, wall: requests.Wall = time.time) -> dg.SensorDefinition:
    @dg.sensor(
        name=SENSOR,
        job_name=JOB,
        minimum_interval_seconds=TICK_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="The memories with names, in turn: one run for each that has something to do.",
    )
    def memories(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        names = _names(settings)
        if not names:
            return dg.SkipReason("there is no memory with a name")
        found: list[dg.RunRequest] = []
        after, asked, ends = context.cursor or "", 0, time.monotonic() + LOOKING_SECONDS
        under_way = _under_way(context.instance)
        room = RUNS_WAITING - sum(is_waiting for is_waiting in under_way.values())
        for name in _in_turn(names, after):
            if len(found) >= room or time.monotonic() > ends:
                break
            after, asked = name, asked + 1
            if name not in under_way and _rested(context.instance, name, wall) and (tags := _work(settings, name)):
                found.append(dg.RunRequest(tags={MEMORY_TAG: name, LANE_TAG: "live", **tags}))
        if found:
            return dg.SensorResult(run_requests=found, cursor=after)
        said = f"{asked} of {len(names)} memories asked, {len(under_way)} under way: nothing to begin"
        return dg.SensorResult(skip_reason=said, cursor=after)

    return memories


def build_schedule(settings: Settings) -> dg.ScheduleDefinition:
    @dg.schedule(
        name=SCHEDULE,
        job_name=JOB,
        cron_schedule=DAILY,
        execution_timezone=settings.timezone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Each night every memory with a name: also its profiles, archive and marts.",
    )
    def memories_at_three(context: dg.ScheduleEvaluationContext) -> list[dg.RunRequest] | dg.SkipReason:
        names = _names(settings)
        if not names:
            return dg.SkipReason("there is no memory with a name")
        at = context.scheduled_execution_time.isoformat()
        tags = {LANE_TAG: "live", SCHEDULED_TAG: "true", REASON_TAG: "the night's work"}
        return [dg.RunRequest(run_key=f"{name}:{at}", tags={MEMORY_TAG: name, **tags}) for name in names]

    return memories_at_three


def _names(settings: Settings) -> list[str]:
    """None where the settings are of one memory alone, or no server runs; a tick starts none."""
    from pkg_pipeline import wiring
    from pkg_pipeline.adapters.postgres import memories
    from pkg_pipeline.adapters.server.embedded import EmbeddedError

    try:
        return [] if settings.memory is not None else memories.names(wiring.database_url(settings, start=False))
    except EmbeddedError:
        return []


def _in_turn(names: Sequence[str], after: str) -> Iterator[str]:
    """All of them, those behind ``after`` first."""
    yield from (name for name in names if name > after)
    yield from (name for name in names if name <= after)


def _under_way(instance: dg.DagsterInstance) -> dict[str, bool]:
    """Memories with a run, and whether it waits for its place."""
    runs = instance.get_runs(dg.RunsFilter(job_name=JOB, statuses=list(requests.IN_FLIGHT)))
    waits = dg.DagsterRunStatus.QUEUED
    return {run.tags.get(MEMORY_TAG, ""): run.status is waits for run in runs if not orphans.is_dead(run.tags)}


def _rested(instance: dg.DagsterInstance, name: str, wall: requests.Wall) -> bool:
    """Whether a memory may have another run: the last one ended a while ago, or longer if it failed."""
    tags = {MEMORY_TAG: name}
    last = instance.get_run_records(dg.RunsFilter(job_name=JOB, tags=tags), limit=1)
    if last and wall() < (last[0].end_time or 0) + REST_SECONDS:
        return False
    return wall() >= requests.streak(instance, JOB, tags).pause_until


def _work(settings: Settings, name: str) -> dict[str, str]:
    """The tags of a run that the memory needs; none: it has nothing to do."""
    from pkg_pipeline.adapters.postgres.engine import DatabaseUnavailable
    from pkg_pipeline.adapters.postgres.memories import MemoryUnknown
    from pkg_pipeline.wiring import memories

    try:
        with opened(memories.settings_of(settings, name), works=False) as memory:
            if memory.inbox.ready():
                return {REASON_TAG: "files in its inbox", QUEUE_TAG: INBOX_QUEUE}
            due = next((asset for asset in BY_DAY if has_work(memory, asset)), None)
            if due is not None:
                return {REASON_TAG: f"{due} are due"}
            flying = memory.batches_in_flight().batches
            return {REASON_TAG: f"{flying} message batches"} if flying and memory.batches_ready() else {}
    except MemoryUnknown:
        return {}  # dropped meanwhile
    except (DatabaseUnavailable, SettingsError) as error:
        return {REASON_TAG: f"it cannot be read: {error}"[:200]}  # a run migrates it, or fails and tells
