"""BM25 in two halves: a chunk's weights, made once, and a question's, made with the frequencies of the day.

Their scalar product is the score.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

DIMENSIONS: Final = 2**29
"""Of the vectors: term numbers are 1 … 2^29, which fits a 32-bit integer."""
OWN_WEIGHT: Final = 2
AROUND_WEIGHT: Final = 1
"""How much an occurrence counts in a chunk's own words and in those around it."""
K1: Final = 1.2
B: Final = 0.75
AVERAGE_LENGTH: Final = 60.0
"""Weighted terms of a usual chunk. A constant, so that a chunk's weights never change when others arrive."""


@dataclass(frozen=True, slots=True)
class LookUp:
    """By which terms chunks are looked up, rarest first. ``chunks`` is the most that these can bring.

    ``left_out`` are too common for that, rarest first; they still count in the score.
    """

    terms: tuple[int, ...]
    left_out: tuple[int, ...]
    chunks: int


@lru_cache(maxsize=65_536)
def term_number(term: str) -> int:
    """1 … 2^29, the same in every process. Two terms share a number about once in 5 × 10^8 pairs."""
    digest = hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return (int.from_bytes(digest, "big") >> 3) + 1


def document_vector(own_terms: Iterable[str], around_terms: Iterable[str]) -> dict[int, float]:
    """Term number → weight of a chunk: ``tf·(k1+1) / (tf + k1·(1 - b + b·len/AVERAGE_LENGTH))``.

    ``tf`` is ``OWN_WEIGHT`` times the own occurrences and ``AROUND_WEIGHT`` times those around, ``len`` the sum of all
    ``tf``. Weights lie in (0, k1 + 1), in order of term numbers; no terms, no weights.
    """
    frequencies: Counter[int] = Counter()
    for term in own_terms:
        frequencies[term_number(term)] += OWN_WEIGHT
    for term in around_terms:
        frequencies[term_number(term)] += AROUND_WEIGHT
    saturation = K1 * (1 - B + B * frequencies.total() / AVERAGE_LENGTH)
    return {number: tf * (K1 + 1) / (tf + saturation) for number, tf in sorted(frequencies.items())}


def question_vector(terms: Iterable[str], document_frequencies: Mapping[int, int], chunks: int) -> dict[int, float]:
    """Term number → inverse document frequency ``ln(1 + (N - df + 0.5) / (df + 0.5))``, each term once.

    ``document_frequencies`` counts chunks by term number, an absent one has 0. A count above ``chunks`` (both are kept
    apart and may be read a moment apart) is taken as ``chunks``, so that no weight is negative.
    """
    vector: dict[int, float] = {}
    for number in sorted({term_number(term) for term in terms}):
        frequency = min(document_frequencies.get(number, 0), chunks)
        vector[number] = math.log(1 + (chunks - frequency + 0.5) / (frequency + 0.5))
    return vector


def rare_first(terms: Iterable[str], document_frequencies: Mapping[int, int], *, limit: int) -> LookUp:
    """The terms to look chunks up by: rarest first, until their frequencies would add up to more than ``limit``.

    A term that no chunk has costs nothing and is taken. The rarest that some chunk has is taken however common it is,
    else a question of common words would find nothing. Equal frequencies go by number.
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
