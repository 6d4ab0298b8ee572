"""The items pass over a real database: talks of one or two messages, changes over talks, failures, budgets (B16)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pkg_pipeline.adapters.postgres.archive.erasure import PostgresErasure
from pkg_pipeline.memory.items.records import ReadingInput
from pkg_pipeline.stages.archive.erasing import erase_chat
from pkg_pipeline.stages.ports import LlmRequest, LlmUnavailable
from pkg_pipeline_tests.stages.items.item_rig import ItemRig, answered, by, promises, task
from pkg_pipeline_tests.stages.summaries.summary_rig import NOW, OLD, ScriptedLlm, good_answer

DAY = timedelta(days=1)
LETTER, CHAIR = "I will send the letter.", "I will bring the chair."


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[ItemRig]:
    made = ItemRig(database_url, tmp_path)
    yield made
    made.close()


def model(**more: Any) -> ScriptedLlm:
    return ScriptedLlm(by(promises), **more)


def free() -> ScriptedLlm:
    """Answers cost nothing, and are those of ``promises``."""
    return model(is_paid=False)


def say(rig: ItemRig, chat: str, *texts: str, at: datetime = OLD, senders: tuple[str, ...] = ("Me", "Anna")) -> None:
    rig.say(chat, texts, at=at, senders=senders)
    rig.load()


def test_a_promise_of_one_message_is_open_and_a_later_one_of_two_words_closes_it(rig: ItemRig) -> None:
    say(rig, "anna", LETTER)
    assert rig.read(free()).items_new == 1
    assert rig.states() == [("action_item", "open", None)]
    say(rig, "anna", "Done: send the letter.", at=OLD + 3 * DAY)
    report = rig.read(free())
    assert (report.read, report.items_new, report.items_changed) == (1, 0, 1)
    assert rig.states() == [("action_item", "done", None)]
    assert rig.rows("SELECT event, quote FROM item_states ORDER BY place") == [
        ("opened", LETTER),
        ("done", "Done: send the letter."),
    ]


def test_what_was_too_unlikely_to_be_shown_is_an_item_once_a_later_talk_keeps_it(rig: ItemRig) -> None:
    say(rig, "anna", "I may send the letter.")
    assert rig.read(free()).items_new == 0
    assert rig.states() == []
    say(rig, "anna", "Done: send the letter.", at=OLD + 3 * DAY)
    assert rig.read(free()).items_new == 1
    assert rig.states() == [("action_item", "done", None)]
    assert rig.rows("SELECT event, quote FROM item_states ORDER BY place") == [
        ("opened", "I may send the letter."),
        ("done", "Done: send the letter."),
    ]
    rig.run("UPDATE interaction_readings SET is_checked = false")
    assert (rig.read(free()).unchanged, rig.states()) == (2, [("action_item", "done", None)]), "shown what they were"


def test_a_silent_item_that_comes_late_is_met_by_what_was_said_later(rig: ItemRig) -> None:
    say(rig, "anna", "Done: send the letter.", at=OLD + 3 * DAY)
    rig.read(free())
    say(rig, "anna", "I may send the letter.")
    rig.read(free())
    assert rig.states() == [("action_item", "done", None)]


def test_a_paid_model_is_shown_no_silent_items(rig: ItemRig) -> None:
    say(rig, "anna", "I may send the letter.")
    rig.read(free())
    say(rig, "anna", "Done: send the letter.", at=OLD + 3 * DAY)
    rig.read(model())
    assert rig.states() == []


def test_a_talk_is_read_once_it_is_over_without_waiting_a_week(rig: ItemRig) -> None:
    say(rig, "anna", LETTER, at=NOW - timedelta(hours=5))
    assert rig.read(free()).read == 0
    rig.now = NOW + timedelta(hours=2)
    rig.memory.clock = rig.items().clock
    rig.memory.build_interactions()
    assert rig.read(free()).items_new == 1


def test_a_new_talk_at_the_end_touches_only_itself(rig: ItemRig) -> None:
    for day in range(5):
        say(rig, "anna", f"I will bring the chair number {day}.", at=OLD + day * DAY)
    rig.read(free())
    before = rig.rows("SELECT interaction_id, read_at FROM interaction_readings ORDER BY ended_at")
    say(rig, "anna", LETTER, at=OLD + 9 * DAY)
    llm = free()
    report = rig.read(llm)
    assert (report.read, report.unchanged, len(llm.requests)) == (1, 0, 1)
    assert rig.rows("SELECT interaction_id, read_at FROM interaction_readings ORDER BY ended_at")[:5] == before


def test_a_late_import_is_met_by_what_was_said_later(rig: ItemRig) -> None:
    say(rig, "anna", "Done: send the letter.", at=OLD + 3 * DAY)
    say(rig, "bob", "Nothing new.", at=OLD + 4 * DAY, senders=("Bob", "Me"))
    rig.read(free())
    assert rig.states() == []
    say(rig, "anna", LETTER)
    llm = free()
    rig.read(llm)
    assert rig.states() == [("action_item", "done", None)]
    assert len(llm.requests) == 2, "Bob's talk is not read again"


def test_another_chat_with_the_same_person_is_told(rig: ItemRig) -> None:
    say(rig, "anna", LETTER, "Good.")
    said = ["Hello.", "Hi.", "Done: send the letter."]
    rig.say("team", said, at=OLD + DAY, senders=("Anna", "Bob", "Me"), chat_kind="group")
    rig.load()
    rig.read(free())
    assert rig.states() == [("action_item", "done", None)]


def test_a_promise_made_again_is_one_item(rig: ItemRig) -> None:
    say(rig, "anna", "I will send the signed letter.")
    say(rig, "anna", "I will send the signed letter.", at=OLD + 5 * DAY)
    rig.read(free())
    assert rig.states() == [("action_item", "open", None)]
    assert [row[0] for row in rig.rows("SELECT event FROM item_states ORDER BY place")] == ["opened", "renewed"]


def test_a_deleted_message_withholds_its_item_at_once_and_the_next_pass_takes_it_away(rig: ItemRig) -> None:
    say(rig, "anna", LETTER, CHAIR)
    rig.read(free())
    rig.line("anna", f"{OLD:%Y%m%d%H%M}-00000", "", OLD, "Me", deleted=True)
    rig.take_in()
    assert rig.rows("SELECT text, is_withheld FROM items ORDER BY text") == [
        ("Bring the chair", False),
        ("Send the letter", True),
    ]
    rig.memory.build_interactions()
    rig.read(free())
    assert rig.rows("SELECT text, is_withheld FROM items") == [("Bring the chair", False)]


def test_an_erased_chat_leaves_no_item_and_reopens_what_was_closed_in_it(rig: ItemRig) -> None:
    say(rig, "anna", LETTER, "Good.")
    rig.say("other", ["Hello.", "Done: send the letter."], at=OLD + DAY, senders=("Anna", "Me"))
    rig.say("other", [CHAIR, "Good."], at=OLD + 2 * DAY, senders=("Me", "Anna"))
    rig.load()
    rig.read(free())
    assert rig.rows("SELECT text, status FROM items ORDER BY text") == [
        ("Bring the chair", "open"),
        ("Send the letter", "done"),
    ]
    erase_chat(PostgresErasure(rig.connections), rig.one("SELECT id FROM chats WHERE external_id = 'other'"))
    assert rig.rows("SELECT text, status FROM items") == [("Send the letter", "open")]
    assert rig.one("SELECT count(*) FROM item_states") == 1


RUSSIAN = ["Добрый день, как ваши дела?", "Добрый день, всё хорошо, спасибо."]
CHINESE = ["你好，最近怎么样？", "很好，谢谢你。"]
"""Talks of another language stand in a question of their own."""


def test_people_who_never_meet_are_read_in_one_question_and_each_talk_gets_its_own(rig: ItemRig) -> None:
    say(rig, "anna", LETTER, "Good.", senders=("Me", "Anna"))
    say(rig, "bob", CHAIR, "Good.", senders=("Me", "Bob"))
    llm = model()
    assert (rig.read(llm).read, len(llm.requests)) == (2, 1)
    assert rig.rows(
        "SELECT i.text, c.external_id FROM items i JOIN interactions t ON t.id = i.interaction_id"
        " JOIN chats c ON c.id = t.chat_id ORDER BY 1"
    ) == [("Bring the chair", "bob"), ("Send the letter", "anna")]


def test_a_paid_model_reads_talks_of_the_same_people_together_and_others_at_the_same_time(rig: ItemRig) -> None:
    for day in range(4):
        rig.say("anna", [f"I will bring chair number {day}."], at=OLD + day * DAY, senders=("Me",))
        rig.say("anna", ["Good."], at=OLD + day * DAY + timedelta(minutes=1), senders=("Anna",))
        rig.say("bob", RUSSIAN, at=OLD + day * DAY, senders=("Bob", "Me"))
    rig.load()
    llm = model()
    report = rig.read(llm, concurrency=4)
    assert (report.read, report.calls, report.items_new) == (8, 2, 4)
    assert report.cost_usd == pytest.approx(0.002)
    assert sorted(len(request.payload.talks) for request in llm.requests) == [4, 4]
    assert rig.one("SELECT count(*) FROM llm_call_subjects") == 8
    assert rig.read(model()).calls == 0


def test_a_change_within_one_answer_finds_its_item(rig: ItemRig) -> None:
    rig.say("anna", [LETTER, "Good."], senders=("Me", "Anna"))
    rig.say("anna", ["Done: send the letter.", "Thanks."], at=OLD + DAY, senders=("Me", "Anna"))
    rig.load()
    rig.read(model())
    assert rig.states() == [("action_item", "done", None)]
    assert rig.one("SELECT count(DISTINCT interaction_id) FROM item_states") == 2


def test_an_answer_for_one_bad_talk_costs_no_other(rig: ItemRig) -> None:
    for day in range(4):
        rig.say("anna", [f"I will bring chair number {day}.", "BAD" if day == 2 else "Good."], at=OLD + day * DAY,
                senders=("Me", "Anna"))  # fmt: skip
    rig.load()

    def answer(source: ReadingInput) -> object:
        return "no JSON" if any(message.text == "BAD" for message in source.messages) else promises(source)

    for _ in range(3):
        rig.read(ScriptedLlm(by(answer)))
        rig.attempts_are_due()
    assert len(rig.states()) == 3
    assert rig.rows("SELECT state, attempts FROM reading_attempts") == [("failed", 3)]
    assert rig.read(ScriptedLlm(by(answer))).calls == 0
    assert rig.read(model(model="better")).read == 1, "another model tries again"
    assert len(rig.states()) == 4


def test_later_talks_wait_for_one_that_is_put_off(rig: ItemRig) -> None:
    say(rig, "anna", LETTER)
    say(rig, "anna", "Done: send the letter.", at=OLD + DAY)
    say(rig, "bob", *RUSSIAN, at=OLD + DAY, senders=("Me", "Bob"))

    def answer(request: LlmRequest) -> object:
        if any("letter" in message.text for message in request.payload.messages):
            return LlmUnavailable("busy", retry_after_seconds=60)
        return promises(request.payload)

    report = rig.read(ScriptedLlm(answer))
    assert (report.read, report.left) == (1, 2)
    rig.attempts_are_due()
    assert rig.read(model()).read == 2
    assert rig.rows("SELECT text, status FROM items") == [("Send the letter", "done")]


def test_the_budget_holds(rig: ItemRig) -> None:
    for person, said in (("anna", ["Good."]), ("bob", RUSSIAN), ("carl", CHINESE)):
        say(rig, person, *said, senders=("Me", person.title()))
    llm = model()
    report = rig.read(llm, lane="live", calls_cap=2)
    assert (len(llm.requests), report.left) == (2, 1)
    assert report.stop_reason


def test_a_paid_reading_is_not_asked_again_because_an_earlier_talk_came_late_but_where_that_is_wanted(
    rig: ItemRig,
) -> None:
    say(rig, "anna", "Done: send the letter.", "Good.", at=OLD + 3 * DAY)
    rig.read(model())
    say(rig, "anna", LETTER, "Good.")
    assert rig.read(model()).calls == 1
    assert rig.states() == [("action_item", "open", None)]
    assert rig.read(model(), stale=True).calls == 1
    assert rig.states() == [("action_item", "done", None)]


def test_a_long_talk_is_read_in_windows_that_know_the_earlier_ones(rig: ItemRig) -> None:
    rig.say("anna", [LETTER, *["Fine."] * 12, "Done: send the letter."], senders=("Me",))
    rig.say("anna", ["Good."], at=OLD + timedelta(minutes=20), senders=("Anna",))
    rig.load()
    llm = model()
    rig.read(llm, window_messages=10)
    assert len(llm.requests) == 2
    assert rig.states() == [("action_item", "done", None)]


def test_estimates_count_what_is_due(rig: ItemRig) -> None:
    say(rig, "anna", LETTER, "Good.")
    stage = rig.items(model())
    assert (stage.pending().talks, stage.pending().messages) == (1, 2)
    assert (stage.estimate().talks, stage.estimate().calls) == (1, 1)
    assert stage.estimate().usd > 0
    rig.read(model())
    assert stage.estimate().talks == 0


def test_two_passes_do_not_read_at_the_same_time(rig: ItemRig) -> None:
    say(rig, "anna", LETTER)
    stage = rig.items(free())
    held = stage.store.begin(holder="other", lease_seconds=60)
    assert held is not None
    report = rig.read(free())
    assert (report.read, report.left, report.stop_reason) == (0, 1, "another run reads")
    rig.leases_ran_out()
    assert rig.read(free()).read == 1


def test_a_talk_that_grows_or_joins_another_is_read_at_its_new_place(rig: ItemRig) -> None:
    say(rig, "anna", LETTER)
    say(rig, "anna", CHAIR, at=OLD + timedelta(hours=10))
    rig.read(free())
    say(rig, "anna", "Well.", "Yes.", at=OLD + timedelta(hours=5))
    rig.read(free())
    assert rig.one("SELECT count(*) FROM interaction_readings") == 1
    assert rig.rows("SELECT text, status FROM items ORDER BY text") == [
        ("Bring the chair", "open"),
        ("Send the letter", "open"),
    ]


def test_an_answer_without_a_word_of_truth_opens_nothing(rig: ItemRig) -> None:
    say(rig, "anna", "Hello.", "Hi.")
    rig.read(ScriptedLlm(lambda _: answered(task("Pay 900 EUR", 1, "pay the bill"))))
    assert rig.states() == []
    assert rig.one("SELECT jsonb_array_length(quarantined) FROM interaction_readings") == 1


def test_where_a_talk_was_read_its_summary_states_no_facts(rig: ItemRig) -> None:
    said = ("Hello.", "My new number is +49 30 1234567.", "Thanks, noted.")
    say(rig, "anna", *said)
    fact = {"type": "phone", "value": "+49 30 1234567", "about": "Anna", "quote": said[1], "messages": [2]}
    rig.read(ScriptedLlm(lambda _: answered(facts=[fact])))
    stated = rig.rows("SELECT id, value, status FROM entity_facts")
    assert [row[1:] for row in stated] == [("+49 30 1234567", "confirmed")]
    told = {"fact_type": "phone", "value": "+49 30 1234567", "about": "Anna", "confidence": 1.0, "quote": said[1]}
    rig.summarize(ScriptedLlm(lambda asked: good_answer(asked.payload, facts=[{**told, "message_ids": [2]}])))
    assert rig.one("SELECT count(*) FROM interaction_summaries") == 1
    assert rig.rows("SELECT id, value, status FROM entity_facts") == stated
