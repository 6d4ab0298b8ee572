"""Fits the head of facts (``facts.npz``) on the labelled accounts and on half of ``fact_talks``:
``python -m training.facts``.

A candidate is right where the world's labels have its value for whom it is about. Logistic regression a kind with a
normal prior around 0. Left-out figures and the thresholds come from folds of whole worlds. The other half of
``fact_talks`` is a yardstick that nothing is fitted to.
"""

from __future__ import annotations

import tomllib
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

import numpy as np

from pkg_pipeline.memory.text.normalise import comparable
from pkg_pipeline.offline import line_head
from pkg_pipeline.offline.facts import fact_head, rules_in
from pkg_pipeline.offline.facts.candidates import SURE_RULE, WEIGHED, Candidate, candidates_in
from pkg_pipeline.offline.facts.fact_head import FactHead, both_vectors
from pkg_pipeline.offline.facts.fact_head import heads as packaged
from pkg_pipeline.offline.facts.found import FactKind
from pkg_pipeline.offline.facts.plain_characters import as_written, plain_reading
from pkg_pipeline.offline.line_head import DIMENSIONS, MOST_CHARS, Floats, matrix
from pkg_pipeline.offline.reading import read
from training import accounts, worlds
from training.fact_labels import is_labelled
from training.fit import PRIORS
from training.newton import newton
from training.talks import LANGUAGES
from training.told_worlds import worlds_of
from training.vectors import embed
from training.worlds import World

WEIGHTS = Path(line_head.__file__).with_name("facts.npz")
LEAST = 6
"""Candidates in which a feature must occur to have a weight."""
TALKS = Path(__file__).with_name("fact_talks")
FEATURE_SPREAD = 0.4
VECTOR_SPREAD = 1.0
"""Standard deviations of the weights around their priors (``priors.toml``, else 0), in log-odds."""
BIAS_SPREAD = 10.0
SURE_SPREAD = 1.5
"""Of what a rule is sure of, so that a kind that few tell may still be believed."""
PRECISION: dict[FactKind, float] = {
    "position": 0.87,
    "organization": 0.84,
    "family": 0.9,
    "preference": 0.79,
    "address": 0.8,
}
"""Of what is shown of a kind, on accounts and unread talks left out, counted by labels: of what they call wrong in the
accounts that nobody had read, nine of 21 jobs are right when read, and only lack a label ("my sister is a notary")."""
FREE = 0.78
"""Of what no rule is sure of, by itself: what rules find would let it pass."""
LOWEST = 0.4
"""No threshold is lower."""
MOST_RULED: dict[FactKind, float] = {"organization": 0.7, "family": 0.4, "preference": 0.6, "address": 0.4}
"""That of what a rule is sure of is not higher: what is said outright must be found. Of jobs rules are less sure."""
FOLDS = 12


@dataclass(frozen=True)
class Example:
    candidate: Candidate
    text: str
    is_right: bool
    world: str
    language: str
    talk: int


@cache
def learned() -> tuple[World, ...]:
    """The worlds that the heads are fitted to."""
    return (*accounts.load(), *fact_talks("read"), *fact_talks("unread"))


Part = Literal["read", "unread", "yardstick"]


@cache
def fact_talks(part: Part) -> tuple[World, ...]:
    """Of the talks dense in facts those learned from that were read while rules were written, those learned from that
    nobody read, and those that nothing is fitted to.
    """
    return tuple(
        worlds.told(name, row)
        for path in sorted(TALKS.glob("*.txt"))
        for number, (name, row) in enumerate(worlds_of(path).items())
        if part_of(path, number) == part
    )


def part_of(path: Path, number: int) -> Part:
    """Of a talk by its place in its file: every second was read; of the long files half of the others is learned from
    without being read, so that a rule is believed as far as it holds where it was not made. Of ``*_more`` every world
    is learned from.
    """
    if number % 2 == 0:
        return "read"
    if path.stem.endswith("_more"):
        return "unread"
    return "unread" if path.stem in LANGUAGES and number % 4 == 1 else "yardstick"


@cache
def examples() -> dict[FactKind, list[Example]]:
    return examples_of(learned())


def examples_of(of: Sequence[World]) -> dict[FactKind, list[Example]]:
    found: dict[FactKind, list[Example]] = {kind: [] for kind in WEIGHED}
    for world in of:
        for one in _of_world(world):
            found[one.candidate.fact.kind].append(one)
    return found


def _of_world(world: World) -> Iterator[Example]:
    for number, talk in enumerate(world.talks):
        written = read(talk)
        reading = plain_reading(written)
        for one in candidates_in(reading, rules_in(reading)):
            fact = as_written(one.fact, written)
            text = reading.lines[fact.sentence.line].message.text[:MOST_CHARS]
            right = is_labelled(fact.kind, fact.whose or "", fact.value, world.facts)
            yield Example(one, text, right, world.name, world.language, number)


def fitted(told: Sequence[Example], thresholds: tuple[float, float] = (1.0, 1.0)) -> FactHead:
    seen = Counter(name for one in told for name in one.candidate.features)
    names = tuple(sorted(name for name, count in seen.items() if count >= LEAST))
    x = np.hstack([matrix([one.candidate.features for one in told], names), vectors(told)])
    y = np.array([one.is_right for one in told], dtype=np.float64)
    precision = np.repeat([FEATURE_SPREAD**-2, VECTOR_SPREAD**-2], [len(names) + 1, 2 * DIMENSIONS])
    precision[0] = BIAS_SPREAD**-2
    if SURE_RULE in names:
        precision[1 + names.index(SURE_RULE)] = SURE_SPREAD**-2
    start = np.zeros(x.shape[1])
    for name, weight in _prior().items():
        if name in names:
            start[1 + names.index(name)] = weight
    return FactHead(names, newton(x, y, start, precision), *thresholds)


