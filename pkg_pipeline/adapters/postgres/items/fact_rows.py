"""Facts of a reading as rows: whom a name means, until when each fact holds, where people work (P13, B2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.types.json import Jsonb

from pkg_pipeline.adapters.postgres.engine import Connection
from pkg_pipeline.adapters.postgres.json_rows import rows_of
from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.gate.people import find_person
from pkg_pipeline.memory.items.fact_periods import StatedFact, held_until
from pkg_pipeline.memory.items.records import ReadFact
from pkg_pipeline.memory.records import Person

SQL = Statements("facts")


class Known(NamedTuple):
    """Whose facts belong together: an entity's, or those that one person tells of somebody by this name."""

    entity_id: UUID | None
    about_name: str | None
    told_by: UUID | None

    @classmethod
    def of(cls, entity_id: UUID | None, about_name: str | None, told_by: UUID | None) -> Known:
        return cls(entity_id, None, None) if entity_id is not None else cls(None, (about_name or "").lower(), told_by)


def save_facts(
    connection: Connection, facts: Sequence[ReadFact], *, interaction: UUID, chat: UUID, confidence: float
) -> frozenset[UUID]:
    """Stores what a conversation states instead of what it stated; returns conversations whose facts changed by it.

    In the caller's transaction. Facts about nobody known are left out.
    """
    before = SQL.rows(connection, "stated", Known.of, interaction=interaction)
    bound = [_bound(connection, fact, chat) for fact in facts if fact.entity_id is not None or fact.about_name]
    SQL.run(connection, "drop", interaction=interaction, stated=[fact.id for fact in bound])
    if bound:
        given = {"facts": Jsonb(rows_of(bound)), "fact_confidence": confidence}
        SQL.run(connection, "insert", interaction=interaction, **given)
    people = {*before, *(Known.of(fact.entity_id, fact.about_name, fact.told_by) for fact in bound)}
    return settle_facts(connection, people)


def _bound(connection: Connection, fact: ReadFact, chat: UUID) -> ReadFact:
    """A fact of somebody named, about the entity if exactly one fits the name."""
    if fact.entity_id is not None or fact.about_name is None:
        return fact
    rows = SQL.rows(connection, "namesakes", Person, name=fact.about_name, chat=chat)
    person = find_person(fact.about_name, rows)
    return fact if person is None else replace(fact, entity_id=person.entity_id)


def settle_facts(connection: Connection, people: Iterable[Known]) -> frozenset[UUID]:
    """Closes what newer facts of these people end, opens again what nothing ends any more, and sets where they work;
    returns the conversations whose facts hold for another time than before.
    """
    chosen = sorted(set(people), key=repr)
    if not chosen:
        return frozenset()
    named = [one for one in chosen if one.entity_id is None]
    entities = [one.entity_id for one in chosen if one.entity_id is not None]
    given = {"names": [one.about_name for one in named], "tellers": [one.told_by for one in named]}
    stated: dict[Known, list[StatedFact]] = {one: [] for one in chosen}
    for row in SQL.rows(connection, "of_people", people=entities, **given):
        fact = StatedFact(row.id, row.fact_type, row.value, row.valid_from, row.is_ended, row.replaces)
        stated[Known.of(row.entity_id, row.about_name, row.told_by)].append(fact)
    until = {key: end for facts in stated.values() for key, end in held_until(facts).items()}
    changed = SQL.values(connection, "end", ids=list(until), until=list(until.values()))
    for one, facts in stated.items():
        if one.entity_id is not None:
            _employ(connection, one.entity_id, [fact for fact in facts if fact.fact_type == "organization"], until)
    return frozenset(changed)


def _employ(connection: Connection, entity: UUID, facts: Collection[StatedFact], until: dict[UUID, Any]) -> None:
    """Where somebody works: the organisation of the fact that holds."""
    ids = {fact.id: hashing.organization_id(fact.value) for fact in facts}
    current = max((fact for fact in facts if until[fact.id] is None), key=lambda one: one.valid_from, default=None)
    organization = None
    if current is not None:
        organization = ids[current.id]
        SQL.run(connection, "name_organization", id=organization, name=current.value)
    given = {"entity": entity, "organization": organization, "past": sorted(set(ids.values()))}
    SQL.run(connection, "join_organization", **given)
