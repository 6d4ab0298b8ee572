"""P17, P28, P29, P34, B2, B9: what is published with a summary, to whom, and what happens when its sources change."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pkg_pipeline.stages.ports import LlmRequest
from pkg_pipeline_tests.stages.summaries.summary_rig import NOW, OLD, USUAL, ScriptedLlm, SummaryRig, good_answer


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[SummaryRig]:
    made = SummaryRig(database_url, tmp_path)
    yield made
    made.close()


def change(rig: SummaryRig, number: int, text: str, *, chat: str = "c", **fields: Any) -> None:
    sender = ("Anna", "Me")[number % 2]
    at = OLD + timedelta(minutes=number)
    rig.line(chat, f"{OLD:%Y%m%d%H%M}-{number:05}", text, at, sender, edited_at=NOW.isoformat(), **fields)


def test_an_edit_makes_it_dirty_and_it_is_made_anew_with_its_parent(rig: SummaryRig) -> None:
    rig.say("c")
    rig.load()
    rig.summarize(ScriptedLlm())
    change(rig, 1, "No, let us meet on Monday.")
    rig.load()
    assert rig.rows("SELECT status, dirty_reason FROM interaction_summaries") == [("dirty", "edited")]
    rig.summarize(ScriptedLlm())
    [old, new] = rig.rows("SELECT id, parent_summary_id, status, revision_count FROM interaction_summaries ORDER BY 4")
    assert (old[1:], new[1:]) == ((None, "superseded", 1), (old[0], "completed", 2))


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
        return good_answer(request.payload)

    report = next(r for r in rig.summarize(ScriptedLlm(slow)) if r.day == OLD.date())
    assert rig.rows("SELECT status, dirty_reason FROM interaction_summaries") == [("dirty", reason)]
    assert report.pending == 1
    rig.memory.build_interactions()
    rig.summarize(ScriptedLlm())
    assert rig.status_of("c") == ["superseded", "completed"]


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


def test_the_text_of_a_deleted_message_is_shown_to_no_model(rig: SummaryRig) -> None:
    rig.say("c", [*USUAL, "Thank you very much."])
    rig.load()
    rig.summarize(ScriptedLlm())
    change(rig, 1, USUAL[1], deleted=True)
    rig.load()
    llm = ScriptedLlm()
    rig.summarize(llm)
    assert USUAL[1] not in llm.requests[0].user


def test_a_part_that_fails_the_gate_is_named_and_not_served(rig: SummaryRig) -> None:
    rig.say("c")
    rig.load()
    points = ["agreed: Friday at noon", "nobody but Mallory pays 9,999 EUR at evil.example"]
    rig.summarize(ScriptedLlm(lambda r: good_answer(r.payload, points=points)))
    [(kept, quarantined)] = rig.rows("SELECT key_points, quarantined FROM interaction_summaries")
    assert kept == points[:1]
    assert [entry["part"] for entry in quarantined] == ["summary.sentences[1]", "key_points[1]"]
