"""``pkg-pipeline stats`` and ``pkg-pipeline queue`` (P30–P32)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, cast

import typer
from rich.console import Console

from pkg_pipeline.cli.reading import say_if_empty
from pkg_pipeline.cli.terminal import JsonFlag, counted, memory_in_force, one_of, plain, settings_in_force, show, table
from pkg_pipeline.stages.monitoring import queue_report as queues
from pkg_pipeline.stages.monitoring.stage import Statistics, statistics
from pkg_pipeline.stages.reads.paging import DEFAULT_ROWS, MOST_ROWS

FIRST_ROWS = 5
"""Of each list, if no single list is asked for."""

COLUMNS = {
    "waiting": ("interaction_id", "chat", "ended_at", "due_at", "attempts", "reason"),
    "active": ("kind", "subject_id", "chat", "holder", "lease_expires_at"),
    "failed": ("interaction_id", "chat", "ended_at", "attempts", "failed_at", "reason"),
    "partitions": ("asset", "partition", "pending", "attempts", "due_at", "resume_at"),
    "backfills": ("id", "asset", "state", "left", "requested_by", "requested_at"),
}
TITLES = {
    "waiting": "waiting, oldest first",
    "active": "being worked on",
    "failed": "given up; the last summary stays served",
    "partitions": "partitions with something left",
    "backfills": "open backfills",
}


def stats(json: JsonFlag = False) -> None:
    """Figures of the memory: coverage, backlog, time, compression, cost, budget."""
    settings = settings_in_force()
    with memory_in_force(settings) as memory:
        found = statistics(memory.monitoring.store, memory.monitoring.params, now=memory.clock.now())
        if found.memory.days_behind:  # after an upgrade or a killed run
            memory.monitoring.recount()
            found = statistics(memory.monitoring.store, memory.monitoring.params, now=memory.clock.now())
        say_if_empty(memory, found=found.to_json()["total_interactions"])
    show(found.to_json(), as_json=json, human=lambda screen: _print_stats(screen, found))


def queue(
    state: Annotated[
        str | None, typer.Option(help=f"Only one list, by page: {', '.join(queues.STATES)}.", show_default=False)
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, max=MOST_ROWS, help="Rows a page.", show_default=False)] = None,
    cursor: Annotated[str | None, typer.Option(help="Where the page before ended.", show_default=False)] = None,
    json: JsonFlag = False,
) -> None:
    """What waits for a summary, what is worked on, what was given up, and open backfills."""
    one_of(state, queues.STATES, "--state")
    if cursor is not None and state is None:
        raise typer.BadParameter("a cursor goes with the --state whose list it is of", param_hint="--cursor")
    with memory_in_force() as memory:
        store, params, now = memory.monitoring.store, memory.monitoring.params, memory.clock.now()
        if state is None:
            whole = queues.queue(store, params, now=now, limit=limit or FIRST_ROWS)
            say_if_empty(memory, found=whole["waiting"] or whole["failed"])
            show(whole, as_json=json, human=lambda screen: _print_queue(screen, whole))
            return
        chosen = cast(queues.QueueState, state)
        page = queues.queue_page(store, params, chosen, now=now, limit=limit or DEFAULT_ROWS, cursor=cursor)
    shape = page.to_json()
    show(shape, as_json=json, human=lambda screen: _print_list(screen, chosen, shape))


def _print_stats(screen: Console, found: Statistics) -> None:
    shape = found.to_json()
    rows = table()
    coverage = "nothing is eligible yet" if found.coverage is None else f"{found.coverage:.1%}"
    cost = shape["avg_cost_per_summary"]
    for name, said in (
        ("interactions", f"{shape['total_interactions']:,}, {shape['eligible_interactions']:,} of them eligible"),
        ("summarised", f"{shape['summarized_interactions']:,} ({coverage})"),
        ("pending", f"{shape['pending_in_queue']:,}{_since(shape['oldest_unsummarized'])}"),
        ("failed", f"{shape['failed_interactions']:,}"),
        ("stale", f"{shape['stale_summaries']:,} summaries of another prompt, model or schema"),
        ("time a summary", _told(shape["avg_summarization_time_ms"], "{:,.0f} ms")),
        ("compression", _told(shape["avg_compression_ratio"], "{:.1f} to 1")),
        ("a summary has", _told(shape["avg_key_points_per_summary"], "{:.1f} key points, ") + _decisions(shape)),
        ("open action items", _open_items(shape)),
        ("archived messages", f"{shape['archived_messages']:,}"),
        ("cost", f"{shape['total_cost_today']:.2f} USD today, {shape['total_cost_month']:.2f} this month"),
        ("cost a summary", "-" if cost is None else f"{cost:.4f} USD"),
        *((f"{kind} served", _served(shape["served"], kind)) for kind in ("contexts", "windows")),
    ):
        rows.add_row(name, said)
    screen.print(rows)
    for lane in shape["budget"]:
        cap = "no cap" if lane["usd_cap"] is None else f"of {lane['usd_cap']:.2f} USD"
        calls = "".join(f", {one['calls']} {_of(one['calls_cap'])}{one['task']}" for one in lane["tasks"])
        used_up = f"; used up until {_minute(lane['resets_at'])}" if lane["is_used_up"] else ""
        screen.print(f"{lane['lane']} lane: {lane['usd_taken']:.4f} USD {cap}{calls}{used_up}", markup=False)
        if lane["stop_reason"]:
            screen.print(f"{lane['lane']} lane: stopped, {lane['stop_reason']}", markup=False)
    if found.put_off:
        until = _minute(shape["put_off"]["until"])
        screen.print(f"put off: {counted(found.put_off, 'row')}, the first until {until}", markup=False)


def _served(shape: dict[str, Any], kind: str) -> str:
    one = shape[kind]
    if not one["served"]:
        return f"none in {shape['days']} days"
    saved = f"{one['tokens']:,} tokens for {one['hypothetical_tokens']:,} ({one['saved_share']:.0%} saved)"
    return f"{one['served']:,} in {shape['days']} days, {saved}"


def _print_queue(screen: Console, whole: dict[str, Any]) -> None:
    profiles = whole["profiles"]
    screen.print(f"{whole['waiting']:,} waiting, {whole['active']:,} active, {whole['failed']:,} failed", markup=False)
    if profiles["put_off"] or profiles["failed"]:
        screen.print(f"profiles: {profiles['put_off']:,} put off, {profiles['failed']:,} failed", markup=False)
    batches = whole["batches"]
    if batches["open"]:
        flying = f"{counted(batches['questions'], 'question')} in {batches['open']:,}"
        screen.print(f"message batches: {flying}, answered within a day", markup=False)
    for stopped in whole["stopped"]:
        screen.print(f"stopped until {_minute(stopped['until'])}: {stopped['reason']}", markup=False)
    for state, shape in whole["lists"].items():
        if shape["items"]:
            screen.print(f"\n{TITLES[state]}")
            _print_list(screen, state, shape, asks=f"--state {state}")


def _print_list(screen: Console, state: str, shape: dict[str, Any], *, asks: str | None = None) -> None:
    columns = COLUMNS[state]
    rows = table(*columns)
    for item in shape["items"]:
        rows.add_row(*(plain(_cell(name, item[name])) for name in columns))
    screen.print(rows)
    if shape["next"] is not None:
        screen.print(f"there is more: {asks or '--cursor ' + shape['next']}", markup=False)


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    return _minute(value) if name.endswith("_at") else str(value)


def _minute(moment: str) -> str:
    return f"{datetime.fromisoformat(moment):%Y-%m-%d %H:%M} UTC"


def _since(moment: str | None) -> str:
    return "" if moment is None else f", the oldest ended {_minute(moment)}"


def _open_items(shape: dict[str, Any]) -> str:
    overdue = f"{shape['overdue_action_items']:,} of them overdue"
    apart = f"{shape['perhaps_done_action_items']:,} perhaps done, {shape['lapsed_action_items']:,} lapsed"
    return f"{shape['total_open_action_items']:,}, {overdue}; besides {apart}"


def _decisions(shape: dict[str, Any]) -> str:
    return _told(shape["avg_decisions_per_summary"], "{:.1f} decisions") if shape["summarized_interactions"] else ""


def _told(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)


def _of(cap: int | None) -> str:
    return "" if cap is None else f"of {cap} "
