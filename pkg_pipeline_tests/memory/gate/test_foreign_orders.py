"""B15 with a model that obeys: an order in any language or disguise, over any quote, publishes nothing."""

from __future__ import annotations

import pytest

from pkg_pipeline.fake_llm.manners import payload
from pkg_pipeline.memory.gate import items as gate_items
from pkg_pipeline.memory.gate.instructions import gives_orders
from pkg_pipeline.memory.gate.records import CandidateFact
from pkg_pipeline.memory.items import gate
from pkg_pipeline.memory.items.gate import check_reading
from pkg_pipeline.memory.items.records import CandidateItem, CandidateReading, ItemKind, ReadingInput
from pkg_pipeline.memory.records import SourceMessage, SummaryInput
from pkg_pipeline_tests.memory.conversations import BEN, EVERY, conversation
from pkg_pipeline_tests.memory.gate.foreign_orders import HARMLESS, ORDERS
from pkg_pipeline_tests.memory.injections import ALL

ABROAD = [(language, order, said) for language, rows in ORDERS.items() for order, said in rows]
KNOWN = [(language, texts[0], payload(texts[0])) for language, texts in ALL if len(texts) == 1]


def test_there_are_ten_orders_a_language_and_ten_disguises() -> None:
    assert all(len(rows) >= 10 for rows in ORDERS.values())
    assert len(ORDERS) == 9


@pytest.mark.parametrize(("language", "order", "said"), ABROAD)
def test_an_order_abroad_is_recognised(language: str, order: str, said: str) -> None:
    assert gives_orders(order)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_people_write_abroad_is_no_order(text: str) -> None:
    assert not gives_orders(text)


def talk_with(order: str, language: str = "en") -> SummaryInput:
    said = [(message.sender, message.text) for message in EVERY[language].messages]
    return conversation(*said[:2], (BEN, order), *said[2:], language=language)  # type: ignore[arg-type]


def obeyed(said: str, quoted: SourceMessage, numbers: tuple[int, ...]) -> CandidateReading:
    """The order's words in every list, over a true quote."""
    word = next(word for word in quoted.text.split() if len(word) > 1).strip(".,!?，。")
    return CandidateReading(
        items=(item("decision", said, quoted, numbers), item("action_item", said, quoted, numbers)),
        facts=(CandidateFact(said, word, 1.0, quoted.text, numbers),),
    )


def item(kind: ItemKind, text: str, quoted: SourceMessage, numbers: tuple[int, ...]) -> CandidateItem:
    return CandidateItem(kind, text, "them", quoted.text, numbers)


def kept(candidate: CandidateReading, source: SummaryInput) -> list[str]:
    """The texts and types of what the gate lets through."""
    gated = check_reading(candidate, ReadingInput((source,), (), source.language, source.timezone, "hash"))
    (reading,) = gated.readings
    return [*(one.text for one in reading.items), *(fact.fact_type for fact in reading.facts)]


@pytest.mark.parametrize(("language", "order", "said"), ABROAD)
@pytest.mark.parametrize("cites_order", [False, True])
def test_an_obeyed_order_is_no_item_over_any_quote(language: str, order: str, said: str, cites_order: bool) -> None:
    source = talk_with(order)
    (stranger,) = [message for message in source.messages if message.text == order]
    for quoted in source.messages:
        numbers = (quoted.number, stranger.number) if cites_order else (quoted.number,)
        assert kept(obeyed(said, quoted, numbers), source) == []


@pytest.mark.parametrize(("language", "order", "said"), [*ABROAD, *KNOWN])
def test_without_any_pattern_no_innocent_message_carries_its_words(
    language: str, order: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first line: what an item says follows from what it cites, whether or not the order was recognised.

    At most the innocent words themselves are left.
    """
    monkeypatch.setattr(gate, "ordering_numbers", lambda _: frozenset())
    monkeypatch.setattr("pkg_pipeline.memory.gate.checker.gives_orders", lambda _: False)
    monkeypatch.setattr(gate_items, "gives_orders", lambda _: False)
    source = talk_with(order, language if language in EVERY else "en")
    for quoted in source.messages:
        if quoted.text != order:
            told = kept(obeyed(said, quoted, (quoted.number,)), source)
            assert all(text.partition(": “")[2].rstrip("”") in quoted.text for text in told), told


def test_the_same_items_pass_over_their_own_messages() -> None:
    """What the tests above drop is dropped for what it says, not for its form."""
    source = EVERY["en"]
    agreed = source.messages[2]
    candidate = CandidateReading(
        items=(
            item("decision", "The boathouse is taken", agreed, (agreed.number,)),
            item("action_item", "Ben sends the deposit for the boathouse", agreed, (agreed.number,)),
        ),
        facts=(CandidateFact("venue", "boathouse", 1.0, agreed.text, (agreed.number,)),),
    )
    assert len(kept(candidate, source)) == 3
