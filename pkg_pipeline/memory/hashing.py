"""Hashes, derived ids and keys; equal input gives equal rows (B8, B10)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import quote, unquote
from uuid import UUID, uuid5

NAMESPACE: Final = UUID("6f1d3c0e-58a7-5a0b-9d44-2c7c0b6a51f3")
"""Namespace of every derived id. Never change it: all ids would change."""


class MessageKey(NamedTuple):
    """The three parts of a message's public name."""

    source: str
    chat_external_id: str
    message_external_id: str


def content_hash(text: str) -> str:
    """sha256 (64 hex digits) of the text's UTF-8 bytes; lone surrogates are allowed."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def input_hash(pairs: Iterable[tuple[str | int, str]], *context: str) -> str:
    """sha256 over (message id, content hash) in the order given, then over ``context`` (H8, B8).

    Parts are length-prefixed. Ids are bigint or external ids, the same kind in every call of a caller.
    """
    digest = hashlib.sha256()
    for message_id, text_hash in pairs:
        digest.update(_framed("message", str(message_id), text_hash))
    if context:
        digest.update(_framed("context", *context))
    return digest.hexdigest()


def entity_id(source: str, external_id: str) -> UUID:
    """Id of the entity that an identity on one source starts as."""
    return _derived("entity", source, external_id)


def chat_id(source: str, external_id: str) -> UUID:
    return _derived("chat", source, external_id)


def interaction_id(chat_key: str, first_external_id: str) -> UUID:
    """Id of the interaction whose earliest message in the chat ``chat_key`` is ``first_external_id``."""
    return _derived("interaction", chat_key, first_external_id)


def summary_id(
    interaction_id: UUID, input_hash: str, *, prompt_version: str, model: str, parent_id: UUID | None
) -> UUID:
    """Id of a summary; includes the parent's, so that edits A → B → A make a chain and no cycle (P29)."""
    parent = "" if parent_id is None else str(parent_id)
    return _derived("summary", str(interaction_id), input_hash, prompt_version, model, parent)


def fold_id(session_id: UUID, to_message_id: int, input_hash: str, *, model: str, parent_id: UUID | None) -> UUID:
    """Id of a fold of a session. Includes its parent and the end of its range: two empty ranges have the same input."""
    parent = "" if parent_id is None else str(parent_id)
    return _derived("fold", str(session_id), str(to_message_id), input_hash, model, parent)


def profile_id(entity_id: UUID, week: str) -> UUID:
    """Id of an entity's profile for the week that begins on the Sunday ``week`` (ISO)."""
    return _derived("profile", str(entity_id), week)


def item_id(owner_id: UUID, kind: str, *parts: str) -> UUID:
    """Id of an extracted item (decision, action item, fact) by its words and evidence (P17).

    ``owner_id``: the interaction for items that keep their id over revisions of its summary (P28).
    """
    return _derived("item", str(owner_id), kind, *parts)


def organization_id(name: str) -> UUID:
    """Id of an organisation by its name; letter case and spaces do not matter."""
    return _derived("organization", " ".join(name.casefold().split()))


def read_item_id(chat_key: str, kind: str, first_external_id: str, ordinal: int) -> UUID:
    """Id of the ``ordinal``-th item (from 0) of a kind to quote a message: the same whoever reads the talk."""
    return _derived("read item", chat_key, kind, first_external_id, str(ordinal))


def question_id(question: str) -> UUID:
    return _derived("question", content_hash(question))


def chunk_id(scope: str, message_keys: Iterable[str], content: str) -> UUID:
    """Id of a chunk: scope, sorted message keys and content, so that two equal "ok" stay two chunks."""
    return _derived("chunk", scope, content_hash(content), *sorted(message_keys))


def chat_key(source: str, external_id: str) -> str:
    """``source:external-id``, the public name of a chat. ``ValueError``: an empty part, or a colon in the source."""
    if not source or not external_id or ":" in source:
        raise ValueError(f"not a chat: source {source!r}, external id {external_id!r}")
    return f"{source}:{external_id}"


def parse_chat_key(key: str) -> tuple[str, str]:
    """``(source, external_id)`` of a chat key, split at the first colon. ``ValueError``."""
    source, colon, external_id = key.partition(":")
    if not colon or not source or not external_id:
        raise ValueError(f"not a chat key (source:external-id): {key!r}")
    return source, external_id


def key_spellings(key: str) -> tuple[tuple[str, str], ...]:
    """``(source, external_id)`` of a chat or identity key as given, then percent-decoded; empty for no key."""
    try:
        source, external_id = parse_chat_key(key)
    except ValueError:
        return ()
    return tuple(dict.fromkeys(((source, external_id), (_decoded(source), _decoded(external_id)))))


def chat_id_of(given: str) -> UUID:
    """The id of a chat given by id or key. ``ValueError`` for neither."""
    try:
        return UUID(given)
    except ValueError:
        return chat_id(*parse_chat_key(given))


def message_key(source: str, chat_external_id: str, message_external_id: str) -> str:
    """``source:chat-external-id/message-external-id``, each part percent-encoded. ``ValueError``: an empty part."""
    if not (source and chat_external_id and message_external_id):
        raise ValueError(f"not a message: {source!r}, {chat_external_id!r}, {message_external_id!r}")
    return f"{_encoded(source)}:{_encoded(chat_external_id)}/{_encoded(message_external_id)}"


def parse_message_key(key: str) -> MessageKey:
    """The three decoded parts of a message key. ``ValueError``: not a message key."""
    head, slash, message = key.partition("/")
    source, colon, chat = head.partition(":")
    if not (slash and colon and source and chat and message) or "/" in message or ":" in chat or ":" in message:
        raise ValueError(f"not a message key (source:chat/message): {key!r}")
    return MessageKey(_decoded(source), _decoded(chat), _decoded(message))


def parse_typed_message_key(key: str) -> MessageKey:
    """As ``parse_message_key``, also for parts that are not percent-encoded. ``ValueError``."""
    try:
        return parse_message_key(key)
    except ValueError:
        chat, slash, message = key.rpartition("/")
        if not (slash and message):
            raise
        return MessageKey(*parse_chat_key(chat), message)


def _derived(kind: str, *parts: str) -> UUID:
    # Python 3.11's uuid5 takes only str; latin-1 is the one decoding that keeps every byte distinct
    return uuid5(NAMESPACE, _framed(kind, *parts).decode("latin-1"))


def _framed(*parts: str) -> bytes:
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    return b"".join(b"%d:%s" % (len(part), part) for part in encoded)


@lru_cache(maxsize=4096)
def _encoded(part: str) -> str:
    return quote(part, safe="", errors="surrogatepass")


def _decoded(part: str) -> str:
    return unquote(part, errors="surrogatepass")
