"""Sensors for files in the inbox, touched or silent chats, and the due days, weeks and months of ``partitioned.py``.
They only read and request runs, a few per tick; due work is read from tables, not by a cursor over timestamps, which
could skip rows.
"""

import json
import time
from datetime import date

import dagster as dg

from pkg_pipeline.adapters.inbox import Inbox
from pkg_pipeline.defs import partitioned
from pkg_pipeline.defs.automation import requests
from pkg_pipeline.defs.automation.due import due_partitions, there
from pkg_pipeline.defs.hops import FOLDS, INTERACTIONS, ITEMS, MESSAGES
from pkg_pipeline.defs.lanes import LANE_TAG, REASON_TAG
from pkg_pipeline.defs.partitioned import Partitioned
from pkg_pipeline.defs.pipeline_memory import PipelineMemory
from pkg_pipeline.settings import Settings

TICK_SECONDS = 30
INBOX_TICK_SECONDS = 15
INBOX_SETTLE_SECONDS = 5.0
"""A drop must also look the same at two ticks, so that a copy under way is not imported half."""

COUNTED_SESSIONS = 1_000
"""A tick counts due sessions up to this number."""

RUNNING = dg.DefaultSensorStatus.RUNNING


def build(settings: Settings, *, start: date, wall: requests.Wall = time.time) -> list[dg.SensorDefinition]:
    return [
        _inbox(settings, wall),
        _interactions(wall),
        _items(wall),
        _sessions(wall),
        *(_due(kind, start, wall) for kind in partitioned.ALL),
    ]


def _inbox(settings: Settings, wall: requests.Wall) -> dg.SensorDefinition:
    folder = settings.inbox

    @dg.sensor(
        name="inbox",
        job_name=MESSAGES.job,
        minimum_interval_seconds=INBOX_TICK_SECONDS,
        default_status=RUNNING,
        description="New files in the inbox, once they are written completely, and imports made elsewhere.",
    )
    def inbox(
        context: dg.SensorEvaluationContext, memory: dg.ResourceParam[PipelineMemory]
    ) -> dg.SensorResult | dg.SkipReason:
        box = Inbox(folder, settle_seconds=INBOX_SETTLE_SECONDS, wall=wall)
        seen = {drop.name: drop.signature for drop in box.drops()}
        before: dict[str, str] = json.loads(context.cursor) if context.cursor else {}
        ready = sorted(drop.name for drop in box.ready() if before.get(drop.name) == drop.signature)
        cursor = json.dumps(seen, sort_keys=True)
        elsewhere = memory.unreported(MESSAGES.asset)
        if not ready and not elsewhere:
            reason = f"{len(seen)} drops are still being written" if seen else "the inbox is empty"
            return dg.SensorResult(skip_reason=reason, cursor=cursor)
        if why := requests.held_off(context.instance, MESSAGES.asset, MESSAGES.job, wall):
            return dg.SensorResult(skip_reason=why, cursor=cursor)
        failures = requests.streak(context.instance, MESSAGES.job).failures
        shown = [f"import={one.id}" for one in elsewhere[-1:]]
        key = ";".join([*(f"{name}={seen[name]}" for name in ready), *shown]) + f":{failures}"
        also = f", {len(elsewhere)} imports from the command line" if elsewhere else ""
        tags = {LANE_TAG: "live", REASON_TAG: f"{len(ready)} drops in the inbox{also}"}
        return dg.SensorResult(run_requests=[dg.RunRequest(run_key=_short(key), tags=tags)], cursor=cursor)

    return inbox


def _interactions(wall: requests.Wall) -> dg.SensorDefinition:
    @dg.sensor(
        name="touched_chats",
        job_name=INTERACTIONS.job,
        minimum_interval_seconds=TICK_SECONDS,
        default_status=RUNNING,
        description="Chats with new, edited or deleted messages, and interactions that fell silent.",
    )
    def touched_chats(
        context: dg.SensorEvaluationContext, memory: dg.ResourceParam[PipelineMemory]
    ) -> dg.RunRequest | dg.SkipReason:
        due = memory.partitions.due(INTERACTIONS.asset, now=memory.clock.now())
        silent = memory.silent_interactions()
        elsewhere = memory.unreported(INTERACTIONS.asset)
        if not due and not silent and not elsewhere:
            return dg.SkipReason("no chat was touched and no interaction fell silent")
        if why := requests.held_off(context.instance, INTERACTIONS.asset, INTERACTIONS.job, wall):
            return dg.SkipReason(why)
        also = f", {len(elsewhere)} imports from the command line" if elsewhere else ""
        reason = f"{len(due)} chats touched, {silent} interactions silent{also}"
        # no run key: what is due is read at each tick, and two runs over the same marks may both be needed
        return dg.RunRequest(tags={LANE_TAG: "live", REASON_TAG: reason})

    return touched_chats


