"""What stands open and what was decided, as a context shows it (P3, P4, B16, B17), on a real database."""

from __future__ import annotations

from datetime import date

import pytest

from pkg_pipeline_tests.stages.memory_builder import Said
from pkg_pipeline_tests.stages.reads.context_memory import NOW, Remembered, days, items, reasons, summarised, tier


def test_what_is_open_is_cold_overdue_first_and_older_decisions_and_what_lapsed_follow(memory: Remembered) -> None:
    ancient = summarised(memory, 800, "ancient")
    past, recent = summarised(memory, 60, "past"), summarised(memory, 30, "recent")
    memory.build.action(ancient, "Long forgotten", about=["Anna"])
    memory.build.action(past, "Someday", about=["Anna"])
    memory.build.action(past, "Return the book", about=["Anna"], due=date(2026, 1, 31))
    memory.build.action(recent, "Call back", about=["Anna"], owner="both")
    memory.build.action(recent, "Send photos", about=["Anna"], owner="both", due=date(2026, 3, 15))
    memory.build.action(recent, "Pay the rest", about=["Anna"], owner="self", due=date(2026, 3, 1))
    memory.build.decision(ancient, "Meet on Fridays", about=["Anna"], importance="medium")
    memory.build.decision(ancient, "A trifle", about=["Anna"], importance="low")
    answer = memory.ask()
    assert tier(answer, "cold") == [
        "To do (me, since 13 February 2026, OVERDUE, was due 1 March 2026): Pay the rest",
        "To do (both of us, since 13 February 2026, due 15 March 2026): Send photos",
        "To do (both of us, since 13 February 2026): Call back",
        "Decided (5 January 2024): Meet on Fridays",
        "To do (Anna, since 14 January 2026, was due 31 January 2026): Return the book",
        "To do (Anna, since 14 January 2026): Someday",
    ]
    marks = [item["marks"] for item in items(answer, "cold")]
    assert marks == [["overdue"], [], [], [], ["lapsed"], ["lapsed"]]
    assert answer["text"].endswith(
        "## Long past, nothing heard since\n"
        "- To do (Anna, since 14 January 2026, was due 31 January 2026): Return the book\n"
        "- To do (Anna, since 14 January 2026): Someday\n"
    )


def test_what_lapsed_is_told_only_if_it_was_surely_to_be_done_or_matters(memory: Remembered) -> None:
    past = summarised(memory, 60, "past")
    for text, probability, importance in (
        ("Doubted", 0.7, "medium"),
        ("Sure", 0.9, "medium"),
        ("Weighty", 0.7, "high"),
    ):
        memory.build.action(past, text, about=["Anna"], probability=probability, importance=importance)
    answer = memory.ask()
    assert {line.rpartition(": ")[2] for line in tier(answer, "cold")} == {"Sure", "Weighty"}
    assert list(reasons(answer).values()) == ["limit"]


def test_words_that_are_an_open_item_are_no_decision_beside_it(memory: Remembered) -> None:
    talk = summarised(memory, 20, "talk")
    memory.build.action(talk, "I'll pay the deposit first.", about=["Anna"])
    memory.build.decision(talk, "I'll pay the deposit first. (Anna)", about=["Anna"], importance="high")
    memory.build.decision(talk, "I'll pay the deposit first thing on Monday", about=["Anna"], importance="high")
    lines = [line for name in ("permanent", "warm", "cold") for line in tier(memory.ask(), name) if "deposit" in line]
    assert [line.partition(" (")[0] for line in lines] == ["Decided", "To do"]


def test_overdue_is_reckoned_in_the_readers_time_zone(memory: Remembered) -> None:
    talk = summarised(memory, 20, "talk")
    memory.build.action(talk, "File the form", about=["Anna"], due=date(2026, 3, 15))
    # 12:00 UTC on the 15th is 02:00 on the 16th in Kiritimati
    assert items(memory.ask(zone="Pacific/Kiritimati"), "cold")[0]["marks"] == ["overdue"]
    assert items(memory.ask(zone="UTC"), "cold")[0]["marks"] == []


def test_what_was_not_surely_said_is_told_with_a_perhaps_after_the_rest_and_never_overdue(memory: Remembered) -> None:
    talk = summarised(memory, 20, "talk")
    due = date(2026, 3, 1)
    doubted = memory.build.action(talk, "Bring the tent", about=["Anna"], due=due, probability=0.84)
    memory.build.action(talk, "Call", about=["Anna"], probability=0.85)
    memory.build.decision(talk, "We sleep in the barn", about=["Anna"], importance="high", probability=0.6)
    answer = memory.ask()
    assert tier(answer, "permanent") == ["Decided (23 February 2026, perhaps): We sleep in the barn"]
    assert tier(answer, "cold") == [
        "To do (Anna, since 23 February 2026): Call",
        "To do (Anna, since 23 February 2026, was due 1 March 2026, perhaps): Bring the tent",
    ]
    assert [one["marks"] for one in items(answer, "cold")] == [[], ["perhaps"]]
    memory.build.state(doubted, "edited", NOW - days(2), due_date=due)
    assert items(memory.ask(), "cold")[0]["marks"] == ["overdue"], "a person said that it is one"


