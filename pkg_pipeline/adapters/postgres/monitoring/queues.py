"""Statements of the queues: waiting, active, failed (P31). Compiled by ``make docs``."""

from __future__ import annotations

import sqlalchemy as sa

from pkg_pipeline.adapters.postgres.monitoring.figures import (
    FIGURES,
    NOW,
    ONE,
    backfills,
    changed_days,
    counted,
    counted_now,
    held_leases,
    leases,
    p,
    partitions,
    unmarked,
)
from pkg_pipeline.adapters.postgres.schema import conversations, summaries, work
from pkg_pipeline.adapters.postgres.schema.parts import pick

attempts = summaries.SUMMARY_ATTEMPTS.alias("a")
chats = conversations.CHATS.alias("c")
interactions = conversations.INTERACTIONS.alias("i")
made = summaries.LIVE_SUMMARIES.alias("s")
eligible = conversations.ELIGIBLE_CHATS.alias("c")

WAITS = sa.func.is_unsummarised(made.c.status, made.c.input_hash, interactions.c.input_hash)
IS_LIVE = made.c.interaction_id == interactions.c.id
LEAST = sa.select(sa.func.least_summarised()).scalar_subquery()
IS_WHOLE = sa.and_(
    interactions.c.status == "completed",
    interactions.c.message_count >= p("minimum"),
    interactions.c.token_count >= LEAST,
)
IS_TRIED = sa.and_(attempts.c.interaction_id == interactions.c.id, attempts.c.input_hash == interactions.c.input_hash)
TRIED = sa.func.coalesce(attempts.c.attempts, 0).label("attempts")
WHEN = pick(interactions, "started_at ended_at message_count=messages")
CHAT_KEY = "source external_id=chat_external_id"


def _waiting() -> sa.ClauseElement:
    """Waiting interactions by day and end; the days of a page are chosen first by their pending counts."""
    _, marked = changed_days()
    now = counted_now(marked, f"day {FIGURES}", marked.c.day >= p("after_day"))
    stand = [counted.c.pending > 0, counted.c.day >= p("after_day"), unmarked(marked)]
    days = sa.union_all(
        sa.select(counted.c.day, counted.c.pending).where(*stand),
        sa.select(now.c.day, now.c.pending).where(now.c.pending > 0),
    ).cte("days")
    # the first day may be exhausted by the previous page; leased ones count as pending too
    left = sa.case((days.c.day > p("after_day"), days.c.pending), else_=0)
    filled = sa.select(
        days.c.day, sa.func.sum(left).over(order_by=days.c.day, rows=(None, -1)).label("before")
    ).subquery("d")
    under_way = sa.select(sa.func.count()).select_from(leases).where(leases.c.kind == "summary").scalar_subquery()
    chosen = sa.select(filled.c.day).where(sa.func.coalesce(filled.c.before, 0) < p("limit") + under_way)
    chosen = chosen.cte("chosen").prefix_with("MATERIALIZED")
    marks = sa.text("is_near(d, i.chat_id, i.started_at, i.ended_at, :gap)")
    touched = sa.exists(
        sa.select(ONE).select_from(work.DIRTY_PARTITIONS.alias("d")).where(marks).correlate(interactions)
    )
    held = sa.exists(
        sa.select(ONE)
        .where(held_leases.c.kind == "summary", held_leases.c.subject_id == interactions.c.id)
        .correlate(interactions)
    )
    place = [interactions.c.day, interactions.c.ended_at, interactions.c.id]
    return (
        sa.select(
            *pick(interactions, "id=interaction_id day"),
            *pick(eligible, CHAT_KEY),
            *WHEN,
            TRIED,
            sa.case((attempts.c.retry_at > NOW, attempts.c.retry_at)).label("retry_at"),
            attempts.c.last_error,
            touched.label("is_chat_touched"),
            made.c.status.label("summary_status"),
        )
        .join_from(interactions, eligible, eligible.c.id == interactions.c.chat_id)
        .outerjoin(made, IS_LIVE)
        .outerjoin(attempts, IS_TRIED)
        .where(
            interactions.c.day == sa.func.any(sa.func.array(sa.select(chosen.c.day).scalar_subquery())), IS_WHOLE, WAITS
        )
        .where(attempts.c.state.is_distinct_from("failed"), sa.not_(held))
        .where(sa.tuple_(*place) > sa.tuple_(p("after_day"), p("after_at"), p("after_id")))
        .order_by(*place)
        .limit(p("limit"))
    )


def _active() -> sa.ClauseElement:
    """Leases in force, by kind and subject; the subject of a profile is no interaction."""
    place = [held_leases.c.kind, held_leases.c.subject_id]
    return (
        sa.select(
            *pick(held_leases, "kind subject_id holder expires_at"),
            *pick(chats, CHAT_KEY),
            *WHEN,
            TRIED,
        )
        .select_from(held_leases)
        .outerjoin(
            interactions, sa.and_(held_leases.c.kind == "summary", interactions.c.id == held_leases.c.subject_id)
        )
        .outerjoin(chats, chats.c.id == interactions.c.chat_id)
        .outerjoin(attempts, IS_TRIED)
        .where(sa.tuple_(*place) > sa.tuple_(p("after_kind"), p("after_id")))
        .order_by(*place)
        .limit(p("limit"))
    )


def _failed() -> sa.ClauseElement:
    """Given up, in order of time; attempts at outdated inputs are left out."""
    place = [attempts.c.updated_at, attempts.c.interaction_id]
    return (
        sa.select(
            *pick(interactions, "id=interaction_id day"),
            *pick(eligible, CHAT_KEY),
            *WHEN,
            *pick(attempts, "attempts updated_at=failed_at last_error"),
        )
        .join_from(
            attempts,
            interactions,
            IS_TRIED,
        )
        .join(eligible, eligible.c.id == interactions.c.chat_id)
        .outerjoin(made, IS_LIVE)
        .where(
            attempts.c.state == "failed", sa.tuple_(*place) > sa.tuple_(p("after_at"), p("after_id")), IS_WHOLE, WAITS
        )
        .order_by(*place)
        .limit(p("limit"))
    )


def _partitions() -> sa.ClauseElement:
    place = [partitions.c.asset, partitions.c.partition_key]
    return (
        sa.select(
            *pick(partitions, "asset partition_key=key pending attempts due_at attempted_at"),
            sa.case((partitions.c.resume_at > NOW, partitions.c.resume_at)).label("resume_at"),
        )
        .where(partitions.c.pending > 0, sa.tuple_(*place) > sa.tuple_(p("after_asset"), p("after_key")))
        .order_by(*place)
        .limit(p("limit"))
    )


def _backfills() -> sa.ClauseElement:
    """Open ones, oldest first, with what is left of each."""
    left = summaries.BACKFILL_INTERACTIONS
    number = (
        sa.select(sa.func.count())
        .select_from(left)
        .where(left.c.backfill_id == backfills.c.id, left.c.done_at.is_(None))
    )
    place = [backfills.c.requested_at, backfills.c.id]
    return (
        sa.select(
            *pick(backfills, "id asset state request forecast requested_by requested_at"),
            number.correlate(backfills).label("left"),
        )
        .where(backfills.c.state.in_(["requested", "running"]))
        .where(sa.tuple_(*place) > sa.tuple_(p("after_at"), p("after_id")))
        .order_by(*place)
        .limit(p("limit"))
    )


STATEMENTS: dict[str, sa.ClauseElement] = {
    "waiting": _waiting(),
    "active": _active(),
    "failed": _failed(),
    "partitions": _partitions(),
    "backfills": _backfills(),
}
