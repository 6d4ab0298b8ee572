"""Binary codes of vectors: 1,024 sign bits of a rotated vector, searched by Hamming distance.

A Walsh-Hadamard transform with fixed sign flips, in float32 sums of fixed order: the same on every machine. Changing it
invalidates every stored code.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

CODE_BITS = 1024
CODE_BYTES = CODE_BITS // 8

_SEED = b"signs of the rotation before codes are taken, 1"
_ROWS_AT_ONCE = 96
"""Vectors rotated together, so that they stay in the CPU cache."""


def codes(vectors: NDArray[np.float32]) -> NDArray[np.uint8]:
    """(n, 128) bytes for (n, d) vectors: bit i, from the highest of byte 0, is set where value i is above 0.

    d is zero-padded to a power of two p; below 1,024 rotated 1024/p times, above truncated to 1,024. ``ValueError``:
    another shape or non-finite values.
    """
    if vectors.ndim != 2 or not vectors.shape[1]:
        raise ValueError(f"vectors are rows of one length, not of shape {vectors.shape}")
    if not np.isfinite(vectors).all():
        raise ValueError("a vector is not finite")
    count, dimensions = vectors.shape
    size = 1 << (dimensions - 1).bit_length()
    found = np.empty((count, CODE_BYTES), dtype=np.uint8)
    for start in range(0, count, _ROWS_AT_ONCE):
        some = np.ascontiguousarray(vectors[start : start + _ROWS_AT_ONCE].T, dtype=np.float32)
        found[start : start + _ROWS_AT_ONCE] = np.packbits(_turned(some, size) > 0, axis=0).T
    return found


def _turned(columns: NDArray[np.float32], size: int) -> NDArray[np.float32]:
    """(1024, n) values of the (d, n) vectors."""
    dimensions, count = columns.shape
    blocks = max(1, CODE_BITS // size)
    values = np.zeros((blocks, size, count), dtype=np.float32)
    np.multiply(columns, _signs(blocks, size)[:, :dimensions, None], out=values[:, :dimensions])
    while size > CODE_BITS:  # only the sums of the first step reach the first values
        size //= 2
        values = values[:, :size] + values[:, size:]
    other = np.empty_like(values)
    half = size // 2
    while half:
        pairs, into = (array.reshape(blocks, -1, 2, half, count) for array in (values, other))
        np.add(pairs[:, :, 0], pairs[:, :, 1], out=into[:, :, 0])
        np.subtract(pairs[:, :, 0], pairs[:, :, 1], out=into[:, :, 1])
        values, other = other, values
        half //= 2
    return values.reshape(CODE_BITS, count)


@lru_cache(32)
def _signs(blocks: int, size: int) -> NDArray[np.float32]:
    """(blocks, size) of 1 and -1, from SHA-256, independent of library versions."""
    rows: list[NDArray[np.uint8]] = []
    for block in range(blocks):
        needed = range(-(-size // 256))
        stream = b"".join(hashlib.sha256(_SEED + block.to_bytes(2) + part.to_bytes(1)).digest() for part in needed)
        rows.append(np.unpackbits(np.frombuffer(stream, dtype=np.uint8))[:size])
    made = (1 - 2 * np.stack(rows).astype(np.int8)).astype(np.float32)
    made.flags.writeable = False
    return made


def code_text(code: NDArray[np.uint8]) -> str:
    """A code in PostgreSQL's text form of ``bit(1024)``."""
    return "".join(map(str, np.unpackbits(code)))


def distances(code: NDArray[np.uint8], many: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Hamming distances of (n, 128) codes from one (128,)."""
    return np.bitwise_count(np.bitwise_xor(many, code)).sum(axis=1, dtype=np.int64)
