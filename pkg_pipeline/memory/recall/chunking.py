"""Chunks of an interaction: passages of its messages and derived texts.

A passage is indexed with a bounded context before and behind it, and printed without.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain
from typing import Final
from uuid import UUID

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.recall.records import INDEX_VERSION, Chunk, ChunkedMessage, ChunkSource, DerivedText
from pkg_pipeline.memory.text.passages import both_ends, passages

REACH_PASSAGES: Final = 2
"""Passages on each side that give context."""
LENT_WORDS: Final = 25
"""Words of context from each: its end before, its beginning behind."""
HASH_CHARS: Final = 12
"""Of the hashes of a chunk, 48 bits: they tell whether it changed, and stand in every row (seven vectors a page)."""
_SPEAKER_WORDS: Final = 12


@dataclass(frozen=True, slots=True)
class ChunkedInteraction:
    """The interaction of the chunks; its ``topics`` apply to its messages."""

    id: UUID
    chat_id: UUID
    chat_source: str
    chat_external_id: str
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Passage:
    """A passage of a message at characters ``start`` to ``end``.

    ``first``, ``last``: the context it gives; ``speaker`` precedes each.
    """

    message: ChunkedMessage
    speaker: str
    own: str
    first: str
    last: str
    start: int
    end: int
    number: int
    of: int


def message_chunks(interaction: ChunkedInteraction, messages: Iterable[ChunkedMessage]) -> Iterator[Chunk]:
    """The chunks of an interaction's live messages, given in order of ``(sent_at, id)``.

    A generator with bounded memory. Messages without words have no chunk; equal messages stay separate.
    """
    before: deque[_Passage] = deque(maxlen=REACH_PASSAGES)
    ahead: deque[_Passage] = deque()
    for passage in _passages(messages):
        ahead.append(passage)
        if len(ahead) > REACH_PASSAGES:
            current = ahead.popleft()
            yield _message_chunk(interaction, current, before, ahead)
            before.append(current)
    while ahead:
        current = ahead.popleft()
        yield _message_chunk(interaction, current, before, ahead)
        before.append(current)


def continued_chunks(
    interaction: ChunkedInteraction, after: datetime, messages: Iterable[ChunkedMessage]
) -> Iterator[Chunk]:
    """Of ``message_chunks`` those that messages said behind ``after`` bring or change, given the last messages of the
    interaction: all of it, or at least twice REACH_PASSAGES with words before the new ones.
    """
    said = list(messages)
    before = [one.id for one in said if one.sent_at <= after and passages(one.text)]
    unchanged = {*before[:-REACH_PASSAGES]}
    for chunk in message_chunks(interaction, said):
        if chunk.message_ids[0] not in unchanged:
            yield chunk


def derived_chunks(interaction: ChunkedInteraction, derived: Iterable[DerivedText]) -> Iterator[Chunk]:
    """The chunks of an interaction's summary, decisions, action items, facts and folds.

    A text longer than a passage becomes several chunks, one without words none.
    """
    for one in derived:
        ranges = passages(one.text)
        for number, (start, end) in enumerate(ranges):
            own = one.text[start:end]
            scopes = _scopes(one.entity_ids, interaction.chat_id)
            around = one.found_by
            indexed = f"{own}\n{around}" if around else own
            yield _chunk(
                interaction,
                one.source,
                str(one.subject_id),
                own,
                around=around,
                indexed=indexed,
                scopes=scopes,
                at=one.at,
                passage=(number, len(ranges)),
                subject_id=one.subject_id,
                message_ids=one.message_ids,
                importance=one.importance,
                is_withheld=one.is_withheld,
                topics=one.topics,
                content=own,
            )


def _passages(messages: Iterable[ChunkedMessage]) -> Iterator[_Passage]:
    for message in messages:
        speaker = _introduced(message.speaker)
        ranges = passages(message.text)
        for number, (start, end) in enumerate(ranges):
            own = message.text[start:end]
            first, last = both_ends(own, LENT_WORDS)
            yield _Passage(message, speaker, own, first, last, start, end, number, len(ranges))


def _message_chunk(
    interaction: ChunkedInteraction, passage: _Passage, before: Iterable[_Passage], behind: Iterable[_Passage]
) -> Chunk:
    message, own = passage.message, passage.own
    lent = [(one.speaker, one.last) for one in before], [(one.speaker, one.first) for one in behind]
    around = "\n".join(words for _, words in chain(*lent))
    indexed = "\n".join(speaker + words for speaker, words in (*lent[0], (passage.speaker, own), *lent[1]))
    scopes = _scopes(message.entity_ids, interaction.chat_id)
    source: ChunkSource = "tool_result" if message.is_tool_result else "message"
    key = hashing.message_key(interaction.chat_source, interaction.chat_external_id, message.external_id)
    return _chunk(
        interaction,
        source,
        key,
        own,
        around=around,
        indexed=indexed,
        scopes=scopes,
        at=message.sent_at,
        passage=(passage.number, passage.of),
        sender_entity_id=message.sender_entity_id,
        message_ids=(message.id,),
        range_chars=None if passage.of == 1 else (passage.start, passage.end),
        importance=message.importance,
        topics=interaction.topics,
    )


def _chunk(
    interaction: ChunkedInteraction,
    source: ChunkSource,
    key: str,
    own: str,
    *,
    around: str,
    indexed: str,
    scopes: tuple[UUID, ...],
    at: datetime,
    passage: tuple[int, int],
    message_ids: tuple[int, ...],
    importance: float,
    topics: tuple[str, ...],
    subject_id: UUID | None = None,
    sender_entity_id: UUID | None = None,
    range_chars: tuple[int, int] | None = None,
    is_withheld: bool = False,
    content: str | None = None,
) -> Chunk:
    """``passage``: its number and their count; ``key`` as in ``_chunk_id``."""
    number, of = passage
    start, end = range_chars or (None, None)
    return Chunk(
        id=_chunk_id(interaction, source, key, number, own),
        source=source,
        chat_id=interaction.chat_id,
        interaction_id=interaction.id,
        subject_id=subject_id,
        sender_entity_id=sender_entity_id,
        at=at,
        scopes=scopes,
        message_ids=message_ids,
        start_char=start,
        end_char=end,
        passage=number,
        passages=of,
        importance=importance,
        is_withheld=is_withheld,
        topics=topics,
        content=content,
        content_hash=hashing.content_hash(own)[:HASH_CHARS],
        index_hash=_index_hash(indexed=indexed, own=own, around=around, scopes=scopes, at=at),
        own=own,
        around=around,
        indexed=indexed,
    )


@lru_cache(maxsize=256)
def _introduced(speaker: str) -> str:
    name, _ = both_ends(speaker, _SPEAKER_WORDS)
    return f"{name}: " if name else ""


@lru_cache(maxsize=4096)
def _scopes(entity_ids: tuple[UUID, ...], chat_id: UUID) -> tuple[UUID, ...]:
    return (*sorted(set(entity_ids)), chat_id)


def _chunk_id(interaction: ChunkedInteraction, source: ChunkSource, key: str, number: int, own: str) -> UUID:
    """Id by ``key`` (a message key or derived id; bigint ids differ between databases) and the passage's number."""
    return hashing.chunk_id(f"{interaction.id}:{source}:{number}", [key], own)


def _index_hash(*, indexed: str, own: str, around: str, scopes: tuple[UUID, ...], at: datetime) -> str:
    whole = hashing.input_hash((), INDEX_VERSION, indexed, own, around, at.astimezone(UTC).isoformat(), *_named(scopes))
    return whole[:HASH_CHARS]


@lru_cache(maxsize=4096)
def _named(scopes: tuple[UUID, ...]) -> tuple[str, ...]:
    return tuple(map(str, scopes))
