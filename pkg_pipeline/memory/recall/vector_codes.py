"""Codes of vectors: 1,024 sign bits of a rotated vector, so that a scope is looked through by Hamming distance.

The rotation is a Walsh-Hadamard transform over signs flipped by a fixed rule. Its values are sums and differences of
float32 in one fixed order, nothing else: the same vector has the same code on every machine, today and in ten years.
Another rule here makes every stored code worthless. Pure arithmetic: which codes are stored and read is not said here.
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
"""Vectors turned together: their values stay in a core's cache."""


def codes(vectors: NDArray[np.float32]) -> NDArray[np.uint8]:
    """(n, 128) bytes for (n, d) vectors: bit i, from the highest bit of byte 0 on, is set where value i is above 0.

    d is padded with zeros to a power of two p. Below 1,024 the vector is turned 1024/p times with other signs each;
    above, the first 1,024 values of the turned vector are taken. An exact zero, and so a vector of zeros, gives zeros.
    Raises ValueError for another shape or values that are not finite.
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
    """(1024, n) values of the (d, n) vectors, one a column: additions run along whole cache lines."""
    dimensions, count = columns.shape
    blocks = max(1, CODE_BITS // size)
    values = np.zeros((blocks, size, count), dtype=np.float32)
    np.multiply(columns, _signs(blocks, size)[:, :dimensions, None], out=values[:, :dimensions])
    while size > CODE_BITS:  # of the first step of the transform only the sums reach the first values
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
    """(blocks, size) of 1 and -1, from SHA-256: no library's generator, whose numbers may change, is asked."""
    rows: list[NDArray[np.uint8]] = []
    for block in range(blocks):
        needed = range(-(-size // 256))
        stream = b"".join(hashlib.sha256(_SEED + block.to_bytes(2) + part.to_bytes(1)).digest() for part in needed)
        rows.append(np.unpackbits(np.frombuffer(stream, dtype=np.uint8))[:size])
    made = (1 - 2 * np.stack(rows).astype(np.int8)).astype(np.float32)
    made.flags.writeable = False
    return made


def code_text(code: NDArray[np.uint8]) -> str:
    """One code as the ones and zeros that PostgreSQL reads as ``bit(1024)``."""
    return "".join(map(str, np.unpackbits(code)))


def distances(code: NDArray[np.uint8], many: NDArray[np.uint8]) -> NDArray[np.int64]:
    """In how many bits each of (n, 128) codes differs from one (128,)."""
    return np.bitwise_count(np.bitwise_xor(many, code)).sum(axis=1, dtype=np.int64)
