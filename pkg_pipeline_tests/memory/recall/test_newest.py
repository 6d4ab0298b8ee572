"""Which of several values goes first: the newest of the same kind about the same matter; older ones are marked."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory.recall.newest import newest_first as lead
from pkg_pipeline.memory.recall.ranking import AskedFor
from pkg_pipeline.memory.recall.records import Ranked
from pkg_pipeline.memory.recall.wishes import Wish
from pkg_pipeline_tests.memory.candidates import ANNA, BORIS, GROUP, START, candidate

NOBODY = frozenset[Any]()


def newest_first(order: list[Ranked], wished: frozenset[Wish], meant: frozenset[Any]) -> list[Ranked]:
    return lead(order, AskedFor(speakers=meant, wishes=wished))


TALK, LATER = candidate(900).interaction_id, candidate(901).interaction_id


def told(number: int, text: str, score: float, **more: Any) -> Ranked:
    """Said on day ``number``."""
    given_ = {"at": START + timedelta(days=number), **more}
    return Ranked(candidate(number, text, **given_), score, ())


def numbers(found: list[Ranked]) -> list[int]:
    return [entry.candidate.no for entry in found]


RENT = [
    told(1, "the rent is 640", 2.0),
    told(80, "we spoke of the rent", 1.9),
    told(40, "670 from May on", 1.5),
    told(90, "I am 41", 0.7),
]


@pytest.mark.parametrize(
    ("wished", "order"),
    [
        ({"newest", "amount"}, [40, 80, 1, 90]),
        ({"amount"}, [40, 80, 1, 90]),
        ({"amount", "first"}, [1, 80, 40, 90]),
        ({"amount", "list"}, [1, 80, 40, 90]),
        ({"time"}, [1, 80, 40, 90]),
        (set(), [1, 80, 40, 90]),
    ],
)
def test_the_newest_sum_leads_where_what_holds_is_asked_for(wished: set[Wish], order: list[int]) -> None:
    found = newest_first(RENT, frozenset(wished), NOBODY)
    assert numbers(found) == order
    assert [entry.candidate.no for entry in found if entry.is_before] == ([1] if order[0] == 40 else [])


@pytest.mark.parametrize(
    ("wish", "old", "new", "another"),
    [
        ("amount", "720 за всё", "сойдёмся на 650", "коробка по 40"),
        ("amount", "一桌3688", "那3500一桌", "车费50"),
        ("amount", "1,58,000 for both days", "so 150000 then", "the tip is 500"),
        ("number", "my number is 07700 900874", "new one: 07700 900111", "see you at 7"),
        ("mail", "ida@old.example", "from now on ida@new.example", "write to me"),
        ("place", "I live at 4 Mill Lane", "we moved to 9 Hill Street", "nice weather"),
        ("time", "сдадим 25 июля", "не успеем, 5 августа", "устал как собака"),
        ("time", "周日两点", "那就周六晚上七点", "嗓子疼"),
    ],
)
def test_only_a_value_of_the_kind_leads(wish: Wish, old: str, new: str, another: str) -> None:
    order = [told(1, old, 2.0), told(9, another, 1.9), told(5, new, 1.6)]
    found = newest_first(order, frozenset({"newest", wish}), NOBODY)
    assert numbers(found) == [5, 9, 1]
    assert found[2].is_before


def test_a_short_answer_is_of_the_matter_that_stands_beside_it() -> None:
    talk = {"interaction_id": TALK, "at": START}
    order = [
        told(10, "what about the tiles, 1890 a metre", 2.0, **talk),
        told(80, "the deposit of the hall was 300", 0.9),
        told(12, "1790 then", 0.5, **talk),
    ]
    assert numbers(newest_first(order, frozenset({"amount"}), NOBODY))[0] == 12


def test_what_asks_does_not_answer_and_another_chat_is_another_matter() -> None:
    asking, elsewhere = told(9, "would 600 be ok?", 1.9), told(8, "600 a month", 1.9, chat=GROUP)
    assert numbers(newest_first([*RENT, asking, elsewhere], frozenset({"amount"}), NOBODY))[0] == 40


def test_a_number_to_call_is_that_of_one_speaker() -> None:
    order = [told(1, "call me: 07700 900874", 2.0), told(9, "mine is 07700 900111", 1.9, sender_entity_id=BORIS)]
    assert numbers(newest_first(order, frozenset({"number"}), NOBODY)) == [1, 9]


def test_the_chat_of_who_is_meant_counts() -> None:
    order = [
        told(9, "600 a month", 2.0, chat=GROUP, sender_entity_id=BORIS),
        told(5, "670", 1.8, sender_entity_id=BORIS),
        told(3, "640", 1.2),
    ]
    assert numbers(newest_first(order, frozenset({"amount"}), NOBODY))[0] == 9
    assert numbers(newest_first(order, frozenset({"amount"}), frozenset({ANNA})))[0] == 5


def test_the_same_value_said_again_is_not_marked() -> None:
    order = [told(1, "720 then", 2.0), told(2, "yes, 720", 1.9), told(0, "780 at first", 1.8)]
    found = newest_first(order, frozenset({"amount", "newest"}), NOBODY)
    assert [(entry.candidate.no, entry.is_before) for entry in found] == [(2, False), (1, False), (0, True)]


def test_what_says_that_something_changed_may_lead_where_no_value_is_asked_for() -> None:
    order = [told(1, "Ida is at the bank", 2.0), told(2, "Ida is at the mill now", 1.9), told(3, "nice", 0.4)]
    assert numbers(newest_first(order, frozenset({"newest"}), NOBODY)) == [2, 1, 3]


def test_who_asks_for_two_things_is_rather_told_both() -> None:
    order = [told(1, "42,000 from 1 April", 2.0), told(5, "see you on 4 May", 1.5)]
    assert numbers(newest_first(order, frozenset({"newest", "amount", "time"}), NOBODY)) == [1, 5]
    assert numbers(newest_first(order, frozenset({"newest", "time"}), NOBODY)) == [5, 1]


def test_work_is_of_one_speaker() -> None:
    order = [
        told(1, "I work for a bank", 2.0),
        told(4, "I joined a mill in May", 1.8),
        told(9, "my boss again", 1.7, sender_entity_id=BORIS),
    ]
    assert numbers(newest_first(order, frozenset({"work", "newest"}), NOBODY)) == [4, 1, 9]


def test_where_a_time_is_named_the_newest_of_that_time_leads() -> None:
    span = START + timedelta(days=30), START + timedelta(days=60)
    asked = AskedFor(wishes=frozenset({"amount"}), periods=(span,))
    order = [told(1, "640 a month", 2.0), told(40, "670", 1.9), told(80, "690", 1.8)]
    assert numbers(lead(order, asked)) == [40, 1, 80]
    assert numbers(lead(order[::2], asked)) == [1, 80]


words = st.sampled_from(["640", "670 now", "soon?", "12 May", "we moved to 4 Mill Lane", "+7 911 555-64-33", "ok", ""])


@given(
    st.lists(st.tuples(words, st.floats(0, 3), st.integers(0, 40)), max_size=12),
    st.frozensets(st.sampled_from(["newest", "amount", "number", "place", "time", "list", "mail"]), max_size=3),
)
def test_nothing_is_lost_and_only_the_newest_leads(
    pieces: list[tuple[str, float, int]], wished: frozenset[Wish]
) -> None:
    order = [
        told(number, text, score, at=START + timedelta(days=day), interaction_id=(TALK, LATER)[day % 2])
        for number, (text, score, day) in enumerate(pieces)
    ]
    found = newest_first(order, wished, NOBODY)
    assert sorted(numbers(found)) == sorted(numbers(order))
    assert all(entry.candidate.at <= found[0].candidate.at for entry in found if entry.is_before)
    assert newest_first(order, wished, NOBODY) == found