@cache
def _prior() -> dict[str, float]:
    return tomllib.loads(PRIORS.read_text(encoding="utf-8"))["fact"]


def vectors(told: Sequence[Example]) -> Floats:
    return both_vectors([one.text for one in told], [one.candidate.fact.value for one in told], embed)


@cache
def parts() -> dict[str, int]:
    """The part with which each world is left out, the same whatever is added later."""
    return {world.name: zlib.crc32(world.name.encode()) % FOLDS for world in learned()}


@cache
def fitted_without(part: int | None) -> dict[FactKind, FactHead]:
    """The heads of every world but those of a part, with the thresholds of the package."""
    known: dict[FactKind, tuple[float, float]] = thresholds() if part is None else {}
    for kind, one in packaged().items():
        known.setdefault(kind, (one.threshold, one.ruled))
    return {kind: replace(_of_fold(kind, part), threshold=few, ruled=many) for kind, (few, many) in known.items()}


@cache
def _of_fold(kind: FactKind, part: int | None) -> FactHead:
    return fitted([one for one in examples()[kind] if part is None or parts()[one.world] != part])


def chances_left_out(told: Sequence[Example]) -> Floats:
    """Of each example of a kind, by a head that did not see its world."""
    found = np.zeros(len(told))
    for part in {parts()[one.world] for one in told}:
        here = [number for number, one in enumerate(told) if parts()[one.world] == part]
        head = _of_fold(told[0].candidate.fact.kind, part)
        found[here] = head.chances(
            [told[number].candidate.features for number in here], vectors([told[n] for n in here])
        )
    return found


@cache
def shown(kind: FactKind, of: range = range(FOLDS)) -> list[tuple[float, Example]]:
    """Each value of somebody in the worlds of some parts once with its chance left out, the surest first."""
    told = [one for one in examples()[kind] if parts()[one.world] in of]
    return once(chances_left_out(told), told)


def once(chances: Floats, told: Sequence[Example]) -> list[tuple[float, Example]]:
    """Of each value its likeliest bearer, each value of somebody once, the surest first."""
    of_value: dict[tuple[str, int, int, int], tuple[float, Example]] = {}
    for chance, one in zip(chances.tolist(), told, strict=True):
        key = (one.world, one.talk, one.candidate.fact.sentence.line, one.candidate.value)
        if key not in of_value or chance > of_value[key][0]:
            of_value[key] = (chance, one)
    kept: dict[tuple[str, str | None, str], tuple[float, Example]] = {}
    for chance, one in of_value.values():
        key = (one.world, one.candidate.fact.whose, comparable(one.candidate.fact.value))
        if key not in kept or chance > kept[key][0]:
            kept[key] = (chance, one)
    return sorted(kept.values(), key=lambda pair: -pair[0])


@cache
def thresholds() -> dict[FactKind, tuple[float, float]]:
    """By kind the least chances from which on ``PRECISION`` is right on accounts and unread talks left out: of all,
    with ``FREE`` of those that no rule is sure of, and of those that one is sure of.
    """
    read = {world.name for world in fact_talks("read")}
    found: dict[FactKind, tuple[float, float]] = {}
    for kind in WEIGHED:
        told = [pair for pair in shown(kind) if pair[1].world not in read]
        ruled = [pair for pair in told if pair[1].candidate.features.get(SURE_RULE)]
        free = [pair for pair in told if not pair[1].candidate.features.get(SURE_RULE)]
        of_free = max(_least(told, PRECISION[kind]), _least(free, FREE))
        found[kind] = of_free, min(of_free, _least(ruled, PRECISION[kind]), MOST_RULED.get(kind, 1.0))
    return found


def _least(told: Sequence[tuple[float, Example]], precision: float) -> float:
    right, least = 0, 1.0
    for number, (chance, one) in enumerate(told, 1):
        right += one.is_right
        if right >= precision * number and chance >= LOWEST:
            least = chance
    return round(least, 2)


def of_accounts(kind: FactKind, head: FactHead, of: range = range(FOLDS)) -> list[bool]:
    """Whether each value that is shown of an account left out is right, of the accounts of some parts."""
    dense = {world.name for part in ("read", "unread") for world in fact_talks(part)}
    told = [pair for pair in shown(kind, of) if pair[1].world not in dense]
    return [one.is_right for chance, one in told if head.is_shown(one.candidate.features, chance)]


@contextmanager
def without(world: World) -> Iterator[None]:
    """Facts are judged by heads that did not see a world."""
    with patch.object(fact_head, "heads", lambda: fitted_without(parts().get(world.name))):
        yield


def main() -> None:
    made: dict[str, Any] = {}
    for kind, head in fitted_without(None).items():
        made |= {
            f"{kind}: names": np.array(head.names),
            f"{kind}: weights": head.weights.astype(np.float16),
            f"{kind}: thresholds": np.array([head.threshold, head.ruled]),
        }
        taken = of_accounts(kind, head)
        print(
            f"{kind}: from {head.threshold} and {head.ruled}, {sum(taken)} of {len(taken)} right on accounts left out"
        )
    np.savez_compressed(WEIGHTS, **made)


if __name__ == "__main__":
    main()
