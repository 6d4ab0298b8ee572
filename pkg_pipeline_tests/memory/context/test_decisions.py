"""Which decisions are told as what holds, and which as what was (P4, B17)."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from pkg_pipeline.memory.context.assembly import assemble
from pkg_pipeline.memory.context.records import (
    ContextRows,
    HeardMessage,
    KnownItem,
    KnownProfile,
    Unsummarised,
    WholeTalk,
)
from pkg_pipeline.memory.text.phrases import phrases
from pkg_pipeline_tests.memory.candidates import derived, in_order
from pkg_pipeline_tests.memory.context.test_assembly import CHAT, NOW, count_many, entity, rules


def item(said_at: datetime, **given: Any) -> KnownItem:
    """Said once, then."""
    once: dict[str, Any] = {"interaction_id": UUID(int=100), "first_at": said_at, "at": said_at}
    return KnownItem(**once, quote="652", message_ids=("x",), **given)


@pytest.mark.parametrize(
    ("days_ago", "until", "found_with", "is_current"),
    [
        (400, None, 1.0, True),
        (400, date(2025, 3, 1), 1.0, False),
        (20, date(2026, 3, 14), 1.0, False),
        (20, date(2026, 3, 15), 1.0, True),
        (20, None, 0.5, True),
        (100, None, 0.5, False),
    ],
)
def test_what_was_decided_for_a_day_that_is_past_stands_with_earlier_decisions(
    days_ago: int, until: date | None, found_with: float, is_current: bool
) -> None:
    said_at = NOW - timedelta(days=days_ago)
    decision = item(
        said_at,
        id=UUID(int=700),
        kind="decision",
        status="open",
        text="The rent is 652",
        importance="high",
        due_date=until,
        found_with=found_with,
    )
    block = assemble(ContextRows(entity=entity(language="en"), decisions=(decision,)), rules(400), count_many)
    words = phrases("en")
    before = block.text[: block.text.index("The rent is 652")]
    assert before.count("## ") == 1
    assert (words.permanent if is_current else words.key_decisions) in before


def test_a_decision_that_has_run_its_course_is_told_by_no_context() -> None:
    said_at = NOW - timedelta(days=30)
    decision = item(
        said_at, id=UUID(int=703), kind="decision", status="lapsed", text="85 the jacket", importance="high"
    )
    block = assemble(ContextRows(entity=entity(language="en"), decisions=(decision,)), rules(400), count_many)
    assert "jacket" not in block.text
    assert [(one.id, one.reason) for one in block.left_out] == [(str(UUID(int=703)), "over")]


@pytest.mark.parametrize(
    ("importance", "probability", "is_told"), [("medium", 0.6, False), ("medium", 0.95, True), ("high", 0.6, True)]
)
def test_a_decision_of_before_that_was_only_perhaps_is_told_by_no_context(
    importance: Any, probability: float, is_told: bool
) -> None:
    decision = item(
        NOW - timedelta(days=250),
        id=UUID(int=704),
        kind="decision",
        status="open",
        text="For 300 I would have to change my factory",
        importance=importance,
        found_with=probability,
    )
    block = assemble(ContextRows(entity=entity(language="en"), decisions=(decision,)), rules(400), count_many)
    assert ("change my factory" in block.text) == is_told
    assert [one.reason for one in block.left_out] == ([] if is_told else ["limit"])


@pytest.mark.parametrize(("days_ago", "is_told"), [(60, True), (100, False)])
def test_what_nobody_spoke_of_for_a_quarter_is_told_by_no_context(days_ago: int, is_told: bool) -> None:
    said_at = NOW - timedelta(days=days_ago)
    task = item(
        said_at, id=UUID(int=701), kind="action_item", status="lapsed", text="Send the boots back", importance="high"
    )
    block = assemble(ContextRows(entity=entity(language="en"), open_items=(task,)), rules(400), count_many)
    assert ("Send the boots back" in block.text) == is_told
    assert [one.reason for one in block.left_out] == ([] if is_told else ["limit"])


@pytest.mark.parametrize(
    ("summary", "is_told"),
    [
        ("Conversations: 12, since 2 May 2025.", False),
        ("Разговоры: 12, с 2 мая 2025.", False),
        ("谈话12次，始于2025年5月2日。", False),
        ("Anna sells honey to me.", True),
    ],
)
def test_a_profile_that_only_counts_is_no_line(summary: str, is_told: bool) -> None:
    profile = KnownProfile(UUID(int=702), NOW, "unknown", summary, (), is_stale=False, message_ids=())
    block = assemble(ContextRows(entity=entity(language="en"), profile=profile), rules(400), count_many)
    assert (summary in block.text) == is_told
    assert (phrases("en").relationship.split("{")[0] in block.text) == is_told


def test_an_open_task_stands_whole_or_not_at_all() -> None:
    said_at = NOW - timedelta(days=3)
    tasks = tuple(
        item(
            said_at,
            id=UUID(int=710 + number),
            kind="action_item",
            status="open",
            text=f"Draft the papers of company number {number} and send them over to the office at the old harbour",
            importance="medium",
        )
        for number in range(12)
    )
    rows = ContextRows(entity=entity(language="en"), open_items=tasks)
    for size in range(100, 700, 60):
        block = assemble(rows, rules(size), count_many)
        printed = [line for line in block.text.splitlines() if "Draft" in line]
        assert all(line.endswith("at the old harbour") for line in printed), size
        assert len(printed) + sum(one.reason == "budget" for one in block.left_out) == len(tasks), size


def heard(number: int, said_at: datetime, text: str) -> HeardMessage:
    return HeardMessage(f"telegram:1/{number}", CHAT, "Anna", is_self=False, sent_at=said_at, text=text, is_cut=False)


@pytest.mark.parametrize("size", [200, 300, 500])
def test_what_is_surely_to_be_done_is_told_before_any_talk(size: int) -> None:
    task = item(
        NOW - timedelta(days=20),
        id=UUID(int=730),
        kind="action_item",
        status="open",
        text="Send the drawing",
        importance="medium",
    )
    hot = tuple(heard(n, NOW - timedelta(hours=n), f"We walked along the river, walk number {n}") for n in range(60))
    rows = ContextRows(entity=entity(language="en"), open_items=(task,), hot=hot)
    assert "Send the drawing" in assemble(rows, rules(size), count_many).text


def test_a_decision_of_a_talk_that_is_printed_whole_is_not_told_again() -> None:
    said_at = NOW - timedelta(days=120)
    decision = item(
        said_at, id=UUID(int=740), kind="decision", status="open", text="Tins, not jars", importance="medium"
    )
    messages = (heard(1, said_at, "Tins, not jars"), heard(2, said_at, "Fine by me"))
    talk = WholeTalk(UUID(int=100), CHAT, said_at, said_at, messages)
    rows = ContextRows(entity=entity(language="en"), decisions=(decision,), whole={talk.interaction_id: talk})
    block = assemble(rows, rules(4000), count_many)
    assert block.text.count("Tins, not jars") == 1
    assert phrases("en").key_decisions not in block.text
    assert str(decision.id) not in {one.id for one in block.left_out}
    assert sum(tier.tokens for tier in block.tiers) == block.tokens == sum(count_many(block.text.splitlines(True)))


@pytest.mark.parametrize(("status", "is_told"), [("open", True), ("lapsed", False)])
def test_a_hint_does_not_bring_back_as_a_task_what_lapsed(status: str, is_told: bool) -> None:
    found = derived(1, "Cater the harvest party", source="action_item")
    said_at = NOW - timedelta(days=100)
    task = item(said_at, id=found.subject_id, kind="action_item", status=status, text=found.text, importance="low")
    rows = ContextRows(entity=entity(language="en"), open_items=(task,), relevant=tuple(in_order(found)))
    block = assemble(rows, replace(rules(400), hint="harvest party"), count_many)
    assert ("Cater the harvest party" in block.text) == is_told


@pytest.mark.parametrize("status", ["lapsed", "perhaps_done"])
@pytest.mark.parametrize(
    ("old", "now", "is_told"),
    [
        ("I'll send you the floor plan by 3 March", "The floor plan? Sending it on Monday", False),
        ("I'll send you the floor plan by 3 March", "I'll send the invoice on Monday", True),
        ("Пришлю план этажа до 3 марта", "План этажа отправлю в понедельник", False),
        ("Пришлю план этажа до 3 марта", "Счёт отправлю в понедельник", True),
        ("我3月3日前把平面图发给你", "平面图周一发给你", False),
        ("我3月3日前把平面图发给你", "发票周一开好", True),
    ],
)
def test_what_may_be_over_is_not_told_beside_what_promises_it_again(
    old: str, now: str, is_told: bool, status: Any
) -> None:
    at = NOW - timedelta(days=20)
    given: dict[str, Any] = {"kind": "action_item", "importance": "high"}
    tasks = (
        item(at, id=UUID(int=750), status=status, text=old, **given),
        item(at, id=UUID(int=751), status="open", text=now, **given),
    )
    block = assemble(ContextRows(entity=entity(language="en"), open_items=tasks), rules(400), count_many)
    assert (old in block.text, now in block.text) == (is_told, True)


@pytest.mark.parametrize(
    ("said", "is_told"),
    [
        (("Wow!", "thank you so"), False),
        (("Ура!!", "🎉", "спасибо"), False),
        (("厉害", "谢谢你"), False),
        (("Wow!", "The key is under the third pot"), True),
        (("Ага", "7-го"), True),
        (("好", "定金付了，请查收"), True),
    ],
)
def test_a_talk_of_which_only_pleasantries_would_be_told_is_left_out(said: tuple[str, ...], is_told: bool) -> None:
    at = NOW - timedelta(days=120)
    messages = tuple(heard(number, at, text) for number, text in enumerate(said))
    talk = Unsummarised(UUID(int=400), CHAT, at, at, messages)
    block = assemble(ContextRows(entity=entity(language="en"), unsummarised=(talk,)), rules(400), count_many)
    assert [text in block.text for text in said] == [is_told] * len(said)
    assert [one.reason for one in block.left_out] == ([] if is_told else ["limit"])
