"""Commands that read: entities, summaries, context."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

import typer

from pkg_pipeline.cli.terminal import (
    CommandFailed,
    JsonFlag,
    as_text,
    counted,
    memory_in_force,
    notes,
    one_of,
    own_command,
    plain,
    say_if_more,
    settings_in_force,
    show,
    table,
    without_controls,
)
from pkg_pipeline.memory.hashing import key_spellings
from pkg_pipeline.memory.text.timestamps import parse_moment
from pkg_pipeline.stages.reads.chats import find_chat
from pkg_pipeline.stages.reads.entities import EntityAmbiguous, find_entity, list_entities
from pkg_pipeline.stages.reads.paging import DEFAULT_ROWS, MOST_ROWS
from pkg_pipeline.stages.reads.stores import (
    ChatAmbiguous,
    ChatUnknown,
    EntityUnknown,
    ListedEntity,
    SummaryFilter,
    SummaryStatus,
)
from pkg_pipeline.wiring import Memory

if TYPE_CHECKING:
    from rich.console import Console

    from pkg_pipeline.settings import Settings
    from pkg_pipeline.stages.reads.context import EntityContext

Limit = Annotated[int, typer.Option("--limit", min=1, max=MOST_ROWS, help="Rows a page.")]
Cursor = Annotated[str | None, typer.Option("--cursor", help="Where the page before ended.", show_default=False)]


KnownAsOf = Annotated[
    str | None,
    typer.Option(help="By what the memory knew at that moment; written like --as-of.", show_default=False),
]


def entities(
    query: Annotated[str | None, typer.Argument(help="Only names that contain this.", show_default=False)] = None,
    limit: Limit = DEFAULT_ROWS,
    cursor: Cursor = None,
    json: JsonFlag = False,
) -> None:
    """Everybody the memory knows, by name."""
    with memory_in_force() as memory:
        page = list_entities(memory.reads, query=query, limit=limit, cursor=cursor)
        say_if_empty(memory, found=page.items)
    show(page.to_json(), as_json=json, human=lambda screen: _print_entities(screen, page.items, page.next))


def summaries(
    entity: Annotated[str | None, typer.Option(help="Name, id or key of who took part.", show_default=False)] = None,
    chat: Annotated[str | None, typer.Option(help="Chat key, source:external-id.", show_default=False)] = None,
    from_: Annotated[str | None, typer.Option("--from", help="First day.", show_default=False)] = None,
    to: Annotated[str | None, typer.Option("--to", help="Last day.", show_default=False)] = None,
    status: Annotated[str | None, typer.Option(help=f"One of {', '.join(get_args(SummaryStatus))}.")] = None,
    limit: Limit = DEFAULT_ROWS,
    cursor: Cursor = None,
    json: JsonFlag = False,
) -> None:
    """Summaries, newest interaction first, with decisions and action items."""
    from pkg_pipeline.stages.reads.history import list_summaries

    one_of(status, get_args(SummaryStatus), "--status")
    days = (day_of(from_, "--from"), day_of(to, "--to"))
    with memory_in_force() as memory:
        key = None if chat is None else found_chat(memory, chat, option="--chat")
        wanted = SummaryFilter(
            entity_id=None if entity is None else found_entity(memory, entity).id,
            chat=key,
            day_from=days[0],
            day_to=days[1],
            statuses=("completed", "dirty") if status is None else (cast(SummaryStatus, status),),
        )
        page = list_summaries(memory.reads, wanted, now=memory.clock.now(), limit=limit, cursor=cursor)
        say_if_empty(memory, found=page.items)
    show(page.to_json(), as_json=json, human=lambda screen: _print_summaries(screen, page.items, page.next))


def context(
    entity: Annotated[str, typer.Argument(help="Name that fits exactly one, or id, or key (source:external-id).")],
    hint: Annotated[str | None, typer.Option(help="The task at hand: what bears on it comes in.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="At most this many tokens.", show_default=False)] = None,
    as_of: Annotated[
        str | None, typer.Option(help="The context of that moment, ISO time; a day means its end.", show_default=False)
    ] = None,
    brief: Annotated[
        bool, typer.Option("--brief", help="In four short parts, worded by the model if one is set.")
    ] = False,
    known_as_of: KnownAsOf = None,
    json: JsonFlag = False,
) -> None:
    """Everything that matters about somebody, within a token budget."""
    settings = settings_in_force()
    with memory_in_force(settings) as memory:
        moment = moment_of(as_of, settings, memory)
        known = moment_of(known_as_of, settings, memory, "--known-as-of")
        found = found_entity(memory, entity)
        answer = memory.context(
            found.id,
            max_tokens=max_tokens,
            as_of=moment,
            known_as_of=known,
            hint=None if hint is None else as_text(hint),
            brief=brief,
        )
    if answer.brief is not None and answer.brief.warning is not None:
        notes().print(f"note: {without_controls(answer.brief.warning)}", markup=False)
    show(answer.to_json(), as_json=json, human=lambda screen: _print_asked(screen, answer))


def found_entity(memory: Memory, asked: str) -> ListedEntity:
    """The entity of an id or name; the error lists candidates."""
    try:
        return find_entity(memory.reads, asked)
    except (EntityUnknown, EntityAmbiguous) as error:
        raise CommandFailed(nothing_imported() if memory.reads.is_empty() else str(error)) from error


def nothing_imported() -> str:
    """What to do with an empty memory."""
    own = own_command()
    return f"nothing is imported yet: {own} import PATH takes conversations in, {own} demo shows the bundled ones"


def say_if_empty(memory: Memory, *, found: object) -> None:
    """Notes that nothing was imported, if nothing was ``found`` for that reason."""
    if not found and memory.reads.is_empty():
        notes().print(f"note: {nothing_imported()}", markup=False)


def found_chat(memory: Memory, asked: str, *, option: str, must_exist: bool = False) -> tuple[str, str]:
    """(source, external id) of the named chat; with ``must_exist`` an unknown one ends the command."""
    asked = as_text(asked)
    try:
        return find_chat(memory.reads, asked)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from error
    except ChatAmbiguous as error:
        raise CommandFailed(str(error)) from error
    except ChatUnknown as error:
        said = f"no chat {asked}; pkg-pipeline summaries shows chat keys"
        if must_exist or not (spelt := key_spellings(asked)):
            raise CommandFailed(said) from error
        notes().print(f"note: {without_controls(said)}", markup=False)
        return spelt[0]


def _print_asked(screen: Console, answer: EntityContext) -> None:
    """The context, or the brief of it alone."""
    if (brief := answer.brief) is None:
        print_context(screen, answer)
        return
    screen.print(without_controls(f"# {answer.entity_name}\n{brief.text}"), markup=False, end="")
    screen.rule(style="dim")
    by = "chosen from its lines" if brief.model is None else f"worded by {brief.model}"
    screen.print(f"in brief, of a context of {answer.block.tokens:,} tokens; {by}", markup=False)


def print_context(screen: Console, answer: EntityContext) -> None:
    """The text as a model gets it, then its size and what was left out."""
    screen.print(without_controls(answer.block.text), markup=False, end="")
    screen.rule(style="dim")
    shape = answer.to_json()
    rows = table("tier", "tokens", "items")
    for tier in shape["tiers"]:
        rows.add_row(tier["tier"], f"{tier['tokens']:,}", f"{len(tier['items']):,}")
    screen.print(rows)
    whole = answer.hypothetical_tokens
    saved = f"; all messages in full: {whole:,} tokens" if whole else ""
    screen.print(f"{shape['tokens']:,} of at most {shape['max_tokens']:,} tokens{saved}")
    if shape["left_out"]:
        reasons: dict[str, int] = {}
        for entry in shape["left_out"]:
            reasons[entry["reason"]] = reasons.get(entry["reason"], 0) + 1
        said = ", ".join(f"{count} by {reason}" for reason, count in reasons.items())
        screen.print(f"left out: {said} (--json names them)", markup=False)


def _print_entities(screen: Console, items: tuple[dict[str, Any], ...], following: str | None) -> None:

    rows = table("name", "messages", "first", "last", "where")
    for item in items:
        name = f"{item['name']} (you)" if item["is_self"] else item["name"]
        first, last = ((item[key] or "")[:10] for key in ("first_contact", "last_contact"))
        rows.add_row(plain(name), f"{item['messages']:,}", first, last, plain(", ".join(item["identities"])))
    screen.print(rows)
    say_if_more(screen, following)


def _print_summaries(screen: Console, items: tuple[dict[str, Any], ...], following: str | None) -> None:
    for item in items:
        began = item["started_at"][:16].replace("T", " ")
        screen.print(f"[bold]{began}[/bold]  {plain(item['chat'])}  [dim]{item['status']}[/dim]")
        said = item["summary"] or "(withheld: it rests on a deleted message)"
        screen.print(without_controls(said), markup=False)
        for decision in item["decisions"]:
            said = f"decided {decision['date']} ({decision['importance']}): {decision['description']}"
            screen.print(f"  {plain(said)}")
        for action in item["action_items"]:
            due = f", due {action['due_date']}" if action["due_date"] else ""
            said = f"{action['status']} ({action['owner']}{due}): {action['description']}"
            screen.print(f"  {plain(said)}")
        screen.print()
    screen.print(counted(len(items), "summary", "summaries"))
    say_if_more(screen, following)


def day_of(given: str | None, option: str) -> date | None:
    if given is None:
        return None
    try:
        return datetime.strptime(given, "%Y-%m-%d").replace(tzinfo=UTC).date()
    except ValueError as error:
        raise typer.BadParameter(f"{given!r} is no day, such as 2026-03-15", param_hint=option) from error


def moment_of(given: str | None, settings: Settings, memory: Memory, option: str = "--as-of") -> datetime | None:
    """``--as-of``: an ISO time, local without an offset, or a day, which means its end (P9)."""
    try:
        return None if given is None else parse_moment(given, settings.zone, now=memory.clock.now())
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from error
