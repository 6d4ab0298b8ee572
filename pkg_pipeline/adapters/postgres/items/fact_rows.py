"""Facts of a reading as rows: whom a name means, until when each fact holds, where people work (P13, B2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
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
from pkg_pipeline.memory.items.fact_rules import ConfirmRules
from pkg_pipeline.memory.items.fact_verdicts import FactVerdict, ReadValue, judge
from pkg_pipeline.memory.items.records import ReadFact
from pkg_pipeline.memory.records import Person

SQL, VERDICTS, CHUNKS = Statements("facts"), Statements("fact_verdicts"), Statements("chunks")


EMPLOYER = "organization"


class Known(NamedTuple):
    """Whose facts belong together: an entity's, or those that one person tells of somebody by this name."""

    entity_id: UUID | None
    about_name: str | None
    told_by: UUID | None

    @classmethod
    def of(cls, entity_id: UUID | None, about_name: str | None, told_by: UUID | None) -> Known:
        return cls(entity_id, None, None) if entity_id is not None else cls(None, (about_name or "").lower(), told_by)


def save_facts(
    connection: Connection, facts: Sequence[ReadFact], *, interaction: UUID, chat: UUID, rules: ConfirmRules
) -> frozenset[UUID]:
    """Stores what a conversation states instead of what it stated; returns conversations whose facts changed by it.

    In the caller's transaction. Facts about nobody known are left out.
    """
    before, left = _stated(connection, [interaction])
    bound = [_bound(connection, fact, chat) for fact in facts if fact.entity_id is not None or fact.about_name]
    SQL.run(connection, "drop", interaction=interaction, stated=[fact.id for fact in bound])
    if bound:
        rows = [{**row, **_needed(rules, fact)} for row, fact in zip(rows_of(bound), bound, strict=True)]
        SQL.run(connection, "insert", interaction=interaction, facts=Jsonb(rows))
    people = {*before, *(Known.of(fact.entity_id, fact.about_name, fact.told_by) for fact in bound)}
    return settle_facts(connection, people, left=left)


def forget_facts(connection: Connection, interactions: Collection[UUID]) -> tuple[int, frozenset[UUID]]:
    """What these conversations stated is gone, and what it had ended is in force again; how many facts, and the other
    conversations whose facts changed by it. In the caller's transaction.
    """
    before, left = _stated(connection, interactions)
    count = SQL.run(connection, "forget", interactions=list(interactions))
    return count, settle_facts(connection, before, left=left).difference(interactions)


def _stated(connection: Connection, interactions: Collection[UUID]) -> tuple[list[Known], dict[UUID, set[str]]]:
    """Whom the facts of conversations are about, and by person where they are said to work."""
    given = {"interactions": list(interactions)}
    left: dict[UUID, set[str]] = {}
    for row in SQL.rows(connection, "employers", **given):
        left.setdefault(row.entity_id, set()).update({row.name} - {None})
    return SQL.rows(connection, "stated", Known.of, **given), left


def _needed(rules: ConfirmRules, fact: ReadFact) -> dict[str, float]:
    needed = {is_own: rules.needed(fact.fact_type, is_own=is_own) for is_own in (True, False)}
    return {"needed_own": needed[True], "needed_of_others": needed[False]}


def _bound(connection: Connection, fact: ReadFact, chat: UUID) -> ReadFact:
    """A fact of somebody named, about the entity if exactly one fits the name."""
    if fact.entity_id is not None or fact.about_name is None:
        return fact
    rows = SQL.rows(connection, "namesakes", Person, name=fact.about_name, chat=chat)
    person = find_person(fact.about_name, rows)
    return fact if person is None else replace(fact, entity_id=person.entity_id)


