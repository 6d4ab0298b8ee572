"""Vectors in PostgreSQL's binary COPY format, built as whole blocks of bytes."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from pkg_pipeline.memory.recall.vector_codes import CODE_BITS, CODE_BYTES
from pkg_pipeline.stages.recall.records import VectorRow

_BEGIN = b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0)
_END = struct.pack(">h", -1)
_FIELDS = 7
_UUID_TYPE = 2950
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_HEAD = struct.Struct(">hiqih")
_MOMENT = struct.Struct(">iq")
_LENGTH = struct.Struct(">i")
_CODE_HEAD = struct.pack(">ii", 4 + CODE_BYTES, CODE_BITS)


def copied(space_id: int, rows: Sequence[VectorRow], vectors: NDArray[np.float32], codes: NDArray[np.uint8]) -> bytes:
    """``(chunk_no, space_id, scopes, at, index_hash, embedding, code)`` of each row; vectors (n, d), codes (n, 128)."""
    dimensions = vectors.shape[1]
    halves = vectors.astype(">f2")
    vector_head = struct.pack(">ihh", 4 + 2 * dimensions, dimensions, 0)
    parts = [_BEGIN]
    for position, row in enumerate(rows):
        words = row.index_hash.encode()
        parts += (
            _HEAD.pack(_FIELDS, 8, row.chunk_no, 2, space_id),
            _array(row.scopes),
            _MOMENT.pack(8, (row.at - _EPOCH) // _MICROSECOND),
            _LENGTH.pack(len(words)),
            words,
            vector_head,
            halves[position].tobytes(),
            _CODE_HEAD,
            codes[position].tobytes(),
        )
    parts.append(_END)
    return b"".join(parts)


def _array(ids: Sequence[UUID]) -> bytes:
    if not ids:
        return struct.pack(">iiii", 12, 0, 0, _UUID_TYPE)
    size = 20 + 20 * len(ids)
    head = struct.pack(">iiiiii", size, 1, 0, _UUID_TYPE, len(ids), 1)
    return head + b"".join(_LENGTH.pack(16) + one.bytes for one in ids)