def _items(wall: requests.Wall) -> dg.SensorDefinition:
    @dg.sensor(
        name="unread_talks",
        job_name=ITEMS.job,
        minimum_interval_seconds=TICK_SECONDS,
        default_status=RUNNING,
        description="Completed conversations that were not read for tasks and decisions yet, or changed since.",
    )
    def unread_talks(
        context: dg.SensorEvaluationContext, memory: dg.ResourceParam[PipelineMemory]
    ) -> dg.RunRequest | dg.SkipReason:
        if not memory.has_unread_talks():
            return dg.SkipReason("every completed conversation was read, or waits for its next try")
        if why := requests.held_off(context.instance, ITEMS.asset, ITEMS.job, wall):
            return dg.SkipReason(why)
        # no run key, as with touched chats: a run reads what is due when it starts
        return dg.RunRequest(tags={LANE_TAG: "live", REASON_TAG: "conversations to read"})

    return unread_talks


def _sessions(wall: requests.Wall) -> dg.SensorDefinition:
    @dg.sensor(
        name="due_sessions",
        job_name=FOLDS.job,
        minimum_interval_seconds=TICK_SECONDS,
        default_status=RUNNING,
        description="Live sessions whose policy is to be asked: enough was said, time passed, or somebody wants it.",
    )
    def due_sessions(
        context: dg.SensorEvaluationContext, memory: dg.ResourceParam[PipelineMemory]
    ) -> dg.RunRequest | dg.SkipReason:
        due = memory.due_sessions(limit=COUNTED_SESSIONS)
        if not due:
            return dg.SkipReason("no session is due")
        if why := requests.held_off(context.instance, FOLDS.asset, FOLDS.job, wall):
            return dg.SkipReason(why)
        more = "at least " if due == COUNTED_SESSIONS else ""
        # no run key, as with touched chats: a run takes what is due when it starts
        return dg.RunRequest(tags={LANE_TAG: "live", REASON_TAG: f"{more}{due} sessions due"})

    return due_sessions


def _due(kind: Partitioned, start: date, wall: requests.Wall) -> dg.SensorDefinition:
    """Requests due partitions that no run covers, up to the limit per tick, or says why not."""

    @dg.sensor(
        name=kind.sensor.name,
        job_name=kind.job,
        minimum_interval_seconds=TICK_SECONDS,
        default_status=RUNNING,
        description=kind.sensor.description,
    )
    def due_partitions_of_an_asset(
        context: dg.SensorEvaluationContext, memory: dg.ResourceParam[PipelineMemory]
    ) -> list[dg.RunRequest] | dg.SkipReason:
        instance = context.instance
        due = kind.sensor.ripe(instance, memory, there(due_partitions(memory, kind.asset), start))
        if not due:
            return dg.SkipReason(kind.sensor.idle)
        if why := kind.held(instance):
            return dg.SkipReason(why)
        running = requests.under_way(instance, kind.asset, kind.job)
        room = requests.RUNS_PER_TICK - len(running)
        free = requests.not_under_way(due, running)
        if not free or room <= 0:
            return dg.SkipReason(f"{len(due)} {kind.noun}s are due; {len(running)} runs are already under way")
        if why := requests.pause(instance, kind.job, wall):
            return dg.SkipReason(why)
        return kind.runs(instance, free, limit=room)

    return due_partitions_of_an_asset


def _short(key: str) -> str:
    """Hash of a long text: run keys are indexed tags."""
    import hashlib

    return key if len(key) <= 200 else hashlib.sha256(key.encode()).hexdigest()
