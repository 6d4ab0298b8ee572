"""BM25 as the dot product of a stored chunk vector and a question vector with current frequencies."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

DIMENSIONS: Final = 2**29
"""Of the vectors: term numbers 1 … 2^29 fit a 32-bit integer."""
OWN_WEIGHT: Final = 2
AROUND_WEIGHT: Final = 1
"""Weight of an occurrence in the context, against ``OWN_WEIGHT`` in the chunk itself."""
K1: Final = 1.2
B: Final = 0.75
AVERAGE_LENGTH: Final = 60.0
"""Weighted terms of an average chunk; constant, so that stored weights never change."""


@dataclass(frozen=True, slots=True)
class LookUp:
    """Terms to look chunks up by, rarest first; ``chunks``: the most they can match.

    ``left_out``: too common for lookup, still scored.
    """

    terms: tuple[int, ...]
    left_out: tuple[int, ...]
    chunks: int


@lru_cache(maxsize=65_536)
def term_number(term: str) -> int:
    """1 … 2^29, stable over processes; two terms collide once in 5 × 10^8 pairs."""
    digest = hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return (int.from_bytes(digest, "big") >> 3) + 1


def document_vector(own: Iterable[int], around: Iterable[int]) -> dict[int, float]:
    """Term number → weight of a chunk with these: ``tf·(k1+1) / (tf + k1·(1 - b + b·len/AVERAGE_LENGTH))``.

    ``tf``: occurrences by ``OWN_WEIGHT`` and ``AROUND_WEIGHT``; ``len``: their sum. Weights in (0, k1 + 1), ordered by
    term number.
    """
    frequencies = dict[int, int]()
    for numbers, weight in ((own, OWN_WEIGHT), (around, AROUND_WEIGHT)):
        for number in numbers:
            frequencies[number] = frequencies.get(number, 0) + weight
    saturation = K1 * (1 - B + B * sum(frequencies.values()) / AVERAGE_LENGTH)
    return {number: tf * (K1 + 1) / (tf + saturation) for number, tf in sorted(frequencies.items())}


def question_vector(terms: Iterable[str], document_frequencies: Mapping[int, int], chunks: int) -> dict[int, float]:
    """Term number → ``ln(1 + (N - df + 0.5) / (df + 0.5))``, each term once.

    A missing document frequency is 0, one above ``chunks`` counts as ``chunks``: no weight is negative.
    """
    vector: dict[int, float] = {}
    for number in sorted({term_number(term) for term in terms}):
        frequency = min(document_frequencies.get(number, 0), chunks)
        vector[number] = math.log(1 + (chunks - frequency + 0.5) / (frequency + 0.5))
    return vector


def rare_first(terms: Iterable[str], document_frequencies: Mapping[int, int], *, limit: int) -> LookUp:
    """The rarest terms whose frequencies add up to at most ``limit``; ties by number.

    The rarest term that occurs is always taken, however common.
    """
    numbers = sorted(
        {term_number(term) for term in terms}, key=lambda number: (document_frequencies.get(number, 0), number)
    )
    sum_chunks = 0
    for position, number in enumerate(numbers):
        frequency = document_frequencies.get(number, 0)
        if sum_chunks and sum_chunks + frequency > limit:
            return LookUp(tuple(numbers[:position]), tuple(numbers[position:]), sum_chunks)
        sum_chunks += frequency
    return LookUp(tuple(numbers), (), sum_chunks)
