"""The weights by which promises are closed: made again from the worlds, and how right they are on worlds left out."""

from __future__ import annotations

import pytest

from pkg_pipeline.offline.judging import CANCELLED, weights
from training.closing import Made, Score, every, make, told
from training.links import Links, judge
from training.worlds import World, hard, load


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


def test_promises_of_worlds_left_out_are_given_up_rightly(made: Made, worlds: list[World]) -> None:
    total, hard_ones = Score(), {one.name for one in hard()}
    for world, left_out in zip(worlds, made.left_out, strict=True):
        if world.name not in hard_ones:
            total.add(told(world, left_out, CANCELLED))
    assert total.precision >= 0.85, str(total)
    assert total.recall >= 0.4, str(total)


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
        ("renewed", 0.8, 0.49),
        ("day", 0.7, 0.7),
        ("merged", 0.6, 0.39),
        ("superseded", 0.75, 0.16),
    ],
)
def test_what_is_renewed_given_up_repeated_and_superseded(
    links: Links, measure: str, precision: float, recall: float
) -> None:
    one = links.scores[measure]
    assert one.precision >= precision, "\n".join(links.wrong)
    assert one.recall >= recall, "\n".join(links.wrong)
