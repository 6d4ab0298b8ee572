"""P28: what is known is in the next summary under its id, or is named as lost; nothing goes silently."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory.records import (
    ActionItem,
    DecisionItem,
    FactCandidate,
    ImportantMessage,
    SummaryContent,
)
from pkg_pipeline.memory.summary.reconciliation import (
    action_likeness,
    cited_message_ids,
    matches,
    reconcile,
    with_new_items,
    with_text_hashes,
)
from pkg_pipeline_tests.memory.conversations import START
from pkg_pipeline_tests.memory.summary.lost_items_oracle import silently_lost

TEXTS = {
    "m1": "We meet on Friday at noon.",
    "m2": "I will send the contract tomorrow.",
    "m3": "The contract is sent.",
    "m4": "Write to anna@example.com please.",
}
DAY = date(2024, 3, 14)
EMPTY = SummaryContent("They talked.", (), "neutral", (), (), (), ())


def meet(number: int = 1, **fields: Any) -> DecisionItem:
    given_fields = {"description": "They meet on Friday", "importance": "medium", "message_ids": ("m1",), **fields}
    return DecisionItem(id=UUID(int=number), date=DAY, quote="on Friday at noon", **given_fields)


def send(number: int = 2, **fields: Any) -> ActionItem:
    given_fields: dict[str, Any] = {
        "description": "Anna sends the contract",
        "owner": "them",
        "status": "open",
        "due_date": None,
        "closed_at": None,
        "quote": "send the contract",
        "message_ids": ("m2",),
        **fields,
    }
    return ActionItem(id=UUID(int=number), **given_fields)


def mail(number: int = 3, **fields: Any) -> FactCandidate:
    given_fields = {"fact_type": "email", "value": "anna@example.com", "confidence": 0.8, **fields}
    return FactCandidate(id=UUID(int=number), quote="anna@example.com", message_ids=("m4",), **given_fields)


def of(*items: DecisionItem | ActionItem | FactCandidate, **fields: Any) -> SummaryContent:
    return replace(
        EMPTY,
        decisions=tuple(item for item in items if isinstance(item, DecisionItem)),
        action_items=tuple(item for item in items if isinstance(item, ActionItem)),
        extracted_facts=tuple(item for item in items if isinstance(item, FactCandidate)),
        **fields,
    )


def everything(content: SummaryContent) -> list[DecisionItem | ActionItem | FactCandidate]:
    return [*content.decisions, *content.action_items, *content.extracted_facts]


KNOWN = with_text_hashes(of(meet(), send(), mail()), TEXTS)

# what became of the texts → (ids that are kept, reasons of those that are not)
CHANGES = [
    ({}, {1, 2, 3}, set()),
    ({"m1": None}, {2, 3}, {"rests on a message that is gone"}),
    ({"m1": "We meet on Friday at noon!"}, {2, 3}, {"rests on a message that was edited"}),
    ({"m3": None}, {1, 2, 3}, set()),
    ({"m1": None, "m2": "No."}, {3}, {"rests on a message that is gone", "rests on a message that was edited"}),
]


@pytest.mark.parametrize(("changes", "kept", "reasons"), CHANGES)
def test_what_a_new_answer_does_not_say_is_carried_while_it_stands(changes, kept, reasons) -> None:
    texts = {key: text for key, text in {**TEXTS, **changes}.items() if text is not None}
    found = reconcile([KNOWN], EMPTY, texts)
    assert {item.id.int for item in everything(found.content)} == kept
    assert all(item.is_carried for item in everything(found.content))
    assert {entry.reason for entry in found.lost} == reasons
    assert found.carried == len(kept)
    assert silently_lost(KNOWN, found.content, found.lost) == []


def test_items_of_before_hashes_were_kept_stand_by_their_quote() -> None:
    found = reconcile([of(meet(), send())], EMPTY, {**TEXTS, "m2": "I changed my mind."})
    assert [item.id.int for item in everything(found.content)] == [1]
    assert "quote stands in none" in found.lost[0].reason


# an item that a new answer says in its own way → the known id it goes under
AGAIN = [
    (meet(9, description="They meet on Friday"), 1),
    (meet(9, description="Meeting at noon on Friday"), 1),
    (meet(9, description="Meeting set for Friday", message_ids=("m1", "m4")), 1),
    (meet(9, description="Something else entirely", message_ids=("m4",)), 9),
    (send(9, description="The contract will be sent by Anna"), 2),
    (send(9, owner="self"), 2),
    (send(9, owner="self", quote="I will"), 9),
    (mail(9, confidence=0.3), 3),
    (mail(9, fact_type="contact"), 3),
    (mail(9, value="anna@example.org"), 9),
    (mail(9, entity_id=UUID(int=77)), 9),
]


@pytest.mark.parametrize(("item", "number"), AGAIN)
def test_what_is_said_again_keeps_its_id(item, number: int) -> None:
    found = reconcile([KNOWN], of(item), TEXTS)
    ids = [one.id.int for one in everything(found.content)]
    assert number in ids
    assert len(ids) == len(set(ids)) == (3 if number != 9 else 4)
    again = next(one for one in everything(found.content) if one.id.int == number)
    assert not again.is_carried


def test_said_again_it_keeps_the_higher_weight_the_earlier_day_and_all_evidence() -> None:
    known = with_text_hashes(of(meet(importance="high")), TEXTS)
    later = replace(meet(9, importance="low", message_ids=("m1", "m4")), date=date(2024, 3, 20))
    [item] = reconcile([known], of(later), TEXTS).content.decisions
    assert (item.importance, item.date, item.message_ids) == ("high", DAY, ("m1", "m4"))


def closed() -> ActionItem:
    return send(status="closed", closed_at=DAY, message_ids=("m2", "m3"), closed_by=("m3",), closed_quote="is sent")


def test_what_was_closed_stays_closed_when_it_is_said_again_as_open() -> None:
    [item] = reconcile([with_text_hashes(of(closed()), TEXTS)], of(send(9)), TEXTS).content.action_items
    assert (item.id.int, item.status, item.closed_by) == (2, "closed", ("m3",))


@pytest.mark.parametrize("text", [None, "The contract is not sent."])
def test_without_what_closed_it_it_is_open_again(text: str | None) -> None:
    texts = {**TEXTS, "m3": text} if text else {key: said for key, said in TEXTS.items() if key != "m3"}
    found = reconcile([with_text_hashes(of(closed()), TEXTS)], EMPTY, texts)
    [item] = found.content.action_items
    assert (item.status, item.closed_at, item.closed_by, item.message_ids) == ("open", None, (), ("m2",))
    assert found.lost == ()


def test_important_messages_are_kept_while_they_say_the_same() -> None:
    important = tuple(ImportantMessage(key, text, START, "agreement") for key, text in TEXTS.items())
    known = replace(EMPTY, important_messages=important)
    texts = {"m1": TEXTS["m1"], "m2": "I will not.", "m4": TEXTS["m4"]}
    found = reconcile([known], EMPTY, texts)
    assert [message.message_id for message in found.content.important_messages] == ["m1", "m4"]
    assert [entry.part for entry in found.lost] == ["important message m2", "important message m3"]


def test_two_duties_of_one_sentence_stay_two() -> None:
    """One quote, two descriptions: each finds its own, none is taken twice."""
    both = [send(2, description="Send the contract"), send(3, description="Call the bank")]
    again = [send(8, description="Call the bank"), send(9, description="Send the contract")]
    assert matches(both, again, action_likeness) == {0: 1, 1: 0}
    assert len(reconcile([of(*both)], of(again[0]), TEXTS).content.action_items) == 2


_IDS = st.lists(st.sampled_from(sorted(TEXTS)), min_size=1, max_size=2, unique=True).map(tuple)
_ACTIONS = st.builds(
    lambda number, words, ids, status, owner: send(
        number, description=words, message_ids=ids, quote=TEXTS[ids[0]][:12], status=status, owner=owner,
        closed_at=DAY if status == "closed" else None,
    ),
    st.integers(1, 6), st.sampled_from(["Send the contract", "Call the bank", "Meet on Friday"]), _IDS,
    st.sampled_from(["open", "closed"]), st.sampled_from(["self", "them", "both"]),
)  # fmt: skip
_DECISIONS = st.builds(
    lambda number, words, ids: replace(meet(number, description=words, message_ids=ids), quote=TEXTS[ids[0]][:12]),
    st.integers(11, 16), st.sampled_from(["They meet on Friday", "The price is fixed"]), _IDS,
)  # fmt: skip
_CONTENTS = st.lists(st.one_of(_ACTIONS, _DECISIONS), max_size=6, unique_by=lambda item: item.id).map(
    lambda items: with_text_hashes(of(*items), TEXTS)
)
_TODAY = st.fixed_dictionaries(
    {}, optional={key: st.sampled_from([text, "Other words."]) for key, text in TEXTS.items()}
)


@given(_CONTENTS, _CONTENTS, _TODAY)
def test_every_known_item_is_kept_or_named_and_a_second_time_changes_nothing(known, made, texts) -> None:
    first = reconcile([known], made, texts)
    assert silently_lost(known, first.content, first.lost) == []
    made_ids = {item.id for item in everything(made)}
    new = [item for item in everything(first.content) if item.id not in {one.id for one in everything(known)}]
    assert {item.id for item in new} <= made_ids
    assert len({item.id for item in everything(first.content)}) == len(everything(first.content))
    again = reconcile([known], first.content, texts)
    assert ids_of(again.content) == ids_of(first.content)
    assert again.lost == first.lost
    assert set(cited_message_ids(first.content)) <= set(cited_message_ids(known)) | set(cited_message_ids(made))


@given(_CONTENTS, _CONTENTS)
def test_adding_keeps_the_known_first_in_order_and_adds_nothing_twice(known, made) -> None:
    once = with_new_items(known, made)
    ids = ids_of(once)
    for group in ("decisions", "action_items"):
        before = [item.id for item in getattr(known, group)]
        assert [item.id for item in getattr(once, group)][: len(before)] == before
    assert ids_of(with_new_items(once, made)) == ids
    for item in known.action_items:
        now = next(one for one in once.action_items if one.id == item.id)
        assert not (item.status == "closed" and now.status == "open")


def ids_of(content: SummaryContent) -> list[list[UUID]]:
    return [[item.id for item in group] for group in (content.decisions, content.action_items)]
