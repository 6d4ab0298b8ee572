"""Fits the head of lines (``lines.npz``) on our own labelled conversations: ``python -m training.lines``.

Logistic regression with a normal prior around 0, by damped Newton; every language together, since the vectors are.
Another of the very words. Then boosted trees on what is said of lines by heads that did not see them. What they say of
the talks left out is kept (``left_out.npz``), since all that is fitted afterwards begins with it.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from pkg_pipeline.offline import line_head
from pkg_pipeline.offline.line_context import JUDGED, Trees, surroundings
from pkg_pipeline.offline.line_features import Named, of_reading
from pkg_pipeline.offline.line_head import (
    DECIMALS,
    DIMENSIONS,
    HEADS,
    MOST_CHARS,
    Floats,
    Heads,
    Judge,
    as_used,
    both,
    columns,
    matrix,
    vectors_around,
)
from pkg_pipeline.offline.line_words import Words
from pkg_pipeline.offline.plain_characters import plain_talk
from pkg_pipeline.offline.reading import Reading, read
from training import line_words
from training.boosting import ROUNDS, SEEDS, boosted
from training.conversations import FOLDS, fold_of, labelled
from training.newton import newton
from training.talks import Label, Talk
from training.vectors import embed

WEIGHTS = Path(line_head.__file__).with_name("lines.npz")
LEFT_OUT = Path(__file__).with_name("left_out.npz")
TENTHS = 10**DECIMALS
LEAST = 12
"""Lines in which a feature must occur to have a weight."""
FEATURE_SPREAD = 0.45
VECTOR_SPREAD = 1.0
"""Standard deviations of the weights around 0, in log-odds; a vector's entries are near 0.04."""
VECTORS = dict(zip(HEADS, (1, 3, 1, 1, 1, 1), strict=True))
"""How many of the three vectors a head weighs: of the line alone, or of those around it, too."""

Labels = NDArray[np.float64]


@dataclass(frozen=True)
class Lines:
    """Every line of the labelled talks: features, vectors, and by head what is right (nan: not said)."""

    readings: tuple[Reading, ...]
    rows: tuple[Named, ...]
    vectors: Floats
    right: Labels
    folds: NDArray[np.int64]

    @cached_property
    def names(self) -> tuple[str, ...]:
        seen = Counter(name for row in self.rows for name in row)
        return tuple(sorted(name for name, count in seen.items() if count >= LEAST))

    @cached_property
    def x(self) -> Floats:
        return matrix(self.rows, self.names)

    def around(self, alone: Floats) -> Floats:
        """What is around each line in its talk, by what is said of each alone."""
        found: list[Floats] = []
        at = 0
        for reading in self.readings:
            speakers = [line.speaker for line in reading.lines]
            found.append(surroundings(speakers, alone[at : at + len(speakers)]))
            at += len(speakers)
        return np.vstack(found)


def _messages(label: Label, head: str) -> set[int]:
    """Of the messages of an item those that a head looks for."""
    return {"task": label.numbers, "decision": label.stated, "agrees": label.agreed_in}[head]


def _right(talk: Talk, reading: Reading) -> list[list[float]]:
    """Of each line, by head, whether it is what the head looks for."""
    found: list[list[float]] = []
    for line in reading.lines:
        number = line.message.number
        row: list[float] = []
        for head in HEADS[:JUDGED]:
            kind = "task" if head == "task" else "decision"
            said = [one for one in talk.labels if one.kind == kind and number in _messages(one, head)]
            sure = any(not label.is_optional for label in said)
            row.append(float("nan") if kind not in talk.kinds or (said and not sure) else float(sure))
        owners = {label.owner for label in talk.labels if label.kind == "task" and number in label.numbers}
        own = {"me"} if line.speaker.is_self else {"them"}
        plain = len(owners) == 1 and len(reading.speakers) <= 2 and owners <= {"me", "them"}
        done = float(number in talk.ends) if "task" in talk.kinds else float("nan")
        lasts = [label.lasts for label in talk.labels if label.lasts is not None and number in label.numbers]
        stays = float(lasts[0] == "stays") if lasts else float("nan")
        found.append([*row, float(owners == own) if plain else float("nan"), done, stays])
    return found


@cache
def readings() -> tuple[Reading, ...]:
    """The labelled talks, nothing said of their lines."""
    return tuple(read(plain_talk(talk.source)) for talk in labelled())


@cache
def lines() -> Lines:
    talks = labelled()
    # of all at once: talk after talk takes half as long again
    embed([line.message.text[:MOST_CHARS] for reading in readings() for line in reading.lines if line.sentences])
    return Lines(
        readings(),
        tuple(row for reading in readings() for row in of_reading(reading)),
        np.vstack([vectors_around(reading, embed) for reading in readings()]),
        np.array([row for talk, reading in zip(talks, readings(), strict=True) for row in _right(talk, reading)]),
        np.array([fold_of(talk) for talk, one in zip(talks, readings(), strict=True) for _ in one.lines]),
    )


