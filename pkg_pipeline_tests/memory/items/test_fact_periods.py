"""Until when facts hold: one current value of single-valued types, ends, what only repeats a part."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory.gate.fact_values import SINGLE
from pkg_pipeline.memory.items.fact_periods import StatedFact, held_until

FIRST = datetime(2024, 1, 1, tzinfo=UTC)


def stated(number: int, kind: str, value: str, *, is_ended: bool = False, replaces: bool = False) -> StatedFact:
    return StatedFact(UUID(int=number), kind, value, FIRST + timedelta(days=number), is_ended, replaces)


def current(*facts: StatedFact) -> list[str]:
    until = held_until(facts)
    return [fact.value for fact in facts if until[fact.id] is None]


@pytest.mark.parametrize(
    ("facts", "holds"),
    [
        ([stated(1, "address", "12 Oak Street, Bristol"), stated(2, "address", "Leeds")], ["Leeds"]),
        ([stated(1, "address", "12 Oak Street, Bristol"), stated(2, "address", "Bristol")], ["12 Oak Street, Bristol"]),
        ([stated(1, "family", "wife"), stated(2, "family", "wife Anna")], ["wife Anna"]),
        ([stated(1, "phone", "+49151"), stated(2, "phone", "+49152")], ["+49151", "+49152"]),
        ([stated(1, "phone", "+49151"), stated(2, "phone", "+49152", replaces=True)], ["+49152"]),
        ([stated(1, "phone", "+49151"), stated(2, "phone", "+49151", is_ended=True)], []),
        ([stated(1, "organization", "Bosch"), stated(2, "organization", "there", is_ended=True)], []),
        (
            [
                stated(1, "organization", "Bosch"),
                stated(2, "organization", "Bosch", is_ended=True),
                stated(3, "organization", "Acme"),
            ],
            ["Acme"],
        ),
        ([stated(1, "position", "nurse"), stated(2, "position", "doctor"), stated(3, "position", "nurse")], ["nurse"]),
    ],
)
def test_what_holds_in_the_end(facts: list[StatedFact], holds: list[str]) -> None:
    assert current(*facts) == holds


def test_what_is_ended_by_a_later_value_is_closed_with_its_day() -> None:
    old, new = stated(1, "position", "nurse"), stated(5, "position", "doctor")
    assert held_until([new, old]) == {old.id: new.valid_from, new.id: None}


facts = st.lists(
    st.tuples(
        st.sampled_from([*sorted(SINGLE), "phone", "family"]),
        st.sampled_from(["a", "b", "a b", "c"]),
        st.booleans(),
        st.booleans(),
    ),
    max_size=12,
)


@given(facts, st.randoms())
def test_a_single_valued_type_never_has_two_current_values_in_whatever_order_facts_come(
    told: list[tuple[str, str, bool, bool]], random: object
) -> None:
    made = [
        stated(number, kind, value, is_ended=is_ended, replaces=replaces)
        for number, (kind, value, is_ended, replaces) in enumerate(told)
    ]
    until = held_until(made)
    mixed = sorted(made, key=lambda _: random.random())  # type: ignore[attr-defined]
    assert held_until(mixed) == until
    for kind in SINGLE:
        assert len({one.value for one in made if one.fact_type == kind and until[one.id] is None}) <= 1
    assert all(end is None or end >= one.valid_from for one in made for end in [until[one.id]])
