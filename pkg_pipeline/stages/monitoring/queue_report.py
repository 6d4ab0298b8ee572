"""The queue report (P31): counts and paged lists of waiting, active and failed work; ids only."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args
from uuid import UUID

from pkg_pipeline.memory.hashing import chat_key
from pkg_pipeline.memory.text.lines import one_line
from pkg_pipeline.memory.text.timestamps import iso
from pkg_pipeline.stages.monitoring.stage import MonitoringParams, stopped_json
from pkg_pipeline.stages.monitoring.stores import (
    ActiveLease,
    FailedInteraction,
    OpenBackfill,
    PendingPartition,
    QueuedInteraction,
)
from pkg_pipeline.stages.reads.paging import BadCursor, Page, name_position, page_of, text_position, time_position

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.monitoring.store import PostgresMonitoringStore

QueueState = Literal["waiting", "active", "failed", "partitions", "backfills"]
STATES: tuple[QueueState, ...] = get_args(QueueState)

MOST_REASON_CHARS = 300
Row = TypeVar("Row")


def queue(store: PostgresMonitoringStore, params: MonitoringParams, *, now: datetime, limit: int) -> dict[str, Any]:
    """Counts, first ``limit`` of each list; ``waiting`` are eligible without a lease. Raises StoreUnavailable."""
    figures = store.figures(minimum_messages=params.minimum_messages)
    counts = store.queue_counts()
    leftovers = store.leftovers()
    return {
        "waiting": max(figures.pending - counts.active, 0),
        "active": counts.active + counts.active_others,
        "failed": figures.failed,
        "profiles": {"put_off": counts.profiles_put_off, "failed": counts.profiles_failed},
        "partitions": sum(one.partitions for one in leftovers),
        "backfills": counts.backfills,
        "batches": {"open": counts.batches, "questions": counts.batch_questions},
        "stopped": [stopped_json(one) for one in store.stopped_lanes(limit=params.unanswered_limit)],
        "lists": {
            state: queue_page(store, params, state, now=now, limit=limit, cursor=None).to_json() for state in STATES
        },
    }


def queue_page(
    store: PostgresMonitoringStore,
    params: MonitoringParams,
    state: QueueState,
    *,
    now: datetime,
    limit: int,
    cursor: str | None,
) -> Page:
    """One page of one list. Raises BadCursor, StoreUnavailable."""
    minimum = params.minimum_messages
    match state:
        case "waiting":
            found = store.waiting(
                after=_waiting_position(cursor),
                limit=limit + 1,
                minimum_messages=minimum,
                gap_seconds=params.gap_seconds,
            )
            due_after = timedelta(seconds=params.due_after_seconds)
            return page_of(found, limit, lambda row: _waiting_json(row, now, due_after), key=_waiting_key)
        case "active":
            leases = store.active(after=name_position(cursor), limit=limit + 1)
            return page_of(leases, limit, _active_json, key=lambda row: (row.kind, row.subject_id))
        case "failed":
            failed = store.failed(after=time_position(cursor), limit=limit + 1, minimum_messages=minimum)
            return page_of(failed, limit, _failed_json, key=lambda row: (row.failed_at, row.interaction_id))
        case "partitions":
            partitions = store.partitions(after=text_position(cursor), limit=limit + 1)
            return page_of(partitions, limit, _partition_json, key=lambda row: (row.asset, row.key))
        case "backfills":
            backfills = store.backfills(after=time_position(cursor), limit=limit + 1)
            return page_of(backfills, limit, _backfill_json, key=lambda row: (row.requested_at, row.id))


def _waiting_key(row: QueuedInteraction) -> tuple[str, UUID]:
    return f"{row.day.isoformat()} {row.ended_at.isoformat()}", row.interaction_id


def _waiting_position(cursor: str | None) -> tuple[date, datetime, UUID] | None:
    found = name_position(cursor)
    if found is None:
        return None
    day, _, moment = found[0].partition(" ")
    try:
        ended_at = datetime.fromisoformat(moment)
        return date.fromisoformat(day), ended_at.astimezone(UTC), found[1]
    except (ValueError, OverflowError):
        raise BadCursor from None


def _reason(row: QueuedInteraction, now: datetime, due_at: datetime) -> str:
    if row.retry_at is not None:
        return _line(f"put off: {row.last_error}")
    if due_at > now:
        return "too young"
    if row.is_chat_touched:
        return "its chat is looked at again first"
    if row.last_error is not None:
        return _line(f"due again after: {row.last_error}")
    return "due" if row.summary_status is None else "due: its summary is out of date"


def _waiting_json(row: QueuedInteraction, now: datetime, due_after: timedelta) -> dict[str, Any]:
    due_at = row.ended_at + due_after
    return {
        "interaction_id": str(row.interaction_id),
        "chat": chat_key(row.source, row.chat_external_id),
        "started_at": iso(row.started_at),
        "ended_at": iso(row.ended_at),
        "messages": row.messages,
        "due_at": iso(due_at),
        "retry_at": None if row.retry_at is None else iso(row.retry_at),
        "attempts": row.attempts,
        "reason": _reason(row, now, due_at),
    }


def _active_json(row: ActiveLease) -> dict[str, Any]:
    is_known = row.source is not None and row.chat_external_id is not None
    return {
        "kind": row.kind,
        "subject_id": str(row.subject_id),
        "interaction_id": str(row.subject_id) if row.kind == "summary" else None,
        "chat": chat_key(row.source or "", row.chat_external_id or "") if is_known else None,
        "started_at": None if row.started_at is None else iso(row.started_at),
        "ended_at": None if row.ended_at is None else iso(row.ended_at),
        "messages": row.messages,
        "attempts": row.attempts,
        "holder": row.holder,
        "lease_expires_at": iso(row.expires_at),
    }


def _failed_json(row: FailedInteraction) -> dict[str, Any]:
    return {
        "interaction_id": str(row.interaction_id),
        "chat": chat_key(row.source, row.chat_external_id),
        "started_at": iso(row.started_at),
        "ended_at": iso(row.ended_at),
        "messages": row.messages,
        "attempts": row.attempts,
        "failed_at": iso(row.failed_at),
        "reason": _line(row.last_error),
    }


def _partition_json(row: PendingPartition) -> dict[str, Any]:
    return {
        "asset": row.asset,
        "partition": row.key,
        "pending": row.pending,
        "attempts": row.attempts,
        "due_at": None if row.due_at is None else iso(row.due_at),
        "resume_at": None if row.resume_at is None else iso(row.resume_at),
        "attempted_at": iso(row.attempted_at),
    }


def _backfill_json(row: OpenBackfill) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "asset": row.asset,
        "state": row.state,
        "request": dict(row.request),
        "forecast": dict(row.forecast),
        "requested_by": row.requested_by,
        "requested_at": iso(row.requested_at),
        "left": row.left,
    }


def _line(text: str) -> str:
    return one_line(text)[:MOST_REASON_CHARS]
