"""What runs because something is there: files in the inbox, touched or silent chats, days, weeks and months to do.

A sensor reads, decides and says why; it never does the work. It asks for at most a few runs a tick and for nothing
that is queued or running. Which work there is, is a table: no cursor over timestamps, which would skip rows.
"""

import json
import time
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime

import dagster as dg

from pkg_pipeline.adapters.inbox import Inbox
from pkg_pipeline.defs import publication, requests
from pkg_pipeline.defs.assets import (
    archived_messages,
    entity_relationship_profiles,
    interaction_summaries,
    interactions,
    messages,
)
from pkg_pipeline.defs.due import due_partitions
from pkg_pipeline.defs.hours import last_monthly, week_has_come
from pkg_pipeline.defs.jobs import ARCHIVE_JOB, INTERACTIONS_JOB, MESSAGES_JOB, PROFILES_JOB, SUMMARIES_JOB
from pkg_pipeline.defs.lanes import LANE_TAG, REASON_TAG
from pkg_pipeline.defs.pipeline_memory import PipelineMemory
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.stores import DuePartition

TICK_SECONDS = 30
INBOX_TICK_SECONDS = 15
INBOX_SETTLE_SECONDS = 5.0
"""Beside it a drop must look the same at two ticks: a copy that pauses is not taken half."""

RUNNING = dg.DefaultSensorStatus.RUNNING


def build(settings: Settings, *, wall: requests.Wall = time.time) -> list[dg.SensorDefinition]:
    return [_inbox(settings, wall), _interactions(wall), _due_days(wall), _due_weeks(wall), _due_months(wall)]


