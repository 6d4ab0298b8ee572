"""Who somebody is to me: figures over labelled accounts, each left out of the weights that name its people."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pkg_pipeline.adapters.embedders.offline import OfflineEmbedder
from pkg_pipeline.memory.profile.records import RelationshipType, Signals, Utterance
from pkg_pipeline.memory.profile.relationship import TYPES, guess
from pkg_pipeline.memory.profile.role_words import NAME, heard
from training import relationships
from training.labelled_people import Labelled, people

START = datetime(2026, 3, 2, 19, 0, tzinfo=UTC)
UTC_ZONE = ZoneInfo("UTC")

PARTS = (1, 5)
"""Of eight; all of them by ``python -m training.relationships --score``."""
Figure = tuple[str, bool, float, float]
FIGURES: list[Figure] = [
    # who, by_words, least right, most wrong
    ("whole", False, 0.58, 0.11),
    ("early", False, 0.46, 0.14),
    ("whole", True, 0.3, 0.09),
    ("early", True, 0.2, 0.06),
    ("in groups", False, 0.09, 0.11),
]


@cache
def labelled() -> list[Labelled]:
    """Of the accounts that the weights were fitted to, and who is only fitted to."""
    _, worlds = relationships.stored()
    return [one for one in people() if one.world in worlds or not one.is_asked]


@cache
def left_out() -> tuple[relationships.Call, ...]:
    return tuple(relationships.left_out(labelled(), PARTS))


@pytest.mark.parametrize(("who", "by_words", "least", "most"), FIGURES)
def test_people_of_worlds_left_out_are_called_rightly_or_not_at_all(
    who: str, by_words: bool, least: float, most: float
) -> None:
    found = relationships.score(relationships.asked(left_out(), who), by_words=by_words)
    assert found.asked >= 13
    assert found.accuracy >= least, found
    assert found.error <= most, found


def test_the_weights_are_those_that_training_fits() -> None:
    fitted = relationships.fit(labelled(), relationships.priors())
    stored, _ = relationships.stored()
    assert stored.weights == pytest.approx(fitted.weights, abs=0.02)
    assert stored.with_vectors == pytest.approx(fitted.with_vectors, abs=0.05)
    assert stored.head == pytest.approx(fitted.head, abs=0.02)


def talk(*lines: str) -> list[Utterance]:
    """``>`` before what I say."""
    return [
        Utterance(line.removeprefix("> "), line.startswith("> "), START + timedelta(hours=place))
        for place, line in enumerate(lines)
    ]


@pytest.mark.parametrize(
    ("name", "lines", "kind"),
    [
        ("Мама", ["Ты поел?", "> Да, мам", "Приезжай домой в воскресенье"], "family"),
        ("妈妈", ["吃了没", "> 妈，吃了", "多穿点，早点睡"], "family"),
        ("Mum", ["love you", "> love you mum, home for dinner on Sunday"], "family"),
        ("Dr Hale", ["Take one tablet twice a day after meals", "> Thank you doctor, the pain is better"], "doctor"),
        ("王老师", ["作业明天交，孩子上课很认真", "> 老师，孩子今天请假"], "teacher"),
        ("Ирина хозяйка", ["Пришлите показания счётчиков", "> За квартиру перевёл", "> Кран течёт"], "landlord"),
        ("Sam", ["ok", "> ok"], "unknown"),
    ],
)
def test_plain_cases(name: str, lines: list[str], kind: RelationshipType) -> None:
    assert guess(Signals(name, talk(*lines)), UTC_ZONE).type == kind


def test_whom_somebody_talks_about_is_not_whom_they_talk_to() -> None:
    assert "kin" in {role for role, _ in heard("Thanks, Mum")}
    assert not [phrase for _, phrase in heard("it is what my mum and her sister would have said") if phrase == "@mum"]
    assert {role for role, _ in heard("老王（同事）", NAME)} >= {"coworker"}


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=30), st.lists(st.tuples(st.text(max_size=80), st.booleans()), max_size=8))
def test_whatever_is_said_there_is_one_answer(name: str, said: list[tuple[str, bool]]) -> None:
    signals = Signals(name, [Utterance(text, mine, START) for text, mine in said])
    found = guess(signals, UTC_ZONE)
    assert found.type in TYPES
    assert 0 <= found.probability <= 1
    assert guess(signals, UTC_ZONE) == found


def test_vectors_make_a_landlord_of_whoever_rents_out() -> None:
    lines = ["Your rent is due on Friday", "> Sending it tonight. The tap in the kitchen drips", "I'll send a plumber"]
    found = guess(Signals("Mrs Fenwick", talk(*lines)), UTC_ZONE, OfflineEmbedder().embed)
    assert found.type == "landlord"


def test_whom_we_only_meet_in_a_group_is_what_the_group_is() -> None:
    said = [
        *talk("the lift is stuck again", "has anybody rung the managing agent?", "and who parked across the driveway"),
        *talk("flat 6 are loud again", "who has the key to the bin store", "the hallway light on our floor is out"),
        *talk(
            "> I rang them, tomorrow at nine",
            "> bin day is Thursday this week",
            "> a parcel for no 4 is in the hallway",
        ),
    ]
    signals = Signals("Pam", said, groups=["Elm Court residents"], is_met_in_groups=True)
    assert guess(signals, UTC_ZONE, OfflineEmbedder().embed).type == "neighbour"


def test_nothing_said_is_unknown() -> None:
    assert guess(Signals("Dr Hale"), UTC_ZONE).type == "unknown"
