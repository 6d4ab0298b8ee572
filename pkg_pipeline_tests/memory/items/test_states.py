"""What becomes of items over readings: any order, any repetition, and a person has the last word (B16, B17)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory.items.records import (
    ChangeTo,
    Item,
    ItemChange,
    ItemKind,
    PersonDecision,
    ReadItem,
    TalkReading,
)
from pkg_pipeline.memory.items.states import ReadTalk, resolve

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
LETTER, PRICE = UUID(int=11), UUID(int=12)
FRIDAY, MONDAY = date(2026, 1, 9), date(2026, 1, 12)


def day(number: float) -> datetime:
    return START + timedelta(days=number)


def opened(item_id: UUID, at: datetime, *, kind: ItemKind = "action_item", replaces: UUID | None = None) -> ReadItem:
    return ReadItem(
        id=item_id,
        kind=kind,
        text=f"item {item_id.int}",
        owner="self",
        owner_entity_id=None,
        owner_name=None,
        due_date=FRIDAY if kind == "action_item" else None,
        importance="medium",
        quote=f"said {item_id.int}",
        message_ids=(f"m{item_id.int}",),
        at=at,
        replaces=replaces,
    )


def change(
    to: ChangeTo, at: datetime, *, item: UUID = LETTER, due: date | None = None, probability: float = 1.0
) -> ItemChange:
    return ItemChange(item, to, at, quote=to, message_ids=(to,), due_date=due, probability=probability)


def talk(
    number: float,
    *,
    items: Sequence[ReadItem] = (),
    changes: Sequence[ItemChange] = (),
    silent: Sequence[ReadItem] = (),
) -> ReadTalk:
    reading = TalkReading(UUID(int=1000 + int(number * 10)), tuple(items), tuple(changes), silent=tuple(silent))
    return ReadTalk(reading, day(number) + timedelta(hours=1))


def history(*changes: ItemChange, decided: Sequence[PersonDecision] = ()) -> Item:
    """The letter opened on day 0, with one talk for each change."""
    talks = [talk(0, items=[opened(LETTER, day(0))])]
    talks += [talk((one.at - START).total_seconds() / 86_400, changes=[one]) for one in changes]
    return resolve(talks, {LETTER: decided})[LETTER]


@pytest.mark.parametrize(
    ("changes", "events", "status", "due"),
    [
        ([], ["opened"], "open", FRIDAY),
        ([change("done", day(2))], ["opened", "done"], "done", FRIDAY),
        ([change("done", day(2), probability=0.7)], ["opened", "perhaps_done"], "perhaps_done", FRIDAY),
        ([change("cancelled", day(2), probability=0.6)], ["opened", "perhaps_done"], "perhaps_done", FRIDAY),
        (
            [change("perhaps_done", day(1)), change("done", day(2))],
            ["opened", "perhaps_done", "done"],
            "done",
            FRIDAY,
        ),
        ([change("done", day(1)), change("perhaps_done", day(2))], ["opened", "done"], "done", FRIDAY),
        ([change("done", day(1)), change("cancelled", day(2))], ["opened", "done"], "done", FRIDAY),
        ([change("renewed", day(1), due=MONDAY)], ["opened", "renewed"], "open", MONDAY),
        (
            [change("perhaps_done", day(1)), change("renewed", day(2), due=MONDAY)],
            ["opened", "perhaps_done", "renewed"],
            "open",
            MONDAY,
        ),
        ([change("done", day(1)), change("renewed", day(2))], ["opened", "done", "renewed"], "open", FRIDAY),
        ([change("done", day(1)), change("renewed", day(2), probability=0.6)], ["opened", "done"], "done", FRIDAY),
    ],
)
def test_what_messages_say(changes: list[ItemChange], events: list[str], status: str, due: date) -> None:
    item = history(*changes)
    assert [state.event for state in item.states] == events
    assert (item.now.status, item.now.due_date) == (status, due)


@pytest.mark.parametrize(
    ("changes", "statuses"),
    [
        ([], None),
        ([change("done", day(2))], ["open", "done"]),
        ([change("done", day(2), probability=0.7)], None),
        ([change("renewed", day(1)), change("cancelled", day(2))], None),
        ([change("perhaps_done", day(1)), change("done", day(2))], ["open", "done"]),
        ([change("done", day(2)), change("renewed", day(4))], ["open", "done", "open"]),
    ],
)
def test_a_silent_item_is_one_once_it_was_kept(changes: list[ItemChange], statuses: list[str] | None) -> None:
    talks = [talk((one.at - START).total_seconds() / 86_400, changes=[one]) for one in changes]
    talks.append(talk(0, silent=[opened(LETTER, day(0))]))
    found = resolve(talks).get(LETTER)
    assert (None if found is None else [state.status for state in found.states]) == statuses


def test_a_later_decision_takes_the_place_of_the_earlier_and_gives_it_back_when_it_goes() -> None:
    newer = UUID(int=13)
    first = talk(0, items=[opened(PRICE, day(0), kind="decision")])
    second = talk(3, items=[opened(newer, day(3), kind="decision", replaces=PRICE)])
    items = resolve([second, first])
    assert (items[PRICE].now.status, items[PRICE].now.superseded_by, items[newer].now.status) == (
        "superseded",
        newer,
        "open",
    )
    assert resolve([first])[PRICE].now.status == "open"


def test_a_decision_is_not_done_by_being_carried_out() -> None:
    item = resolve(
        [
            talk(0, items=[opened(PRICE, day(0), kind="decision")]),
            talk(1, changes=[change("done", day(1), item=PRICE)]),
        ]
    )[PRICE]
    assert item.now.status == "open"


@pytest.mark.parametrize(
    ("decided", "status", "due", "text"),
    [
        (PersonDecision(LETTER, day(1), "close", status="cancelled"), "cancelled", FRIDAY, "item 11"),
        (PersonDecision(LETTER, day(9), "reopen"), "open", MONDAY, "item 11"),
        (PersonDecision(LETTER, day(1), "edit", text="Send it by post"), "done", MONDAY, "Send it by post"),
        (PersonDecision(LETTER, day(1), "edit", clear_due_date=True), "done", None, "item 11"),
    ],
)
def test_what_a_person_decided_stays(decided: PersonDecision, status: str, due: date | None, text: str) -> None:
    item = history(change("renewed", day(3), due=MONDAY), change("done", day(5)), decided=[decided])
    assert (item.now.status, item.now.due_date, item.now.text) == (status, due, text)


def test_of_two_decisions_of_a_person_the_later_counts() -> None:
    closed, again = PersonDecision(LETTER, day(1), "close"), PersonDecision(LETTER, day(2), "reopen")
    assert history(decided=[again, closed]).now.status == "open"


CHANGES = st.lists(
    st.builds(
        change,
        st.sampled_from(["done", "perhaps_done", "cancelled", "renewed"]),
        st.integers(1, 40).map(day),
        due=st.sampled_from([None, FRIDAY, MONDAY]),
        probability=st.sampled_from([0.5, 0.74, 0.75, 1.0]),
    ),
    max_size=8,
    unique_by=lambda one: one.at,
)
DECISIONS = st.lists(
    st.builds(
        PersonDecision,
        st.just(LETTER),
        st.integers(1, 40).map(day),
        st.sampled_from(["close", "reopen", "edit"]),
        text=st.sampled_from([None, "mine"]),
        due_date=st.sampled_from([None, MONDAY]),
    ),
    max_size=3,
)


def talks_of(changes: Sequence[ItemChange]) -> list[ReadTalk]:
    talks = [talk(0, items=[opened(LETTER, day(0))])]
    return talks + [talk((one.at - START).days, changes=[one]) for one in changes]


@given(CHANGES, DECISIONS, st.randoms(use_true_random=False))
def test_the_order_in_which_readings_came_makes_no_difference(changes, decided, random) -> None:  # type: ignore[no-untyped-def]
    talks = talks_of(changes)
    expected = resolve(talks, {LETTER: decided})
    random.shuffle(talks)
    random.shuffle(decided)
    same_moment = len({one.at for one in decided}) < len(decided)
    if not same_moment:
        assert resolve(talks, {LETTER: decided}) == expected


@given(CHANGES, DECISIONS)
def test_histories_go_forward_and_end_as_the_person_said(changes, decided) -> None:  # type: ignore[no-untyped-def]
    item = resolve(talks_of(changes), {LETTER: decided})[LETTER]
    times = [state.at for state in item.states]
    assert times == sorted(times)
    settled = [one for one in sorted(decided, key=lambda one: one.at) if one.action != "edit"]
    if settled:
        assert item.now.status == ("open" if settled[-1].action == "reopen" else "done")
    worded = [one for one in decided if one.text is not None]
    if worded:
        assert item.now.text == "mine"


@given(CHANGES, st.data())
def test_a_late_talk_ends_where_it_would_have_ended_in_time(changes, data) -> None:  # type: ignore[no-untyped-def]
    """The states up to a talk do not depend on later talks: what a talk is shown is the same whenever it is read."""
    talks = sorted(talks_of(changes), key=lambda one: one.key)
    cut = data.draw(st.integers(1, len(talks)))
    before = resolve(talks[:cut])[LETTER].states
    assert resolve(talks)[LETTER].states[: len(before)] == before


@given(CHANGES)
def test_a_reading_that_goes_takes_its_states_along(changes) -> None:  # type: ignore[no-untyped-def]
    for gone in changes:
        left = [one for one in changes if one is not gone]
        item = resolve(talks_of(left))[LETTER]
        assert item == history(*left)
        assert all(state.quote != gone.quote or any(one.to == gone.to for one in left) for state in item.states)


def test_items_without_an_opening_are_none() -> None:
    assert resolve([talk(1, changes=[change("done", day(1))])]) == {}


def test_what_is_said_before_the_opening_is_not_of_the_item() -> None:
    late = replace(talk(5, items=[opened(LETTER, day(5))]))
    assert resolve([talk(1, changes=[change("done", day(1))]), late])[LETTER].now.status == "open"
