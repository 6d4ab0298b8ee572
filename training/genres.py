"""Fits the head of lines of meetings (``genres.npz``): ``python -m training.genres [FOLDER]``.

FOLDER holds public labelled talks as the judge of ``benchmarks/extraction_quality`` reads them; by default it is looked
for beside the checkout. Learned from: twelve meetings of the AMI corpus (CC BY 4.0). Left-out figures come from
folds of whole meetings.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from benchmarks.extraction_quality import conversations, source_of
from pkg_pipeline.memory.records import SummaryInput
from pkg_pipeline.offline import genre_heads, transcripts
from pkg_pipeline.offline.actions import find_actions
from pkg_pipeline.offline.decisions import find_decisions
from pkg_pipeline.offline.genre_heads import GENRES, Genre, Head, Named, matrix
from pkg_pipeline.offline.highlights import weights_of
from pkg_pipeline.offline.llm import answer
from pkg_pipeline.offline.reading import Reading, read
from training.newton import newton

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "eval" / "extraction"
WEIGHTS = Path(genre_heads.__file__).with_name("genres.npz")
SPREAD = 1.0
"""Standard deviation of a weight around 0, in log-odds."""
NEAR = 1
"""Lines between an item's and a label's evidence, at most."""

Kind = Literal["action_items", "decisions"]
KINDS: Final[tuple[Kind, ...]] = ("action_items", "decisions")

Right = NDArray[np.bool_]


@dataclass(frozen=True)
class Labelled:
    """A talk with its labels: which lines are important or request something, and the lines of each item."""

    name: str
    source: SummaryInput
    reading: Reading
    important: frozenset[str]
    items: dict[Kind, list[set[int]]]

    def marked(self, ids: frozenset[str]) -> Right:
        return np.array([line.message.external_id in ids for line in self.reading.lines])


@dataclass(frozen=True)
class Examples:
    """Rows of one talk for one head, and which are right."""

    rows: list[Named]
    right: Right


def load(folder: Path, name: str) -> list[Labelled]:
    """The visible talks of a set with their labels."""
    gold: dict[str, dict[str, Any]] = {}
    for line in (folder / f"{name}.visible.gold.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        gold[row["conversation_id"]] = row
    talks: list[Labelled] = []
    for key, messages in conversations(folder, name, "visible").items():
        source, said = source_of(key, messages), gold[key]
        place = {one: n for n, one in enumerate(said["message_ids"])}
        items = {kind: [{place[one] for one in item["message_ids"]} for item in said[kind] or ()] for kind in KINDS}
        talks.append(Labelled(key, source, read(source), frozenset(said["important_message_ids"] or ()), items))
    return talks


def _lines(talk: Labelled) -> Examples:
    rows = transcripts.features(talk.reading, weights_of(talk.reading))
    return Examples(rows, talk.marked(talk.important))


def share_right(folder: Path, kind: Kind) -> float:
    """The share of a kind's items, as readings find them in meetings, that people named too."""
    right: list[bool] = []
    for talk in talks(folder, "ami"):
        decisions = find_decisions(talk.reading)
        settled = [one.sentence for one in decisions]
        found = decisions if kind == "decisions" else find_actions(talk.reading, settled)
        said = [line for label in talk.items[kind] for line in label]
        right += [any(abs(a - b) <= NEAR for a in one.lines for b in said) for one in found]
    return float(np.mean(right))


SETS: dict[Genre, tuple[str, Callable[[Labelled], Examples]]] = {
    "line of a meeting": ("ami", _lines),
}


@cache
def talks(folder: Path, name: str) -> tuple[Labelled, ...]:
    return tuple(load(folder, name))


@cache
def examples(folder: Path, genre: Genre) -> tuple[Examples, ...]:
    name, of_talk = SETS[genre]
    return tuple(of_talk(talk) for talk in talks(folder, name))


def fitted(told: Sequence[Examples]) -> Head:
    """The head of these talks: logistic regression with a normal prior around 0, by Newton's method."""
    names = tuple(sorted(told[0].rows[0]))
    x = np.vstack([matrix(one.rows, names) for one in told])
    y = np.concatenate([one.right for one in told]).astype(np.float64)
    w = newton(x, y, np.zeros(x.shape[1]), np.full(x.shape[1], SPREAD**-2))
    return Head(names, w)


@contextmanager
def _instead(genre: Genre, made: Head) -> Iterator[None]:
    """The reader with ``made`` in the place of the packaged head of ``genre``."""
    packaged = genre_heads.head
    with patch.object(genre_heads, "head", lambda asked: made if asked == genre else packaged(asked)):
        yield


@contextmanager
def reader_without(folder: Path, name: str, talk: str) -> Iterator[None]:
    """The reader with heads that have not seen ``talk`` of the set ``name``."""
    with ExitStack() as stack:
        for genre in (genre for genre in GENRES if SETS[genre][0] == name):
            told = zip(talks(folder, name), examples(folder, genre), strict=True)
            stack.enter_context(_instead(genre, fitted([one for other, one in told if other.name != talk])))
        yield


@dataclass(frozen=True)
class Shares:
    """Counts over talks that were left out of the fit."""

    found: int
    wanted: int
    both: int

    @property
    def precision(self) -> float:
        return self.both / max(1, self.found)

    @property
    def recall(self) -> float:
        return self.both / max(1, self.wanted)

    @property
    def f(self) -> float:
        return 2 * self.both / max(1, self.found + self.wanted)


def _left_out(folder: Path, genre: Genre, found_in: Callable[[Labelled], Right]) -> Shares:
    """Each talk read by a head that was fitted to the others."""
    name = SETS[genre][0]
    counts = np.zeros(3, dtype=np.int64)
    for talk, one in zip(talks(folder, name), examples(folder, genre), strict=True):
        with reader_without(folder, name, talk.name):
            found = found_in(talk)
        counts += [found.sum(), one.right.sum(), (found & one.right).sum()]
    return Shares(*map(int, counts))


def important_left_out(folder: Path) -> Shares:
    """Important lines of meetings, as summaries name them."""

    def found_in(talk: Labelled) -> Right:
        named = set(answer(talk.source).important)
        return np.array([line.message.number in named for line in talk.reading.lines])

    return _left_out(folder, "line of a meeting", found_in)


def packed(heads: dict[Genre, Head]) -> dict[str, NDArray[Any]]:
    """As ``genres.npz`` holds them."""
    names: dict[str, NDArray[Any]] = {f"{genre}: names": np.array(made.names) for genre, made in heads.items()}
    return names | {genre: made.weights.astype(np.float32) for genre, made in heads.items()}


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else BESIDE
    if not folder.is_dir():
        print(f"meetings: NOT FITTED, the labelled talks are not at {folder}")
        return
    made = {genre: fitted(examples(folder, genre)) for genre in GENRES}
    np.savez_compressed(WEIGHTS, **packed(made))  # pyright: ignore[reportArgumentType]
    genre_heads.head.cache_clear()
    got = important_left_out(folder)
    print(f"important lines: P/R/F left out {100 * got.precision:.1f}/{100 * got.recall:.1f}/{100 * got.f:.1f}")
    for kind in KINDS:
        print(f"{kind} of meetings: {share_right(folder, kind):.2f} right")


if __name__ == "__main__":
    main()