def fitted(told: Lines, places: NDArray[np.bool_], near: Floats | None = None) -> Floats:
    """Heads by weights of the lines at ``places``; ``near``: those of most of these lines."""
    x = np.hstack([told.x, told.vectors])
    weights = np.zeros((len(HEADS), x.shape[1]))
    for number, vectors in enumerate(VECTORS.values()):
        used = places & ~np.isnan(told.right[:, number])
        size = len(told.names) + 1 + vectors * DIMENSIONS
        precision = np.repeat([FEATURE_SPREAD**-2, VECTOR_SPREAD**-2], [len(told.names) + 1, vectors * DIMENSIONS])
        start = None if near is None else near[number, :size]
        weights[number, :size] = newton(x[used, :size], told.right[used, number], np.zeros(size), precision, start)
    return weights


@dataclass(frozen=True)
class Said:
    """Log-odds of every line, as they are used, by what did not see it: heads and words together, the words alone."""

    alone: Floats
    words: Floats

    def columns(self, told: Lines) -> Floats:
        """What the trees see."""
        return columns(told.around(self.alone), told.x, self.words)


def trees_of(told: Lines, places: NDArray[np.bool_], said: Said, seeds: Sequence[int], rounds: int = ROUNDS) -> Trees:
    """The trees of the lines at ``places``."""
    return boosted(said.columns(told)[places], told.right[places, :JUDGED], seeds, rounds)


@cache
def _words() -> csr_matrix:
    return line_words.matrix(readings())


def words_of(told: Lines, places: NDArray[np.bool_]) -> Words:
    """What words say, by the lines at ``places``."""
    return line_words.fitted(_words()[places], told.right[places])


@cache
def _without(folds: frozenset[int]) -> Floats:
    """Heads by weights of all lines but those of some folds."""
    told = lines()
    return fitted(told, ~np.isin(told.folds, list(folds)), _without(frozenset()) if folds else None)


def unseen(without: frozenset[int]) -> Said:
    """What is said of every line by what saw neither its fold nor the folds ``without``."""
    told = lines()
    heads = np.zeros((len(told.rows), len(HEADS)))
    words = np.zeros_like(heads)
    for fold in range(FOLDS):
        here = told.folds == fold
        seen = ~np.isin(told.folds, [*without, fold])
        heads[here] = np.hstack([told.x[here], told.vectors[here]]) @ _without(without | {fold}).T
        words[here] = as_used(line_words.said(_words()[here], words_of(told, seen)))
    return Said(both(heads, words), words)


def unseen_judged(fold: int) -> Floats:
    """What heads and trees say of the lines of a fold that they did not see."""
    told = lines()
    here = told.folds == fold
    said = unseen(frozenset({fold}))
    judged = trees_of(told, ~here, said, SEEDS[:1]).log_odds(said.columns(told)[here])
    return np.hstack([judged, said.alone[here, JUDGED:]])


def read_from() -> int:
    """A checksum of the lines that are labelled, in their order."""
    found = 0
    for reading in readings():
        for line in reading.lines:
            found = zlib.crc32(line.message.text.encode(), found)
    return found


@dataclass(frozen=True)
class Unseen(Said):
    """Also what the trees make of it."""

    judged: Floats


@cache
def kept() -> Unseen | None:
    """What was said at the last fit, if of these very lines."""
    with np.load(LEFT_OUT) as file:
        if int(file["lines"]) != read_from():
            return None
        return Unseen(**{one.name: file[one.name] / TENTHS for one in fields(Unseen)})


def anew() -> Unseen:
    told = lines()
    judged = np.zeros((len(told.rows), len(HEADS)))
    for fold in range(FOLDS):
        judged[told.folds == fold] = as_used(unseen_judged(fold))
    said = unseen(frozenset())
    return Unseen(said.alone, said.words, judged)


def keep(said: Unseen) -> None:
    whole = {one.name: np.round(getattr(said, one.name) * TENTHS).astype(np.int8) for one in fields(Unseen)}
    np.savez_compressed(LEFT_OUT, lines=np.array(read_from()), **whole)
    kept.cache_clear()


@cache
def left_out() -> list[Reading]:
    """Every talk with what heads and trees say of its lines that did not see its fold."""
    said = line_head.chances((kept() or anew()).judged)
    found: list[Reading] = []
    at = 0
    for reading in readings():
        found.append(replace(reading, chances=said[at : at + len(reading.lines)]))
        at += len(reading.lines)
    return found


@cache
def fit() -> Judge:
    """The heads and trees of every line."""
    told = lines()
    everywhere = np.ones(len(told.rows), dtype=np.bool_)
    trees = trees_of(told, everywhere, unseen(frozenset()), SEEDS)
    return Judge(Heads(told.names, _without(frozenset())), words_of(told, everywhere), trees)


def main() -> None:
    judge = fit()
    weights = judge.heads.weights.astype(np.float16)
    words = {"words": judge.words.weights, "words_step": judge.words.step, "words_start": judge.words.start}
    np.savez_compressed(WEIGHTS, names=np.array(judge.heads.names), weights=weights, **words, **judge.trees.arrays)
    keep(anew())


if __name__ == "__main__":
    main()
