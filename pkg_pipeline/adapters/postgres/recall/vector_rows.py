"""Vectors in PostgreSQL's binary COPY format, built as whole blocks of bytes."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pkg_pipeline.adapters.postgres.recall.binary import BEGIN, END, microseconds, uuid_array
from pkg_pipeline.memory.recall.vector_codes import CODE_BITS, CODE_BYTES
from pkg_pipeline.stages.recall.records import VectorRow

_FIELDS = 7
_HEAD = struct.Struct(">hiqih")
_MOMENT = struct.Struct(">iq")
_LENGTH = struct.Struct(">i")
_CODE_HEAD = struct.pack(">ii", 4 + CODE_BYTES, CODE_BITS)


def copied(space_id: int, rows: Sequence[VectorRow], vectors: NDArray[np.float32], codes: NDArray[np.uint8]) -> bytes:
    """``(chunk_no, space_id, scopes, at, index_hash, embedding, code)`` of each row; vectors (n, d), codes (n, 128)."""
    dimensions = vectors.shape[1]
    halves = vectors.astype(">f2")
    vector_head = struct.pack(">ihh", 4 + 2 * dimensions, dimensions, 0)
    parts = [BEGIN]
    for position, row in enumerate(rows):
        words = row.index_hash.encode()
        parts += (
            _HEAD.pack(_FIELDS, 8, row.chunk_no, 2, space_id),
            uuid_array(row.scopes),
            _MOMENT.pack(8, microseconds(row.at)),
            _LENGTH.pack(len(words)),
            words,
            vector_head,
            halves[position].tobytes(),
            _CODE_HEAD,
            codes[position].tobytes(),
        )
    parts.append(END)
    return b"".join(parts)
