"""Resolves an entity by id, key or name; lists entities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from pkg_pipeline.memory.hashing import key_spellings
from pkg_pipeline.memory.text.cleaning import clean_name
from pkg_pipeline.memory.text.timestamps import iso
from pkg_pipeline.stages.reads.paging import Page, name_position, page_of
from pkg_pipeline.stages.reads.stores import EntityUnknown, ListedEntity

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore

MOST_CANDIDATES = 20
MOST_NAMES = 20_000
"""Names a misspelt one is compared with, the first by alphabet."""


class EntityNotFound(EntityUnknown):
    """No such name; ``candidates`` look or sound like it, ``nearest`` are their names."""

    def __init__(self, asked: str, candidates: tuple[ListedEntity, ...] = ()) -> None:
        near = [f"{one.name} ({contact(one)})" for one in candidates]
        hint = f"; did you mean {_listed(near)}?" if near else ""
        super().__init__(f"nobody here is called {asked!r}{hint}")
        self.asked = asked
        self.nearest = tuple(one.name for one in candidates)
        self.candidates = candidates


class EntityAmbiguous(Exception):
    """Several match; ``is_complete``: ``candidates`` has all of them."""

    def __init__(self, asked: str, candidates: tuple[ListedEntity, ...], *, is_complete: bool) -> None:
        lines = "; ".join(f"{one.name} ({one.id}, {contact(one)})" for one in candidates)
        count = f"{len(candidates)}" if is_complete else f"more than {len(candidates)}"
        super().__init__(f"{asked!r} fits {count}: {lines}. Ask again with one of these ids")
        self.asked = asked
        self.candidates = candidates
        self.is_complete = is_complete


def entity_id(store: PostgresReadStore, asked: str) -> UUID:
    """Entity id of an id or name; an id is not looked up. Raises EntityNotFound, EntityAmbiguous for a name."""
    try:
        return UUID(asked)
    except ValueError:
        return find_entity(store, asked).id


def find_entity(store: PostgresReadStore, asked: str) -> ListedEntity:
    """The entity of an id, key (identity or direct chat) or name. Raises EntityNotFound, EntityAmbiguous.

    Case-insensitive; an exact name wins over names that contain it, these over one that sounds like it in another
    script.
    """
    asked = clean_name(asked.replace("\0", "")).strip()
    if (identity := _as_uuid(asked)) is not None:
        found = store.entity(identity)
        if found is None:
            raise EntityNotFound(asked)
        return found
    if not asked:
        raise EntityNotFound(asked)
    if (owner := _of_key(store, asked)) is not None:
        return owner
    for exact in (True, False):
        fitting = store.entities_named(asked, exact=exact, limit=MOST_CANDIDATES + 1)
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            is_complete = len(fitting) <= MOST_CANDIDATES
            raise EntityAmbiguous(asked, tuple(fitting[:MOST_CANDIDATES]), is_complete=is_complete)
    return _by_sound(store, asked)


def list_entities(store: PostgresReadStore, *, query: str | None, limit: int, cursor: str | None) -> Page:
    """Entities by name, optionally those whose name contains ``query``. Raises BadCursor."""
    found = store.entities_page(query=query, after=name_position(cursor), limit=limit + 1)
    return page_of(found, limit, entity_json, key=lambda one: (one.name, one.id))


def entity_json(one: ListedEntity) -> dict[str, Any]:
    return {
        "id": str(one.id),
        "name": clean_name(one.name),
        "type": one.type,
        "is_self": one.is_self,
        "identities": list(one.identities),
        "messages": one.messages,
        "first_contact": None if one.first_contact is None else iso(one.first_contact),
        "last_contact": None if one.last_contact is None else iso(one.last_contact),
    }


def contact(one: ListedEntity) -> str:
    where = ", ".join(one.identities) or "no identity"
    when = f"last contact {one.last_contact.date().isoformat()}" if one.last_contact else "no contact"
    return f"{where}, {when}"


def _of_key(store: PostgresReadStore, asked: str) -> ListedEntity | None:
    for source, external_id in key_spellings(asked):
        if (found := store.entity_of_key(source, external_id)) is not None:
            return store.entity(found)
    return None


def _by_sound(store: PostgresReadStore, asked: str) -> ListedEntity:
    """The entity whose name sounds so in another script. Raises EntityAmbiguous, EntityNotFound with similar names."""
    from pkg_pipeline.stages.reads.near_names import nearest, of_another_script

    names = store.entity_names(limit=MOST_NAMES)
    ids = of_another_script(asked, names)
    found = [one for one in map(store.entity, ids[: MOST_CANDIDATES + 1]) if one is not None]
    if len(found) == 1:
        return found[0]
    if found:
        is_complete = len(ids) <= MOST_CANDIDATES
        raise EntityAmbiguous(asked, tuple(found[:MOST_CANDIDATES]), is_complete=is_complete)
    near = (store.entity(one) for one in nearest(asked, names))
    raise EntityNotFound(asked, tuple(one for one in near if one is not None))


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def _as_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
