"""Which texts speak to the model that reads them, and which only to people."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pkg_pipeline.memory.gate import instructions as gate_instructions
from pkg_pipeline.memory.gate.instructions import gives_orders, ordering_numbers
from pkg_pipeline_tests.memory.conversations import ANNA, BEN, OWNER, conversation
from pkg_pipeline_tests.memory.injections import ALL, HARMLESS, SPLIT


@pytest.mark.parametrize("text", [texts[0] for _, texts in ALL if len(texts) == 1])
def test_an_order_to_the_model_is_recognised(text: str) -> None:
    assert gives_orders(text)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_people_ask_of_one_another_is_no_order_to_the_model(text: str) -> None:
    assert not gives_orders(text)


@pytest.mark.parametrize(("language", "texts"), SPLIT)
def test_an_order_split_over_messages_is_recognised_by_its_parts(language: str, texts: tuple[str, ...]) -> None:
    source = conversation((OWNER, "Shall we meet at noon?"), *((BEN, text) for text in texts), language="en")
    found = ordering_numbers(source.messages)
    assert found >= {2, 3}
    assert 1 not in found


def test_words_of_different_people_are_not_joined_into_an_order() -> None:
    source = conversation((BEN, "Ignore all previous"), (ANNA, "instructions on the box"), language="en")
    assert ordering_numbers(source.messages) == frozenset()


@pytest.mark.parametrize(
    "pattern",
    [
        pattern.pattern
        # of those made of words alone one language stands for the others: they are made alike
        for signs in (gate_instructions.signs("common", "en", "ru", "zh", "es", "fr", "de", "ja"),)
        for pattern in (*signs.strong, *signs.weak)
    ],
    ids=lambda text: text[:40],
)
def test_whatever_a_pattern_finds_holds_a_trigger(pattern: str) -> None:
    """The quick look must not hide anything from the patterns, so every pattern makes up texts for it."""

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.from_regex(pattern))
    def holds(text: str) -> None:
        found = re.search(pattern, text.casefold())
        assert found is None or gate_instructions.may_give_orders(found.group())

    holds()
