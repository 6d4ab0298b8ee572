"""``pkg-pipeline facts``: what is known about people, and a person's review of it (B2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, time
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
    settings_in_force,
    show,
    table,
)
from pkg_pipeline.stages.items.fact_deciding import FactEdit, NewFact
from pkg_pipeline.stages.reads.facts import FactFilter, FactUnknown, ListedStatus, fact_id_of, list_facts, one_fact
from pkg_pipeline.stages.reads.paging import DEFAULT_ROWS
from pkg_pipeline.stages.reads.short_ids import SHORT_ID
from pkg_pipeline.wiring.facts import FactReview

if TYPE_CHECKING:
    from rich.console import Console

facts = typer.Typer(
    help="What is known about people: list, confirm, reject, edit, add.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

STATUSES = get_args(ListedStatus)
FactIds = Annotated[
    list[str], typer.Argument(help="Ids of facts, or their first eight digits, as the list shows them.")
]
FactId = Annotated[str, typer.Argument(help="Id of the fact, or its first eight digits.")]


@facts.command("list")
def list_(
    entity: Annotated[
        str | None, typer.Option(help="Name, id or key of whom they are about.", show_default=False)
    ] = None,
    status: Annotated[str | None, typer.Option(help=f"One of {', '.join(STATUSES)}.", show_default=False)] = None,
    type_: Annotated[
        str | None, typer.Option("--type", help="Such as phone, email or position.", show_default=False)
    ] = None,
    limit: Limit = DEFAULT_ROWS,
    cursor: Cursor = None,
    json: JsonFlag = False,
) -> None:
    """The newest first; also of people whom somebody only tells of. A candidate is not served until it is confirmed."""
    one_of(status, STATUSES, "--status")
    with memory_in_force() as memory:
        wanted = FactFilter(
            entity_id=None if entity is None else found_entity(memory, entity).id,
            fact_type=None if type_ is None else as_text(type_),
            statuses=() if status is None else (cast(ListedStatus, status),),
        )
        page = list_facts(FactReview(memory).reads, wanted, limit=limit, cursor=cursor)
        say_if_empty(memory, found=page.items)
    show(page.to_json(), as_json=json, human=lambda screen: _print_facts(screen, page.items, page.next))


@facts.command()
def confirm(ids: FactIds, json: JsonFlag = False) -> None:
    """They are right, and served from now on. No run changes that."""
    _decide(ids, FactEdit(status="confirmed"), as_json=json)


@facts.command()
def reject(ids: FactIds, json: JsonFlag = False) -> None:
    """They are wrong: not served, also when another conversation says the same."""
    _decide(ids, FactEdit(status="rejected"), as_json=json)


@facts.command()
def edit(
    fact: FactId,
    value: Annotated[str, typer.Option(help="The right value.", show_default=False)],
    json: JsonFlag = False,
) -> None:
    """Another value. It is confirmed by that, and no run changes it back."""
    _decide([fact], FactEdit(value=as_text(value)), as_json=json)


@facts.command()
def add(
    entity: Annotated[str, typer.Option(help="Name, id or key of whom it is about.", show_default=False)],
    type_: Annotated[str, typer.Option("--type", help="Such as phone, email or position.", show_default=False)],
    value: Annotated[str, typer.Option(help="What is known.", show_default=False)],
    from_: Annotated[str | None, typer.Option("--from", help="The day since which it holds; now without.")] = None,
    json: JsonFlag = False,
) -> None:
    """What no conversation says. It takes the place of an older value where a person has one at a time."""
    settings = settings_in_force()
    day = day_of(from_, "--from")
    since = None if day is None else datetime.combine(day, time.min, settings.zone)
    with memory_in_force(settings) as memory, _known():
        found, review = found_entity(memory, entity), FactReview(memory)
        made = review.add(NewFact(found.id, as_text(type_), as_text(value), since))
        shown = one_fact(review.reads, made)
    show(shown, as_json=json, human=lambda screen: _print_facts(screen, [shown], None))


def _decide(ids: Sequence[str], wanted: FactEdit, *, as_json: bool) -> None:
    with memory_in_force() as memory, _known():
        review = FactReview(memory)
        found = list(dict.fromkeys(fact_id_of(review.reads, one) for one in ids))
        for one in found:
            review.decide(one, wanted)
        shown = [one_fact(review.reads, one) for one in found]
    show({"items": shown}, as_json=as_json, human=lambda screen: _print_facts(screen, shown, None))


@contextmanager
def _known() -> Iterator[None]:
    try:
        yield
    except FactUnknown as error:
        raise CommandFailed(str(error)) from error


def _print_facts(screen: Console, found: Sequence[dict[str, Any]], following: str | None) -> None:
    rows = table("id", "status", "whose", "what", "value", "true from", "to", "said")
    for one in found:
        rows.add_row(
            one["id"][:SHORT_ID],
            _status(one),
            plain(one["entity_name"] or f"{one['about'] or ''} (told of)"),
            plain(one["type"]),
            plain(one["display"]),
            (one["true_from"] or "")[:10],
            (one["true_to"] or "")[:10],
            plain(one["quote"]),
        )
    if found:
        screen.print(rows)
    screen.print(counted(len(found), "fact"))
    say_if_more(screen, following)


def _status(one: dict[str, Any]) -> str:
    status = one["status"] + (" (yours)" if one["decided_by"] == "person" else "")
    status += f", {one['probability']:.2f}" if one["status"] == "candidate" else ""
    return status + (", edited since" if one["stale"] else "")
