"""What stands in which tier (P1–P4, P10, P33, P34), on a real database."""

from datetime import date, timedelta

import pytest

from pkg_pipeline_tests.stages.memory_builder import Said
from pkg_pipeline_tests.stages.reads.context_memory import NOW, Remembered, items, reasons, tier


def days(count: float) -> timedelta:
    return timedelta(days=count)


# ── hot ──────────────────────────────────────────────────────────────────────────────────────


def test_both_directions_of_a_dialog_are_hot_in_the_order_they_were_said(memory: Remembered) -> None:
    memory.build.conversation("Anna", NOW - days(1), [Said("Anna", "How are you?"), Said("Me", "Fine.", 2)])
    answer = memory.ask()
    assert tier(answer, "hot") == ["12:00 Anna: How are you?", "12:02 me: Fine."]
    assert "### 14 March 2026, Saturday\n" in answer["text"]
    first = items(answer, "hot")[0]
    assert first["id"] == "telegram:direct%3AAnna/202603141200-0"
    assert first["message_ids"] == [first["id"]]
    assert first["at"] == "2026-03-14T12:00:00Z"


def test_times_and_days_are_those_of_the_reader(memory: Remembered) -> None:
    memory.build.conversation("Anna", NOW - days(1) + timedelta(hours=11), [Said("Anna", "Good night")])
    # 23:00 UTC is 08:00 of the next day in Tokyo
    answer = memory.ask(zone="Asia/Tokyo")
    assert tier(answer, "hot") == ["08:00 Anna: Good night"]
    assert "### 15 March 2026, Sunday\n" in answer["text"]


def test_hot_ends_after_seven_days_and_has_at_most_fifty_messages(memory: Remembered) -> None:
    memory.build.conversation(
        "Anna", NOW - days(7) - timedelta(minutes=1), [Said("Anna", "too old"), Said("Me", "new", 2)]
    )
    memory.build.conversation("Anna", NOW - days(3), [Said("Anna", f"message {n}", n) for n in range(50)])
    answer = memory.ask()
    texts = tier(answer, "hot")
    assert len(texts) == 50
    assert texts[0] == "12:00 Anna: message 0"
    assert reasons(answer)["telegram:direct%3AAnna/202603081159-1"] == "limit"


def test_deleted_and_service_messages_are_never_served(memory: Remembered) -> None:
    said = [Said("Anna", "kept"), Said("Anna", "regretted", 1, deleted=True), Said("Anna", "joined", 2, kind="service")]
    memory.build.conversation("Anna", NOW - days(1), said)
    memory.build.conversation(
        "Anna", NOW - days(20), [Said("Me", "old slip", deleted=True, score=1), Said("Anna", "ok", 1)]
    )
    answer = memory.ask()
    assert tier(answer, "hot") == ["12:00 Anna: kept"]
    assert tier(answer, "warm") == ["12:01 Anna: ok"]


def test_a_message_not_yet_sessionised_is_hot_already(memory: Remembered) -> None:
    memory.build.conversation("Anna", NOW - days(1), [Said("Anna", "Just imported")], sessionised=False)
    assert tier(memory.ask(), "hot") == ["12:00 Anna: Just imported"]


def test_of_a_group_only_what_belongs_to_the_entity_is_hot(memory: Remembered) -> None:
    memory.build.person("Bob")
    memory.build.chat("Project", ["Me", "Anna", "Bob"], kind="group")
    said = [Said("Bob", "lunch?"), Said("Bob", "Anna, ready?", 1), Said("Anna", "Nearly.", 2), Said("Bob", "bye", 9)]
    memory.build.conversation("Project", NOW - days(1), said, belongs={"Anna": [1, 2]})
    assert tier(memory.ask(), "hot") == ["12:01 Bob (Project): Anna, ready?", "12:02 Anna (Project): Nearly."]


def test_dialogs_on_two_services_are_told_apart_and_a_single_one_is_not_named(memory: Remembered) -> None:
    memory.build.chat("Anna mail", ["Me", "Anna"], source="email")
    memory.build.conversation("Anna", NOW - days(1), [Said("Anna", "hi")])
    assert tier(memory.ask(), "hot") == ["12:00 Anna: hi"]
    memory.build.conversation("Anna mail", NOW - days(2), [Said("Anna", "Dear friend")])
    assert tier(memory.ask(), "hot") == ["12:00 Anna (e-mail): Dear friend", "12:00 Anna (Telegram): hi"]


def test_line_breaks_of_a_message_become_slashes(memory: Remembered) -> None:
    memory.build.conversation("Anna", NOW - days(1), [Said("Anna", " first\r\n\n  second\u2028third\tend ")])
    assert tier(memory.ask(), "hot") == ["12:00 Anna: first / second / third end"]


