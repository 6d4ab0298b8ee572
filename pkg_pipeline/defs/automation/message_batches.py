"""``message_batches``: looks whether batches of questions have ended; a run publishes what they brought (P31)."""

import time

import dagster as dg

from pkg_pipeline.defs.automation import orphans, requests
from pkg_pipeline.defs.failures import translated
from pkg_pipeline.defs.lanes import LANE_TAG, PRIORITY, PRIORITY_TAG
from pkg_pipeline.defs.pipeline_memory import PipelineMemory
from pkg_pipeline.stages.ports import LlmError

JOB = "collect_batches"
SENSOR = "message_batches"
TICK_SECONDS = 60
"""A batch takes minutes to a day."""


def build_job() -> dg.JobDefinition:
    @dg.op(name="read_batches", description="Read what message batches have answered, and publish summaries of it.")
    def read_batches(context: dg.OpExecutionContext, memory: dg.ResourceParam[PipelineMemory]) -> None:
        with translated("the message batches"):
            days = memory.collect_batches(context.run_id)
        context.add_output_metadata(
            {
                "days": len(days),
                "summarized": sum(day.summarized for day in days),
                "quarantined": sum(day.quarantined for day in days),
                "calls": sum(day.calls for day in days),
                "cost_usd": float(sum(day.cost_usd for day in days)),
                "in_flight": memory.batches_in_flight().questions,
            }
        )

    @dg.job(name=JOB, executor_def=dg.in_process_executor, description="Read the message batches that have ended.")
    def collect_batches() -> None:
        read_batches()

    return collect_batches


def build_sensor(*, wall: requests.Wall = time.time) -> dg.SensorDefinition:
    @dg.sensor(
        name=SENSOR,
        job_name=JOB,
        minimum_interval_seconds=TICK_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Message batches on their way; once one has ended, a run reads it.",
    )
    def message_batches(
        context: dg.SensorEvaluationContext, memory: dg.ResourceParam[PipelineMemory]
    ) -> dg.SensorResult | dg.SkipReason:
        flying = memory.batches_in_flight()
        if not flying.batches:
            return dg.SkipReason("no message batch is on its way")
        running = context.instance.get_runs(dg.RunsFilter(job_name=JOB, statuses=list(requests.IN_FLIGHT)))
        if any(not orphans.is_dead(run.tags) for run in running):
            return dg.SkipReason("a run reads them already")
        if (why := requests.pause(context.instance, JOB, wall)) is not None:
            return dg.SkipReason(why)
        try:
            is_ready = memory.batches_ready()
        except LlmError as error:
            return dg.SkipReason(f"the service does not tell: {error}")
        if not is_ready:
            return dg.SkipReason(f"{flying.batches} message batches with {flying.questions} questions are on their way")
        asked = int(context.cursor or 0)
        tags = {LANE_TAG: "backfill", PRIORITY_TAG: PRIORITY["backfill"]}
        return dg.SensorResult(
            run_requests=[dg.RunRequest(run_key=f"batches:{asked}", tags=tags)], cursor=str(asked + 1)
        )

    return message_batches
