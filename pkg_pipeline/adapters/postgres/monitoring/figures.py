"""Statements of figures and queues (P30, P31), compiled to ``compiled.json`` by ``make docs``.

Figures come from daily statistics; the newest ``most_days`` days changed since are counted while reading, others stand
as last counted.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from pkg_pipeline.adapters.postgres.schema import batches, items, sessions, summaries, work
from pkg_pipeline.adapters.postgres.schema.parts import pick

p = sa.bindparam

backfills = summaries.BACKFILLS.alias("b")
budgets = work.BUDGETS.alias("b")
counted = work.DAY_STATISTICS
leases = work.LEASES
held_leases = work.HELD_LEASES.alias("l")
ledger = work.LEDGER_STATISTICS
partitions = work.PARTITION_STATES

NOW = sa.func.clock_timestamp()
ONE = sa.literal_column("1")
SUMS = "interactions eligible summarized pending failed summaries key_points decisions"
FIGURES = f"{SUMS} oldest_pending_at generation_seconds compression_ratios cost_usd versions"
CALLS = "calls input_tokens output_tokens cache_read_tokens cache_write_tokens"
SORT = "lane task model outcome"
SPENT = f"day {SORT} {CALLS} cost_usd duration_seconds"


def total(column: sa.ColumnElement[Any], kind: Any = sa.BigInteger) -> sa.ColumnElement[Any]:
    return sa.cast(sa.func.coalesce(sa.func.sum(column), 0), kind).label(column.name)


def local_day(moment: Any) -> sa.ColumnElement[Any]:
    return sa.cast(sa.func.timezone(p("timezone"), moment), sa.Date)


def changed_days() -> tuple[Any, Any]:
    """Days changed since they were counted, and the newest of them, which are counted now."""
    marks = work.DAY_STATISTICS_MARKS
    others = sa.select(counted.c.day).where(counted.c.minimum_messages != p("minimum"))
    changed = sa.union(sa.select(marks.c.day), others).cte("changed").prefix_with("MATERIALIZED")
    newest = sa.select(changed.c.day).order_by(changed.c.day.desc()).limit(p("most_days"))
    return changed, newest.cte("marked").prefix_with("MATERIALIZED")


def counted_now(marked: Any, names: str, *where: sa.ColumnElement[bool]) -> Any:
    days = sa.select(sa.func.array_agg(marked.c.day)).where(*where).scalar_subquery()
    return sa.func.count_days(days, p("minimum")).table_valued(*names.split(), name="now")


def unmarked(marked: Any) -> sa.ColumnElement[bool]:
    return ~sa.exists(sa.select(ONE).where(marked.c.day == counted.c.day).correlate(counted))


def _figures() -> sa.ClauseElement:
    """Sums over all days: stored ones and those counted now."""
    changed, marked = changed_days()
    now = counted_now(marked, FIGURES)
    stand = sa.select(*pick(counted, FIGURES)).where(unmarked(marked))
    days = sa.union_all(stand, sa.select(*pick(now, FIGURES))).cte("days").prefix_with("MATERIALIZED")
    version = sa.func.jsonb_each_text(days.c.versions).table_valued("key", "value", name="v").lateral()
    number = sa.func.sum(sa.cast(version.c.value, sa.BigInteger)).label("number")
    versions = (
        sa.select(version.c.key.label("version"), number)
        .select_from(days.join(version, sa.true()))
        .group_by(version.c.key)
        .subquery("made")
    )
    months = summaries.ARCHIVE_MONTHS
    marks = sa.select(sa.func.count()).select_from(marked).scalar_subquery()
    return sa.select(
        *map(total, pick(days, SUMS)),
        sa.func.min(days.c.oldest_pending_at).label("oldest_pending_at"),
        *(total(one, sa.Double) for one in pick(days, "generation_seconds compression_ratios cost_usd")),
        sa.select(total(months.c.message_count)).where(months.c.state == "kept").label("archived_messages"),
        marks.label("days_counted_now"),
        (sa.select(sa.func.count()).select_from(changed).scalar_subquery() - marks).label("days_behind"),
        sa.select(
            sa.func.coalesce(sa.func.jsonb_object_agg(versions.c.version, versions.c.number), sa.literal_column("'{}'"))
        ).label("versions"),
    )


def _items() -> sa.ClauseElement:
    """Action items that are not settled, by their status at this moment (B16)."""
    one = items.ITEMS.alias("i")
    status = sa.func.item_status(one.c.kind, one.c.status, one.c.due_date, one.c.last_at, p("now"), p("today"))
    standing = [one.c.kind == "action_item", one.c.status.in_(["open", "perhaps_done"]), sa.not_(one.c.is_withheld)]
    found = sa.select(status.label("status"), one.c.due_date).where(*standing).subquery("found")

    def number(*where: sa.ColumnElement[bool]) -> sa.ColumnElement[Any]:
        return sa.cast(sa.func.count().filter(*where), sa.Integer)

    is_open = found.c.status == "open"
    return sa.select(
        number(is_open).label("open"),
        number(is_open, found.c.due_date < p("today")).label("overdue"),
        number(found.c.status == "perhaps_done").label("perhaps_done"),
        number(found.c.status == "lapsed").label("lapsed"),
    )


def _served() -> sa.ClauseElement:
    """Contexts and windows of the last days, with their tokens and those without compression (T3)."""
    parts: list[sa.Select[Any]] = []
    of_kind = (("context", work.CONTEXT_RECEIPTS, "tokens"), ("window", sessions.SERVED_WINDOWS, "prompt_tokens"))
    for kind, table, tokens in of_kind:
        row = table.alias(kind[0])
        whole = sa.func.greatest(row.c.hypothetical_tokens, row.c[tokens])
        sums = (sa.cast(sa.func.coalesce(sa.func.sum(one), 0), sa.BigInteger) for one in (row.c[tokens], whole))
        columns = zip(("tokens", "hypothetical_tokens"), sums, strict=True)
        parts.append(
            sa.select(
                sa.literal_column(f"'{kind}'").label("kind"),
                sa.func.count().label("served"),
                *(one.label(name) for name, one in columns),
            ).where(row.c.served_at >= sa.func.now() - sa.func.make_interval(0, 0, 0, p("days")))
        )
    return sa.union_all(*parts)


def _ledger() -> sa.ClauseElement:
    """Totals per kind of call, with the cost of today and this month by the database's clock."""
    clock = sa.select(local_day(NOW).label("today")).cte("clock").prefix_with("MATERIALIZED")
    marks = work.LEDGER_STATISTICS_MARKS
    end = marks.c.hour + sa.literal_column("interval '1 hour - 1 microsecond'")
    marked = sa.union(sa.select(local_day(marks.c.hour).label("day")), sa.select(local_day(end))).cte("marked")
    marked = marked.prefix_with("MATERIALIZED")
    now = sa.func.count_ledger(sa.select(sa.func.array_agg(marked.c.day)).scalar_subquery(), p("timezone"))
    now = now.table_valued(*SPENT.split(), name="now")
    stand = sa.select(*pick(ledger, SPENT)).where(
        ~sa.exists(sa.select(ONE).where(marked.c.day == ledger.c.day).correlate(ledger))
    )
    days = sa.union_all(stand, sa.select(*pick(now, SPENT))).cte("days")
    month = sa.func.date_trunc("month", clock.c.today)

    def of(*when: sa.ColumnElement[bool]) -> sa.ColumnElement[Any]:
        return sa.cast(sa.func.coalesce(sa.func.sum(days.c.cost_usd).filter(*when), 0), sa.Double)

    sort = pick(days, SORT)
    return (
        sa.select(
            *sort,
            *map(total, pick(days, CALLS)),
            sa.func.sum(days.c.duration_seconds).label("duration_seconds"),
            total(days.c.cost_usd, sa.Double),
            of(days.c.day == clock.c.today).label("cost_today_usd"),
            of(days.c.day >= month, days.c.day <= clock.c.today).label("cost_month_usd"),
        )
        .select_from(days.join(clock, sa.true()))
        .group_by(*sort)
        .order_by(*sort)
    )


