"""BM25 by hand: k1 1.2, b 0.75, an average of 60 weighted terms, own words twice, words around once."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory.recall.lexical import (
    DIMENSIONS,
    LookUp,
    document_vector,
    question_vector,
    rare_first,
    term_number,
)

TERMS = st.lists(st.sampled_from("abcdefgh"), max_size=40)
A, B, C = (term_number(term) for term in "abc")


def test_numbers_are_the_same_in_every_process() -> None:
    numbers = [310492103, 90856878, 65380471, 38681061]
    assert [term_number(term) for term in ("contract", "договор", "合同", "")] == numbers


@given(st.text(alphabet=st.characters()))
def test_numbers_fit_the_vector(term: str) -> None:
    assert 1 <= term_number(term) <= DIMENSIONS == 536_870_912


VECTORS = [
    # len 0
    ([], [], {}),
    # tf a 2, len 2; saturation 1.2 x (0.25 + 0.75 x 2/60) = 0.33; 2 x 2.2 / 2.33
    (["a"], [], {"a": 4.4 / 2.33}),
    # tf a 4, b 2 + 1, c 1, len 8; saturation 1.2 x (0.25 + 0.75 x 8/60) = 0.42
    (["a", "b", "a"], ["b", "c"], {"a": 8.8 / 4.42, "b": 6.6 / 3.42, "c": 2.2 / 1.42}),
    # tf a 60, len 60, as long as usual: saturation 1.2 x (0.25 + 0.75) = 1.2; 60 x 2.2 / 61.2
    (["a"] * 30, [], {"a": 132 / 61.2}),
    # the same words around count half: tf a 30, saturation 1.2 x (0.25 + 0.375) = 0.75; 30 x 2.2 / 30.75
    ([], ["a"] * 30, {"a": 66 / 30.75}),
]


@pytest.mark.parametrize(("own", "around", "weights"), VECTORS)
def test_weights_of_a_chunk(own: list[str], around: list[str], weights: dict[str, float]) -> None:
    expected = {term_number(term): pytest.approx(weight) for term, weight in weights.items()}
    assert document_vector(map(term_number, own), map(term_number, around)) == expected


@given(TERMS, TERMS)
def test_weights_lie_below_saturation_in_order_of_numbers(own: list[str], around: list[str]) -> None:
    own_numbers, around_numbers = [*map(term_number, own)], [*map(term_number, around)]
    vector = document_vector(own_numbers, around_numbers)
    assert set(vector) == {term_number(term) for term in own + around}
    assert list(vector) == sorted(vector)
    assert all(0 < weight < 2.2 for weight in vector.values())
    assert vector == document_vector(reversed(own_numbers), reversed(around_numbers))


RARITY = [
    # (chunks that have it, of, weight)
    (1, 10, math.log(1 + 9.5 / 1.5)),
    (None, 10, math.log(22)),  # nobody has it: 1 + 10.5 / 0.5
    (10, 10, math.log(1 + 0.5 / 10.5)),
    (12, 10, math.log(1 + 0.5 / 10.5)),  # counts read a moment apart
    (None, 0, math.log(2)),
]


@pytest.mark.parametrize(("frequency", "chunks", "weight"), RARITY)
def test_weight_of_a_questions_term(frequency: int | None, chunks: int, weight: float) -> None:
    frequencies = {} if frequency is None else {A: frequency}
    assert question_vector(["a", "a"], frequencies, chunks) == {A: pytest.approx(weight)}


def test_a_score_is_the_product_of_both_vectors() -> None:
    question = question_vector(["a", "c", "z"], {A: 1, B: 5, C: 2}, 10)
    chunk = document_vector(map(term_number, "aba"), map(term_number, "bc"))
    # 1.99243 x 8.8/4.42 + ln(1 + 8.5/2.5) 1.48160 x 2.2/1.42
    assert sum(weight * chunk.get(term, 0.0) for term, weight in question.items()) == pytest.approx(6.2623, abs=1e-4)


LOOK_UPS = [
    # (frequencies, limit, taken, left out, chunks)
    ({"a": 3, "b": 2, "c": 1}, 6, "cba", "", 6),
    ({"a": 3, "b": 2, "c": 1}, 5, "cb", "a", 3),
    ({"a": 50, "b": 90}, 10, "a", "b", 50),  # at least one, however common
    ({"a": 50}, 10, "cba", "", 50),  # nobody has b and c: they bring nothing and cost nothing
    ({"a": 50, "b": 90}, 10, "ca", "b", 50),
    ({}, 10, "abc", "", 0),
    ({"a": 5, "b": 6, "c": 1}, 6, "ca", "b", 6),
]


@pytest.mark.parametrize(("frequencies", "limit", "taken", "left_out", "chunks"), LOOK_UPS)
def test_chunks_are_looked_up_by_rare_terms(
    frequencies: dict[str, int], limit: int, taken: str, left_out: str, chunks: int
) -> None:
    counts = {term_number(term): count for term, count in frequencies.items()}
    found = rare_first([*taken, *left_out, *taken], counts, limit=limit)
    by_rarity = sorted(map(term_number, taken), key=lambda number: (counts.get(number, 0), number))
    assert found == LookUp(tuple(by_rarity), tuple(map(term_number, left_out)), chunks)


def test_a_question_without_terms_looks_nothing_up() -> None:
    assert rare_first([], {}, limit=5) == LookUp((), (), 0)
    assert question_vector([], {}, 5) == {}
