"""What a person decides about items: closes, reopens, edits (B17). Kept for ever, and applied at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from pkg_pipeline.memory.items.records import ItemKind, ItemOwner, PersonDecision
from pkg_pipeline.stages.reads.items import ItemUnknown
from pkg_pipeline.stages.reads.stores import BadRequest

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.items.verdicts import PostgresVerdictStore

MOST_CHARS = 300

Wanted = Literal["open", "done", "cancelled"]


@dataclass(frozen=True, slots=True)
class DecidedItem:
    """An item with a person's verdicts on it, the newest last."""

    kind: ItemKind
    verdicts: tuple[PersonDecision, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemEdit:
    """What a person wants; None: as it is. ``closed``: done, or cancelled where the item is a decision."""

    status: Wanted | Literal["closed"] | None = None
    text: str | None = None
    owner: ItemOwner | None = None
    due_date: date | None = None
    clear_due_date: bool = False


def decide(store: PostgresVerdictStore, item_id: UUID, wanted: ItemEdit, *, now: datetime) -> None:
    """Raises ItemUnknown, BadRequest. The same again changes nothing."""
    wanted = replace(wanted, text=None if wanted.text is None else _words(wanted.text))
    if wanted == ItemEdit():
        raise BadRequest("status", "say what to change: the status, the words, the owner or the due date")
    if wanted.clear_due_date and wanted.due_date is not None:
        raise BadRequest("due_date", "an item is due on a day, or on none")
    if not store.decide(item_id, lambda item: decisions(item_id, item, wanted, now=now)):
        raise ItemUnknown(f"there is no item {item_id}")


def decisions(item_id: UUID, item: DecidedItem, wanted: ItemEdit, *, now: datetime) -> list[PersonDecision]:
    """The verdicts that ``wanted`` comes to, after the last one. Raises BadRequest for what it cannot have."""
    made: list[PersonDecision] = []
    if item.kind == "decision" and (wanted.owner or wanted.due_date or wanted.clear_due_date):
        raise BadRequest("owner" if wanted.owner else "due_date", "a decision has neither owner nor due date")
    if replace(wanted, status=None) != ItemEdit():
        made.append(
            PersonDecision(
                item_id,
                now,
                "edit",
                text=wanted.text,
                owner=wanted.owner,
                due_date=wanted.due_date,
                clear_due_date=wanted.clear_due_date,
            )
        )
    if wanted.status == "open":
        made.append(PersonDecision(item_id, now, "reopen"))
    elif wanted.status is not None:
        made.append(PersonDecision(item_id, now, "close", status=_closed(item.kind, wanted.status)))
    if made == [replace(one, at=now) for one in item.verdicts[-len(made) :]]:
        return []
    return _in_order(made, item.verdicts[-1] if item.verdicts else None)


def _closed(kind: ItemKind, status: str) -> Literal["done", "cancelled"]:
    if kind == "decision":
        if status == "done":
            raise BadRequest("status", "a decision is taken back (cancelled), not done")
        return "cancelled"
    return "cancelled" if status == "cancelled" else "done"


def _in_order(made: list[PersonDecision], last: PersonDecision | None) -> list[PersonDecision]:
    """Each later than the one before, also where the clock stands."""
    ordered: list[PersonDecision] = []
    for one in made:
        at = one.at if last is None else max(one.at, last.at + timedelta(microseconds=1))
        last = replace(one, at=at)
        ordered.append(last)
    return ordered


def _words(text: str) -> str:
    words = " ".join(text.replace("\0", "").split())
    if not words or len(words) > MOST_CHARS:
        raise BadRequest("text", f"the words of an item are one line of 1 to {MOST_CHARS} characters")
    return words
