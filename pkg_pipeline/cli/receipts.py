"""``pkg-pipeline receipts``: what a served context drew on, and the block again (B11)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from pkg_pipeline.cli.terminal import CommandFailed, JsonFlag, counted, memory_in_force, plain, show
from pkg_pipeline.stages.reads.receipts import KeptReceipt, ReceiptUnknown, receipt_json
from pkg_pipeline.wiring.receipts import Receipts

if TYPE_CHECKING:
    from rich.console import Console

receipts = typer.Typer(
    help="What served contexts drew on: show, rebuild.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

ReceiptId = Annotated[UUID, typer.Argument(help="receipt_id of a served context.")]


@receipts.command("show")
def show_(receipt: ReceiptId, json: JsonFlag = False) -> None:
    """When, to what question, with what: ids and tokens, no words."""
    with memory_in_force() as memory, _known():
        found = Receipts(memory).show(receipt)
    show(receipt_json(found), as_json=json, human=lambda screen: _print_receipt(screen, found))


@receipts.command()
def rebuild(receipt: ReceiptId, json: JsonFlag = False) -> None:
    """The block as it was served, to the byte; fails with the reason where the memory cannot give it any more."""
    with memory_in_force() as memory, _known():
        found = Receipts(memory).rebuild(receipt)
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
