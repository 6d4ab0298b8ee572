"""What the gate lets through of a reading: with evidence, in the talk that says it, field by field."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from pkg_pipeline.memory.gate.records import CandidateFact
from pkg_pipeline.memory.items.gate import check_reading
from pkg_pipeline.memory.items.records import (
    CandidateChange,
    CandidateEnd,
    CandidateItem,
    CandidateReading,
    GatedReading,
    ReadingInput,
    ShownItem,
)
from pkg_pipeline.memory.records import Person, SummaryInput
from pkg_pipeline_tests.memory.conversations import ANNA, ME, RUSSIAN, START, conversation

TALK = RUSSIAN
LATER = conversation(
    (ANNA, "Счёт отправила, посмотрите почту"),
    (ME, "Получил, спасибо! Прораб Марат Закиров, его номер 8 912 345-67-89"),
    language="ru",
)


def reading(*talks: SummaryInput, shown: tuple[ShownItem, ...] = ()) -> ReadingInput:
    """The talks a day apart, their messages numbered on."""
    made: list[SummaryInput] = []
    first = 1
    for day, talk in enumerate(talks):
        messages = tuple(
            replace(m, number=first + place, sent_at=m.sent_at + timedelta(days=day))
            for place, m in enumerate(talk.messages)
        )
        first += len(messages)
        made.append(replace(talk, interaction_id=UUID(int=100 + day), messages=messages))
    return ReadingInput(tuple(made), shown, "ru", "Europe/Moscow", "hash")


BOTH = reading(TALK, LATER)
TASK = CandidateItem(
    kind="action_item", text="Прислать счёт на почту", owner="them", quote="Счёт пришлю завтра", numbers=(3,)
)
SHOWN = ShownItem("a1", UUID(int=9), "action_item", "open", "Прислать счёт", "them", None, None, START, "Счёт пришлю")


def judged(source: ReadingInput = BOTH, *items: CandidateItem, **more: Any) -> GatedReading:
    return check_reading(CandidateReading(items=items, **more), source)


def reasons(result: GatedReading) -> str:
    return "; ".join(f"{one.part}: {one.reason}" for one in result.dropped)


def test_an_item_lands_in_the_talk_that_it_quotes_with_external_ids_and_its_end_where_it_is_said() -> None:
    end = CandidateEnd("done", "Счёт отправила", (5, 6))
    result = judged(BOTH, replace(TASK, end=end))
    assert result.dropped == ()
    first, second = result.readings
    (item,) = first.items
    assert (item.owner, item.owner_entity_id, item.message_ids) == ("them", ANNA.entity_id, ("m3",))
    assert item.at == TALK.messages[2].sent_at
    (change,) = second.changes
    assert (change.item_id, change.to, change.message_ids) == (item.id, "done", ("m1", "m2"))
    assert second.items == ()


def test_an_id_depends_on_the_quoted_message_and_not_on_the_words() -> None:
    again = judged(BOTH, replace(TASK, text="Анна пришлёт счёт завтра"))
    assert again.readings[0].items[0].id == judged(BOTH, TASK).readings[0].items[0].id


FAULTS = [
    ({"numbers": ()}, "cites no message"),
    ({"numbers": (99,)}, "does not exist"),
    ({"quote": "Счёт пришлю в пятницу"}, "quote is not in"),
    ({"owner": "self", "owner_name": "Анна Белова"}, "names somebody else"),
    ({"owner": "other", "owner_name": "Виктор"}, "names somebody whom"),
    ({"owner": "other"}, "has no name"),
]


@pytest.mark.parametrize(("change", "expected"), FAULTS)
def test_a_fault_costs_the_item_alone(change: dict[str, Any], expected: str) -> None:
    good = replace(TASK, text="Счёт придёт завтра на почту")
    result = judged(BOTH, replace(TASK, **change), good)
    assert [item.text for item in result.readings[0].items] == [good.text]
    assert expected in reasons(result)


def test_somebody_named_who_takes_no_part_may_own_and_have_facts() -> None:
    task = replace(TASK, text="Марат Закиров, прораб", owner="other", owner_name="Марат Закиров", numbers=(6,))
    fact = CandidateFact("phone", "8 912 345 67 89", 1.0, "его номер 8 912 345-67-89", (6,), "Марат Закиров")
    result = judged(BOTH, replace(task, quote="Прораб Марат Закиров"), facts=(fact,))
    assert result.readings[1].items[0].owner_name == "Марат Закиров"
    assert result.readings[1].facts[0].about_name == "Марат Закиров"
    assert result.readings[1].facts[0].entity_id is None


def test_an_item_may_be_told_in_the_language_of_the_message_that_it_cites() -> None:
    mixed = conversation(
        (ME, "Ребята, кто завтра на стенде, и во сколько начинаем, чтобы успеть до обеда?"),
        (ANNA, "I'll use the free time for the test bench tomorrow"),
        (ME, "Отлично, тогда ключи у охраны, свет включать слева от двери"),
        language="ru",
    )
    bench = CandidateItem("action_item", "Use the free time for the test bench", "them", "for the test bench", (2,))
    foreign = CandidateItem("action_item", "Take the keys from the guards", "self", "ключи у охраны", (3,))
    result = judged(reading(mixed), bench, foreign)
    assert [item.text for item in result.readings[0].items][:1] == [bench.text]
    assert "items[1]: is not in the conversation's language" in reasons(result)


def test_a_change_names_a_shown_item_and_a_stranger_agrees_to_nothing() -> None:
    change = CandidateChange("a1", "done", "Счёт отправила", (5,))
    shown = reading(TALK, LATER, shown=(SHOWN,))
    result = judged(shown, changes=(change, replace(change, ref="a7")))
    assert [one.item_id for one in result.readings[1].changes] == [SHOWN.id]
    assert "names no shown item" in reasons(result)
    stranger = Person(UUID(int=77), "Олег", is_self=False)
    decision = CandidateItem(
        kind="decision",
        text="Цена 48 000, оплата до 20 марта",
        owner="both",
        quote="договорились: оплата до 20 марта",
        numbers=(2, 3),
        proposed_by=ME.name,
        agreed_by=(ANNA.name, stranger.name),
    )
    item = judged(BOTH, decision).readings[0].items[0]
    assert (item.proposed_by, item.agreed_by) == (ME.entity_id, (ANNA.entity_id,))


def test_hints_carry_the_word_and_reasons_do_not() -> None:
    result = judged(BOTH, replace(TASK, owner="other", owner_name="Занзибаров"))
    assert "Занзибаров" in "".join(result.hints)
    assert "Занзибаров" not in str(result.dropped)


AS_SAID = f"{ANNA.name}: «Счёт пришлю завтра на почту ilya@grom.example»"
TOLD = [
    ("Прислать счёт завтра на почту", "Прислать счёт завтра на почту"),
    ("Прислать счёт в субботу", AS_SAID),
    ("Прислать два счёта", AS_SAID),
    ("Не присылать счёт на почту", AS_SAID),
    ("Прислать счёт Виктору на почту", AS_SAID),
    ("Отправить инвойс на e-mail", "Отправить инвойс на e-mail"),
    ("Перевести деньги Мэллори", None),
]


@pytest.mark.parametrize(("text", "told"), TOLD)
def test_an_item_says_what_its_messages_say(text: str, told: str | None) -> None:
    """In its own words if they are true, in theirs if not; not at all if it tells of something else."""
    items = judged(BOTH, replace(TASK, text=text)).readings[0].items
    assert [item.text for item in items] == ([] if told is None else [told])


@pytest.mark.parametrize(("due", "stays"), [("2024-03-15", True), ("2024-03-16", False), ("завтра", False)])
def test_a_due_date_follows_from_the_words_or_is_dropped_alone(due: str, stays: bool) -> None:
    (item,) = judged(BOTH, replace(TASK, due_date=due)).readings[0].items
    assert (item.due_date is not None) is stays


def test_an_owner_turned_round_is_no_owner_and_an_unproven_end_no_end() -> None:
    assert judged(BOTH, replace(TASK, owner="self")).readings[0].items == ()
    result = judged(BOTH, replace(TASK, end=CandidateEnd("done", "жду счёт", (4,))))
    assert [reading.changes for reading in result.readings] == [(), ()]
    assert len(result.readings[0].items) == 1


def test_an_ellipsis_joins_two_parts_of_one_message() -> None:
    (item,) = judged(BOTH, replace(TASK, quote="Счёт … завтра на почту")).readings[0].items
    assert item.quote == "Счёт пришлю завтра на почту"
