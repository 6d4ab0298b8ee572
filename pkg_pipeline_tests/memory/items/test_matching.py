"""What is one matter: twins, replaced decisions, verdicts whose item has another id; what is shown; batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from uuid import UUID, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory.items.batches import batches
from pkg_pipeline.memory.items.matching import Verdict, are_alike, decisions_of, settle
from pkg_pipeline.memory.items.records import ItemChange, ItemKind, PersonDecision, ReadItem, ShownItem, TalkReading
from pkg_pipeline.memory.items.shown import MOST_DECISIONS, MOST_OPEN, Known, choose, shown_hash
from pkg_pipeline.memory.records import Language

NOW = datetime(2026, 2, 1, 12, tzinfo=UTC)
TALK, CHAT = UUID(int=1), UUID(int=2)


def read(text: str, *, kind: ItemKind = "action_item", due: date | None = None, number: int = 7) -> ReadItem:
    return ReadItem(
        id=UUID(int=number),
        kind=kind,
        text=text,
        owner="self",
        owner_entity_id=None,
        owner_name=None,
        due_date=due,
        importance="medium",
        quote=text,
        message_ids=(f"m{number}",),
        at=NOW,
    )


def shown(text: str, *, kind: ItemKind = "action_item", due: date | None = None, number: int = 50) -> ShownItem:
    return ShownItem(
        ref="a1",
        id=UUID(int=number),
        kind=kind,
        status="open",
        text=text,
        owner="self",
        owner_name=None,
        due_date=due,
        said_at=NOW - timedelta(days=3),
        quote=text,
    )


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("Send the signed contract to Olga", "Send Olga the signed contract", True),
        ("Send the signed contract", "Send the contract, signed", True),
        ("Отправить подписанный договор Ольге", "Отправить Ольге договор, подписанный", True),
        ("把签好的合同发给王经理", "签好的合同发给王经理", True),
        ("Send the signed contract to Olga", "Send the photos of the boat", False),
        ("Отправить договор Ольге", "Купить краску для лодки", False),
        ("把合同发给王经理", "明天去工厂看样品", False),
        ("Pay", "Call", False),
    ],
)
def test_texts_of_one_matter(first: str, second: str, expected: bool) -> None:
    assert are_alike(first, second) is expected
    assert are_alike(second, first) is expected


def test_a_task_said_again_renews_the_shown_one_with_its_new_day() -> None:
    reading = TalkReading(TALK, (read("Send the signed contract", due=date(2026, 2, 9)),))
    settled, same = settle(reading, [shown("Send the signed contract", due=date(2026, 2, 2))])
    assert settled.items == ()
    (change,) = settled.changes
    assert (change.item_id, change.to, change.due_date) == (UUID(int=50), "renewed", date(2026, 2, 9))
    assert same == {UUID(int=7): UUID(int=50)}


@pytest.mark.parametrize(
    "other",
    [
        shown("Pay invoice 41 to the printer"),
        replace(shown("Pay invoice 42 to the printer"), owner="them"),
        replace(shown("Pay invoice 42 to the printer"), status="done"),
        shown("Pay invoice 42 to the printer", kind="decision"),
    ],
)
def test_other_numbers_owners_and_settled_ones_are_no_twins(other: ShownItem) -> None:
    reading = TalkReading(TALK, (read("Pay invoice 42 to the printer"),))
    assert settle(reading, [other])[0] == reading


def test_a_decision_with_another_number_replaces_and_one_with_the_same_renews() -> None:
    before = shown("The price of the boat is 350 EUR", kind="decision")
    newer = TalkReading(TALK, (read("The price of the boat is 400 EUR", kind="decision"),))
    again = TalkReading(TALK, (read("The price of the boat is 350 EUR", kind="decision"),))
    assert settle(newer, [before])[0].items[0].replaces == before.id
    settled, _ = settle(again, [before])
    assert (settled.items, [one.to for one in settled.changes]) == ((), ["renewed"])


def test_what_the_answer_says_of_the_shown_one_already_is_not_said_twice() -> None:
    twin = shown("Send the signed contract")
    told = ItemChange(twin.id, "renewed", NOW, "q", ("m7",))
    reading = TalkReading(TALK, (read("Send the signed contract"),), (told,))
    assert settle(reading, [twin])[0] == TalkReading(TALK, (), (told,))


def test_the_end_of_a_twin_is_the_end_of_the_shown_one() -> None:
    twin = shown("Send the signed contract")
    ended = ItemChange(UUID(int=7), "done", NOW + timedelta(minutes=5), "sent", ("m9",))
    settled, _ = settle(TalkReading(TALK, (read("Send the signed contract"),), (ended,)), [twin])
    assert [(one.item_id, one.to) for one in settled.changes] == [(twin.id, "renewed"), (twin.id, "done")]


@given(st.lists(st.sampled_from(["Send the signed contract", "Bring the old chair", "Pay the printer 40"]), max_size=4))
def test_settling_twice_changes_nothing(texts: list[str]) -> None:
    items = tuple(read(text, number=7 + place) for place, text in enumerate(texts))
    known = [shown("Send the signed contract"), shown("Pay the printer 40", number=51)]
    once, _ = settle(TalkReading(TALK, items), known)
    assert settle(once, known)[0] == once


def verdict(item_id: UUID, text: str, *message_ids: str) -> Verdict:
    decision = PersonDecision(item_id, NOW, "close", status="done")
    return Verdict(decision, "action_item", CHAT, message_ids, text)


def test_a_verdict_follows_its_item_to_another_id_by_message_and_words() -> None:
    items = {one.id: one for one in (read("Bring the chair", number=7), read("Send the letter", number=8))}
    items = {key: replace(one, message_ids=("m1",)) for key, one in items.items()}
    gone = verdict(UUID(int=99), "Send a letter", "m1")
    chats = dict.fromkeys(items, CHAT)
    assert list(decisions_of(items, [gone], chats=chats, known=frozenset(items))) == [UUID(int=8)]
    still = decisions_of(items, [gone], chats=chats, known=frozenset({*items, UUID(int=99)}))
    assert still == {}
    elsewhere = verdict(UUID(int=99), "Send a letter", "m5")
    assert decisions_of(items, [elsewhere], chats=chats, known=frozenset(items)) == {}
    unclear = verdict(UUID(int=99), "Something else", "m1")
    assert decisions_of(items, [unclear], chats=chats, known=frozenset(items)) == {}


def known(number: int, *, days: float, kind: ItemKind = "action_item", status: str = "open") -> Known:
    item = replace(shown(f"item {number}", kind=kind, number=number), ref="", status=status)  # type: ignore[arg-type]
    return Known(replace(item, said_at=NOW - timedelta(days=days)), NOW - timedelta(days=days), "medium")


def test_what_is_shown_is_limited_fresh_and_named_in_time_order() -> None:
    everything = [
        *(known(100 + place, days=place) for place in range(40)),
        *(known(200 + place, days=place, kind="decision") for place in range(20)),
        known(300, days=10, status="done"),
        known(301, days=40, status="done"),
        known(302, days=500),
    ]
    chosen = choose(everything, NOW)
    actions = [one for one in chosen if one.kind == "action_item"]
    assert len([one for one in actions if one.status == "open"]) == MOST_OPEN
    assert len(chosen) - len(actions) == MOST_DECISIONS
    assert {one.id.int for one in chosen} & {300, 301, 302} == {300}
    assert [one.ref for one in actions] == [f"a{place}" for place in range(1, len(actions) + 1)]
    assert [one.said_at for one in actions] == sorted(one.said_at for one in actions)


@given(st.permutations(range(12)))
def test_the_order_of_what_is_known_makes_no_difference(order: Sequence[int]) -> None:
    everything = [
        known(100 + place, days=place % 5, kind="decision" if place % 3 else "action_item") for place in order
    ]
    chosen = choose(everything, NOW)
    assert shown_hash(chosen) == shown_hash(choose(sorted(everything, key=lambda one: one.item.id), NOW))


@dataclass(frozen=True)
class Talk:
    number: int
    circle: frozenset[UUID]
    token_count: int = 100
    message_count: int = 2
    language: Language = "en"


PEOPLE = [uuid5(CHAT, name) for name in "abc"]
TALKS = st.lists(st.tuples(st.sets(st.sampled_from(PEOPLE), min_size=1, max_size=2), st.integers(10, 900)), max_size=25)


@given(TALKS)
def test_batches_keep_the_order_of_each_person_and_lose_nothing(drawn: list[tuple[set[UUID], int]]) -> None:
    talks = [Talk(place, frozenset(people), tokens) for place, (people, tokens) in enumerate(drawn)]
    made = batches(
        talks, most_tokens=1_000, most_talks=5, alone=lambda talk: talk.number % 7 == 0, kind=lambda talk: talk.language
    )
    flat = [talk for batch in made for talk in batch]
    assert sorted(talk.number for talk in flat) == [talk.number for talk in talks]
    for person in PEOPLE:
        own = [talk.number for talk in flat if person in talk.circle]
        assert own == sorted(own)
    for batch in made:
        assert len(batch) <= 5
        assert len(batch) == 1 or sum(talk.token_count for talk in batch) <= 1_000
        assert len(batch) == 1 or all(talk.number % 7 for talk in batch)
