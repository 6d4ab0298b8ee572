"""Which talks one question reads together: in time order, with people in common, within its limits."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory.items.batches import MOST_PEOPLE, batches


@dataclass(frozen=True)
class Talk:
    place: int
    people: str
    token_count: int = 100
    message_count: int = 5
    is_alone: bool = False
    language: str = "en"

    @property
    def circle(self) -> frozenset[UUID]:
        return frozenset(UUID(int=ord(letter)) for letter in self.people)


def talks(*people: str) -> list[Talk]:
    return [Talk(place, who) for place, who in enumerate(people)]


def put(given: list[Talk], most_tokens: int = 2_000, most_talks: int = 10, line_tokens: int = 0) -> list[list[int]]:
    made = batches(
        given,
        most_tokens=most_tokens,
        most_talks=most_talks,
        line_tokens=line_tokens,
        alone=lambda talk: talk.is_alone,
        kind=lambda talk: talk.language,
    )
    return [[talk.place for talk in batch] for batch in made]


@pytest.mark.parametrize(
    ("people", "expected"),
    [
        ((), []),
        (("a", "a", "a"), [[0, 1, 2]]),
        (("a", "b", "a", "b"), [[0, 1, 2, 3]]),  # and so are people who never meet
        (("a", "b", "ab", "a"), [[0, 1, 2, 3]]),  # those who met are read together, in time order
        (("b", "a", "a", "bc"), [[0, 1, 2, 3]]),
    ],
)
def test_talks_with_people_in_common_are_read_together(people: tuple[str, ...], expected: list[list[int]]) -> None:
    assert sorted(put(talks(*people))) == sorted(expected)


def test_a_batch_keeps_its_limits() -> None:
    assert put(talks("a", "a", "a"), most_talks=2) == [[0, 1], [2]]
    assert put(talks("a", "a", "a"), most_tokens=250) == [[0, 1], [2]]
    assert put(talks("a", "a"), most_tokens=250, line_tokens=10) == [[0], [1]]
    crowd = "".join(chr(97 + n) for n in range(MOST_PEOPLE))
    assert put(talks(crowd, "a", "aZ")) == [[0, 1], [2]]
    assert put([Talk(0, "a"), Talk(1, "a", is_alone=True), Talk(2, "a")]) == [[0], [1], [2]]


def test_people_who_never_meet_stand_in_one_question_of_one_language_within_its_limits() -> None:
    ru = Talk(2, "c", language="ru")
    assert put([Talk(0, "a"), Talk(1, "b"), ru, Talk(3, "b")]) == [[0, 1, 3], [2]]
    assert put(talks("a", "b", "a", "b"), most_talks=3) == [[0, 2], [1, 3]]
    assert put([Talk(0, "a"), Talk(1, "b", is_alone=True), Talk(2, "c")]) == [[0, 2], [1]]
    crowd = "".join(chr(97 + n) for n in range(MOST_PEOPLE))
    assert put(talks(crowd, "X")) == [[0], [1]]


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c", "ab", "bc", "abc"]), st.integers(1, 900), st.booleans())))
def test_whoever_is_in_two_batches_is_read_in_time_order(given_talks: list[tuple[str, int, bool]]) -> None:
    given_list = [Talk(n, who, size, 5, alone) for n, (who, size, alone) in enumerate(given_talks)]
    made = batches(
        given_list, most_tokens=1_000, most_talks=4, alone=lambda talk: talk.is_alone, kind=lambda talk: talk.place % 2
    )
    assert sorted(talk.place for batch in made for talk in batch) == list(range(len(given_list)))
    for first, batch in enumerate(made):
        assert [talk.place for talk in batch] == sorted(talk.place for talk in batch)
        for later in made[first + 1 :]:
            for talk in later:
                assert all(one.place < talk.place for one in batch if one.circle & talk.circle)
