"""Parsed message → stored row: cleaning, and reasons to reject. Pure rules."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any
from uuid import UUID

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.message import attachments
from pkg_pipeline.memory.message.blocks import WrongPart, checked_parts, prompt_text
from pkg_pipeline.memory.message.echoes import own_words
from pkg_pipeline.memory.message.importance import REASONS, score_many
from pkg_pipeline.memory.records import ParsedMessage
from pkg_pipeline.memory.text.cleaning import clean_json, clean_name, clean_text, text_refusal
from pkg_pipeline.stages.ingest.records import MessageRow, Own
from pkg_pipeline.stages.ports import TokenCounter

LONGEST_ID = 500
"""Characters; PostgreSQL cannot index longer ones."""

LONGEST_KEY_BYTES = 2_400
"""Source and external id together, in UTF-8; the limit of a PostgreSQL index entry."""

LONGEST_NAME = 300
"""Characters kept of a name, title or topic."""

EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
"""Times outside are errors of the export and would distort ages and due dates."""


def key_refusal(source: str, external_id: str) -> str | None:
    if not source or ":" in source:
        return f"the source {source[:60]!r} is empty or has a colon in it"
    if len(external_id) > LONGEST_ID:
        return f"an id is longer than {LONGEST_ID} characters"
    if 4 * (len(source) + len(external_id)) > LONGEST_KEY_BYTES:  # only then can it be too long
        bytes_long = len((source + external_id).encode("utf-8", "surrogatepass"))
        if bytes_long > LONGEST_KEY_BYTES:
            return f"source and id together are longer than {LONGEST_KEY_BYTES} bytes"
    return None


FORGOTTEN = "it was forgotten on request"
"""Why a message is left out that may not come in again (B3)."""


def refusal_of(message: ParsedMessage, source: str, text: str) -> str | None:
    if len(message.external_id) > LONGEST_ID or len(message.reply_to or "") > LONGEST_ID:
        return f"an id is longer than {LONGEST_ID} characters"
    if message.sender_external_id and (refusal := key_refusal(source, message.sender_external_id)) is not None:
        return refusal
    if not EARLIEST <= message.sent_at < LATEST:
        return f"it was sent in the year {message.sent_at.year}, not between {EARLIEST.year} and {LATEST.year}"
    if message.edited_at is not None and not EARLIEST <= message.edited_at < LATEST:
        return f"it was edited in the year {message.edited_at.year}, not between {EARLIEST.year} and {LATEST.year}"
    return text_refusal(text)


def shown(name: str | None) -> str:
    """A name as stored: cleaned, stripped, cut; "" for none."""
    return clean_name(name).strip()[:LONGEST_NAME] if name else ""


Taken = tuple[ParsedMessage, str, UUID, UUID | None]
"""(message, cleaned text, chat id, sender id) of an accepted message."""


def rows_of(taken: Sequence[Taken], counter: TokenCounter, own: Sequence[Own] = ()) -> list[MessageRow]:
    """The rows of messages, in their order, with importance scores of their ``own`` words and token counts of all
    parts.
    """
    scores = score_many([own_words(entry[1], parts) for entry, parts in zip_longest(taken, own)])
    tokens = counter.count_many([_counted(text, message.parts) for message, text, _, _ in taken])
    codes: list[int] = scores.reasons.tolist()
    return [
        row_of(*entry, count, value, REASONS[code])
        for entry, count, value, code in zip(taken, tokens, scores.values.tolist(), codes, strict=True)
    ]


def _counted(text: str, parts: list[Any] | None) -> str:
    """The text of a message as a prompt shows it; parts of unknown form are stored but not shown."""
    if not parts:
        return text
    try:
        return prompt_text(text, checked_parts(clean_json(parts)[0]))
    except WrongPart:
        return text


def row_of(
    message: ParsedMessage,
    text: str,
    chat_id: UUID,
    sender: UUID | None,
    tokens: int,
    score: float,
    reason: str | None,
) -> MessageRow:
    is_service = message.kind == "service"
    return MessageRow(
        chat_id,
        sender,
        message.sent_at,
        message.edited_at,
        tokens,
        0.0 if is_service else round(score, 2),
        message.is_deleted,
        message.time_assumed,
        message.kind,
        message.role,
        None if is_service else reason,
        clean_text(message.external_id),
        text,
        hashing.content_hash(text),
        clean_text(message.reply_to) if message.reply_to else None,
        (shown(message.topic) or None) if message.topic else None,
        (shown(message.forwarded_from) or None) if message.forwarded_from else None,
        clean_json(message.parts)[0] if message.parts else None,
        _metadata(message),
    )


def _metadata(message: ParsedMessage) -> dict[str, Any] | None:
    """What the source says besides, with the attachments."""
    if not message.attachments:
        return clean_json(dict(message.metadata))[0] if message.metadata else None
    given = {**message.metadata, attachments.KEY: attachments.to_json(message.attachments)}
    return clean_json(given)[0]
