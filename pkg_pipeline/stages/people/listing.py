"""Persons with their accounts, and suggestions, as commands and routes show them (B20)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from pkg_pipeline.memory.people.suggestions import Evidence, suggestions
from pkg_pipeline.memory.text.cleaning import clean_name
from pkg_pipeline.stages.reads.entities import entity_json
from pkg_pipeline.stages.reads.stores import EntityUnknown, ListedEntity

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.people.store import PostgresPeopleStore
    from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore


@dataclass(frozen=True, slots=True)
class Suggested:
    """Two that may be one, with the evidence and how much it says, 0 to 1."""

    people: tuple[ListedEntity, ListedEntity]
    evidence: tuple[Evidence, ...]
    score: float

    def to_json(self) -> dict[str, Any]:
        return {
            "people": [entity_json(one) for one in self.people],
            "evidence": [{"kind": one.kind, "value": clean_name(one.value)} for one in self.evidence],
            "score": self.score,
        }


def suggested(store: PostgresPeopleStore, reads: PostgresReadStore, *, limit: int) -> list[Suggested]:
    """The surest first; of two the one with more messages first."""
    found: list[Suggested] = []
    for one in suggestions(store.known_people(), store.dismissed())[:limit]:
        pair = [reads.entity(one.first), reads.entity(one.second)]
        first, second = sorted((person for person in pair if person is not None), key=lambda who: -who.messages)
        found.append(Suggested((first, second), one.evidence, one.score))
    return found


def person_json(store: PostgresPeopleStore, reads: PostgresReadStore, person: UUID) -> dict[str, Any]:
    """As the list of entities, with each account's own name and the names that a person added. Raises EntityUnknown."""
    listed = reads.entity(person)
    if listed is None:
        raise EntityUnknown(str(person))
    accounts = store.accounts(listed.id)
    return {
        **entity_json(listed),
        "aliases": [clean_name(name) for name in (accounts[0].aliases if accounts else ())],
        "accounts": [
            {"id": str(one.id), "name": clean_name(one.own_name), "identities": list(one.identities)}
            for one in accounts
        ],
    }