@pytest.mark.parametrize("event", ["done", "cancelled", "closed"])
def test_what_was_settled_is_no_line(memory: Remembered, event: str) -> None:
    item = memory.build.action(summarised(memory, 20, "talk"), "File the form", about=["Anna"], due=date(2026, 3, 1))
    more = {"status": "done"} if event == "closed" else {}
    memory.build.state(item, event, NOW - days(2), **more)
    assert "File" not in memory.ask()["text"]
    assert "OVERDUE" in memory.ask(as_of=NOW - days(3))["text"], "it was open then"


def test_what_is_perhaps_done_says_why_and_is_never_overdue(memory: Remembered) -> None:
    talk = summarised(memory, 20, "talk")
    item = memory.build.action(talk, "Send the plan", about=["Anna"], due=date(2026, 3, 1), message_ids=["a"])
    memory.build.action(talk, "Call", about=["Anna"])
    said = {"quote": "it should be there by now", "message_ids": ["b"], "chat": "Anna"}
    memory.build.state(item, "perhaps_done", NOW - days(2), **said)
    answer = memory.ask()
    call, perhaps = items(answer, "cold")
    assert call["text"] == "To do (Anna, since 23 February 2026): Call", "what is surely open comes first"
    assert perhaps["text"] == (
        "Perhaps done (Anna, since 23 February 2026, due 1 March 2026): Send the plan"
        " (13 March 2026: “it should be there by now”)"
    )
    assert perhaps["marks"] == ["perhaps_done"]
    assert perhaps["message_ids"] == ["telegram:direct%3AAnna/a", "telegram:direct%3AAnna/b"]


def test_what_was_perhaps_done_is_asked_after_for_two_months(memory: Remembered) -> None:
    item = memory.build.action(summarised(memory, 90, "talk"), "Send the plan", about=["Anna"])
    memory.build.state(item, "perhaps_done", NOW - days(61))
    answer = memory.ask()
    assert tier(answer, "cold") == []
    assert reasons(answer) == {str(item): "limit"}
    assert len(tier(memory.ask(as_of=NOW - days(2)), "cold")) == 1


def test_a_renewed_item_stands_once_with_its_new_day(memory: Remembered) -> None:
    item = memory.build.action(summarised(memory, 20, "talk"), "Pay", about=["Anna"], due=date(2026, 3, 1))
    memory.build.state(item, "renewed", NOW - days(5), due_date=date(2026, 3, 20))
    assert tier(memory.ask(), "cold") == ["To do (Anna, since 23 February 2026, due 20 March 2026): Pay"]
    then = memory.ask(as_of=NOW - days(6))
    assert tier(then, "cold") == ["To do (Anna, since 23 February 2026, OVERDUE, was due 1 March 2026): Pay"]


def test_a_state_that_rests_on_a_deleted_message_does_not_count(memory: Remembered) -> None:
    item = memory.build.action(summarised(memory, 20, "talk"), "Pay", about=["Anna"])
    memory.build.state(item, "done", NOW - days(5), withheld=True)
    assert tier(memory.ask(), "cold") == ["To do (Anna, since 23 February 2026): Pay"]


def test_the_newest_decision_on_a_matter_stands_with_the_one_before(memory: Remembered) -> None:
    first = memory.build.decision(summarised(memory, 40, "talk"), "The price is 900.", about=["Anna"])
    memory.build.decision(summarised(memory, 20, "more"), "The price is 850", about=["Anna"], replaces=first)
    assert tier(memory.ask(), "permanent") == [
        "Decided (23 February 2026): The price is 850 (formerly: The price is 900, 3 February 2026)"
    ]
    assert tier(memory.ask(as_of=NOW - days(30)), "permanent") == ["Decided (3 February 2026): The price is 900."]


def test_items_and_decisions_need_no_summary(memory: Remembered) -> None:
    talk = memory.build.conversation("Anna", NOW - days(2), [Said("Anna", "I will bring the drill")])
    memory.build.action(talk, "Bring the drill", about=["Anna"])
    answer = memory.ask()
    assert tier(answer, "cold") == ["To do (Anna, since 13 March 2026): Bring the drill"]
    assert tier(answer, "hot") == ["12:00 Anna: I will bring the drill"]


def test_nothing_is_said_twice(memory: Remembered) -> None:
    talk = summarised(memory, 30, "The talk.")
    memory.build.decision(talk, "Important", about=["Anna"], importance="high")
    memory.build.action(talk, "Open", about=["Anna"])
    answer = memory.ask()
    assert len(tier(answer, "permanent")) == 1
    assert tier(answer, "warm") == ["The talk."]
    assert tier(answer, "cold") == ["To do (Anna, since 13 February 2026): Open"]


def test_an_owner_among_them_is_named(memory: Remembered) -> None:
    bob = memory.build.person("Bob")
    talk = summarised(memory, 50, "talk")
    memory.build.action(talk, "Call", about=["Anna"], owner_entity_id=bob)
    memory.build.action(talk, "Weld", about=["Anna"], owner="other", owner_name="the welder")
    assert sorted(tier(memory.ask(), "cold")) == [
        "To do (Bob, since 24 January 2026): Call",
        "To do (the welder, since 24 January 2026): Weld",
    ]
