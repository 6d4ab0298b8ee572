"""What becomes of facts that a person decided about, as a pure rule; and the rules of confirmation (B2)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory.items.fact_rules import NEVER, ConfirmRules, rules_by_type
from pkg_pipeline.memory.items.fact_verdicts import FactAction, FactVerdict, Judged, ReadValue, judge

AT = datetime(2026, 3, 1, tzinfo=UTC)


def verdict(place: int, action: FactAction, said: str = "Bosch", *, fact: int = 1, whose: str = "anna") -> FactVerdict:
    value = f"value {place}" if action == "edit" else None
    return FactVerdict(UUID(int=fact), whose, "employer", said, action, AT + timedelta(seconds=place), value)


def read(fact: int, said: str = "Bosch", whose: str = "anna") -> ReadValue:
    return ReadValue(UUID(int=fact), whose, "Employer", said)


def test_a_verdict_holds_for_whatever_says_the_same_and_for_nothing_else() -> None:
    facts = [read(1), read(2, "  bosch"), read(3, "Acme"), read(4, whose="bob")]
    judged = judge(facts, [verdict(1, "reject")])
    assert judged == {
        UUID(int=n): Judged("rejected", said, AT + timedelta(seconds=1)) for n, said in ((1, "Bosch"), (2, "  bosch"))
    }


def test_a_fact_is_known_by_its_id_where_whose_it_is_changed() -> None:
    assert judge([read(1, whose="anna petrova")], [verdict(1, "confirm")])[UUID(int=1)].status == "confirmed"


@given(st.lists(st.sampled_from(["confirm", "reject", "edit"]), min_size=1, max_size=6).flatmap(
    lambda actions: st.tuples(st.just(actions), st.permutations(range(len(actions))))
))  # fmt: skip
def test_the_last_word_counts_in_whatever_order_the_words_come(given_: tuple[list[FactAction], list[int]]) -> None:
    actions, order = given_
    made = [verdict(place, action) for place, action in enumerate(actions)]
    one = judge([read(1), read(2)], [made[place] for place in order])
    edits = [one.value for one in made if one.action == "edit"]
    expected = Judged(
        "rejected" if actions[-1] == "reject" else "confirmed", edits[-1] or "" if edits else "Bosch", made[-1].at
    )
    assert one == {UUID(int=1): expected, UUID(int=2): expected}


def test_rules_are_read_and_faults_are_named() -> None:
    assert rules_by_type(" phone=0.8, Home  address/others = never,") == {"phone": 0.8, "home address/others": NEVER}
    for wrong in ("phone", "phone=2", "phone=1.5", "phone=maybe", "a/b=1"):
        with pytest.raises(ValueError, match="is no rule"):
            rules_by_type(wrong)


def test_of_somebody_else_never_less_is_needed_unless_a_rule_says_so() -> None:
    rules = ConfirmRules(0.9, 0.5, {"family": 0.95, "phone/others": 0.3})
    assert (rules.needed("position", is_own=True), rules.needed("position", is_own=False)) == (0.9, 0.9)
    assert rules.needed("Family", is_own=False) == 0.95
    assert rules.needed("phone", is_own=False) == 0.3
    assert ConfirmRules(0.9, NEVER).needed("position", is_own=False) == NEVER
