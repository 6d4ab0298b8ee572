"""Prunes LangGraph threads that grew too long (L2). Only with ``PKG_LANGGRAPH_URL``; runs by itself with
``PKG_PRUNE_THREADS``, else it can be switched on in Dagster's page.
"""

import json
import time
from typing import Any

import dagster as dg

from pkg_pipeline.defs.automation import requests
from pkg_pipeline.defs.lanes import LANE_TAG, REASON_TAG
from pkg_pipeline.defs.pipeline_memory import PipelineMemory
from pkg_pipeline.settings import Settings

JOB = "prune_threads"
SENSOR = "long_threads"
TICK_SECONDS = 300


class PruneConfig(dg.Config):
    threads: list[str]


def build_jobs(settings: Settings) -> list[dg.JobDefinition]:
    return [_job(settings)] if settings.langgraph_url else []


def build_sensors(settings: Settings, *, wall: requests.Wall = time.time) -> list[dg.SensorDefinition]:
    return [_sensor(settings, wall)] if settings.langgraph_url else []


def _job(settings: Settings) -> dg.JobDefinition:
    @dg.op(name="prune", description="Old messages out of long threads, once the memory has them.")
    def prune(context: dg.OpExecutionContext, config: PruneConfig, memory: dg.ResourceParam[PipelineMemory]) -> None:
        results = [memory.threads.prune(name) for name in config.threads]
        for one in results:
            context.log.info(f"{one.thread}: {one.removed} of {one.messages} messages removed. {one.reason}")
        refused = [one for one in results if one.is_refused]
        counts: dict[str, Any] = {
            "threads": len(results),
            "removed": sum(one.removed for one in results),
            "refused": len(refused),
        }
        context.add_output_metadata(counts)
        if refused:
            said = "; ".join(f"{one.thread}: {one.reason}" for one in refused)
            raise dg.Failure(f"not pruned: {said}", metadata=counts, allow_retries=False)

    @dg.job(
        name=JOB,
        executor_def=dg.in_process_executor,
        description=f"Prune threads of more than {settings.max_messages_per_thread} messages.",
    )
    def prune_threads() -> None:
        prune()

    return prune_threads


def _sensor(settings: Settings, wall: requests.Wall) -> dg.SensorDefinition:
    @dg.sensor(
        name=SENSOR,
        job_name=JOB,
        minimum_interval_seconds=TICK_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING if settings.prune_threads else dg.DefaultSensorStatus.STOPPED,
        description=f"LangGraph threads of more than {settings.max_messages_per_thread} messages that can be pruned.",
    )
    def long_threads(
        context: dg.SensorEvaluationContext, memory: dg.ResourceParam[PipelineMemory]
    ) -> dg.SensorResult | dg.SkipReason:
        from pkg_pipeline.stages.ingest.threads import LookedThrough  # brings numpy

        if why := requests.held_off(context.instance, JOB, JOB, wall):
            return dg.SkipReason(why)
        before = LookedThrough.from_json(json.loads(context.cursor)) if context.cursor else LookedThrough()
        found = memory.threads.long(before)
        cursor = json.dumps(found.to_json())
        if not found.long:
            return dg.SensorResult(skip_reason="no thread that changed is too long", cursor=cursor)
        # no run key, as with touched chats: a thread that could not be pruned yet is asked for again
        config = dg.RunConfig(ops={"prune": PruneConfig(threads=list(found.long))})
        tags = {LANE_TAG: "live", REASON_TAG: f"{len(found.long)} threads too long"}
        return dg.SensorResult(run_requests=[dg.RunRequest(run_config=config, tags=tags)], cursor=cursor)

    return long_threads
