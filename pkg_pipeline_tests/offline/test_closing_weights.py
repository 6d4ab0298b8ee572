"""The weights by which promises are closed: made again from the worlds, and how right they are on worlds left out."""

from __future__ import annotations

import numpy as np
import pytest

from pkg_pipeline.offline import ending_head
from pkg_pipeline.offline.judging import CANCELLED, RENEWED, SURE, Head, weights
from training import endings
from training.closing import Made, Score, every, make, score, told
from training.links import Links, judge
from training.newton import chance
from training.worlds import World, load

SAME = 0.03
"""Mean difference of probabilities."""
LIKELY = -1.0
"""Log-odds."""


@pytest.fixture(scope="module")
def worlds() -> list[World]:
    return every()


@pytest.fixture(scope="module")
def made(worlds: list[World]) -> Made:
    return make(worlds)


@pytest.fixture(scope="module")
def links() -> Links:
    return judge(load())


def test_the_weights_of_the_package_are_those_of_the_worlds(made: Made) -> None:
    """After a change of the labelled chats or of the features: ``make train``."""
    for head, fitted in made.weights.items():
        assert weights()[head] == pytest.approx(fitted, abs=0.02), head


def test_the_head_of_endings_is_that_of_the_lines() -> None:
    rows = endings.told().rows
    mine, anew = chance(rows @ ending_head.weights()), chance(rows @ endings.fit())
    assert float(np.abs(mine - anew).mean()) < SAME
    assert endings.WEIGHTS.stat().st_size < 10_000


def test_lines_left_out_that_tell_of_something_done_are_told_from_others() -> None:
    """One line of twelve closes a task; of those from ``LIKELY`` on every second does."""
    likely = np.array([one >= LIKELY for talk in endings.left_out().values() for one in talk])
    right = endings.told().right
    assert right[likely].mean() >= 0.5
    assert right[likely].sum() / right.sum() >= 0.62


@pytest.mark.parametrize(("least", "precision", "recall"), [(SURE, 0.93, 0.7)])
def test_promises_of_worlds_left_out_are_closed_rightly(
    made: Made, worlds: list[World], least: float, precision: float, recall: float
) -> None:
    total = Score()
    for world, left_out in zip(worlds, made.left_out, strict=True):
        total.add(score(world, left_out["kept"], least))
    assert (total.precision, total.recall) >= (precision, 0), str(total)
    assert total.recall >= recall, str(total)


@pytest.mark.parametrize(
    ("head", "least", "precision", "recall"), [("renewed", RENEWED, 0.8, 0.57), ("cancelled", CANCELLED, 0.85, 0.4)]
)
def test_promises_of_worlds_left_out_are_renewed_and_given_up_rightly(
    made: Made, worlds: list[World], head: Head, least: float, precision: float, recall: float
) -> None:
    total = Score()
    for world, left_out in zip(worlds, made.left_out, strict=True):
        total.add(told(world, head, left_out[head], least))
    assert total.precision >= precision, str(total)
    assert total.recall >= recall, str(total)


def test_every_world_has_what_a_careful_reader_would_miss() -> None:
    worlds = load()
    languages = [world.language for world in worlds]
    assert min(languages.count(language) for language in ("en", "ru", "zh")) >= 4
    for world in worlds:
        ids = {message.external_id for talk in world.talks for message in talk.messages}
        named = [key for item in world.items for key in (*item.messages, *item.closed_by, *item.cancelled_by)]
        assert set(named) <= ids, world.name
        assert any(len(talk.messages) <= 2 for talk in world.talks), world.name


@pytest.mark.parametrize(
    ("measure", "precision", "recall"),
    [
        ("cancelled", 0.85, 0.4),
        ("renewed", 0.75, 0.65),
        ("day", 0.7, 0.7),
        ("merged", 0.6, 0.5),
        ("superseded", 0.75, 0.5),
    ],
)
def test_what_is_renewed_given_up_repeated_and_superseded(
    links: Links, measure: str, precision: float, recall: float
) -> None:
    one = links.scores[measure]
    assert one.precision >= precision, "\n".join(links.wrong)
    assert one.recall >= recall, "\n".join(links.wrong)
