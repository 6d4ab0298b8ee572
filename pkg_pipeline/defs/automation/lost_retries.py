"""Tells Dagster's retry daemon again of killed runs that it passed over.

Dagster stores a run's failure first and its status after it. The daemon goes through the failures by their number and
passes over what has not failed yet: where it looks between the two, or a failure with a lower number becomes visible
later, it never starts the run again, and a backfill of Dagster's pages that holds the run stays open for ever.
"""

import time

import dagster as dg

from pkg_pipeline.defs.automation.requests import Wall

NAME = "lost_retries"
TICK_SECONDS = 30
SETTLED_SECONDS = 60.0
"""The daemon looks every five seconds; a failure as old as this was passed over, or its retry is being made."""

FAILURES_A_TICK = 50
AGAIN = "this run is to be started again and was not; its failure is told again"
FAILURE = dg.DagsterEventType.RUN_FAILURE


def build(*, wall: Wall = time.time) -> dg.SensorDefinition:
    @dg.sensor(
        name=NAME,
        minimum_interval_seconds=TICK_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Killed runs that are to be started again and were passed over: their failure is told again, once.",
    )
    def lost_retries(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        instance = context.instance
        if context.cursor is None:
            reason = "what failed before the sensor was there stays"
            return dg.SensorResult(skip_reason=reason, cursor=str(newest_failure(instance)))
        seen, told = tell_again(instance, after=int(context.cursor), before=wall() - SETTLED_SECONDS)
        return dg.SensorResult(skip_reason=f"{told} failures told again", cursor=str(seen))

    return lost_retries


def newest_failure(instance: dg.DagsterInstance) -> int:
    """The number of the last failure; 0: none."""
    last = instance.fetch_run_status_changes(FAILURE, limit=1).records
    return max((record.storage_id for record in last), default=0)


def tell_again(instance: dg.DagsterInstance, *, after: int, before: float) -> tuple[int, int]:
    """Goes on from the failure with the number ``after`` to the first that is not older than ``before`` (unix seconds);
    returns the last number and how many were told again. Told once too often does no harm, since the daemon looks for
    the run that it started. What is told here is no reason to tell it again: a run that cannot be started stays.
    """
    wanted = dg.RunStatusChangeRecordsFilter(FAILURE, after_storage_id=after)
    first: dict[str, dg.EventLogEntry] = {}
    for record in instance.fetch_run_status_changes(wanted, limit=FAILURES_A_TICK, ascending=True).records:
        entry = record.event_log_entry
        if entry.timestamp >= before:
            break
        after = record.storage_id
        if not is_told_again(entry):
            first.setdefault(entry.run_id, entry)
    runs = instance.get_runs(dg.RunsFilter(run_ids=list(first))) if first else []
    # a run of the command line has no origin: nobody can start it again but who typed the command
    lost = [run for run in runs if run.is_complete_and_waiting_to_retry and run.remote_job_origin is not None]
    for run in lost:
        event = dg.DagsterEvent(FAILURE.value, run.job_name, message=AGAIN)
        # at the time of the first: pauses after failures count from the end of a run
        instance.report_dagster_event(event, run.run_id, timestamp=first[run.run_id].timestamp)
    return after, len(lost)


def is_told_again(entry: dg.EventLogEntry) -> bool:
    """Whether the failure was told before."""
    return entry.dagster_event is not None and entry.dagster_event.message == AGAIN
