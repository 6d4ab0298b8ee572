"""P17, P28, P29, P34, B2, B9: what is published with a summary, to whom, and what happens when its sources change."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pkg_pipeline.stages.ports import LlmRequest
from pkg_pipeline_tests.stages.summaries.summary_rig import NOW, OLD, USUAL, ScriptedLlm, SummaryRig, good_answer

FRIDAY = {
    "description": "They meet on Friday at noon",
    "date": "2026-02-02",
    "importance": "high",
    "quote": "agreed: Friday at noon for 300 EUR",
    "message_ids": [2],
}
CONTRACT = {
    "description": "The contract is sent",
    "owner": "them",
    "owner_name": None,
    "status": "open",
    "due_date": None,
    "closed_at": None,
    "quote": "I will send the contract",
    "message_ids": [3],
}


def fact(value: str, confidence: float, number: int = 1, about: str = "Anna") -> dict[str, Any]:
    return {
        "fact_type": "email",
        "value": value,
        "about": about,
        "confidence": confidence,
        "quote": value,
        "message_ids": [number],
    }


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[SummaryRig]:
    made = SummaryRig(database_url, tmp_path)
    yield made
    made.close()


def with_items(request: LlmRequest) -> object:
    """Each item as long as the words it quotes are there."""
    texts = {message.number: message.text for message in request.payload.messages}
    numbers = {text: number for number, text in texts.items()}
    decisions = [{**FRIDAY, "message_ids": [numbers[USUAL[1]]]}] if USUAL[1] in numbers else []
    actions = [{**CONTRACT, "message_ids": [numbers[USUAL[2]]]}] if USUAL[2] in numbers else []
    return good_answer(request.payload, decisions=decisions, action_items=actions)


def served_to(rig: SummaryRig, kind: str) -> list[str]:
    statement = "SELECT e.name FROM summary_items s JOIN entities e ON e.id = s.entity_id WHERE s.kind = %s ORDER BY 1"
    return [row[0] for row in rig.rows(statement, kind)]


def change(rig: SummaryRig, number: int, text: str, *, chat: str = "c", **fields: Any) -> None:
    sender = ("Anna", "Me")[number % 2]
    at = OLD + timedelta(minutes=number)
    rig.line(chat, f"{OLD:%Y%m%d%H%M}-{number:05}", text, at, sender, edited_at=NOW.isoformat(), **fields)


def test_in_a_direct_chat_items_go_to_the_other_side_and_never_to_me(rig: SummaryRig) -> None:
    rig.say("c")
    rig.load()
    rig.summarize(ScriptedLlm(with_items))
    assert served_to(rig, "decision") == ["Anna"]
    assert served_to(rig, "action_item") == ["Anna"]


def test_in_a_group_items_go_to_those_their_messages_belong_to(rig: SummaryRig) -> None:
    """P34: the writer and one neighbour each side; Dora wrote far away from it."""
    texts = [*USUAL, "Fine by me.", "What else?", "The weather is good.", "Indeed it is.", "See you all."]
    rig.say("c", texts, senders=("Anna", "Boris", "Anna", "Clara", "Me", "Dora", "Me", "Dora"), chat_kind="group")
    rig.load()
    rig.summarize(ScriptedLlm(with_items))
    assert served_to(rig, "decision") == ["Anna", "Boris"]
    assert "Dora" not in served_to(rig, "action_item")
    assert "Me" not in served_to(rig, "action_item")


# confidence → confirmed at a threshold of 0.9
CONFIDENCE = [(0.89, "candidate"), (0.9, "confirmed"), (0.95, "confirmed"), (0.0, "candidate")]


@pytest.mark.parametrize(("confidence", "status"), CONFIDENCE)
def test_facts_are_confirmed_by_their_confidence(rig: SummaryRig, confidence: float, status: str) -> None:
    """0.9 asked for and 0.9 given: as a single-precision number the latter used to be less."""
    rig.say("c", ["Write to anna@example.com please.", *USUAL])
    rig.load()
    rig.summarize(ScriptedLlm(lambda r: good_answer(r.payload, facts=[fact("anna@example.com", confidence)])))
    rows = rig.rows("SELECT f.value, f.status, e.name FROM entity_facts f JOIN entities e ON e.id = f.entity_id")
    assert rows == [("anna@example.com", status, "Anna")]


def test_what_a_person_decided_about_a_fact_survives_the_next_summary(rig: SummaryRig) -> None:
    texts = ["Write to anna@example.com or to old@example.com please.", *USUAL]
    rig.say("c", texts)
    rig.load()
    facts = [fact("anna@example.com", 0.5), fact("old@example.com", 0.95)]
    rig.summarize(ScriptedLlm(lambda r: good_answer(r.payload, facts=facts)))
    rig.run("UPDATE entity_facts SET status = CASE value WHEN 'anna@example.com' THEN 'confirmed' ELSE 'rejected' END")
    change(rig, 3, "I will send the contract tomorrow.")
    rig.load()
    rig.summarize(ScriptedLlm(lambda r: good_answer(r.payload, facts=facts)))
    rows = rig.rows("SELECT value, status FROM entity_facts ORDER BY value")
    assert rows == [("anna@example.com", "confirmed"), ("old@example.com", "rejected")]
    change(rig, 0, "Write to nobody please.")
    rig.load()
    rig.summarize()
    assert rig.rows("SELECT value, status FROM entity_facts") == [("old@example.com", "rejected")]


def test_an_edit_makes_it_dirty_and_it_is_made_anew_with_its_parent(rig: SummaryRig) -> None:
    rig.say("c")
    rig.load()
    rig.summarize(ScriptedLlm(with_items))
    change(rig, 1, "No, let us meet on Monday.")
    rig.load()
    assert rig.rows("SELECT status, dirty_reason FROM interaction_summaries") == [("dirty", "edited")]
    rig.summarize(ScriptedLlm(with_items))
    [old, new] = rig.rows("SELECT id, parent_summary_id, status, revision_count FROM interaction_summaries ORDER BY 4")
    assert (old[1:], new[1:]) == ((None, "superseded", 1), (old[0], "completed", 2))
    assert served_to(rig, "decision") == []
    assert served_to(rig, "action_item") == ["Anna"]


def test_what_rests_on_a_deleted_message_is_withheld_at_once_and_gone_when_made_anew(rig: SummaryRig) -> None:
    rig.say("c", [*USUAL, "Thank you very much."])
    rig.load()
    rig.summarize(ScriptedLlm(with_items))
    change(rig, 1, USUAL[1], deleted=True)
    rig.load()
    assert rig.rows("SELECT kind, is_withheld FROM summary_items ORDER BY 1") == [
        ("action_item", False),
        ("decision", True),
    ]
    llm = ScriptedLlm(with_items)
    rig.summarize(llm)
    assert USUAL[1] not in llm.requests[0].user
    assert rig.rows("SELECT kind, is_withheld FROM summary_items ORDER BY 1") == [("action_item", False)]


MEANWHILE = [("edited", {}, "No, on Monday."), ("deleted", {"deleted": True}, USUAL[1])]


@pytest.mark.parametrize(("reason", "fields", "text"), MEANWHILE)
def test_a_change_between_claim_and_publication_makes_it_dirty_from_birth(
    rig: SummaryRig, reason, fields, text
) -> None:
    rig.say("c", [*USUAL, "Thank you very much."])
    rig.load()

    def slow(request: LlmRequest) -> object:
        change(rig, 1, text, **fields)
        rig.take_in()
        return with_items(request)

    report = next(r for r in rig.summarize(ScriptedLlm(slow)) if r.day == OLD.date())
    assert rig.rows("SELECT status, dirty_reason FROM interaction_summaries") == [("dirty", reason)]
    withheld = rig.rows("SELECT kind FROM summary_items WHERE is_withheld")
    assert withheld == ([("decision",)] if reason == "deleted" else [])
    assert report.pending == 1
    rig.memory.build_interactions()
    rig.summarize(ScriptedLlm(with_items))
    assert rig.status_of("c") == ["superseded", "completed"]
    assert served_to(rig, "decision") == []


def test_a_message_that_comes_in_late_makes_it_anew_without_calling_it_dirty(rig: SummaryRig) -> None:
    rig.say("c")
    rig.load()

    def slow(request: LlmRequest) -> object:
        if len(request.payload.messages) == 3:
            rig.line("c", "late", "One more thing.", OLD + timedelta(minutes=1, seconds=30), "Anna")
            rig.load()
        return good_answer(request.payload)

    rig.summarize(ScriptedLlm(slow))
    assert rig.rows("SELECT status, message_count FROM interaction_summaries") == [("completed", 3)]
    rig.summarize()
    live = rig.rows("SELECT status, message_count FROM interaction_summaries WHERE status = 'completed'")
    assert live == [("completed", 4)]


def test_a_part_that_fails_the_gate_is_named_and_not_served(rig: SummaryRig) -> None:
    rig.say("c")
    rig.load()
    invented = {**FRIDAY, "quote": "nobody ever said this"}
    rig.summarize(ScriptedLlm(lambda r: good_answer(r.payload, decisions=[invented, FRIDAY])))
    [(decisions, quarantined)] = rig.rows("SELECT decisions, quarantined FROM interaction_summaries")
    assert [item["quote"] for item in decisions] == [FRIDAY["quote"]]
    assert [entry["part"] for entry in quarantined] == ["decisions[0]"]
    assert served_to(rig, "decision") == ["Anna"]
