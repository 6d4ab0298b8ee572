"""``pkg-pipeline forget``: people, chats, sessions, messages and ranges out of every table and file (B3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, time
from typing import TYPE_CHECKING, Annotated, Any, Final
from uuid import UUID

import typer

from pkg_pipeline.cli.reading import day_of, found_chat, found_entity
from pkg_pipeline.cli.terminal import (
    FAILED,
    CommandFailed,
    JsonFlag,
    YesFlag,
    as_text,
    confirm,
    counted,
    memory_in_force,
    plain,
    settings_in_force,
    show,
    table,
    working,
)
from pkg_pipeline.memory.hashing import chat_id, chat_key, parse_typed_message_key
from pkg_pipeline.stages.archive.forgetting import ErasureUnknown, NotForgotten, Receipt, Residue, Surveyed

if TYPE_CHECKING:
    from rich.console import Console

    from pkg_pipeline.wiring import Memory
    from pkg_pipeline.wiring.forgetting import ForgettingWork

forget = typer.Typer(
    help="People, chats, sessions, messages and ranges out of every table and file. There is no way back.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
)

CHAT: Final = "source:external-id of the chat, as lists show it."
BY: Final = "command line"

DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")]
NoRewrite = Annotated[
    bool, typer.Option("--no-rewrite", help="Free the space in place: quicker, but old bytes stay on the disk a while.")
]
ReceiptId = Annotated[str, typer.Argument(help="Id of the receipt, as forget list shows it.", metavar="RECEIPT")]


@forget.callback()
def either(
    context: typer.Context,
    entity: Annotated[str | None, typer.Option(help="Name, id or key of a person.", show_default=False)] = None,
    chat: Annotated[str | None, typer.Option(help=CHAT, show_default=False)] = None,
    session: Annotated[str | None, typer.Option(help=CHAT, show_default=False)] = None,
    dry_run: DryRun = False,
    yes: YesFlag = False,
    json: JsonFlag = False,
) -> None:
    """The options say the same as the commands entity, chat and session."""
    given = [one for one in (entity, chat, session) if one is not None]
    if context.invoked_subcommand is not None:
        if given:
            raise typer.BadParameter("a command or an option, not both", param_hint="--entity, --chat, --session")
        return
    if len(given) != 1:
        raise typer.BadParameter("one of them is needed", param_hint="--entity, --chat, --session")
    if entity is not None:
        entity_(entity, dry_run=dry_run, yes=yes, json=json)
    elif chat is not None:
        chat_(chat, dry_run=dry_run, yes=yes, json=json)
    elif session is not None:
        session_(session, dry_run=dry_run, yes=yes, json=json)


@forget.command("entity")
def entity_(
    name: Annotated[str, typer.Argument(help="Name, id or key of the person.", metavar="ENTITY")],
    mentions: Annotated[
        bool, typer.Option("--mentions", help="Also messages of others that say the person's name.")
    ] = False,
    dry_run: DryRun = False,
    no_rewrite: NoRewrite = False,
    yes: YesFlag = False,
    json: JsonFlag = False,
) -> None:
    """Chats with them alone, what they wrote elsewhere, and all that is known of them."""
    with memory_in_force() as memory:
        person = found_entity(memory, as_text(name))
        _forget(
            memory,
            f"{plain(person.name)} and all that is known of them",
            lambda work: work.person(person.id, with_mentions=mentions),
            dry_run=dry_run, rewrite=not no_rewrite, yes=yes, as_json=json,
        )  # fmt: skip


@forget.command("chat")
def chat_(
    chat: Annotated[str, typer.Argument(help=CHAT)],
    dry_run: DryRun = False,
    no_rewrite: NoRewrite = False,
    yes: YesFlag = False,
    json: JsonFlag = False,
) -> None:
    """A chat with everything made of it."""
    with _chat(chat) as (memory, found, key):
        _forget(memory, f"the chat {key}", lambda work: work.chat(found),
                dry_run=dry_run, rewrite=not no_rewrite, yes=yes, as_json=json)  # fmt: skip


@forget.command("session")
def session_(
    session: Annotated[str, typer.Argument(help=CHAT)],
    dry_run: DryRun = False,
    no_rewrite: NoRewrite = False,
    yes: YesFlag = False,
    json: JsonFlag = False,
) -> None:
    """A session with its chat, folds and windows."""
    with _chat(session) as (memory, found, key):
        _forget(memory, f"the session {key}", lambda work: work.session(found),
                dry_run=dry_run, rewrite=not no_rewrite, yes=yes, as_json=json)  # fmt: skip


@forget.command("message")
def message_(
    message: Annotated[str, typer.Argument(help="source:chat/message, as answers name it.")],
    dry_run: DryRun = False,
    no_rewrite: NoRewrite = False,
    yes: YesFlag = False,
    json: JsonFlag = False,
) -> None:
    """One message; what was made of its conversation is made anew without it."""
    try:
        key = parse_typed_message_key(as_text(message))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="MESSAGE") from error
    found = chat_id(key.source, key.chat_external_id)
    with memory_in_force() as memory:
        _forget(memory, f"the message {plain(message)}", lambda work: work.message(found, key.message_external_id),
                dry_run=dry_run, rewrite=not no_rewrite, yes=yes, as_json=json)  # fmt: skip


@forget.command("range")
def range_(
    chat: Annotated[str, typer.Argument(help=CHAT)],
    since: Annotated[str, typer.Option("--from", help="The first day of it, YYYY-MM-DD.")],
    until: Annotated[str, typer.Option("--to", help="The last day of it.")],
    dry_run: DryRun = False,
    no_rewrite: NoRewrite = False,
    yes: YesFlag = False,
    json: JsonFlag = False,
) -> None:
    """Some days of a chat; what later imports know of them is left out too."""
    first, last, zone = day_of(since, "--from"), day_of(until, "--to"), settings_in_force().zone
    assert first is not None
    assert last is not None
    if last < first:
        raise typer.BadParameter("it ends before it begins", param_hint="--from, --to")
    span = datetime.combine(first, time.min, zone), datetime.combine(last, time.max, zone)
    with _chat(chat) as (memory, found, key):
        _forget(memory, f"{first} to {last} of the chat {key}", lambda work: work.range(found, *span),
                dry_run=dry_run, rewrite=not no_rewrite, yes=yes, as_json=json)  # fmt: skip


@forget.command("list")
def list_(json: JsonFlag = False) -> None:
    """Receipts, newest first: counts and digests, no content."""
    with memory_in_force() as memory:
        receipts = memory.forgetting.store.receipts()
    answer = {"items": [one.to_json() for one in receipts], "next": None}
    show(answer, as_json=json, human=lambda screen: _print_receipts(screen, receipts))


@forget.command()
def resume(no_rewrite: NoRewrite = False, json: JsonFlag = False) -> None:
    """Finish what was interrupted."""
    with memory_in_force() as memory, working("forgetting", as_json=json):
        finished = memory.forgetting.resume(rewrite=not no_rewrite)
    show({"finished": finished}, as_json=json, human=lambda screen: screen.print(f"{finished} finished"))


@forget.command()
def lift(receipt: ReceiptId, yes: YesFlag = False, json: JsonFlag = False) -> None:
    """Let a later import bring it in again. What was erased does not come back by itself."""
    with memory_in_force() as memory, _known():
        known = memory.forgetting.store.receipt(_receipt_id(memory, receipt))
        confirm(f"Let imports bring in again what the receipt {known.id} keeps out?", yes=yes, as_json=json)
        lifted = memory.forgetting.store.lift(known.id)
    show({"lifted": lifted}, as_json=json, human=lambda screen: screen.print(f"lifted: {lifted:,}"))


@forget.command()
def verify(
    receipt: ReceiptId,
    word: Annotated[
        list[str] | None,
        typer.Option("--word", help="A word that stood in it, to search for; may be repeated.", show_default=False),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Whether it is finished and kept out, and in which tables and files a word of it still stands."""
    with memory_in_force() as memory, _known(), working("searching", as_json=json):
        store = memory.forgetting.store
        known = store.receipt(_receipt_id(memory, receipt))
        kept_out = store.kept_out(known.id)
        found = memory.forgetting.residues([as_text(one) for one in word or ()])
    is_right = known.state == "done" and not found
    answer = {
        "receipt": known.to_json(),
        "kept_out": kept_out,
        "searched": len(word or ()),
        "residues": [{"place": one.place, "count": one.count} for one in found],
        "verified": is_right,
    }
    show(answer, as_json=json, human=lambda screen: _print_verified(screen, known, kept_out, word or (), found))
    if not is_right:
        raise typer.Exit(FAILED)


