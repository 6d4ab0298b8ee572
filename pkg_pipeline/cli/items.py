"""``pkg-pipeline items``: tasks and decisions as they stand over all conversations (B16, B17)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

import typer

from pkg_pipeline.cli.reading import Cursor, Limit, found_entity, say_if_empty
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
    without_controls,
)
from pkg_pipeline.memory.items.records import ItemKind, ItemStatus
from pkg_pipeline.stages.reads.items import (
    SHORT_ID,
    ItemUnknown,
    item_filter,
    item_id_of,
    list_items,
    one_item,
)
from pkg_pipeline.stages.reads.paging import DEFAULT_ROWS

if TYPE_CHECKING:
    from rich.console import Console

items = typer.Typer(
    help="Tasks and decisions over all conversations: list, show, close, reopen, edit.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

KINDS, STATUSES = get_args(ItemKind), get_args(ItemStatus)
ItemId = Annotated[str, typer.Argument(help="Id of the item, or its first eight digits, as the list shows it.")]


@items.command("list")
def list_(
    person: Annotated[str | None, typer.Option(help="Name, id or key of whose they are.", show_default=False)] = None,
    kind: Annotated[str, typer.Option(help=f"One of {', '.join(KINDS)}.")] = "action_item",
    status: Annotated[str | None, typer.Option(help=f"One of {', '.join(STATUSES)}.", show_default=False)] = None,
    is_open: Annotated[bool, typer.Option("--open", help="Only open ones.")] = False,
    overdue: Annotated[bool, typer.Option("--overdue", help="Only open ones that were due before today.")] = False,
    limit: Limit = DEFAULT_ROWS,
    cursor: Cursor = None,
    json: JsonFlag = False,
) -> None:
    """Overdue first, then by due date, then what is perhaps done, lapsed, settled. Of yourself: what you have to do."""
    one_of(kind, KINDS, "--kind")
    one_of(status, STATUSES, "--status")
    with memory_in_force() as memory:
        wanted = item_filter(
            kind=cast(ItemKind, kind),
            person=None if person is None else found_entity(memory, person),
            statuses=() if status is None else (cast(ItemStatus, status),),
            is_open=is_open,
            overdue=overdue,
        )
        page = list_items(memory.item_reads, wanted, now=memory.clock.now(), limit=limit, cursor=cursor)
        say_if_empty(memory, found=page.items)
    show(page.to_json(), as_json=json, human=lambda screen: _print_items(screen, page.items, page.next))


@items.command("show")
def show_(item: ItemId, json: JsonFlag = False) -> None:
    """One item with its history: each state with the words that say so."""
    with memory_in_force() as memory, _known():
        found = one_item(memory.item_reads, item_id_of(memory.item_reads, item), now=memory.clock.now())
    show(found, as_json=json, human=lambda screen: _print_item(screen, found))


@contextmanager
def _known() -> Iterator[None]:
    try:
        yield
    except ItemUnknown as error:
        raise CommandFailed(str(error)) from error


def _print_items(screen: Console, found: Sequence[dict[str, Any]], following: str | None) -> None:
    rows = table("id", "status", "due", "who", "what", "with", "last said")
    for one in found:
        who = {"self": "you", "both": "you both"}.get(one["owner"]) or one["owner_name"] or one["owner"]
        rows.add_row(
            one["id"][:SHORT_ID],
            _status(one),
            one["due_date"] or "",
            plain("" if one["kind"] == "decision" else who),
            plain(one["text"]),
            plain(", ".join(one["person_names"])),
            one["last_at"][:10],
        )
    if found:
        screen.print(rows)
    screen.print(counted(len(found), "item"))
    say_if_more(screen, following)


def _status(one: dict[str, Any]) -> str:
    if one["overdue"]:
        return "[red]overdue[/red]"
    return one["status"].replace("_", " ") + (" (yours)" if one["decided_by"] == "person" else "")


def _print_item(screen: Console, one: dict[str, Any]) -> None:
    screen.print(f"[bold]{plain(one['text'])}[/bold]")
    due = f", due {one['due_date']}" if one["due_date"] else ""
    screen.print(f"{one['kind'].replace('_', ' ')}, {_status(one)}{due}; {plain(one['chat'])}; {one['id']}")
    for state in one["history"]:
        due = f", due {state['due_date']}" if state["due_date"] else ""
        screen.print(f"  {state['at'][:10]}  {state['event'].replace('_', ' ')}{due}: {plain(state['text'])}")
        if state["quote"]:
            screen.print(f"    “{without_controls(state['quote'])}”  {', '.join(state['message_ids'])}", markup=False)
