"""Who may be one, and why: by what they share, never for sure by a name alone (B20)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory.people.suggestions import MOST_WITH_ONE_VALUE, KnownPerson, suggestions


def person(number: int, *names: str, **known: Any) -> KnownPerson:
    return KnownPerson(UUID(int=number), names, (UUID(int=number),), **known)


ANYBODY = "a|b"
"""Names that say nothing."""


@pytest.mark.parametrize(
    ("names", "first", "second", "kinds"),
    [
        ("Rita H.|+79123456789", "phone:+7 912 345-67-89", "", ("phone",)),
        (ANYBODY, "phone:8 912 345 67 89", "phone:+79123456789", ("phone",)),
        (ANYBODY, "whatsapp=+49 170 1234567", "phone:+491701234567", ("phone",)),
        (ANYBODY, "mail=Rita@Example.org", "email:rita@example.org", ("email",)),
        (ANYBODY, "handle:@rita_h", "handle:https://t.me/Rita_H", ("handle",)),
        ("Рита Гладышева|рита  гладышева", "", "", ("name",)),
        ("Рита Гладышева|Gladysheva Rita", "", "", ("name_sound",)),
        ("王小明|Wang Xiaoming", "", "", ("name_sound",)),
        ("Рита|Рита", "", "email:r@x.org", ("name",)),
        ("Rita|Rina", "", "", ()),
        (ANYBODY, "telegram=user1234567890", "vk=1234567890", ()),
        (ANYBODY, "phone:12345", "phone:12345", ()),
    ],
)
def test_two_are_suggested_by_what_they_share(names: str, first: str, second: str, kinds: tuple[str, ...]) -> None:
    people = [
        person(
            number,
            name,
            identities=(known.replace("=", ":"),) if "=" in known else (),
            contacts=(known,) if known and "=" not in known else (),
        )
        for number, (name, known) in enumerate(zip(names.split("|"), (first, second), strict=True))
    ]
    assert tuple(evidence.kind for pair in suggestions(people) for evidence in pair.evidence) == kinds


def test_more_that_is_shared_is_surer_and_a_name_alone_is_not_sure() -> None:
    known = {"contacts": ("phone:+49 170 1234567",)}
    people = [person(1, "Rita Hoffmann", **known), person(2, "Rita Hoffmann"), person(3, "R", **known)]
    found = suggestions(people)
    assert [(one.first.int, one.second.int) for one in found] == [(1, 3), (1, 2)]
    assert found[0].score == 1
    assert found[1].score == 0.5


def test_what_many_have_tells_nobody_apart() -> None:
    assert suggestions([person(number, "Anna") for number in range(MOST_WITH_ONE_VALUE + 1)]) == []
    assert len(suggestions([person(number, "Anna") for number in range(3)])) == 3


def test_what_was_dismissed_stays_dismissed_for_all_accounts() -> None:
    one = KnownPerson(UUID(int=1), ("Anna P.",), (UUID(int=1), UUID(int=7)))
    other = person(2, "Anna P.")
    assert len(suggestions([one, other])) == 1
    assert suggestions([one, other], {frozenset((UUID(int=7), UUID(int=2)))}) == []


@given(st.lists(st.tuples(st.sampled_from(("Anna", "Anna B", "B Anna", "Борис", "+49 170 1234567"))), max_size=8))
def test_pairs_are_two_people_once_and_by_the_weight_of_what_they_share(names: list[tuple[str]]) -> None:
    found = suggestions([person(number, *name) for number, name in enumerate(names)])
    pairs = [(one.first, one.second) for one in found]
    assert all(first < second for first, second in pairs)
    assert len(set(pairs)) == len(pairs)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert all(one.evidence and 0 < one.score <= 1 for one in found)
