"""``pkg-pipeline items``: tasks and decisions as they stand over all conversations (B16, B17)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

import typer

from pkg_pipeline.cli.reading import Cursor, Limit, day_of, found_entity, say_if_empty
from pkg_pipeline.cli.terminal import (
    CommandFailed,
    JsonFlag,
    as_text,
    counted,
    memory_in_force,
    one_of,
    plain,
    say_if_more,
    show,
    table,
    without_controls,
)
from pkg_pipeline.memory.items.records import ItemKind, ItemOwner, ItemStatus
from pkg_pipeline.memory.items.states import SURE_FROM
from pkg_pipeline.stages.items.deciding import ItemEdit
from pkg_pipeline.stages.reads.items import (
    ItemUnknown,
    item_filter,
    item_id_of,
    list_items,
    one_item,
)
from pkg_pipeline.stages.reads.paging import DEFAULT_ROWS
from pkg_pipeline.stages.reads.short_ids import SHORT_ID

if TYPE_CHECKING:
    from rich.console import Console

items = typer.Typer(
    help="Tasks and decisions over all conversations: list, show, close, reopen, edit.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

KINDS, STATUSES, OWNERS = get_args(ItemKind), get_args(ItemStatus), get_args(ItemOwner)
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


@items.command()
def close(
    item: ItemId,
    as_: Annotated[
        str | None, typer.Option("--as", help="done (as is usual), or cancelled.", show_default=False)
    ] = None,
    json: JsonFlag = False,
) -> None:
    """It is done, or no more to be done. A decision is taken back. No run opens it again."""
    one_of(as_, ("done", "cancelled"), "--as")
    _decide(item, ItemEdit(status=cast(Any, as_ or "closed")), as_json=json)


@items.command()
def reopen(item: ItemId, json: JsonFlag = False) -> None:
    """It is open, whatever was said. No run closes it again."""
    _decide(item, ItemEdit(status="open"), as_json=json)


@items.command()
def edit(
    item: ItemId,
    text: Annotated[str | None, typer.Option(help="Its words.", show_default=False)] = None,
    due: Annotated[str | None, typer.Option(help="The day until which it is due.", show_default=False)] = None,
    no_due: Annotated[bool, typer.Option("--no-due", help="It is due on no day.")] = False,
    owner: Annotated[str | None, typer.Option(help=f"One of {', '.join(OWNERS)}.", show_default=False)] = None,
    json: JsonFlag = False,
) -> None:
    """Other words, another due date, another owner. No run changes them back."""
    one_of(owner, OWNERS, "--owner")
    if due is not None and no_due:
        raise typer.BadParameter("it is due on a day, or on none", param_hint="--due, --no-due")
    day = day_of(due, "--due")
    changes = ItemEdit(
        text=None if text is None else as_text(text), owner=cast(Any, owner), due_date=day, clear_due_date=no_due
    )
    if changes == ItemEdit():
        raise typer.BadParameter("say what to change", param_hint="--text, --due, --no-due, --owner")
    _decide(item, changes, as_json=json)


def _decide(item: str, wanted: ItemEdit, *, as_json: bool) -> None:
    with memory_in_force() as memory, _known():
        found = item_id_of(memory.item_reads, item)
        memory.decide_item(found, wanted)
        shown = one_item(memory.item_reads, found, now=memory.clock.now())
    show(shown, as_json=as_json, human=lambda screen: _print_item(screen, shown))


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
    return _standing(one) + (", edited since" if one["stale"] else "")


def _standing(one: dict[str, Any]) -> str:
    status = "[red]overdue[/red]" if one["overdue"] else one["status"].replace("_", " ")
    is_said = one["closed_by"] or one["status"] not in ("open", "done", "cancelled")
    if one["decided_by"] == "person" and not is_said:  # a person who mends the words of what is done did not close it
        return status if one["overdue"] else status + " (yours)"
    return status + (", perhaps" if one["status"] == "open" and one["probability"] < SURE_FROM else "")


def _print_item(screen: Console, one: dict[str, Any]) -> None:
    screen.print(f"[bold]{plain(one['text'])}[/bold]")
    due = f", due {one['due_date']}" if one["due_date"] else ""
    screen.print(f"{one['kind'].replace('_', ' ')}, {_status(one)}{due}; {plain(one['chat'])}; {one['id']}")
    for state in one["history"]:
        due = f", due {state['due_date']}" if state["due_date"] else ""
        screen.print(f"  {state['at'][:10]}  {state['event'].replace('_', ' ')}{due}: {plain(state['text'])}")
        if state["quote"]:
            screen.print(f"    “{without_controls(state['quote'])}”  {', '.join(state['message_ids'])}", markup=False)