def _inbox(settings: Settings, wall: requests.Wall) -> dg.SensorDefinition:
    folder = settings.inbox

    @dg.sensor(
        name="inbox",
        job_name=MESSAGES_JOB,
        minimum_interval_seconds=INBOX_TICK_SECONDS,
        default_status=RUNNING,
        description="New files in the inbox, once they are written completely.",
    )
    def inbox(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        box = Inbox(folder, settle_seconds=INBOX_SETTLE_SECONDS, wall=wall)
        seen = {drop.name: drop.signature for drop in box.drops()}
        before: dict[str, str] = json.loads(context.cursor) if context.cursor else {}
        ready = sorted(drop.name for drop in box.ready() if before.get(drop.name) == drop.signature)
        cursor = json.dumps(seen, sort_keys=True)
        if not ready:
            reason = f"{len(seen)} drops are still being written" if seen else "the inbox is empty"
            return dg.SensorResult(skip_reason=reason, cursor=cursor)
        if why := _hold_off(context.instance, messages.NAME, MESSAGES_JOB, wall):
            return dg.SensorResult(skip_reason=why, cursor=cursor)
        failures = requests.streak(context.instance, MESSAGES_JOB).failures
        key = ";".join(f"{name}={seen[name]}" for name in ready) + f":{failures}"
        tags = {LANE_TAG: "live", REASON_TAG: f"{len(ready)} drops in the inbox"}
        return dg.SensorResult(run_requests=[dg.RunRequest(run_key=_short(key), tags=tags)], cursor=cursor)

    return inbox


def _interactions(wall: requests.Wall) -> dg.SensorDefinition:
    @dg.sensor(
        name="touched_chats",
        job_name=INTERACTIONS_JOB,
        minimum_interval_seconds=TICK_SECONDS,
        default_status=RUNNING,
        description="Chats with new, edited or deleted messages, and interactions that fell silent.",
    )
    def touched_chats(
        context: dg.SensorEvaluationContext, memory: dg.ResourceParam[PipelineMemory]
    ) -> dg.RunRequest | dg.SkipReason:
        due = memory.partitions.due(interactions.NAME, now=memory.clock.now())
        silent = memory.silent_interactions()
        if not due and not silent:
            return dg.SkipReason("no chat was touched and no interaction fell silent")
        if why := _hold_off(context.instance, interactions.NAME, INTERACTIONS_JOB, wall):
            return dg.SkipReason(why)
        reason = f"{len(due)} chats touched, {silent} interactions silent"
        # no run key: what is due is read at each tick, and two runs with the same marks may both be needed
        return dg.RunRequest(tags={LANE_TAG: "live", REASON_TAG: reason})

    return touched_chats


def _due_days(wall: requests.Wall) -> dg.SensorDefinition:
    @dg.sensor(
        name="due_days",
        job_name=SUMMARIES_JOB,
        minimum_interval_seconds=TICK_SECONDS,
        default_status=RUNNING,
        description="Days with completed interactions to summarise, changed ones to redo, or retries that came due.",
    )
    def due_days(
        context: dg.SensorEvaluationContext, memory: dg.ResourceParam[PipelineMemory]
    ) -> list[dg.RunRequest] | dg.SkipReason:
        due = due_partitions(memory, interaction_summaries.NAME)
        if not due:
            return dg.SkipReason("no day is due")
        running = requests.under_way(context.instance, interaction_summaries.NAME, SUMMARIES_JOB)
        room = requests.RUNS_PER_TICK - len(running)
        free = requests.not_under_way(due, running)
        if not free or room <= 0:
            return dg.SkipReason(f"{len(due)} days are due; {len(running)} runs are already under way")
        if why := _pause(context.instance, SUMMARIES_JOB, wall):
            return dg.SkipReason(why)
        failures = requests.streak(context.instance, SUMMARIES_JOB).failures
        return requests.for_days(free, lane="live", failures=failures, limit=room)

    return due_days


def _due_weeks(wall: requests.Wall) -> dg.SensorDefinition:
    @dg.sensor(
        name="due_weeks",
        job_name=PROFILES_JOB,
        minimum_interval_seconds=TICK_SECONDS,
        default_status=RUNNING,
        description="Weeks that Sunday's run left over, put off, or that rest on something that changed.",
    )
    def due_weeks(
        context: dg.SensorEvaluationContext, memory: dg.ResourceParam[PipelineMemory]
    ) -> list[dg.RunRequest] | dg.SkipReason:
        now, zone = memory.clock.now(), memory.settings.zone
        due = due_partitions(memory, entity_relationship_profiles.NAME)
        due = [one for one in due if week_has_come(date.fromisoformat(one.key), now=now, zone=zone)]
        return _periods(context.instance, due, job=PROFILES_JOB, wait=requests.wait_for_summaries, wall=wall)

    return due_weeks


def _due_months(wall: requests.Wall) -> dg.SensorDefinition:
    @dg.sensor(
        name="due_months",
        job_name=ARCHIVE_JOB,
        minimum_interval_seconds=TICK_SECONDS,
        default_status=RUNNING,
        description="Months not worked off since the last first of a month: a missed hour, a failed run.",
    )
    def due_months(
        context: dg.SensorEvaluationContext, memory: dg.ResourceParam[PipelineMemory]
    ) -> list[dg.RunRequest] | dg.SkipReason:
        since = last_monthly(now=memory.clock.now(), zone=memory.settings.zone)
        due = due_partitions(memory, archived_messages.NAME)
        attempted = requests.materialized_since(context.instance, due, since)
        due = [one for one in due if one.key not in attempted]
        return _periods(context.instance, due, job=ARCHIVE_JOB, wait=lambda _: None, wall=wall)

    return due_months


def _periods(
    instance: dg.DagsterInstance,
    due: Sequence[DuePartition],
    *,
    job: str,
    wait: Callable[[dg.DagsterInstance], str | None],
    wall: requests.Wall,
) -> list[dg.RunRequest] | dg.SkipReason:
    """Due weeks or months that no run covers, within the runs of a tick, or why none is asked for."""
    if not due:
        return dg.SkipReason("nothing is left over")
    if why := publication.blocked(instance) or wait(instance):
        return dg.SkipReason(why)
    asset, noun = due[0].asset, requests.noun(due[0].asset)
    running = requests.under_way(instance, asset, job)
    room = requests.RUNS_PER_TICK - len(running)
    free = requests.not_under_way(due, running)
    if not free or room <= 0:
        return dg.SkipReason(f"{len(due)} {noun}s are due; {len(running)} runs are already under way")
    if why := _pause(instance, job, wall):
        return dg.SkipReason(why)
    return requests.for_periods(free, lane="live", limit=room)


def _hold_off(instance: dg.DagsterInstance, asset: str, job: str, wall: requests.Wall) -> str | None:
    """Why an unpartitioned asset is not to be asked for now."""
    if requests.under_way(instance, asset, job):
        return f"a run of {asset} is already under way"
    return _pause(instance, job, wall)


def _pause(instance: dg.DagsterInstance, job: str, wall: requests.Wall) -> str | None:
    streak = requests.streak(instance, job)
    if wall() >= streak.pause_until:
        return None
    until = datetime.fromtimestamp(streak.pause_until, UTC)
    return f"the last {streak.failures} runs of {job} failed; asks again at {until:%H:%M:%S} UTC"


def _short(key: str) -> str:
    """Run keys are tags, which are indexed: many long file names are hashed."""
    import hashlib

    return key if len(key) <= 200 else hashlib.sha256(key.encode()).hexdigest()