# ── warm ─────────────────────────────────────────────────────────────────────────────────────


def summarised(memory: Remembered, ago: float, text: str, **more: object) -> object:
    interaction = memory.build.conversation(
        "Anna", NOW - days(ago), [Said("Anna", f"said {ago}"), Said("Me", "yes", 5)]
    )
    memory.build.summary(interaction, text, **more)  # type: ignore[arg-type]
    return interaction


def test_summaries_of_seven_to_ninety_days_are_warm_newest_first_with_what_came_out_of_them(memory: Remembered) -> None:
    summarised(memory, 6, "too new")
    summarised(memory, 91, "too old")
    second = summarised(memory, 40, "We planned the trip.", message_ids=["a", "b"])
    summarised(memory, 10, "We spoke about the weather.")
    memory.build.decision(second, "Go by train", about=["Anna"], importance="medium")
    memory.build.action(second, "Buy tickets", about=["Anna"], owner="self", due=date(2026, 4, 1))
    answer = memory.ask()
    assert tier(answer, "warm") == [
        "We spoke about the weather.",
        "We planned the trip.",
        "Decided (3 February 2026): Go by train",
    ]
    assert tier(answer, "cold") == ["To do (me, since 3 February 2026, due 1 April 2026): Buy tickets"]
    assert "### 3 February 2026, 12:00 · Telegram\n" in answer["text"]
    assert items(answer, "warm")[1]["message_ids"] == ["telegram:direct%3AAnna/a", "telegram:direct%3AAnna/b"]


def test_at_most_ten_summaries_are_warm_and_the_next_is_named(memory: Remembered) -> None:
    for ago in range(10, 23):
        summarised(memory, ago, f"talk {ago}")
    answer = memory.ask()
    assert tier(answer, "warm") == [f"talk {ago}" for ago in range(10, 20)]
    assert list(reasons(answer).values()) == ["limit"]


def test_what_is_not_summarised_yet_is_served_by_its_important_messages(memory: Remembered) -> None:
    said = [Said("Anna", "hello"), Said("Anna", "The price is 100", 1, score=0.5), Said("Me", "ok", 2, score=0.4)]
    memory.build.conversation("Anna", NOW - days(20), said)
    answer = memory.ask()
    assert tier(answer, "warm") == ["12:01 Anna: The price is 100"]
    assert "(excerpts, unsummarised)\n" in answer["text"]
    assert items(answer, "warm")[0]["marks"] == ["unsummarised"]


def test_without_important_ones_the_last_three_messages_stand_in(memory: Remembered) -> None:
    memory.build.conversation("Anna", NOW - days(200), [Said("Anna", f"word {n}", n, score=0.4) for n in range(5)])
    assert tier(memory.ask(), "warm") == ["12:02 Anna: word 2", "12:03 Anna: word 3", "12:04 Anna: word 4"]


def test_a_group_is_excerpted_by_what_belongs_to_the_entity(memory: Remembered) -> None:
    memory.build.person("Bob")
    memory.build.chat("Project", ["Me", "Anna", "Bob"], kind="group")
    said = [Said("Bob", "unrelated", score=1), Said("Anna", "mine", 1)]
    memory.build.conversation("Project", NOW - days(20), said, belongs={"Anna": [1]})
    assert tier(memory.ask(), "warm") == ["12:01 Anna: mine"]


def test_mass_chats_are_never_summarised_and_do_not_fill_the_tier(memory: Remembered) -> None:
    memory.build.chat("Bank", ["Me", "Anna"], category="mass")
    memory.build.conversation("Bank", NOW - days(20), [Said("Anna", "Your code is 1234", score=1)])
    assert tier(memory.ask(), "warm") == []


def test_a_conversation_that_runs_into_the_hot_days_leaves_no_hole(memory: Remembered) -> None:
    said = [Said("Anna", "old part"), Said("Me", "new part", 60 * 24 * 2)]
    memory.build.conversation("Anna", NOW - days(8), said)
    answer = memory.ask()
    assert tier(answer, "warm") == ["12:00 Anna: old part"]
    assert tier(answer, "hot") == ["12:00 me: new part"]


# ── permanent and cold ───────────────────────────────────────────────────────────────────────


def test_confirmed_facts_in_force_and_high_decisions_of_any_age_are_permanent(memory: Remembered) -> None:
    old = summarised(memory, 900, "old times")
    memory.build.decision(old, "Rent stays at 500", about=["Anna"])
    memory.build.fact("Anna", "birthday", "4 May", valid_from=NOW - days(100))
    memory.build.fact("Anna", "phone", "+7 000", status="candidate", valid_from=NOW - days(100))
    memory.build.fact("Anna", "city", "Paris", valid_from=NOW - days(200), valid_to=NOW - days(100))
    assert tier(memory.ask(), "permanent") == ["birthday: 4 May", "Decided (27 September 2023): Rent stays at 500"]