# ── doing it ─────────────────────────────────────────────────────────────────────────────────


def _forget(
    memory: Memory,
    what: str,
    survey: Callable[[ForgettingWork], Surveyed],
    *,
    dry_run: bool,
    rewrite: bool,
    yes: bool,
    as_json: bool,
) -> None:
    try:
        found = survey(memory.forgetting)
        counts: dict[str, Any] = {**found.counts, "mentions": found.mentions}
        if dry_run:
            show(
                {"dry_run": True, "counts": counts}, as_json=as_json, human=lambda screen: _print_counts(screen, counts)
            )
            return
        told = [f"{name.replace('_', ' ')}: {count:,}" for name, count in counts.items() if count]
        confirm(f"Forget {what} for good?", yes=yes, as_json=as_json, details=told)
        with working("forgetting", as_json=as_json):
            receipt = memory.forgetting.forget(found, by=BY, rewrite=rewrite)
    except NotForgotten as error:
        raise CommandFailed(str(error)) from error
    answer = {"dry_run": False, **receipt.to_json(), "mentions": found.mentions}
    show(answer, as_json=as_json, human=lambda screen: _print_done(screen, receipt, found))


@contextmanager
def _chat(asked: str) -> Iterator[tuple[Memory, UUID, str]]:
    with memory_in_force() as memory:
        source, external_id = found_chat(memory, as_text(asked), option="CHAT", must_exist=True)
        yield memory, chat_id(source, external_id), plain(chat_key(source, external_id))


