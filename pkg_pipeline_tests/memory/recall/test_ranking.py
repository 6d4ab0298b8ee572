"""The order of what a search brought: each part of a score by its arithmetic, and what holds for any candidates."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from math import log1p
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory.recall.ranking import (
    DATED_SCORE,
    FEW_SPEAKERS,
    NEARER,
    TRANSLATED,
    AskedFor,
    RankingRules,
    bearing,
    ranked,
    within,
)
from pkg_pipeline.memory.recall.records import Candidate, Ranked
from pkg_pipeline_tests.memory.candidates import ANNA, BORIS, START, candidate, derived

PLAIN = RankingRules(
    lexical=1.0,
    similarity=2.0,
    speaker=0.4,
    period=0.3,
    dated=0.05,
    relation=0.2,
    derived={"summary": -0.5},
    repeat=0,
    neighbours=0,
)
NOBODY = AskedFor()


def hours(count: float) -> timedelta:
    return timedelta(hours=count)


def scores(candidates: list[Candidate], asked: AskedFor = NOBODY, rules: RankingRules = PLAIN) -> dict[int, float]:
    return {entry.candidate.no: entry.score for entry in ranked(candidates, asked, rules)}


def order(found: list[Ranked]) -> list[int]:
    return [entry.candidate.no for entry in found]


def test_both_scores_are_brought_to_one_scale_and_added() -> None:
    found = scores(
        [
            candidate(1, lexical=8.0, similarity=0.2),  # 1 × 8/8 + 2 × (0.2 - 0.2)/(0.7 - 0.2)
            candidate(2, lexical=2.0, similarity=0.7),  # 1 × 2/8 + 2 × (0.7 - 0.2)/(0.7 - 0.2)
            candidate(3, lexical=0.0, similarity=0.45),  # 0 + 2 × (0.45 - 0.2)/(0.7 - 0.2)
            candidate(4, lexical=4.0),  # 1 × 4/8, no vector
        ]
    )
    assert found == pytest.approx({2: 2.25, 1: 1.0, 3: 1.0, 4: 0.5})


@pytest.mark.parametrize(
    ("given", "score"),
    [
        ([], None),
        ([candidate(1)], 0.0),  # neither words nor a vector
        ([candidate(1, similarity=0.3)], 0.0),  # one cosine alone says nothing
        ([candidate(1, lexical=0.2, similarity=0.3)], 1.0),
        ([candidate(1, similarity=-0.4), candidate(2, similarity=-0.8)], 2.0),
    ],
)
def test_a_scale_without_two_ends_counts_nothing(given: list[Candidate], score: float | None) -> None:
    found = ranked(given, NOBODY, PLAIN)
    assert (found[0].score if found else None) == score


@pytest.mark.parametrize(
    ("change", "asked", "part"),
    [
        ({}, AskedFor(speakers=frozenset({ANNA})), ("speaker", 0.4)),
        ({}, AskedFor(speakers=frozenset({BORIS})), None),
        ({"sender_entity_id": None}, AskedFor(speakers=frozenset({ANNA})), None),
        ({}, AskedFor(periods=((START, START + hours(2)),)), ("period", 0.3)),
        ({}, AskedFor(periods=((START, START + hours(1)),)), None),  # said at the first hour, which is not in it
        ({}, AskedFor(periods=((START, START), (START + hours(1), START + hours(2)))), ("period", 0.3)),
        ({}, AskedFor(sides=((None, START + hours(2)),)), ("relation", 0.2)),
        ({}, AskedFor(sides=((START + hours(2), None),)), None),
        ({"importance": DATED_SCORE}, AskedFor(asks_when=True), ("dated", 0.05)),
        ({"importance": DATED_SCORE}, NOBODY, None),
        ({"importance": 0.2}, AskedFor(asks_when=True), None),
        ({"source": "summary"}, NOBODY, ("derived", -0.5)),
        ({"source": "decision"}, NOBODY, None),
    ],
)
def test_priors(change: dict[str, Any], asked: AskedFor, part: tuple[str, float] | None) -> None:
    (entry,) = ranked([candidate(1, **change)], asked, PLAIN)
    assert entry.parts == (("lexical", 0.0), *((part,) if part else ()))
    assert entry.score == (part[1] if part else 0.0)


def test_several_priors_add_up_and_the_score_is_their_sum() -> None:
    asked = AskedFor(frozenset({ANNA}), ((START, START + hours(9)),), ((None, START + hours(9)),), asks_when=True)
    (entry,) = ranked([candidate(1, lexical=3.0, importance=0.9)], asked, PLAIN)
    assert [name for name, _ in entry.parts] == ["lexical", "speaker", "period", "relation", "dated"]
    assert entry.score == pytest.approx(1 + 0.4 + 0.3 + 0.2 + 0.05) == sum(value for _, value in entry.parts)


def test_spans_are_half_open_and_may_be_open_at_either_end() -> None:
    moment, later = START, START + hours(1)
    assert [within(moment, side) for side in ((None, None), (moment, None), (None, later), (moment, later))] == [
        True
    ] * 4
    assert [within(moment, side) for side in ((later, None), (None, moment), (later, later))] == [False] * 3


def test_equals_go_to_the_later_then_by_id() -> None:
    one, two, three = (candidate(number, at=START) for number in (1, 2, 3))
    later = candidate(4, at=START + hours(1))
    assert order(ranked([three, later, one, two], NOBODY, PLAIN)) == [4, 1, 2, 3]


def test_another_one_of_the_same_conversation_has_to_be_that_much_better() -> None:
    talk = UUID(int=1)
    # scores 1, 0.9, 0.8 in one interaction, 0.85 and 0.7 in others; each repeat loses 0.2 × ln(1 + heard)
    told = [candidate(number, lexical=lexical, interaction_id=talk) for number, lexical in ((1, 10), (2, 9), (3, 8))]
    others = [candidate(4, lexical=8.5), candidate(5, lexical=7.0)]
    weighed = {1: 1.0, 4: 0.85, 2: 0.9 - 0.2 * log1p(1), 5: 0.7, 3: 0.8 - 0.2 * log1p(2)}
    expected = sorted(weighed, key=lambda number: -weighed[number])
    assert expected == [1, 4, 2, 5, 3]
    found = ranked([*told, *others], NOBODY, replace(PLAIN, repeat=0.2))
    assert order(found) == expected
    assert {entry.candidate.no: entry.score for entry in found} == {1: 1.0, 2: 0.9, 3: 0.8, 4: 0.85, 5: 0.7}
    assert order(ranked([*told, *others], NOBODY, PLAIN)) == [1, 2, 4, 3, 5]


def test_what_is_said_in_a_stretch_lends_to_one_another() -> None:
    talk, other = UUID(int=1), UUID(int=2)
    # floor 0.5; the best has 0.5 above it, its neighbour 0.3, nothing else does; four pieces are half a stretch
    told = [
        candidate(number, lexical=lexical, interaction_id=talk)
        for number, lexical in ((10, 10), (11, 8), (12, 4), (30, 4))
    ]
    alone = candidate(13, lexical=4, interaction_id=other)
    found = scores([*told, alone], rules=replace(PLAIN, neighbours=0.2))
    near = NEARER
    assert found == pytest.approx(
        {
            10: 1.0 + 0.1 * near * 0.3,
            11: 0.8 + 0.1 * near * 0.5,
            12: 0.4 + 0.1 * (near * 0.3 + near**2 * 0.5),
            30: 0.4,  # too far
            13: 0.4,  # another conversation
        }
    )


def test_neighbours_lend_less_where_many_speak() -> None:
    talk = UUID(int=1)
    crowd = [
        candidate(number, lexical=10, interaction_id=talk, sender_entity_id=UUID(int=100 + number))
        for number in range(1, 2 * FEW_SPEAKERS + 1)
    ]
    two = [replace(one, sender_entity_id=UUID(int=100 + one.no % 2)) for one in crowd]
    rules = replace(PLAIN, neighbours=0.1)
    lent, lent_of_two = (scores(some, rules=rules)[1] - 1.0 for some in (crowd, two))
    assert lent == pytest.approx(lent_of_two / 2)


def test_what_is_derived_neither_lends_nor_borrows() -> None:
    talk = UUID(int=1)
    told = candidate(1, lexical=10, interaction_id=talk)
    summary = derived(2, "what was said", source="summary", interaction_id=talk, lexical=9)
    rules = replace(PLAIN, neighbours=0.1, derived=None)
    assert scores([told, summary], rules=rules) == pytest.approx({1: 1.0, 2: 0.9})


def test_what_belongs_to_no_conversation_counts_as_one() -> None:
    loose = [
        derived(number, "a fold", source="session_fold", interaction_id=None, lexical=10 - number) for number in (1, 2)
    ]
    told = candidate(3, lexical=7.9)
    assert order(ranked([*loose, told], NOBODY, replace(PLAIN, repeat=0.1))) == [1, 3, 2]


# ── whatever is found ────────────────────────────────────────────────────────────────────────

eighths = st.integers(0, 16).map(lambda number: number / 8)
"""Sums of these are exact, so that nothing but the rule decides."""
EXACT = RankingRules(
    lexical=1.0, similarity=0.5, speaker=0.25, period=0.5, dated=0.25, relation=0.125, derived=None, repeat=0.125
)


@st.composite
def found(draw: st.DrawFn) -> list[Candidate]:
    return [
        candidate(
            number,
            lexical=draw(eighths),
            similarity=draw(st.none() | eighths),
            interaction_id=draw(st.sampled_from([None, UUID(int=1), UUID(int=2)])),
            sender_entity_id=draw(st.sampled_from([None, ANNA, BORIS])),
            at=START + hours(draw(st.integers(0, 5))),
            importance=draw(st.sampled_from([0.0, 0.3, 0.9])),
        )
        for number in range(draw(st.integers(0, 12)))
    ]


questions = st.builds(
    AskedFor,
    speakers=st.sampled_from([frozenset[UUID](), frozenset({ANNA})]),
    periods=st.sampled_from([(), ((START, START + hours(2)),)]),
    sides=st.sampled_from([(), ((None, START + hours(3)),)]),
    asks_when=st.booleans(),
)


@given(found(), questions, st.randoms(use_true_random=False), st.sampled_from([0.0, 0.125, 3.0]))
def test_all_are_kept_in_an_order_that_does_not_depend_on_theirs(
    given_: list[Candidate], asked: AskedFor, random: Any, repeat: float
) -> None:
    rules = replace(EXACT, repeat=repeat)
    once = ranked(given_, asked, rules)
    shuffled = list(given_)
    random.shuffle(shuffled)
    assert ranked(shuffled, asked, rules) == once
    assert sorted(order(once)) == [one.no for one in given_]
    plain = ranked(given_, asked, replace(rules, repeat=0))
    assert [entry.score for entry in plain] == sorted((entry.score for entry in plain), reverse=True)
    for talk in {one.interaction_id for one in given_}:  # inside a conversation the better one stays ahead
        assert [no for no in order(once) if given_[no].interaction_id == talk] == [
            no for no in order(plain) if given_[no].interaction_id == talk
        ]


@given(found(), questions)
def test_to_be_meant_never_lowers(given_: list[Candidate], asked: AskedFor) -> None:
    unmeant, meant = replace(asked, speakers=frozenset[UUID]()), replace(asked, speakers=frozenset({ANNA}))
    before, after = scores(given_, unmeant, EXACT), scores(given_, meant, EXACT)
    assert all(after[no] >= before[no] for no in before)
    rules = replace(EXACT, repeat=0)
    was, is_now = order(ranked(given_, unmeant, rules)), order(ranked(given_, meant, rules))
    annas = [one.no for one in given_ if one.sender_entity_id == ANNA]
    assert all(is_now.index(no) <= was.index(no) for no in annas)


def test_what_looks_like_an_answer_gains() -> None:
    given_ = [candidate(1, lexical=2.0, text="it was rather cheap"), candidate(2, lexical=2.0, text="it was 40 euros")]
    asked = AskedFor(wishes=frozenset({"amount"}))
    rules = replace(PLAIN, looks={"amount": 0.25})
    assert scores(given_, asked, rules) == pytest.approx({1: 1.0, 2: 1.25})
    assert scores(given_, NOBODY, rules) == pytest.approx({1: 1.0, 2: 1.0})


def test_words_weigh_less_where_only_those_of_other_languages_are_found() -> None:
    (entry,) = ranked([candidate(1, lexical=3.0)], AskedFor(is_foreign=True), PLAIN)
    assert dict(entry.parts)["lexical"] == pytest.approx(TRANSLATED)


TALK = UUID(int=900)


def spoken(number: int, text: str, score: float) -> Candidate:
    return candidate(number, text, lexical=score, interaction_id=TALK)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        # behind what it follows, whatever it scored
        (
            [spoken(1, "Do you want the blue one or not", 1.0), spoken(2, "yes!!", 4.0), spoken(9, "I am at 4", 2.0)],
            [9, 1, 2],
        ),
        # what stands before it is not found, or says as little
        ([spoken(2, "same", 4.0), spoken(9, "I am at 4", 1.0)], [2, 9]),
        ([spoken(1, "lol", 4.0), spoken(2, "same", 4.0), spoken(9, "I am at 4", 3.0)], [9, 2, 1]),
        # a figure is an answer in itself
        ([spoken(1, "how much", 0.2), spoken(2, "1450", 4.0)], [2, 1]),
    ],
)
def test_what_says_little_follows_what_it_answers(given: list[Candidate], found: list[int]) -> None:
    rules = RankingRules(lexical=1.0, repeat=0, neighbours=0, alone=0.5)
    assert order(ranked(given, NOBODY, rules)) == found


@pytest.mark.parametrize(
    ("text", "score", "lexical", "parts", "stays"),
    [
        ("we ate at nine", 0.1, 0.0, (), True),
        ("мы ели в девять", 0.2, 0.0, (), False),
        ("мы ели в девять", 0.4, 0.0, (), True),
        ("мы ели в девять", 0.2, 0.0, (("speaker", 0.1),), True),
        ("мы ели в девять", 0.2, 5.0, (), True),
    ],
)
def test_what_does_not_bear_on_the_question_is_left_out(
    text: str, score: float, lexical: float, parts: tuple[tuple[str, float], ...], stays: bool
) -> None:
    best = [Ranked(candidate(number, "the dinner is at nine", lexical=9.0), 1.0, ()) for number in range(2, 12)]
    found = bearing([*best, Ranked(candidate(1, text, lexical=lexical), score, parts)], "when is dinner")
    assert (1 in order(found)) is stays


def test_where_it_was_talked_about_in_another_script_that_counts_the_same() -> None:
    pieces = [Ranked(candidate(number, "ужин в девять"), score, ()) for number, score in ((1, 1.0), (2, 0.2))]
    assert order(bearing(pieces, "when is dinner")) == [1, 2]
    assert bearing([], "when is dinner") == []
