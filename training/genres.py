"""Fits the heads of meetings and letters (``genres.npz``): ``python -m training.genres [FOLDER]``.

FOLDER holds public labelled talks as the judge of ``benchmarks/extraction_quality`` reads them; by default it is looked
for beside the checkout. Learned from: twelve meetings of the AMI corpus (CC BY 4.0), 256 sentences of letters from
Parakweet's intents (Apache-2.0). Left-out figures come from folds of whole meetings and of whole letters' files.
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
from pkg_pipeline.offline import genre_heads, letters, transcripts
from pkg_pipeline.offline.actions import find_actions
from pkg_pipeline.offline.decisions import find_decisions
from pkg_pipeline.offline.facts import find_facts
from pkg_pipeline.offline.genre_heads import GENRES, Genre
from pkg_pipeline.offline.highlights import important_lines, weights_of
from pkg_pipeline.offline.letters import find_requests
from pkg_pipeline.offline.line_features import Named
from pkg_pipeline.offline.line_head import DIMENSIONS, Floats, Heads, matrix
from pkg_pipeline.offline.reading import Reading, read
from training.newton import newton
from training.vectors import embed

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "eval" / "extraction"
WEIGHTS = Path(genre_heads.__file__).with_name("genres.npz")
LEAST = 6
"""Lines of letters in which a feature must occur to have a weight."""
FEATURE_SPREAD: Final[dict[Genre, float]] = {"line of a meeting": 1.0, "request of a letter": 0.45}
"""Standard deviation of a weight around 0, in log-odds."""
VECTOR_SPREAD = 2.0
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
    """Rows of one talk for one head: features, vectors (none: no columns), and which are right."""

    rows: list[Named]
    vectors: Floats
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
    return Examples(rows, np.zeros((len(rows), 0)), talk.marked(talk.important))


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


def _requests(talk: Labelled) -> Examples:
    rows = [letters.features(line) for line in talk.reading.lines]
    vectors = embed([line.message.text for line in talk.reading.lines]).astype(np.float64)
    asked = frozenset[int]().union(*talk.items["action_items"])
    return Examples(rows, vectors, np.array([i in asked for i in range(len(rows))]))


SETS: dict[Genre, tuple[str, Callable[[Labelled], Examples]]] = {
    "line of a meeting": ("ami", _lines),
    "request of a letter": ("intent", _requests),
}


@cache
def talks(folder: Path, name: str) -> tuple[Labelled, ...]:
    return tuple(load(folder, name))


@cache
def examples(folder: Path, genre: Genre) -> tuple[Examples, ...]:
    name, of_talk = SETS[genre]
    return tuple(of_talk(talk) for talk in talks(folder, name))


def fitted(genre: Genre, told: Sequence[Examples]) -> Heads:
    """The head of these talks; a feature in fewer than ``LEAST`` rows has no weight."""
    counts: dict[str, int] = {}
    for row in (row for one in told for row in one.rows):
        counts |= {name: counts.get(name, 0) + 1 for name in row}
    names = tuple(sorted(name for name, count in counts.items() if count >= LEAST))
    x = np.vstack([np.hstack([matrix(one.rows, names), one.vectors]) for one in told])
    y = np.concatenate([one.right for one in told]).astype(np.float64)
    precision = np.full(x.shape[1], FEATURE_SPREAD[genre] ** -2)
    precision[len(names) + 1 :] = VECTOR_SPREAD**-2
    return Heads(names, newton(x, y, np.zeros(x.shape[1]), precision)[None, :])


@contextmanager
def _instead(genre: Genre, made: Heads) -> Iterator[None]:
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
            stack.enter_context(_instead(genre, fitted(genre, [one for other, one in told if other.name != talk])))
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
    """Important lines of meetings, as summaries name them: what they tell besides is not made."""

    def found_in(talk: Labelled) -> Right:
        facts = {fact.sentence.line for fact in find_facts(talk.reading)}
        named = set(important_lines(talk.reading, (), facts))
        return np.array([line.index in named for line in talk.reading.lines])

    return _left_out(folder, "line of a meeting", found_in)


def requests_left_out(folder: Path) -> Shares:
    """Requests in letters, as readings find them."""

    def found_in(talk: Labelled) -> Right:
        named = {found.lines[0] for found in find_requests(letters.judged(talk.reading, embed))}
        return np.array([i in named for i in range(len(talk.reading.lines))])

    return _left_out(folder, "request of a letter", found_in)


def packed(heads: dict[Genre, Heads]) -> dict[str, NDArray[Any]]:
    """As ``genres.npz`` holds them; vectors weigh in half precision."""
    found: dict[str, NDArray[Any]] = {}
    for genre, made in heads.items():
        kind = np.float16 if made.weights.shape[1] > DIMENSIONS else np.float32
        found |= {f"{genre}: names": np.array(made.names), genre: made.weights.astype(kind)}
    return found


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else BESIDE
    if not folder.is_dir():
        print(f"meetings and letters: NOT FITTED, the labelled talks are not at {folder}")
        return
    made = {genre: fitted(genre, examples(folder, genre)) for genre in GENRES}
    np.savez_compressed(WEIGHTS, **packed(made))  # pyright: ignore[reportArgumentType]
    genre_heads.head.cache_clear()
    for name, shares in (
        ("important lines of meetings", important_left_out),
        ("requests in letters", requests_left_out),
    ):
        got = shares(folder)
        print(f"{name}: P/R/F left out {100 * got.precision:.1f}/{100 * got.recall:.1f}/{100 * got.f:.1f}")
    for kind in KINDS:
        print(f"{kind} of meetings: {share_right(folder, kind):.2f} right")


if __name__ == "__main__":
    main()
