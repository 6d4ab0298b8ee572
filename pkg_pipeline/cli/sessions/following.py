"""``pkg-pipeline sessions``: live sessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from pkg_pipeline.cli.reading import Cursor, Limit, say_if_empty
from pkg_pipeline.cli.sessions.words import minute
from pkg_pipeline.cli.terminal import JsonFlag, counted, memory_in_force, plain, say_if_more, show, table
from pkg_pipeline.stages.reads.paging import DEFAULT_ROWS


def sessions(limit: Limit = DEFAULT_ROWS, cursor: Cursor = None, json: JsonFlag = False) -> None:
    """Live sessions, latest activity first: what is folded of each and when it is looked at next."""
    with memory_in_force() as memory:
        page = memory.sessions.list(limit=limit, cursor=cursor).to_json()
        say_if_empty(memory, found=page["items"])
    show(page, as_json=json, human=lambda screen: _print_sessions(screen, page))


def _print_sessions(screen: Console, page: Mapping[str, Any]) -> None:
    rows = table("session", "policy", "messages", "tokens", "folded", "last message", "next look", numbers=slice(2, 5))
    for one in page["items"]:
        name = f"{one['session']} ({one['label']})" if one["label"] else one["session"]
        rows.add_row(
            plain(name),
            f"{one['policy']}, {one['strategy']}",
            *(f"{one[count]:,}" for count in ("messages", "tokens", "folded")),
            minute(one["last_message_at"]),
            minute(one["next_due_at"]),
        )
    if page["items"]:
        screen.print(rows)
    for one in page["items"]:
        if one["last_error"]:
            screen.print(f"[yellow]{plain(one['session'])}[/yellow] the last fold failed: {plain(one['last_error'])}")
    screen.print(counted(len(page["items"]), "session"))
    say_if_more(screen, page["next"])
