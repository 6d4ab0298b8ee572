"""Conversations of an export for a control run: cleaned as in an import, by time, only live messages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pkg_pipeline.compare.playing import Conversation
from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.message.blocks import WrongPart, checked_parts
from pkg_pipeline.memory.records import ParsedChat, ParsedMessage, ParsedOwner, Rejected
from pkg_pipeline.memory.session.records import SessionMessage
from pkg_pipeline.memory.text.cleaning import clean_text
from pkg_pipeline.stages.ingest.parsed_rows import rows_of, shown
from pkg_pipeline.stages.ingest.records import MessageRow
from pkg_pipeline.stages.ports import TokenCounter

Item = ParsedOwner | ParsedChat | ParsedMessage | Rejected


@dataclass(slots=True)
class Read:
    """Conversations of files, and the number of rejected entries."""

    conversations: list[Conversation] = field(default_factory=list[Conversation])
    rejected: int = 0


@dataclass(slots=True)
class _Chat:
    chat: ParsedChat
    messages: dict[str, ParsedMessage] = field(default_factory=dict[str, ParsedMessage])


def conversations_of(items: Iterable[Item], counter: TokenCounter) -> Read:
    """All chats of an export with messages by time; of duplicates the later one."""
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
    chat, chat_id = found.chat, hashing.chat_id(found.chat.source, found.chat.external_id)
    live = [one for one in found.messages.values() if one.kind == "message" and not one.is_deleted]
    live.sort(key=lambda message: message.sent_at)  # those of one moment stay as the file has them
    senders = [message.sender_external_id or message.role or "unknown" for message in live]
    taken = [
        (message, clean_text(message.text), chat_id, hashing.entity_id(chat.source, sender))
        for message, sender in zip(live, senders, strict=True)
    ]
    messages: list[SessionMessage] = []
    for place, (message, sender, row) in enumerate(zip(live, senders, rows_of(taken, counter), strict=True), start=1):
        is_owner = owner == (chat.source, sender)
        is_self = is_owner if message.is_self is None else message.is_self
        messages.append(_message(place, row, name=shown(message.sender_name) or sender, is_self=is_self))
    return Conversation(chat_id, key, chat.source, tuple(messages), title=shown(chat.title))


def _message(place: int, row: MessageRow, *, name: str, is_self: bool) -> SessionMessage:
    return SessionMessage(
        id=place,
        external_id=row.external_id,
        sent_at=row.sent_at,
        text=row.content,
        role=row.role,
        parts=_blocks(row.parts),
        sender_entity_id=row.sender_entity_id,
        sender_name=name,
        is_self=is_self,
        is_outgoing=is_self,
        content_hash=row.content_hash,
        token_count=row.token_count,
        importance_score=row.importance_score,
        importance_reason=row.importance_reason,
    )


def _blocks(parts: list[Any] | None) -> tuple[dict[str, Any], ...] | None:
    """None for blocks of unknown form: their text is used."""
    try:
        return tuple(checked_parts(parts)) if parts else None
    except WrongPart:
        return None
