"""What a person decides about facts: confirms, rejects, corrects, adds (B2). Kept for ever, and applied at once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.items.fact_verdicts import FactAction, FactStatus
from pkg_pipeline.memory.text.normalise import comparable
from pkg_pipeline.stages.items.fact_entry import entered_type, entered_value
from pkg_pipeline.stages.reads.facts import FactUnknown
from pkg_pipeline.stages.reads.stores import BadRequest

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.items.fact_verdicts import PostgresFactVerdictStore


@dataclass(frozen=True, slots=True)
class AlikeFact:
    """A fact of the same one and type. ``said``: as it was read; ``chat_id``: None of a person's own."""

    id: UUID
    value: str
    said: str
    chat_id: UUID | None
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DecidedFact:
    """The fact that is decided about; ``alike``: all of its type that are known of the same one, itself among them."""

    id: UUID
    entity_id: UUID | None
    about_name: str | None
    told_by: UUID | None
    fact_type: str
    value: str
    said: str
    status: FactStatus
    decided_by: str
    alike: tuple[AlikeFact, ...] = ()


@dataclass(frozen=True, slots=True)
class KeptVerdict:
    """A verdict as it is kept, as ``memory.items.fact_verdicts.FactVerdict``; with the messages that the fact rests on,
    so that it is forgotten with them.
    """

    fact_id: UUID
    entity_id: UUID | None
    about_name: str | None
    told_by: UUID | None
    fact_type: str
    said: str
    action: FactAction
    at: datetime
    value: str | None = None
    valid_from: datetime | None = None
    chat_id: UUID | None = None
    message_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FactEdit:
    """What a person wants; None: as it is. A value alone confirms, too."""

    status: FactStatus | None = None
    value: str | None = None


@dataclass(frozen=True, slots=True)
class NewFact:
    """``valid_from``: since when it holds; None: from now on."""

    entity_id: UUID
    fact_type: str
    value: str
    valid_from: datetime | None = None


def decide_fact(store: PostgresFactVerdictStore, fact_id: UUID, wanted: FactEdit, *, now: datetime) -> None:
    """Raises FactUnknown, BadRequest. The same again changes nothing."""
    if not store.decide(fact_id, lambda fact: verdicts(fact, wanted, now=now)):
        raise FactUnknown(f"there is no fact {fact_id}")


def add_fact(store: PostgresFactVerdictStore, wanted: NewFact, *, now: datetime) -> UUID:
    """The id of the fact. Raises BadRequest."""
    try:
        fact_type = entered_type(wanted.fact_type)
    except ValueError as error:
        raise BadRequest("type", str(error)) from error
    value = _value(fact_type, wanted.value)
    valid_from = now if wanted.valid_from is None else wanted.valid_from
    if valid_from > now:
        raise BadRequest("from", "a fact holds from a day that was, or from today on")
    fact_id = hashing.item_id(wanted.entity_id, "added fact", fact_type, comparable(value))
    verdict = KeptVerdict(fact_id, wanted.entity_id, None, None, fact_type, value, "add", now, valid_from=valid_from)
    store.add(verdict)
    return fact_id


def verdicts(fact: DecidedFact, wanted: FactEdit, *, now: datetime) -> list[KeptVerdict]:
    """The verdicts that ``wanted`` comes to: on every fact that says the same, so that each goes with its own messages;
    none where it stands already. Raises BadRequest for what it cannot have.
    """
    if wanted.status == "candidate" or wanted == FactEdit():
        raise BadRequest("status", "say what to change: confirmed or rejected, or the value")
    if wanted.status == "rejected" and wanted.value is not None:
        raise BadRequest("value", "a rejected fact needs no other value")
    value = None if wanted.value is None else _value(fact.fact_type, wanted.value)
    status = wanted.status or "confirmed"
    if fact.decided_by == "person" and fact.status == status and value in (None, fact.value):
        return []
    action: FactAction = "reject" if status == "rejected" else "confirm" if value is None else "edit"
    rejects = action == "reject"
    meant = {comparable(said) for said in _values(fact.said, fact.value, both=rejects)}
    return [
        KeptVerdict(
            fact_id=one.id,
            entity_id=fact.entity_id,
            about_name=fact.about_name,
            told_by=fact.told_by,
            fact_type=fact.fact_type,
            said=said,
            action=action,
            at=now,
            value=value,
            chat_id=one.chat_id,
            message_ids=one.message_ids,
        )
        for one in fact.alike
        if meant & {comparable(said) for said in _values(one.said, one.value, both=rejects)}
        for said in _values(one.said, one.value, both=rejects)
    ]


def _values(said: str, value: str, *, both: bool) -> tuple[str, ...]:
    """Of a corrected value both are rejected: neither comes back when it is said again."""
    return (said, value) if both and value != said else (said,)


def _value(fact_type: str, text: str) -> str:
    try:
        return entered_value(fact_type.casefold(), text)
    except ValueError as error:
        raise BadRequest("value", str(error)) from error
