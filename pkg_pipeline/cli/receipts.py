"""``pkg-pipeline receipts``: what a served context drew on, and the block again (B11)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from pkg_pipeline.cli.reading import Limit, found_entity
from pkg_pipeline.cli.terminal import CommandFailed, JsonFlag, counted, memory_in_force, plain, show, table
from pkg_pipeline.stages.reads.paging import DEFAULT_ROWS
from pkg_pipeline.stages.reads.receipts import KeptReceipt, ListedReceipt, ReceiptUnknown, receipt_json
from pkg_pipeline.stages.reads.short_ids import SHORT_ID
from pkg_pipeline.wiring.receipts import Receipts

if TYPE_CHECKING:
    from rich.console import Console

receipts = typer.Typer(
    help="What served contexts drew on: list, show, rebuild.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

ReceiptId = Annotated[str, typer.Argument(help="receipt_id of a served context, or its first eight digits.")]


@receipts.command("list")
def list_(
    entity: Annotated[
        str | None, typer.Option(help="Name, id or key of whom they are about.", show_default=False)
    ] = None,
    limit: Limit = DEFAULT_ROWS,
    json: JsonFlag = False,
) -> None:
    """The newest first."""
    with memory_in_force() as memory:
        about = None if entity is None else found_entity(memory, entity).id
        found = Receipts(memory).newest(about, limit)
    as_json = {"items": [one.to_json() for one in found]}
    show(as_json, as_json=json, human=lambda screen: _print_receipts(screen, found))


@receipts.command("show")
def show_(receipt: ReceiptId, json: JsonFlag = False) -> None:
    """When, to what question, with what: ids and tokens, no words."""
    with memory_in_force() as memory, _known():
        kept = Receipts(memory)
        found = kept.show(kept.id_of(receipt))
    show(receipt_json(found), as_json=json, human=lambda screen: _print_receipt(screen, found))


@receipts.command()
def rebuild(receipt: ReceiptId, json: JsonFlag = False) -> None:
    """The block as it was served, to the byte; fails with the reason where the memory cannot give it any more."""
    with memory_in_force() as memory, _known():
        kept = Receipts(memory)
        found = kept.rebuild(kept.id_of(receipt))
    if found.reason is not None:
        raise CommandFailed(f"the block cannot be rebuilt; it differs: {found.reason}")
    text = found.text or ""
    show(found.to_json(), as_json=json, human=lambda screen: screen.print(text, markup=False, soft_wrap=True, end=""))


@contextmanager
def _known() -> Iterator[None]:
    try:
        yield
    except ReceiptUnknown as error:
        raise CommandFailed(str(error)) from error


def _print_receipts(screen: Console, found: Sequence[ListedReceipt]) -> None:
    rows = table("id", "served", "about", "as of", "tokens", "hint")
    for one in found:
        rows.add_row(
            str(one.id)[:SHORT_ID],
            f"{one.served_at:%Y-%m-%d %H:%M}",
            plain(one.to_json()["entity_name"] or "forgotten"),
            one.request["as_of"][:16],
            str(one.tokens),
            plain(one.request["hint"] or ""),
        )
    if found:
        screen.print(rows)
    screen.print(counted(len(found), "receipt"))


def _print_receipt(screen: Console, found: KeptReceipt) -> None:
    asked = found.request
    screen.print(f"served {found.served_at:%Y-%m-%d %H:%M} as of {asked['as_of']}: {found.tokens} tokens")
    screen.print(
        plain(f"for entity {found.entity_id}, at most {asked['max_tokens']} tokens, hint: {asked['hint'] or 'none'}")
    )
    for tier in found.tiers:
        screen.print(f"{tier['tier']}: {counted(len(tier['items']), 'line')}, {tier['tokens']} tokens")
        for item in tier["items"]:
            screen.print(plain(f"  {item['kind']} {item['id']}"))
    screen.print(f"left out: {len(found.left_out)}")
