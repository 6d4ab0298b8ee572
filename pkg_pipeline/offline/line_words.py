"""What the very words of a line and of the lines beside it say of it, by head: a linear model over hashed words, pairs
of words, beginnings and endings; runs of one to three characters in Chinese.

A mean of word vectors forgets order and rare words, "told you so" and "so I told you" are one to it; these do not.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pkg_pipeline.offline.line_context import Floats
from pkg_pipeline.offline.reading import Reading

SIZE: Final = 2**14
"""Weights of one line's words; words whose hashes meet share one."""
PLACES: Final = (0, -1, 1)
"""The line itself, the one before it, the one after."""
BESIDE: Final = 0.7
"""What a word counts for in a line beside."""
LONGEST_RUN = 3
_PIECE = re.compile(r"[a-zа-яё']+|\d+|[?!…,.]|[\u4e00-\u9fff]+")
_DIGITS = re.compile(r"\d+")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_CUTS = ((4, slice(None, 4)), (4, slice(-3, None)), (4, slice(-2, None)), (6, slice(None, 6)))
"""Of words longer than so many letters: these of them."""


def pieces_of(text: str) -> Iterator[str]:
    """What is weighed; every number is 0."""
    before = "^"
    for piece in _PIECE.findall(_DIGITS.sub("0", text.lower())):
        if _HAN.match(piece):
            for length in range(1, LONGEST_RUN + 1):
                yield from (piece[i : i + length] for i in range(len(piece) - length + 1))
            word = piece[0]
        else:
            yield piece
            yield from (f"{n} {piece[cut]}" for n, (most, cut) in enumerate(_CUTS) if len(piece) > most)
            word = piece
        yield f"{before} {word}"
        before = word
    yield f"{before} $"


@lru_cache(maxsize=4096)
def hashed(text: str) -> tuple[int, ...]:
    """The weights that the pieces of a text have, each once, in order."""
    return tuple(sorted({zlib.crc32(piece.encode()) % SIZE for piece in pieces_of(text)})) if text else ()


def places_of(reading: Reading) -> list[list[tuple[int, ...]]]:
    """Of each line the weights of its own pieces and of those beside it, by ``PLACES``."""
    own = [hashed(line.message.text) if line.sentences else () for line in reading.lines]
    return [[own[at + step] if 0 <= at + step < len(own) else () for step in PLACES] for at in range(len(own))]


@dataclass(frozen=True)
class Words:
    """``weights``: heads by places by ``SIZE``, in steps of ``step`` (heads); ``start``: log-odds without a word."""

    weights: NDArray[np.int8]
    step: Floats
    start: Floats

    def log_odds(self, reading: Reading) -> Floats:
        """Lines by heads."""
        found = np.zeros((len(reading.lines), len(self.start)))
        for row, places in zip(found, places_of(reading), strict=True):
            for place, pieces in enumerate(places):
                counts = BESIDE if place else 1.0
                row += counts * self.weights[:, place, list(pieces)].sum(axis=1, dtype=np.int64)
        return self.start + found * self.step
