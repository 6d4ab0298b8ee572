"""Lists chats, resolves one by id, by key, or by the key of the other person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from pkg_pipeline.memory.hashing import chat_key, key_spellings, parse_chat_key
from pkg_pipeline.memory.text.cleaning import clean_name
from pkg_pipeline.stages.reads.paging import Page, name_position, page_of
from pkg_pipeline.stages.reads.stores import ChatAmbiguous, ChatKey, ChatUnknown, ListedChat

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore


def list_chats(store: PostgresReadStore, category: str | None, *, limit: int, cursor: str | None) -> Page:
    """Chats by source and id, of one category or all (P34). Raises BadCursor."""
    found = store.chats_page(category, after=name_position(cursor), limit=limit + 1)
    return page_of(found, limit, chat_json, key=lambda one: (one.source, one.id))


def chat_json(one: ListedChat) -> dict[str, Any]:
    return {
        "id": str(one.id),
        "chat": chat_key(one.source, one.external_id),
        "kind": one.kind,
        "title": None if one.title is None else clean_name(one.title),
        "category": one.category,
        "category_source": one.category_source,
    }


def find_chat(store: PostgresReadStore, asked: str) -> ChatKey:
    """The chat's ``(source, external_id)``. ``asked``: its id, its key (percent-encoded or not), or the key of an
    identity with one direct chat.

    Raises ChatUnknown, ChatAmbiguous; ``ValueError`` for other text.
    """
    asked = asked.replace("\0", "").strip()
    try:
        identity = UUID(asked)
    except ValueError:
        parse_chat_key(asked)
    else:
        if (found := store.chat_of_id(identity)) is None:
            raise ChatUnknown(asked)
        return found
    for source, external_id in key_spellings(asked):
        chats = store.chats_of_key(source, external_id)
        if len(chats) > 1:
            keys = ", ".join(chat_key(*one) for one in chats)
            raise ChatAmbiguous(f"{asked!r} is in {len(chats)} direct chats: {keys}. Ask again with one of them")
        if chats:
            return chats[0]
    raise ChatUnknown(asked)
