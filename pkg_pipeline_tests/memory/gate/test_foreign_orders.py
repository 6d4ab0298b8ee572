"""B15 with a model that obeys: an order in any language or disguise, over any quote, publishes nothing."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import timedelta

import pytest

from pkg_pipeline.fake_llm.manners import payload
from pkg_pipeline.memory.gate import items as gate_items
from pkg_pipeline.memory.gate.instructions import gives_orders
from pkg_pipeline.memory.gate.records import (
    CandidateActionItem,
    CandidateDecision,
    CandidateFact,
    CandidateSummary,
    GateResult,
)
from pkg_pipeline.memory.records import SourceMessage, SummaryInput
from pkg_pipeline.memory.summary import gate
from pkg_pipeline_tests.memory.conversations import BEN, EVERY, conversation
from pkg_pipeline_tests.memory.gate.foreign_orders import HARMLESS, ORDERS
from pkg_pipeline_tests.memory.injections import ALL

ABROAD = [(language, order, said) for language, rows in ORDERS.items() for order, said in rows]
KNOWN = [(language, texts[0], payload(texts[0])) for language, texts in ALL if len(texts) == 1]
HONEST = {
    "en": "Ben and Dana settled on the boathouse for the workshop.",
    "ru": "Договорились об оплате стеллажей за 48 000.",
    "zh": "评审会改到周五三点，会议室在二楼。",
}


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


def obeyed(source: SummaryInput, said: str, quoted: SourceMessage, numbers: tuple[int, ...]) -> CandidateSummary:
    """An honest summary with the order's words in every list, over a true quote, dated long ago."""
    word = next(word for word in quoted.text.split() if len(word) > 1).strip(".,!?，。")
    return CandidateSummary(
        summary=HONEST[source.language],
        key_points=(HONEST[source.language],),
        tone="neutral",
        decisions=(CandidateDecision(said, "2020-01-01", "high", quoted.text, numbers),),
        action_items=(CandidateActionItem(said, "them", "open", quoted.text, numbers),),
        facts=(CandidateFact(said, word, 1.0, quoted.text, numbers),),
    )


def items_of(result: GateResult) -> list[str]:
    if result.content is None:
        return []
    record = asdict(result.content)
    return [*record["decisions"], *record["action_items"], *record["extracted_facts"]]


@pytest.mark.parametrize(("language", "order", "said"), ABROAD)
@pytest.mark.parametrize("cites_order", [False, True])
def test_an_obeyed_order_is_no_item_over_any_quote(language: str, order: str, said: str, cites_order: bool) -> None:
    source = talk_with(order)
    (stranger,) = [message for message in source.messages if message.text == order]
    for quoted in source.messages:
        numbers = (quoted.number, stranger.number) if cites_order else (quoted.number,)
        result = gate.check(obeyed(source, said, quoted, numbers), source)
        assert items_of(result) == []


@pytest.mark.parametrize(("language", "order", "said"), [*ABROAD, *KNOWN])
def test_without_any_pattern_no_innocent_message_carries_its_words(
    language: str, order: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first line: what an item says follows from what it cites, whether or not the order was recognised."""
    monkeypatch.setattr(gate, "ordering_numbers", lambda _: frozenset())
    monkeypatch.setattr("pkg_pipeline.memory.gate.checker.gives_orders", lambda _: False)
    monkeypatch.setattr(gate_items, "gives_orders", lambda _: False)
    source = talk_with(order, language if language in EVERY else "en")
    for quoted in source.messages:
        if quoted.text != order:
            assert items_of(gate.check(obeyed(source, said, quoted, (quoted.number,)), source)) == []


def test_the_same_items_pass_over_their_own_messages() -> None:
    """What the tests above drop is dropped for what it says, not for its form."""
    source = EVERY["en"]
    agreed = source.messages[2]
    candidate = replace(
        obeyed(source, "Ben sends the deposit for the boathouse", agreed, (agreed.number,)),
        decisions=(CandidateDecision("The boathouse is taken", "2024-03-14", "high", agreed.text, (agreed.number,)),),
        facts=(CandidateFact("venue", "boathouse", 1.0, agreed.text, (agreed.number,)),),
    )
    assert len(items_of(gate.check(candidate, source))) == 3


DATES = [("2020-01-01", False), ("2024-03-13", False), ("2024-03-14", True), ("2030-01-01", True)]


@pytest.mark.parametrize(("day", "stays"), DATES)
def test_a_decision_dated_before_the_talk_needs_a_day_in_words(day: str, stays: bool) -> None:
    """After the talk is a misreading that is put right; before it somebody would have to have said so."""
    source = EVERY["en"]
    agreed = source.messages[2]  # names a day: Monday
    bare = replace(agreed, text="Agreed, let's go with the boathouse.")
    plain = replace(source, messages=(*source.messages[:2], bare, *source.messages[3:]))
    decision = CandidateDecision("They go with the boathouse", day, "high", "let's go with the boathouse", (3,))
    empty = CandidateSummary(HONEST["en"], (HONEST["en"],), "neutral", decisions=(decision,))
    assert bool(items_of(gate.check(empty, plain))) is stays
    past = replace(source.messages[2], text="Agreed on 13 March, let's go with the boathouse.")
    named = replace(source, messages=(*source.messages[:2], past, *source.messages[3:]))
    assert bool(items_of(gate.check(empty, named))) is (stays or day == "2024-03-13")


def test_a_due_date_that_no_word_names_is_dropped_and_its_task_stays() -> None:
    source = EVERY["en"]
    bare = replace(source.messages[2], text="Agreed, let's go with the boathouse.")
    plain = replace(source, messages=(*source.messages[:2], bare, *source.messages[3:]))
    day = (source.started_at - timedelta(days=90)).date().isoformat()
    task = CandidateActionItem("Go with the boathouse", "them", "open", bare.text, (3,), due_date=day)
    result = gate.check(CandidateSummary(HONEST["en"], (HONEST["en"],), "neutral", action_items=(task,)), plain)
    assert result.content is not None
    assert [item.due_date for item in result.content.action_items] == [None]
