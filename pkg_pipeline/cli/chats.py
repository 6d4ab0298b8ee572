"""``pkg-pipeline chats``: which chats there are, and which of them count (P34)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, cast, get_args

import typer

from pkg_pipeline.cli.reading import Cursor, Limit, found_chat, say_if_empty
from pkg_pipeline.cli.terminal import (
    CommandFailed,
    JsonFlag,
    counted,
    memory_in_force,
    one_of,
    plain,
    say_if_more,
    show,
    table,
)
from pkg_pipeline.memory.hashing import chat_id, chat_key
from pkg_pipeline.memory.records import ChatCategory
from pkg_pipeline.stages.reads.chats import list_chats
from pkg_pipeline.stages.reads.paging import DEFAULT_ROWS

if TYPE_CHECKING:
    from rich.console import Console

chats = typer.Typer(
    help="Chats and their categories: list, set.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

ORDINARY: Final = "none"
CATEGORIES: Final = get_args(ChatCategory)
SAID_BY: Final = {"user": "you", "export": "the export", "rule": "a rule"}


@chats.command("list")
def list_(
    category: Annotated[
        str | None, typer.Option(help=f"Only those of {', '.join(CATEGORIES)}.", show_default=False)
    ] = None,
    limit: Limit = DEFAULT_ROWS,
    cursor: Cursor = None,
    json: JsonFlag = False,
) -> None:
    """Chats with their keys. Mass ones, and channels of which nothing is said, are neither summarised nor searched."""
    one_of(category, CATEGORIES, "--category")
    with memory_in_force() as memory:
        page = list_chats(memory.reads, category, limit=limit, cursor=cursor)
        say_if_empty(memory, found=page.items)
    show(page.to_json(), as_json=json, human=lambda screen: _print(screen, page.items, page.next))


@chats.command("set")
def set_(
    chat: Annotated[str, typer.Argument(help="source:external-id of the chat, as lists show it.")],
    category: Annotated[
        str, typer.Option(help=f"{', '.join(CATEGORIES)}; {ORDINARY} makes it an ordinary chat.", show_default=False)
    ],
    json: JsonFlag = False,
) -> None:
    """Say whether a chat counts. Neither exports nor rules change it back; the next run follows."""
    one_of(category, (*CATEGORIES, ORDINARY), "--category")
    with memory_in_force() as memory:
        source, external_id = found_chat(memory, chat, option="CHAT", must_exist=True)
        chosen = None if category == ORDINARY else cast(ChatCategory, category)
        from pkg_pipeline.wiring.chats import set_category  # loads the stages of a run

        if not set_category(memory, chat_id(source, external_id), chosen):
            raise CommandFailed(f"no chat {chat}")
    answer = {"chat": chat_key(source, external_id), "category": chosen, "category_source": "user"}
    said = f"{answer['chat']} is {chosen or 'an ordinary chat'}; pkg-pipeline run follows it"
    show(answer, as_json=json, human=lambda screen: screen.print(said, markup=False))


def _print(screen: Console, found: Sequence[dict[str, Any]], following: str | None) -> None:
    rows = table("chat", "kind", "title", "category", "said by")
    for one in found:
        said_by = SAID_BY[one["category_source"]] if one["category"] or one["category_source"] == "user" else ""
        rows.add_row(plain(one["chat"]), one["kind"], plain(one["title"] or ""), one["category"] or "", said_by)
    if found:
        screen.print(rows)
    screen.print(counted(len(found), "chat"))
    say_if_more(screen, following)
