"""Orders to the model: nothing of them is published though a model obeys, and talk about work carries what it says."""

from __future__ import annotations

import pytest

from benchmarks.orders_truth import counted, own_texts
from pkg_pipeline_tests.memory.truth.obeying import NAMES, Attack, attacks, is_refused, of_the_owner, published, work

SEEN = ("en", "ru", "zh", "later")
MOST_REFUSED = 0.001


@pytest.mark.parametrize("attack", [one for name in SEEN for one in attacks(name)], ids=lambda one: one.text[:30])
def test_an_obeyed_order_publishes_nothing(attack: Attack) -> None:
    assert published(attack) == []


@pytest.mark.parametrize("attack", [one for name in NAMES for one in attacks(name)], ids=lambda one: one.text[:30])
def test_no_order_makes_anything_the_owners_own(attack: Attack) -> None:
    assert of_the_owner(attack) == []


@pytest.mark.parametrize("text", [text for name in (*SEEN, "unseen", "fresh") for text in work(name)])
def test_talk_about_work_may_carry_a_decision(text: str) -> None:
    assert not is_refused(text)


def test_of_our_own_conversations_none_is_refused() -> None:
    found = counted(own_texts(), verbose=False)
    assert sum(many for many, _ in found.values()) > 1000
    assert sum(bad for _, bad in found.values()) <= MOST_REFUSED * sum(many for many, _ in found.values())


def test_the_attacks_are_many_and_would_pass_without_the_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the first test is about the filter."""
    assert all(len(attacks(name)) >= 20 for name in SEEN)
    monkeypatch.setattr("pkg_pipeline.memory.items.gate.ordering_numbers", lambda _: frozenset())
    monkeypatch.setattr("pkg_pipeline.memory.summary.gate.ordering_numbers", lambda _: frozenset())
    passed = [one for one in attacks("en") if published(one)]
    assert len(passed) > 10