def test_a_fact_learnt_twice_is_said_once(memory: Remembered) -> None:
    for ago in (10, 20):
        talk = summarised(memory, ago, f"talk {ago}")
        memory.build.fact("Anna", "city", "Paris", valid_from=NOW - days(ago), interaction_id=talk)
    answer = memory.ask()
    assert tier(answer, "permanent") == ["city: Paris"]
    assert items(answer, "permanent")[0]["at"] == "2026-03-05T12:00:00Z"
    assert answer["left_out"] == []


def test_where_high_decisions_outgrow_the_share_the_open_and_the_newest_win(memory: Remembered) -> None:
    made = {}
    for ago in (200, 300, 400, 500, 600):
        talk = summarised(memory, ago, f"talk {ago}")
        made[ago] = memory.build.decision(
            talk, f"Agreement number {ago} about the delivery of the goods", about=["Anna"]
        )
        if ago == 500:
            item = memory.build.action(talk, "Deliver", about=["Anna"])
            memory.build.state(item, "renewed", NOW - days(9))
    answer = memory.ask(max_tokens=150)
    shown = tier(answer, "permanent")
    assert any("number 500" in text for text in shown), "an open item hangs on it"
    assert any("number 200" in text for text in shown)
    assert not any("number 600" in text for text in shown)
    assert reasons(answer)[str(made[600])] == "budget"


def test_what_is_open_is_cold_overdue_first_and_older_decisions_and_what_lapsed_follow(memory: Remembered) -> None:
    ancient = summarised(memory, 800, "ancient")
    recent = summarised(memory, 30, "recent")
    memory.build.action(ancient, "Someday", about=["Anna"])
    memory.build.action(ancient, "Return the book", about=["Anna"], due=date(2024, 1, 31))
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
        "To do (Anna, since 5 January 2024, was due 31 January 2024): Return the book",
        "To do (Anna, since 5 January 2024): Someday",
    ]
    marks = [item["marks"] for item in items(answer, "cold")]
    assert marks == [["overdue"], [], [], [], ["lapsed"], ["lapsed"]]
    assert answer["text"].endswith(
        "## Long past, nothing heard since\n"
        "- To do (Anna, since 5 January 2024, was due 31 January 2024): Return the book\n"
        "- To do (Anna, since 5 January 2024): Someday\n"
    )


def test_overdue_is_reckoned_in_the_readers_time_zone(memory: Remembered) -> None:
    talk = summarised(memory, 20, "talk")
    memory.build.action(talk, "File the form", about=["Anna"], due=date(2026, 3, 15))
    # 12:00 UTC on the 15th is 02:00 on the 16th in Kiritimati
    assert items(memory.ask(zone="Pacific/Kiritimati"), "cold")[0]["marks"] == ["overdue"]
    assert items(memory.ask(zone="UTC"), "cold")[0]["marks"] == []


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


# ── dirty summaries (P29) ────────────────────────────────────────────────────────────────────


def test_a_summary_dirty_by_an_edit_is_served_marked(memory: Remembered) -> None:
    summarised(memory, 30, "As it was.", status="dirty", dirty_reason="edited")
    answer = memory.ask()
    assert items(answer, "warm")[0]["marks"] == ["stale"]
    assert "(a message was edited since; summary is being renewed)" in answer["text"]


def test_what_rests_on_a_deleted_message_is_withheld_and_the_rest_is_served(memory: Remembered) -> None:
    talk = memory.build.conversation(
        "Anna", NOW - days(30), [Said("Anna", "secret", deleted=True), Said("Me", "noted", 1)]
    )
    summary = memory.build.summary(talk, "The secret is out.", status="dirty", dirty_reason="deleted")
    bad = memory.build.decision(talk, "Keep the secret", about=["Anna"], withheld=True)
    memory.build.decision(talk, "Meet again", about=["Anna"])
    answer = memory.ask()
    assert "secret" not in answer["text"]
    assert tier(answer, "warm") == ["12:01 me: noted"], "its messages stand in until it is made anew"
    assert tier(answer, "permanent") == ["Decided (13 February 2026): Meet again"]
    assert reasons(answer) == {str(summary): "withheld", str(bad): "withheld"}


@pytest.mark.parametrize("status", ["candidate", "superseded", "quarantined"])
def test_only_live_summaries_are_served(memory: Remembered, status: str) -> None:
    summarised(memory, 30, "Not for the public.", status=status)
    assert tier(memory.ask(), "warm") == ["12:00 Anna: said 30", "12:05 me: yes"]