@contextmanager
def _known() -> Iterator[None]:
    try:
        yield
    except ErasureUnknown as error:
        raise CommandFailed(f"{error}; pkg-pipeline forget list shows those there are") from error


def _receipt_id(memory: Memory, asked: str) -> UUID:
    """Of an id or the beginning of one."""
    given = as_text(asked).lower()
    found = [one.id for one in memory.forgetting.store.receipts() if str(one.id).startswith(given)]
    if len(found) != 1:
        raise ErasureUnknown(f"there is {'no' if not found else 'more than one'} receipt {plain(asked)}")
    return found[0]


# ── for people ───────────────────────────────────────────────────────────────────────────────


def _print_counts(screen: Console, counts: dict[str, Any]) -> None:
    rows = table("what", "rows", numbers=slice(1, 2))
    for name, count in counts.items():
        if count and name != "mentions":
            rows.add_row(name, f"{count:,}")
    screen.print(rows)
    if counts["mentions"]:
        screen.print(
            f"{counted(counts['mentions'], 'message')} of others say the name and stay; --mentions takes them too"
        )


def _print_done(screen: Console, receipt: Receipt, found: Surveyed) -> None:
    screen.print(f"forgotten; receipt {receipt.id}")
    _print_counts(screen, {**receipt.counts, "mentions": found.mentions})
    screen.print("Backups made before still hold it: delete them, or make new ones.")


def _print_receipts(screen: Console, receipts: Sequence[Receipt]) -> None:
    if not receipts:
        screen.print("nothing was forgotten")
        return
    rows = table("receipt", "at", "what", "state", "messages", "summaries", numbers=slice(4, 6))
    for one in receipts:
        figures = (f"{one.counts.get(name, 0):,}" for name in ("messages", "summaries"))
        rows.add_row(str(one.id), f"{one.requested_at:%Y-%m-%d %H:%M}", one.kind, one.state, *figures)
    screen.print(rows)


def _print_verified(
    screen: Console, known: Receipt, kept_out: int, words: Sequence[str], found: Sequence[Residue]
) -> None:
    screen.print(f"receipt {known.id}: {known.state}; {counted(kept_out, 'tombstone')} keep it out")
    for one in found:
        screen.print(f"  {plain(one.place)}: {one.count:,}")
    if words and not found:
        screen.print(f"{counted(len(words), 'word')} searched in every table and file of the home: nowhere")