def settle_facts(
    connection: Connection, people: Iterable[Known], *, left: Mapping[UUID, Collection[str]] | None = None
) -> frozenset[UUID]:
    """Makes of the facts of these people what was decided about them, closes what newer ones end, opens again what
    nothing ends any more, and sets where they work; returns the conversations whose facts are others than before.
    ``left``: organisations that were told of them until now.
    """
    chosen = sorted(set(people), key=repr)
    if not chosen:
        return frozenset()
    named = [one for one in chosen if one.entity_id is None]
    given: dict[str, Any] = {
        "people": [one.entity_id for one in chosen if one.entity_id is not None],
        "names": [one.about_name for one in named],
        "tellers": [one.told_by for one in named],
    }
    SQL.run(connection, "add", people=given["people"])
    rows = SQL.rows(connection, "of_people", **given)
    changed = _judged(connection, rows, given)
    if changed:
        rows = SQL.rows(connection, "of_people", **given)
    stated: dict[Known, list[StatedFact]] = {one: [] for one in chosen}
    for row in rows:
        if row.status == "confirmed":
            stated[_whose(row)].append(
                StatedFact(
                    row.id,
                    row.fact_type,
                    row.value,
                    row.valid_from,
                    row.is_ended,
                    row.replaces,
                    row.decided_by == "person",
                )
            )
    until = {key: end for facts in stated.values() for key, end in held_until(facts).items()}
    ended = SQL.rows(connection, "end", ids=list(until), until=list(until.values()))
    CHUNKS.run(connection, "withhold_facts", ids=[row.id for row in ended])
    changed |= {row.interaction_id for row in ended}
    for one, facts in stated.items():
        if one.entity_id is not None:
            known = {
                value
                for row in rows
                if _whose(row) == one and row.fact_type == EMPLOYER
                for value in (row.value, row.said)
            }.union((left or {}).get(one.entity_id, ()))
            _employ(connection, one.entity_id, [fact for fact in facts if fact.fact_type == EMPLOYER], until, known)
    return frozenset(one for one in changed if one is not None)


def _judged(connection: Connection, rows: Sequence[Any], given: dict[str, Any]) -> set[UUID | None]:
    """Apply what a person decided. What rests on a deleted message waits; of what was decided by words that are
    forgotten the person is asked again.
    """
    verdicts = [
        FactVerdict(row.fact_id, _whose(row), row.fact_type, row.said, row.action, row.at, row.value)
        for row in VERDICTS.rows(connection, "of_people", facts=[row.id for row in rows], **given)
    ]
    decided = [row for row in rows if row.decided_by == "person"]
    if not verdicts and not decided:
        return set()
    judged = judge([ReadValue(row.id, _whose(row), row.fact_type, row.said) for row in rows], verdicts)
    withheld = set(SQL.values(connection, "withheld", ids=list(judged)))
    columns: list[tuple[Any, ...]] = []
    for row in rows:
        if (one := judged.get(row.id)) is not None:
            status = "candidate" if row.id in withheld and one.status == "confirmed" else one.status
            columns.append((row.id, status, one.value, "person", one.at if one.status == "rejected" else None))
        elif row.decided_by == "person":
            columns.append((row.id, "candidate", row.said, "memory", None))
    ids, statuses, values, by, known_to = (
        (list(column) for column in zip(*columns, strict=True)) if columns else [[]] * 5
    )
    found = SQL.rows(connection, "judge", ids=ids, statuses=statuses, values=values, by=by, known_to=known_to)
    CHUNKS.run(connection, "withhold_facts", ids=[row.id for row in found])
    return {row.interaction_id for row in found}


def _whose(row: Any) -> Known:
    return Known.of(row.entity_id, row.about_name, row.told_by)


def _employ(
    connection: Connection,
    entity: UUID,
    facts: Collection[StatedFact],
    until: dict[UUID, Any],
    known: Collection[str],
) -> None:
    """Where somebody works: the organisation of the fact that holds. ``known``: all that were ever told."""
    current = max((fact for fact in facts if until[fact.id] is None), key=lambda one: one.valid_from, default=None)
    organization = None
    if current is not None:
        organization = hashing.organization_id(current.value)
        SQL.run(connection, "name_organization", id=organization, name=current.value)
    past = sorted({hashing.organization_id(name) for name in known})
    SQL.run(connection, "join_organization", entity=entity, organization=organization, past=past)
    SQL.run(connection, "drop_organizations", past=past)
