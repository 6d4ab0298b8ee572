"""The head of lines: whether a line of a chat says a task or a decision, from vectors, rules and the very
words; then trees weigh it among the lines around it.

One head for all languages, since the vectors are. Its weights are in ``lines.npz``, fitted by ``make train``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pkg_pipeline.offline.line_context import JUDGED, Trees, surroundings
from pkg_pipeline.offline.line_features import Named, neighbours, of_reading
from pkg_pipeline.offline.line_words import Words
from pkg_pipeline.offline.reading import LineChance, Reading
from pkg_pipeline.stages.ports import Vectors

Embed = Callable[[Sequence[str]], Vectors]
Floats = NDArray[np.float64]

DIMENSIONS: Final = 512
MOST_CHARS = 600
"""Characters of a line that its vector is made from."""
FURTHEST = 5.0
"""Log-odds beyond it say nothing more."""
DECIMALS = 1
"""The vectors vary in their last bits between machines, the log-odds do not."""
WORDS_SHARE = 0.4
"""What the words' log-odds count for beside the others'."""
HEADS: Final = ("task", "decision", "agrees", "speaker", "done", "stays")
"""Says a task, states a decision, agrees to one, whose a task is that it says (the speaker's or not), tells of
something done, whether a decision that it says holds until it is changed."""


@dataclass(frozen=True)
class Heads:
    """Weights of each head: of the features by ``names``, then of the vectors of the line, before and after it."""

    names: tuple[str, ...]
    weights: Floats

    def log_odds(self, rows: Sequence[Named], vectors: Floats) -> Floats:
        """Lines by heads; ``vectors``: lines by three vectors in a row."""
        return np.hstack([matrix(rows, self.names), vectors]) @ self.weights.T


@dataclass(frozen=True)
class Judge:
    """The heads of lines and the trees that judge a line among others."""

    heads: Heads
    words: Words
    trees: Trees

    def log_odds(self, reading: Reading, embed: Embed) -> Floats:
        """Lines by heads."""
        rows = of_reading(reading)
        words = as_used(self.words.log_odds(reading))
        alone = both(self.heads.log_odds(rows, vectors_around(reading, embed)), words)
        around = surroundings([line.speaker for line in reading.lines], alone)
        judged = self.trees.log_odds(columns(around, matrix(rows, self.heads.names), words))
        return np.hstack([judged, alone[:, JUDGED:]])


def both(heads: Floats, words: Floats) -> Floats:
    """What heads and words say together of each line, as it is used."""
    return as_used((heads + WORDS_SHARE * words) / (1 + WORDS_SHARE))


def columns(around: Floats, features: Floats, words: Floats) -> Floats:
    """What the trees see of each line."""
    return np.hstack([around, features, words[:, :JUDGED]])


def matrix(rows: Sequence[Named], names: Sequence[str]) -> Floats:
    """Features of lines as numbers; the first column is 1."""
    places = {name: i for i, name in enumerate(names, 1)}
    x = np.zeros((len(rows), len(names) + 1))
    x[:, 0] = 1.0
    for row, found in zip(x, rows, strict=True):
        for name, value in found.items():
            if (place := places.get(name)) is not None:
                row[place] = value
    return x


def vectors_around(reading: Reading, embed: Embed) -> Floats:
    """The vectors of each line, of the other speaker's line before it and after it; each distinct text is read once."""
    texts = [line.message.text[:MOST_CHARS] if line.sentences else "" for line in reading.lines]
    distinct = [text for text in dict.fromkeys(texts) if text]
    known = dict(zip(distinct, embed(distinct), strict=True)) if distinct else {}
    nothing = np.zeros(DIMENSIONS, dtype=np.float32)
    own = [known.get(text, nothing) for text in texts]
    around = [neighbours(reading, index) for index in range(len(own))]
    rows = [
        np.concatenate([mine, *(nothing if place is None else own[place] for place in places)])
        for mine, places in zip(own, around, strict=True)
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, 3 * DIMENSIONS)


@cache
def judge() -> Judge:
    with files("pkg_pipeline.offline").joinpath("lines.npz").open("rb") as stream, np.load(stream) as found:
        words = Words(found["words"], found["words_step"], found["words_start"])
        heads = Heads(tuple(found["names"].tolist()), found["weights"].astype(np.float64))
        return Judge(heads, words, Trees.kept(found))


def as_used(log_odds: Floats) -> Floats:
    """Within bounds and rounded."""
    return np.round(np.clip(log_odds, -FURTHEST, FURTHEST), DECIMALS) + 0.0


def chances(log_odds: Floats) -> tuple[LineChance, ...]:
    """What the heads say of each line, as it is used."""
    return tuple(LineChance(*map(float, row)) for row in as_used(log_odds))


def judged(reading: Reading, embed: Embed) -> Reading:
    """The reading with what the heads say of each line."""
    return replace(reading, chances=chances(judge().log_odds(reading, embed)))
