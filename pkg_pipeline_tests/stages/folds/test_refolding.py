"""Edits and deletions below the HWM (H15): dirty at once, made anew, the old fold superseded and linked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pkg_pipeline.stages.ports import LlmRequest
from pkg_pipeline_tests.stages.folds.fold_rig import FoldRig, fold_llm, good_fold
from pkg_pipeline_tests.stages.sessions.session_rig import said


@pytest.fixture
def rig(database_url: str) -> Iterator[FoldRig]:
    made = FoldRig(database_url)
    yield made
    made.close()


def edited(number: int, text: str, **more: Any) -> dict[str, Any]:
    return said(number, text, role="assistant" if number % 2 else "user", edited_at="2026-03-16T00:00:00Z", **more)


def test_an_edit_makes_a_chain(rig: FoldRig) -> None:
    rig.talk(20)
    rig.fold_due()
    (first,) = rig.folds()
    state = rig.state()
    rig.append(edited(0, "Point zero is about the house now"))
    assert ([fold["status"] for fold in rig.folds()], rig.state().dirty_folds) == (["dirty"], 1)
    report = rig.fold_due()
    old, new = rig.folds()
    assert (report.refolds, report.folds, report.sessions) == (1, 0, 1)
    assert (old["status"], new["status"], new["parent_summary_id"]) == ("superseded", "completed", first["id"])
    assert (new["trigger"], new["from_message_id"], new["to_message_id"]) == (
        old["trigger"],
        old["from_message_id"],
        old["to_message_id"],
    )
    assert new["input_hash"] != old["input_hash"]
    assert "house" in new["summary"]
    after = rig.state()
    assert (after.hwm_message_id, after.last_fold_at, after.dirty_folds) == (state.hwm_message_id, rig.now, 0)
    assert (rig.row()["running_summary"], rig.wrong(), rig.due()) == (new["summary"], [], None)


def test_edited_back_is_what_it_was_and_asks_nobody(rig: FoldRig) -> None:
    rig.talk(20)
    rig.fold_due()
    was = rig.value("SELECT content FROM messages ORDER BY id LIMIT 1")
    rig.append(edited(0, "Something else"))
    rig.append(edited(0, was) | {"edited_at": "2026-03-17T00:00:00Z"})
    llm = fold_llm()
    report = rig.fold_due(llm)
    assert ([fold["status"] for fold in rig.folds()], llm.requests, report.refolds) == (["completed"], [], 1)
    assert (rig.state().dirty_folds, rig.wrong(), rig.due()) == (0, [], None)


def test_back_and_forth_is_a_chain_and_no_circle(rig: FoldRig) -> None:
    rig.talk(20)
    was = rig.value("SELECT content FROM messages ORDER BY id LIMIT 1")
    rig.fold_due()
    for day, text in enumerate(("The house is white", was, "The house is white"), start=16):
        rig.append(edited(0, text) | {"edited_at": f"2026-03-{day}T00:00:00Z"})
        rig.fold_due()
    chain = rig.folds()
    assert [fold["status"] for fold in chain] == ["superseded", "superseded", "superseded", "completed"]
    assert [fold["parent_summary_id"] for fold in chain[1:]] == [fold["id"] for fold in chain[:-1]]
    assert rig.wrong() == []


def test_a_deletion_is_gone_from_the_fold_and_the_running_summary(rig: FoldRig) -> None:
    rig.talk(40, words=3)
    rig.fold_due(step_messages=20)
    rig.append(said(0, "Point 0", deleted=True))
    assert [fold["dirty_reason"] for fold in rig.live()] == ["deleted", None]
    rig.fold_due()
    first, second = rig.live()
    assert (first["message_count"], second["message_count"], rig.wrong()) == (19, 20, [])
    assert "Point 0 " not in rig.row()["running_summary"]
    assert rig.row()["running_summary"] == f"{first['summary']}\n{second['summary']}"


def test_a_later_fold_that_took_up_words_of_a_deleted_message_is_withheld_and_made_anew(rig: FoldRig) -> None:
    """Its model had the summaries before it in view; what its own messages say too stays."""
    rig.talk(60, words=3)
    secret = "the account DE89370400440532013000"
    rig.append(edited(0, f"We pay to {secret}"), edited(45, "DE89370400440532013000 is wrong"))
    rig.fold_due(step_messages=20)
    first, second, third = rig.live()
    rig.run("UPDATE session_summaries SET summary = summary || %s WHERE id <> %s", f" As said, {secret}.", first["id"])
    rig.run("UPDATE conversation_sessions SET running_summary = %s", secret)
    rig.append(said(0, f"We pay to {secret}", deleted=True))
    assert [fold["dirty_reason"] for fold in rig.live()] == ["deleted", "deleted", None]
    assert rig.state().dirty_folds == 2
    rig.fold_due()
    remade = rig.live()
    assert [fold["status"] for fold in remade] == ["completed"] * 3
    assert (remade[1]["parent_summary_id"], remade[2]["id"]) == (second["id"], third["id"])
    assert "DE89" not in remade[0]["summary"] + remade[1]["summary"]
    assert rig.row()["running_summary"].count("DE89") == 1
    assert rig.wrong() == []


def test_of_what_is_deleted_altogether_a_fold_says_nothing(rig: FoldRig) -> None:
    rig.append(said(1, "We meet at noon"), said(2, "Very well", role="assistant"))
    rig.fold_now()
    rig.append(said(1, "We meet at noon", deleted=True), said(2, "Very well", role="assistant", deleted=True))
    rig.fold_due()
    (empty,) = rig.live()
    assert (empty["summary"], empty["message_ids"], empty["message_count"], rig.wrong()) == ("", [], 0, [])
    assert rig.row()["running_summary"] == ""
    ids = [row[0] for row in rig.rows("SELECT id FROM messages ORDER BY id")]
    assert [empty["from_message_id"], empty["to_message_id"]] == ids  # its range stays covered, should one be restored


def test_several_dirty_folds_and_new_messages_in_one_look(rig: FoldRig) -> None:
    rig.talk(60, words=3)
    rig.fold_due(step_messages=20)
    rig.append(edited(5, "Five is other"), edited(25, "So is twenty-five"), edited(45, "And forty-five"))
    rig.talk(30, start=60)
    rig.later(minutes=3)
    report = rig.fold_due()
    assert (report.sessions, report.refolds, report.folds) == (1, 3, 1)
    assert rig.row()["running_summary"].splitlines() == [fold["summary"] for fold in rig.live()]
    assert rig.wrong() == []


@pytest.mark.parametrize(("change", "reason"), [({"text": "Another text"}, "edited"), ({"deleted": True}, "deleted")])
def test_changed_while_the_model_answers_it_is_dirty_from_the_beginning(
    rig: FoldRig, change: dict[str, Any], reason: str
) -> None:
    rig.talk(20)
    done: list[int] = []

    def answer(request: LlmRequest) -> object:
        if not done:
            done.append(1)
            rig.append(edited(3, "Point 3", **change) if "deleted" in change else edited(3, change["text"]))
        return good_fold(request)

    report = rig.fold_due(fold_llm(answer))
    first, second = rig.folds()
    assert (first["dirty_reason"], first["status"], second["status"]) == (reason, "superseded", "completed")
    assert (report.folds, report.refolds, report.sessions, rig.wrong()) == (1, 1, 2, [])


def test_a_message_restored_between_two_folds_is_in_one(rig: FoldRig) -> None:
    rig.talk(4)
    rig.append(said(4, "Point 4", deleted=True))
    rig.fold_now()
    rig.talk(4, start=5)
    rig.fold_now()
    first, second = rig.live()
    ids = [row[0] for row in rig.rows("SELECT id FROM messages ORDER BY id")]
    assert (first["to_message_id"], second["from_message_id"]) == (ids[3], ids[4])
    assert rig.wrong() == []
