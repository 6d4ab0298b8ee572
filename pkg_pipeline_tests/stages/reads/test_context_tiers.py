"""What stands in which tier (P1–P4, P10, P33, P34), on a real database."""

from datetime import date, timedelta

import pytest

from pkg_pipeline_tests.stages.memory_builder import Said
from pkg_pipeline_tests.stages.reads.context_memory import LONG, NOW, Remembered, days, items, reasons, summarised, tier

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


def test_summaries_are_warm_newest_first_with_what_was_decided_in_them(memory: Remembered) -> None:
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
        "too old",
    ], "the last for want of anything better"
    assert tier(answer, "cold") == ["To do (me, since 3 February 2026, due 1 April 2026): Buy tickets"]
    assert "### 3 February 2026, 12:00 · Telegram\n" in answer["text"]
    assert items(answer, "warm")[1]["message_ids"] == ["telegram:direct%3AAnna/a", "telegram:direct%3AAnna/b"]


def test_at_most_ten_summaries_are_warm_and_the_next_is_named(memory: Remembered) -> None:
    for ago in range(10, 23):
        summarised(memory, ago, f"talk {ago} " + "goes on and on " * 12)
    answer = memory.ask(max_tokens=770)
    assert [text[:7] for text in tier(answer, "warm")] == [f"talk {ago}" for ago in range(10, 20)]
    assert list(reasons(answer).values()) == ["limit"]


def test_what_is_not_summarised_yet_is_served_by_its_important_messages(memory: Remembered) -> None:
    said = [Said("Anna", "hello"), Said("Anna", "The price is 100", 1, score=0.5), Said("Me", "ok", 2, score=0.4)]
    memory.build.conversation("Anna", NOW - days(20), said, tokens=LONG)
    answer = memory.ask()
    assert tier(answer, "warm") == ["12:01 Anna: The price is 100"]
    assert "(excerpts, unsummarised)\n" in answer["text"]
    assert items(answer, "warm")[0]["marks"] == ["unsummarised"]


def test_without_important_ones_the_last_three_messages_stand_in(memory: Remembered) -> None:
    memory.build.conversation(
        "Anna", NOW - days(200), [Said("Anna", f"word {n}", n, score=0.4) for n in range(5)], tokens=LONG
    )
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


def test_what_the_tiers_leave_goes_to_whole_conversations_newest_first(memory: Remembered) -> None:
    for ago, tokens in ((10, 100), (20, LONG), (30, 100), (120, 100)):
        said = [Said("Anna", f"said {ago}"), Said("Me", "so so", 1), Said("Anna", "bye", 2)]
        talk = memory.build.conversation("Anna", NOW - days(ago), said, tokens=tokens)
        if ago != 30:
            memory.build.summary(talk, f"Told of {ago}")
            memory.build.decision(talk, f"Decided {ago}", about=["Anna"], importance="medium")
    answer = memory.ask()
    shown = [f"12:0{n} {text}" for n, text in enumerate(("Anna: said {}", "me: so so", "Anna: bye"))]
    assert tier(answer, "warm") == [
        *(line.format(10) for line in shown),
        "Told of 20",
        "Decided (23 February 2026): Decided 20",
        *(line.format(30) for line in shown),
        *(line.format(120) for line in shown),
    ]
    assert "unsummarised" not in answer["text"]
    assert answer["left_out"] == []
    narrow = memory.ask(max_tokens=350)
    assert "Told of 10" in narrow["text"]


def test_a_conversation_no_longer_than_what_is_told_of_it_stands_itself(memory: Remembered) -> None:
    said = [Said("Anna", "See you at six?"), Said("Me", "Yes.", 1)]
    talk = memory.build.conversation("Anna", NOW - days(10), said, tokens=3)
    memory.build.summary(talk, "Anna asks whether they see each other at six o'clock, and the answer to that is yes.")
    assert tier(memory.ask(max_tokens=150), "warm") == ["12:00 Anna: See you at six?", "12:01 me: Yes."]


def test_more_summaries_follow_where_there_is_room(memory: Remembered) -> None:
    for ago in (20, 40, 100, 200):
        summarised(memory, ago, f"talk {ago}")
    answer = memory.ask(with_settings={"warm_summaries": 1})
    assert tier(answer, "warm") == ["talk 20", "talk 40", "talk 100", "talk 200"]
    assert answer["left_out"] == []


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
    answer = memory.ask(max_tokens=180)
    shown = tier(answer, "permanent")
    assert any("number 500" in text for text in shown), "an open item hangs on it"
    assert any("number 200" in text for text in shown)
    assert not any("number 600" in text for text in shown)
    assert reasons(answer)[str(made[600])] == "budget"


# ── dirty summaries (P29) ────────────────────────────────────────────────────────────────────


def test_a_summary_dirty_by_an_edit_is_served_marked(memory: Remembered) -> None:
    summarised(memory, 30, "As it was.", status="dirty", dirty_reason="edited")
    answer = memory.ask()
    assert items(answer, "warm")[0]["marks"] == ["stale"]
    assert "(changed since; summary is being renewed)" in answer["text"]


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
