"""``pkg-pipeline sessions``: chats that are followed while they run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from pkg_pipeline.cli.reading import Cursor, Limit, say_if_empty
from pkg_pipeline.cli.sessions.words import minute
from pkg_pipeline.cli.terminal import JsonFlag, counted, plain, settings_in_force, show
from pkg_pipeline.stages.reads.paging import DEFAULT_ROWS, BadCursor
from pkg_pipeline.wiring import open_memory


def sessions(limit: Limit = DEFAULT_ROWS, cursor: Cursor = None, json: JsonFlag = False) -> None:
    """Live sessions, latest activity first: what is folded of each and when it is looked at next."""
    with open_memory(settings_in_force()) as memory:
        try:
            page = memory.sessions.list(limit=limit, cursor=cursor).to_json()
        except BadCursor as error:
            raise typer.BadParameter(str(error), param_hint="--cursor") from error
        say_if_empty(memory, found=page["items"])
    show(page, as_json=json, human=lambda screen: _print_sessions(screen, page))


def _print_sessions(screen: Console, page: Mapping[str, Any]) -> None:
    table = Table(
        "session", "policy", "messages", "tokens", "folded", "last message", "next look", box=None, padding=(0, 2, 0, 0)
    )
    for column in table.columns[2:5]:
        column.justify = "right"
    for one in page["items"]:
        name = f"{one['session']} ({one['label']})" if one["label"] else one["session"]
        table.add_row(
            plain(name),
            f"{one['policy']}, {one['strategy']}",
            *(f"{one[count]:,}" for count in ("messages", "tokens", "folded")),
            minute(one["last_message_at"]),
            minute(one["next_due_at"]),
        )
    if page["items"]:
        screen.print(table)
    for one in page["items"]:
        if one["last_error"]:
            screen.print(f"[yellow]{plain(one['session'])}[/yellow] the last fold failed: {plain(one['last_error'])}")
    screen.print(counted(len(page["items"]), "session"))
    if page["next"] is not None:
        screen.print(f"there is more: --cursor {page['next']}", markup=False)
