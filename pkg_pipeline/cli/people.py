"""``pkg-pipeline entities``: everybody by name, and who is who (B20)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer
from typer.core import TyperGroup

from pkg_pipeline.cli.reading import Limit, entities, found_entity
from pkg_pipeline.cli.terminal import (
    CommandFailed,
    JsonFlag,
    as_text,
    counted,
    memory_in_force,
    own_command,
    plain,
    show,
    table,
)
from pkg_pipeline.stages.people.records import DecisionUnknown, Kept
from pkg_pipeline.stages.reads.entities import contact
from pkg_pipeline.stages.reads.paging import DEFAULT_ROWS
from pkg_pipeline.stages.reads.short_ids import SHORT_ID

if TYPE_CHECKING:
    from rich.console import Console

    from pkg_pipeline.stages.people.listing import Suggested
    from pkg_pipeline.wiring.people import PeopleWork


class _Listing(TyperGroup):
    """Whatever is no command is a name to look for: ``entities anna`` is ``entities list anna``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = ["list", *args]
        return super().parse_args(ctx, args)


group = typer.Typer(
    cls=_Listing,
    help="Everybody the memory knows, by name; who is who: merge, split, alias, rename, suggest, undo.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
group.command("list")(entities)

Who = Annotated[str, typer.Argument(help="Name that fits exactly one, or id, or key (source:external-id).")]


@group.command()
def merge(
    entity: Annotated[str, typer.Argument(help="Who stays: name, id or key (source:external-id).")],
    other: Annotated[str, typer.Argument(help="Who is the same person: name, id or key.")],
    json: JsonFlag = False,
) -> None:
    """They are one person, whichever account writes. Every read shows that at once."""
    with _people() as (work, id_of):
        person, second = id_of(entity), id_of(other)
        _show(work, work.merge(person, second), person, as_json=json)


@group.command()
def split(
    entity: Who,
    identities: Annotated[
        list[str], typer.Argument(help="Accounts of somebody else: keys (source:external-id) or ids.")
    ],
    json: JsonFlag = False,
) -> None:
    """These accounts are another person, one and the same."""
    with _people() as (work, id_of):
        person = id_of(entity)
        _show(work, work.split(person, list(map(as_text, identities))), person, as_json=json)


@group.command()
def alias(
    entity: Who,
    names: Annotated[list[str], typer.Argument(help="What they are called, too.")],
    remove: Annotated[bool, typer.Option("--remove", help="They are not called so.")] = False,
    json: JsonFlag = False,
) -> None:
    """Further names, by which commands, questions and messages of a group may call somebody."""
    with _people() as (work, id_of):
        person = id_of(entity)
        change = work.remove_alias if remove else work.add_alias
        _show(work, change(person, list(map(as_text, names))), person, as_json=json)


@group.command()
def rename(
    entity: Who,
    name: Annotated[str, typer.Argument(help="What they are called from now on.")],
    json: JsonFlag = False,
) -> None:
    """Another name, whatever later imports call their accounts."""
    with _people() as (work, id_of):
        person = id_of(entity)
        _show(work, work.rename(person, as_text(name)), person, as_json=json)


@group.command()
def suggest(limit: Limit = DEFAULT_ROWS, json: JsonFlag = False) -> None:
    """Who may be one person, and why. Nothing is merged unless you say so."""
    with _people() as (work, _):
        found = work.suggested(limit=limit)
    show(
        {"items": [one.to_json() for one in found]}, as_json=json, human=lambda screen: _print_suggested(screen, found)
    )


@group.command()
def dismiss(
    entity: Who,
    other: Annotated[str, typer.Argument(help="Who is somebody else: name, id or key.")],
    json: JsonFlag = False,
) -> None:
    """They are two people: it is not suggested again."""
    with _people() as (work, id_of):
        person, second = id_of(entity), id_of(other)
        _show(work, work.dismiss(person, second), person, as_json=json)


@group.command()
def history(
    entity: Annotated[str | None, typer.Argument(help="Only decisions about them.", show_default=False)] = None,
    limit: Limit = DEFAULT_ROWS,
    json: JsonFlag = False,
) -> None:
    """What was decided about who is who, the newest first."""
    with _people() as (work, id_of):
        person = None if entity is None else id_of(entity)
        found = [one.to_json() for one in work.store.decisions(person=person, limit=limit)]
    show({"items": found}, as_json=json, human=lambda screen: _print_history(screen, found))


@group.command()
def undo(
    decision: Annotated[str, typer.Argument(help="Id of the decision, or its first eight digits.")],
    json: JsonFlag = False,
) -> None:
    """As if it had never been decided."""
    with _people() as (work, _):
        kept = work.undo(decision)
        found = None if kept.id is None else work.store.decision(kept.id).to_json()
    said = "it was undone before" if found is None else f"undone: {_told(found)}"
    show({"decision": found}, as_json=json, human=lambda screen: screen.print(plain(said)))


@contextmanager
def _people() -> Iterator[tuple[PeopleWork, Callable[[str], UUID]]]:
    from pkg_pipeline.wiring.people import PeopleWork  # what only lists people does not need it

    with memory_in_force() as memory:
        try:
            yield PeopleWork(memory), lambda asked: found_entity(memory, asked).id
        except DecisionUnknown as error:
            raise CommandFailed(str(error)) from error


def _show(work: PeopleWork, kept: Kept, person: UUID, *, as_json: bool) -> None:
    decision = None if kept.id is None else work.store.decision(kept.id).to_json()
    answer = {"decision": decision, "entity": work.person_json(person)}

    def human(screen: Console) -> None:
        one = answer["entity"]
        also = f", also called {', '.join(one['aliases'])}" if one["aliases"] else ""
        screen.print(plain(f"{one['name']}{also}: {', '.join(one['identities'])}"))
        if decision is None:
            screen.print("that stood already")
        else:
            screen.print(plain(f"to undo it: {own_command()} entities undo {decision['id'][:SHORT_ID]}"))

    show(answer, as_json=as_json, human=human)


def _print_suggested(screen: Console, found: Sequence[Suggested]) -> None:
    rows = table("who", "and who", "the same", "how sure")
    for one in found:
        first, second = (plain(f"{who.name} ({contact(who)})") for who in one.people)
        why = "; ".join(f"{evidence.kind.replace('_', ' ')} {evidence.value}" for evidence in one.evidence)
        rows.add_row(first, second, plain(why), f"{one.score:.2f}")
    if found:
        screen.print(rows)
        screen.print(plain(f"{own_command()} entities merge WHO WHO, or entities dismiss WHO WHO: by name, id or key"))
    screen.print(counted(len(found), "suggestion"))


def _print_history(screen: Console, found: Sequence[dict[str, Any]]) -> None:
    rows = table("id", "decided", "what", "undone")
    for one in found:
        undone = (one["undone_at"] or "")[:10]
        rows.add_row(one["id"][:SHORT_ID], one["decided_at"][:10], plain(_told(one)), undone)
    if found:
        screen.print(rows)
    screen.print(counted(len(found), "decision"))


def _told(decision: dict[str, Any]) -> str:
    about = " and ".join(one["name"] + (f" ({one['account']})" if one["account"] else "") for one in decision["about"])
    return f"{decision['kind']} {about}" + (f": {decision['name']}" if decision["name"] else "")