def _budgets() -> sa.ClauseElement:
    """Use per lane and task today and this week (Sunday to Saturday, reservations included), and when both end; one row
    without a lane if nothing was used.
    """
    clock = sa.select(local_day(NOW).label("today")).cte("clock").prefix_with("MATERIALIZED")
    sunday = clock.c.today - sa.cast(sa.extract("dow", clock.c.today), sa.Integer)
    period = sa.select(clock.c.today, sunday.label("sunday")).cte("period")
    today = budgets.c.day == period.c.today

    def ends(day: Any, after: int) -> sa.ColumnElement[Any]:
        return sa.func.timezone(p("timezone"), sa.cast(day + sa.literal_column(str(after)), sa.DateTime))

    week = sa.and_(budgets.c.day >= period.c.sunday, budgets.c.day < period.c.sunday + sa.literal_column("7"))
    usd = sa.func.sum(budgets.c.reserved_usd + budgets.c.spent_usd).filter(today)
    return (
        sa.select(
            budgets.c.lane,
            budgets.c.task,
            sa.cast(sa.func.coalesce(sa.func.sum(budgets.c.calls).filter(today), 0), sa.Integer).label("calls_today"),
            sa.cast(sa.func.coalesce(sa.func.sum(budgets.c.calls), 0), sa.Integer).label("calls_week"),
            sa.cast(sa.func.coalesce(usd, 0), sa.Double).label("usd_today"),
            ends(period.c.today, 1).label("day_ends_at"),
            ends(period.c.sunday, 7).label("week_ends_at"),
        )
        .select_from(period.outerjoin(budgets, week))
        .group_by(budgets.c.lane, budgets.c.task, period.c.today, period.c.sunday)
        .order_by(budgets.c.lane, budgets.c.task)
    )


