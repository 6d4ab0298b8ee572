"""Conversations out of an export, as a control run plays them: read from the file, never stored.

Cleaned like an import, but taken as the file orders them by time; deleted messages and service entries are no part of
a prompt. A conversation that the memory holds is read from there instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.cleaning import clean_json, clean_text
from pkg_pipeline.memory.message_parts import WrongPart, checked_parts, prompt_text, text_of
from pkg_pipeline.memory.records import ParsedChat, ParsedMessage, ParsedOwner, Rejected
from pkg_pipeline.memory.session_records import SessionMessage
from pkg_pipeline.stages.comparing import Conversation
from pkg_pipeline.stages.ports import TokenCounter

Item = ParsedOwner | ParsedChat | ParsedMessage | Rejected
"""What an export yields."""


@dataclass(slots=True)
class Read:
    """The conversations of files, and how many pieces of them could not be read."""

    conversations: list[Conversation] = field(default_factory=list[Conversation])
    rejected: int = 0


@dataclass(slots=True)
class _Chat:
    chat: ParsedChat
    messages: dict[str, ParsedMessage] = field(default_factory=dict[str, ParsedMessage])


def conversations_of(items: Iterable[Item], counter: TokenCounter) -> Read:
    """All chats of an export with their messages, by time; of a message that comes twice the later one."""
    read, chats, owner = Read(), dict[str, _Chat](), None
    current: dict[str, str] = {}
    for item in items:
        match item:
            case ParsedOwner():
                owner = (item.source, item.external_id)
            case ParsedChat():
                key = hashing.chat_key(item.source, item.external_id)
                chats.setdefault(key, _Chat(item)).chat = item
                current[item.external_id] = key
            case ParsedMessage():
                chats[current[item.chat_external_id]].messages[item.external_id] = item
            case Rejected():
                read.rejected += 1
    read.conversations = [_conversation(key, one, owner, counter) for key, one in chats.items() if one.messages]
    return read


def _conversation(key: str, found: _Chat, owner: tuple[str, str] | None, counter: TokenCounter) -> Conversation:
    chat = found.chat
    live = [one for one in found.messages.values() if one.kind == "message" and not one.is_deleted]
    live.sort(key=lambda message: message.sent_at)  # those of one moment stay as the file has them
    texts = [_words(message) for message in live]
    counts = counter.count_many([prompt_text(text, parts) for text, parts in texts])
    return Conversation(
        id=hashing.chat_id(chat.source, chat.external_id),
        key=key,
        source=chat.source,
        title=clean_text(chat.title or ""),
        messages=tuple(
            _message(place, message, text, tokens, chat=chat, owner=owner)
            for place, (message, text, tokens) in enumerate(zip(live, texts, counts, strict=True), start=1)
        ),
    )


Words = tuple[str, list[dict[str, Any]] | None]


def _words(message: ParsedMessage) -> Words:
    """Text and blocks; blocks of a wrong form count as what their text says."""
    text = clean_text(message.text)
    if not message.parts:
        return text, None
    try:
        parts: Sequence[Any] = checked_parts(clean_json(message.parts)[0])
    except WrongPart:
        return text, None
    return text or text_of(parts), list(parts)


def _message(
    place: int, message: ParsedMessage, words: Words, tokens: int, *, chat: ParsedChat, owner: tuple[str, str] | None
) -> SessionMessage:
    text, parts = words
    sender = message.sender_external_id or message.role or "unknown"
    is_owner = owner is not None and owner == (chat.source, sender)
    is_self = message.is_self if message.is_self is not None else is_owner or message.role == "user"
    return SessionMessage(
        id=place,
        external_id=message.external_id,
        sent_at=message.sent_at,
        text=text,
        role=message.role,
        parts=None if parts is None else tuple(parts),
        sender_entity_id=hashing.entity_id(chat.source, sender),
        sender_name=clean_text(message.sender_name or sender),
        is_self=is_self,
        is_outgoing=is_self,
        content_hash=hashing.content_hash(text),
        token_count=tokens,
    )
