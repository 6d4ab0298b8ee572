"""``requested_backfills``: starts runs of the backfill lane for requested backfills (P31, B5), a few per tick."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

import dagster as dg

from pkg_pipeline.defs.automation import requests
from pkg_pipeline.defs.hops import SUMMARIES
from pkg_pipeline.defs.keys import batches
from pkg_pipeline.defs.lanes import range_tags
from pkg_pipeline.defs.pipeline_memory import PipelineMemory

TICK_SECONDS = 30


def build(*, wall: requests.Wall = time.time) -> dg.SensorDefinition:
    @dg.sensor(
        name="requested_backfills",
        job_name=SUMMARIES.job,
        minimum_interval_seconds=TICK_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Backfills that were asked for, until nothing of them is left; at a cap they rest.",
    )
    def requested_backfills(
        context: dg.SensorEvaluationContext, memory: dg.ResourceParam[PipelineMemory]
    ) -> dg.SensorResult | dg.SkipReason:
        known = memory.backfills.open()
        if not known:
            return dg.SkipReason("no backfill is open")
        streak = requests.streak(context.instance, SUMMARIES.job)
        if wall() < streak.pause_until:
            until = datetime.fromtimestamp(streak.pause_until, UTC)
            return dg.SkipReason(f"the last {streak.failures} runs failed; asks again at {until:%H:%M:%S} UTC")
        running = requests.backfills_under_way(context.instance)
        room = requests.RUNS_PER_TICK - len(running)
        asked = int(context.cursor or 0)
        found: list[dg.RunRequest] = []
        reasons: list[str] = []
        for backfill_id, resume_at in known:
            if (why := _held(backfill_id, resume_at, running)) is not None:
                reasons.append(why)
                continue
            days = memory.backfills.ready_days(backfill_id)
            if not days:
                reasons.append(f"of {backfill_id} nothing can be done now")
            found += _requests(backfill_id, days, room=room - len(found), asked=asked + len(found))
        if not found:
            return dg.SkipReason("; ".join(reasons) or f"{len(running)} runs of backfills are under way")
        return dg.SensorResult(run_requests=found, cursor=str(asked + len(found)))

    return requested_backfills


def _held(backfill_id: UUID, resume_at: datetime | None, running: Sequence[str]) -> str | None:
    if str(backfill_id) in running:
        return f"{backfill_id} is under way"
    return f"{backfill_id} goes on at {resume_at:%Y-%m-%d %H:%M} UTC" if resume_at is not None else None


def _requests(backfill_id: UUID, days: Sequence[str], *, room: int, asked: int) -> list[dg.RunRequest]:
    """One run request per batch; the number requested so far (the cursor) in its key keeps a repeated tick from
    doubling.
    """
    found: list[dg.RunRequest] = []
    for batch in list(batches(days, key=str))[: max(room, 0)]:
        reason = f"backfill: {requests.describe(batch)}"
        tags = range_tags(batch[0], batch[-1], lane="backfill", only_due=False, reason=reason, backfill_id=backfill_id)
        key = f"backfill:{backfill_id}:{batch[0]}...{batch[-1]}:{asked + len(found)}"
        found.append(dg.RunRequest(run_key=key, tags=tags))
    return found
