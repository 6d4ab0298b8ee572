"""``pkg-pipeline archive``: what the archive holds, restoring texts, giving space back to the disk."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from datetime import date, datetime
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.console import Console

from pkg_pipeline.adapters.postgres.archive.store import ArchiveBusy
from pkg_pipeline.cli.terminal import (
    CommandFailed,
    JsonFlag,
    as_text,
    counted,
    memory_in_force,
    show,
    table,
    working,
)
from pkg_pipeline.memory.hashing import parse_chat_key, parse_typed_message_key
from pkg_pipeline.stages.archive.records import RestoreScope
from pkg_pipeline.stages.archive.stage import ArchiveStatus, MonthStatus, NothingThere, RestoreReport
from pkg_pipeline.stages.reads.chats import find_chat
from pkg_pipeline.stages.reads.stores import ChatAmbiguous, ChatUnknown

archive = typer.Typer(
    help="The archive: status, restore, compact.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@archive.command()
def status(json: JsonFlag = False) -> None:
    """Month by month: what the archive holds, what is due, what waits and why, what would be dropped."""
    with memory_in_force() as memory:
        found = memory.archive.status()
    show(found.to_json(), as_json=json, human=lambda screen: _print_status(screen, found))


@archive.command()
def restore(
    message: Annotated[
        str | None, typer.Option(help="Message key, source:chat/message, as --json prints it.", show_default=False)
    ] = None,
    interaction: Annotated[str | None, typer.Option(help="Id of an interaction.", show_default=False)] = None,
    chat: Annotated[str | None, typer.Option(help="Chat key, source:external-id.", show_default=False)] = None,
    month: Annotated[
        str | None, typer.Option(help="Month of the archive, such as 2025-03.", show_default=False)
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Texts back into their messages, byte for byte. They are left alone for the archive age again."""
    scope = _scope(message=message, interaction=interaction, chat=chat, month=month)
    with memory_in_force() as memory, working("restoring", as_json=json):
        try:
            if chat is not None:
                with suppress(ChatUnknown):  # a missing target is reported in the words of a restore
                    scope = RestoreScope(chat=find_chat(memory.reads, as_text(chat)))
            report = memory.archive.restore(scope)
        except (NothingThere, ChatAmbiguous) as error:
            raise CommandFailed(str(error)) from error
    show(asdict(report), as_json=json, human=lambda screen: screen.print(_restored(report)))


@archive.command()
def compact(json: JsonFlag = False) -> None:
    """Rewrite the messages without their holes, so that the disk gets the space. Nobody else may use the memory."""
    with memory_in_force() as memory, working("rewriting", as_json=json):
        try:
            before, after = memory.archive.compact()
        except ArchiveBusy as error:
            raise CommandFailed(str(error)) from error
    show(
        {"bytes_before": before, "bytes_after": after},
        as_json=json,
        human=lambda screen: screen.print(f"{before:,} bytes before, {after:,} after: {before - after:,} given back"),
    )


def _scope(*, message: str | None, interaction: str | None, chat: str | None, month: str | None) -> RestoreScope:
    given = {"--message": message, "--interaction": interaction, "--chat": chat, "--month": month}
    named = {option: value for option, value in given.items() if value is not None}
    if len(named) != 1:
        raise typer.BadParameter("say what to restore by exactly one of them", param_hint=", ".join(given))
    ((option, value),) = named.items()
    try:
        match option:
            case "--message":
                return RestoreScope(message=parse_typed_message_key(value))
            case "--interaction":
                return RestoreScope(interaction_id=UUID(value))
            case "--chat":
                return RestoreScope(chat=parse_chat_key(value))
            case _:
                return RestoreScope(month=_month(value))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from error


def _month(given: str) -> date:
    try:
        return datetime.strptime(f"{given}-01 +0000", "%Y-%m-%d %z").date()
    except ValueError:
        raise ValueError(f"{given!r} is no month, such as 2025-03") from None


def _print_status(screen: Console, found: ArchiveStatus) -> None:
    said = found.to_json()
    kept = "for ever" if found.keep_months is None else f"for {counted(found.keep_months, 'month')}"
    screen.print(f"archived {found.after_days:g} days after a conversation's end, kept {kept}")
    rows = table("month", "state", "messages", "bytes", "next run", "waits", numbers=slice(2, 4))
    for one in found.months:
        rows.add_row(
            f"{one.month:%Y-%m}", one.state, f"{one.messages:,}", f"{one.bytes:,}", _next_run(one), _waits(one)
        )
    if found.months:
        screen.print(rows)
    screen.print(f"{counted(said['messages'], 'message')} in the archive, {said['bytes']:,} bytes of text")
    if said["due"]:
        screen.print("due now: pkg-pipeline run --only archived_messages", markup=False)


def _next_run(one: MonthStatus) -> str:
    moves = f"moves {counted(one.ready, 'conversation')}" if one.ready else ""
    return ", ".join(words for words in (moves, "drops the month for good" if one.will_drop else "") if words)


def _waits(one: MonthStatus) -> str:
    return ", ".join(f"{count:,} {reason}" for reason, count in sorted(one.left.held_back.items()))


def _restored(report: RestoreReport) -> str:
    said: list[str] = [
        f"{counted(report.messages, 'message')} of {counted(report.interactions, 'conversation')} restored,"
        f" {report.bytes:,} bytes"
    ]
    if report.dropped:
        said.append(f"{counted(report.dropped, 'text')} dropped with its month: gone for good")
    if report.mismatched:
        ids: Any = ", ".join(map(str, report.mismatched))
        said.append(f"not given back, since the copy has not its hash: message {ids}")
    return "; ".join(said)
