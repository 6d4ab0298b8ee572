"""Messages of a session → input of the fold prompt (H12, H13). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import UUID

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.message import blocks as message_parts
from pkg_pipeline.memory.records import Person, SourceMessage
from pkg_pipeline.memory.session import folding
from pkg_pipeline.memory.session.records import (
    MOST_TOOL_CHARS,
    TOOL_PREFIX,
    FoldInput,
    SessionMessage,
    is_tool,
    tool_speaker,
)
from pkg_pipeline.memory.text import language
from pkg_pipeline.memory.text.marks import named

UNNAMED = "unknown"


def fold_input(
    session_id: UUID, chat_key: str, messages: Sequence[SessionMessage], *, earlier: Sequence[str], timezone: str
) -> FoldInput:
    """``messages`` without noise (may be empty); ``earlier``: last summaries, oldest first."""
    tools = _tool_names(messages)
    said = [piece for message in messages if not folding.is_noise(message) for piece in _said(message, tools)]
    numbered = [
        SourceMessage(number, one.external_id, sender, one.sent_at, text, one.importance_score, one.importance_reason)
        for number, (one, sender, text) in enumerate(said, start=1)
    ]
    people = {one.sender.entity_id: one.sender for one in numbered if not is_tool(one.sender)}
    return FoldInput(
        session_id=session_id,
        chat_key=chat_key,
        language=language.detect([text for _, sender, text in said if not is_tool(sender)]),
        timezone=timezone,
        participants=tuple(people.values()),
        messages=tuple(numbered),
        earlier=tuple(earlier),
        input_hash=folding.window_hash(messages),
        assistant_ids=frozenset(sender.entity_id for one, sender, _ in said if one.role == "assistant"),
    )


Piece = tuple[SessionMessage, Person, str]
"""A message, the speaker of this part, its text."""


def _said(message: SessionMessage, tools: dict[str, str]) -> Iterator[Piece]:
    speaker = _speaker(message)
    if message.parts is None:
        if message.role == "tool":
            speaker = tool_speaker(message.sender_name or UNNAMED)
        yield from _piece(message, speaker, message.text)
        return
    texts = [str(part["text"]) for part in message.parts if part.get("type") == "text"]
    yield from _piece(message, speaker, "\n".join(texts))
    for part in message.parts:
        if part.get("type") == "tool_use":
            asked = message_parts.prompt_text("", [part])
            yield from _piece(message, tool_speaker(str(part["name"])), f"→ {asked}")
        elif part.get("type") == "tool_result":
            name = tools.get(str(part["tool_use_id"]), UNNAMED)
            yield from _piece(message, tool_speaker(name), message_parts.result_text(part))


def _piece(message: SessionMessage, speaker: Person, text: str) -> Iterator[Piece]:
    shown = text[:MOST_TOOL_CHARS] if is_tool(speaker) else text
    if shown.strip():
        yield message, speaker, shown


def _speaker(message: SessionMessage) -> Person:
    """Unnamed senders are one person per session, with an id that is not stored."""
    name = message.sender_name or UNNAMED
    if name.casefold().startswith(TOOL_PREFIX.strip()):
        name = named(name)  # a tool's results are told under such names
    entity_id = message.sender_entity_id or hashing.item_id(UUID(int=0), "speaker", name)
    return Person(entity_id, name, message.is_self)


def _tool_names(messages: Sequence[SessionMessage]) -> dict[str, str]:
    """Call id → tool name."""
    return {
        str(part["id"]): str(part["name"])
        for message in messages
        for part in message.parts or ()
        if part.get("type") == "tool_use"
    }