def _stopped_lanes() -> sa.ClauseElement:
    """Lanes stopped after failures in a row, and until when."""
    calls = sa.table("unanswered_calls", *map(sa.column, ("lane", "calls", "last_at")))
    until = calls.c.last_at + sa.text("make_interval(secs => :rest_seconds)")
    stopped = sa.select(calls.c.lane, calls.c.calls, until.label("until")).where(
        calls.c.calls >= p("limit"), until > NOW
    )
    return stopped.order_by(calls.c.lane)


def _leftovers() -> sa.ClauseElement:
    """Unfinished rows by asset: partitions and rows, how many are postponed and until when (database clock), and when
    the first too young one becomes due (memory's clock).
    """
    later = partitions.c.resume_at > NOW
    put_off = sa.func.coalesce(sa.func.sum(partitions.c.pending).filter(later), 0)
    return (
        sa.select(
            partitions.c.asset,
            sa.cast(sa.func.count(), sa.Integer).label("partitions"),
            sa.cast(sa.func.sum(partitions.c.pending), sa.BigInteger).label("pending"),
            sa.cast(put_off, sa.BigInteger).label("put_off"),
            sa.func.min(partitions.c.resume_at).filter(later).label("resume_at"),
            sa.func.min(partitions.c.due_at).label("due_at"),
        )
        .where(partitions.c.pending > 0)
        .group_by(partitions.c.asset)
        .order_by(partitions.c.asset)
    )


def _counts() -> sa.ClauseElement:
    """Leased, given up and backfill rows; what waits is in the figures."""

    def number(of: Any, *where: sa.ColumnElement[bool]) -> sa.ColumnElement[Any]:
        return sa.select(sa.func.count()).select_from(of).where(*where).scalar_subquery()

    profiles = summaries.PROFILE_ATTEMPTS
    open_batches, questions = batches.LLM_BATCHES.alias("t"), batches.LLM_BATCH_ITEMS.alias("q")
    is_open, is_asked = open_batches.c.state.not_in(["done", "dropped"]), questions.c.worked_at.is_(None)
    return sa.select(
        number(held_leases, held_leases.c.kind == "summary").label("active"),
        number(held_leases, held_leases.c.kind != "summary").label("active_others"),
        number(profiles, profiles.c.state == "waiting").label("profiles_put_off"),
        number(profiles, profiles.c.state == "failed").label("profiles_failed"),
        number(backfills, backfills.c.state.in_(["requested", "running"])).label("backfills"),
        number(open_batches, is_open).label("batches"),
        number(questions.join(open_batches, open_batches.c.id == questions.c.batch_id), is_open, is_asked).label(
            "batch_questions"
        ),
    )


STATEMENTS: dict[str, sa.ClauseElement] = {
    "figures": _figures(),
    "items": _items(),
    "served": _served(),
    "ledger": _ledger(),
    "budgets": _budgets(),
    "stopped_lanes": _stopped_lanes(),
    "leftovers": _leftovers(),
    "counts": _counts(),
}
