"""Chunks in PostgreSQL's binary COPY format: arrays as numbers, which the server need not read from text."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from uuid import UUID

from pkg_pipeline.adapters.postgres.recall.binary import BEGIN, END, microseconds, uuid_array
from pkg_pipeline.memory.recall.lexical import DIMENSIONS
from pkg_pipeline.memory.recall.records import LexicalVector
from pkg_pipeline.stages.recall.records import ChunkRow

COLUMNS = (
    *("place", "id", "source", "chat_id", "interaction_id", "subject_id", "sender_entity_id", "at", "scopes"),
    *("message_ids", "start_char", "end_char", "passage", "passages", "importance", "is_withheld", "topics", "content"),
    *("content_hash", "index_hash", "terms", "lexical"),
)
"""In the order of ``copy_incoming``."""

_NULL = struct.pack(">i", -1)
_LENGTH = struct.Struct(">i")
_HEAD = struct.Struct(">hiii")
_MOMENT = struct.Struct(">iq")
_INTEGER = struct.Struct(">ii")
_MIDDLE = struct.Struct(">ihihifib")
_INTEGER_TYPE, _BIGINT_TYPE, _TEXT_TYPE = 23, 20, 25
_WEIGHT_DIGITS = 6


def copied(rows: Sequence[ChunkRow]) -> bytes:
    parts = [BEGIN]
    for place, row in enumerate(rows):
        chunk = row.chunk
        start, end = chunk.start_char, chunk.end_char
        parts += (
            _HEAD.pack(len(COLUMNS), 4, place, 16),
            chunk.id.bytes,
            _text(chunk.source),
            _uuid(chunk.chat_id),
            _uuid(chunk.interaction_id),
            _uuid(chunk.subject_id),
            _uuid(chunk.sender_entity_id),
            _MOMENT.pack(8, microseconds(chunk.at)),
            uuid_array(chunk.scopes),
            _numbers(chunk.message_ids, _BIGINT_TYPE, 8),
            _NULL if start is None else _INTEGER.pack(4, start),
            _NULL if end is None else _INTEGER.pack(4, end),
            _MIDDLE.pack(2, chunk.passage, 2, chunk.passages, 4, chunk.importance, 1, chunk.is_withheld),
            _texts(chunk.topics),
            _NULL if chunk.content is None else _text(chunk.content),
            _text(chunk.content_hash),
            _text(chunk.index_hash),
            _numbers(tuple(row.lexical), _INTEGER_TYPE, 4),
            _sparse(row.lexical),
        )
    parts.append(END)
    return b"".join(parts)


def _text(words: str) -> bytes:
    encoded = words.encode()
    return _LENGTH.pack(len(encoded)) + encoded


def _uuid(one: UUID | None) -> bytes:
    return _NULL if one is None else b"\0\0\0\x10" + one.bytes


def _numbers(values: Sequence[int], kind: int, size: int) -> bytes:
    if not values:
        return struct.pack(">iiii", 12, 0, 0, kind)
    count = len(values)
    cells = [size] * (2 * count)
    cells[1::2] = values
    layout = ">6i" + ("iq" if size == 8 else "ii") * count
    return struct.pack(layout, 20 + (4 + size) * count, 1, 0, kind, count, 1, *cells)


@lru_cache(maxsize=1024)
def _texts(values: tuple[str, ...]) -> bytes:
    if not values:
        return struct.pack(">iiii", 12, 0, 0, _TEXT_TYPE)
    cells = b"".join(map(_text, values))
    return struct.pack(">iiiiii", 20 + len(cells), 1, 0, _TEXT_TYPE, len(values), 1) + cells


def _sparse(vector: LexicalVector) -> bytes:
    """A sparsevec: indices from 0, ascending, then weights of six digits."""
    count = len(vector)
    indices = [number - 1 for number in vector]
    weights = map(_rounded, vector.values())
    return struct.pack(f">4i{count}i{count}f", 12 + 8 * count, DIMENSIONS, count, 0, *indices, *weights)


@lru_cache(maxsize=65_536)
def _rounded(weight: float) -> float:
    return float(f"{weight:.{_WEIGHT_DIGITS}g}")
