"""Folding of due sessions: every trigger, what a fold row says, idempotence, noise, steps, reports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from uuid import uuid4

import pytest

from pkg_pipeline.memory.session.triggers import FoldRules
from pkg_pipeline.stages.sessions.records import SessionUnknown
from pkg_pipeline_tests.stages.folds.fold_rig import FoldRig, fold_llm
from pkg_pipeline_tests.stages.sessions.session_rig import CHAT, said


@pytest.fixture
def rig(database_url: str) -> Iterator[FoldRig]:
    made = FoldRig(database_url)
    yield made
    made.close()


def test_a_session_below_every_threshold_is_not_due(rig: FoldRig) -> None:
    rig.talk(4)
    report = rig.fold_due()
    assert (report.sessions, report.folds, rig.folds()) == (0, 0, [])


def test_a_fold_row_says_all_of_itself(rig: FoldRig) -> None:
    rig.talk(20)
    report = rig.fold_due()
    (fold,) = rig.folds()
    assert (report.sessions, report.folds, report.messages, report.calls, report.pending) == (1, 1, 20, 1, 0)
    assert (fold["status"], fold["trigger"], fold["message_count"], fold["noise_ids"]) == ("completed", "turns", 20, [])
    assert (fold["prompt_version"], fold["model_version"]) == ("session_fold/3", "scripted-1")
    assert fold["summary"].startswith("This was said: Point 0 about the garden")
    assert fold["topics"] == ["Point 0"]
    assert (fold["source_token_count"], fold["cost_usd"]) == (rig.state().token_count, 0.001)
    state = rig.state()
    assert (state.hwm_message_id, state.messages_since_hwm, state.tokens_since_hwm) == (fold["to_message_id"], 0, 0)
    assert (state.first_since_at, state.messages_since_fold, state.last_fold_at) == (None, 0, rig.now)
    row = rig.row()
    assert (row["running_summary"], row["running_fold_id"]) == (fold["summary"], fold["id"])
    assert (row["next_due_at"], row["folding_to_id"], rig.leases(), rig.wrong()) == (None, None, 0, [])


def test_again_finds_nothing(rig: FoldRig) -> None:
    rig.talk(20)
    rig.fold_due()
    before = rig.folds()
    llm = fold_llm()
    report = rig.fold_due(llm)
    rig.fold_now(llm)
    assert (report.sessions, llm.requests, rig.folds()) == (0, [], before)


TRIGGERS = {
    # trigger: policy, how many messages, words of each, minutes that pass
    "tokens": ("hysteresis", 8, 1200, 0),
    "turns": ("hysteresis", 20, 60, 0),
    "time": ("hysteresis", 6, 30, 125),
    "hard_limit": ("sliding", 70, 3, 0),
    "window": ("sliding", 52, 3, 0),
    "cooldown": ("sliding", 41, 3, 60),
    "interval": ("interval", 20, 3, 0),
    "thread_size": ("thread_size", 201, 3, 0),
}


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_each_trigger_of_a_policy_leads_to_a_fold_that_names_it(rig: FoldRig, trigger: str) -> None:
    policy, count, words, minutes = TRIGGERS[trigger]
    rig.sessions.ensure(CHAT)
    rig.run("UPDATE conversation_sessions SET policy = %s", policy)
    rig.talk(count, words=words)
    rig.later(minutes=minutes)
    report = rig.fold_due()
    assert (report.sessions, {fold["trigger"] for fold in rig.folds()}) == (1, {trigger})
    assert rig.wrong() == []
    keep = {"sliding": 40, "thread_size": 180}.get(policy, 0)
    assert rig.state().messages_since_hwm == keep


@pytest.mark.parametrize("event", ["handoff", "tool_done", "manual", "scheduled"])
def test_each_event_leads_to_a_fold_that_names_it(rig: FoldRig, event: str) -> None:
    rig.talk(2)
    rig.sessions.event(CHAT, event)  # type: ignore[arg-type]
    assert rig.fold_due().folds == 1
    assert [fold["trigger"] for fold in rig.folds()] == [event]
    assert (rig.state().event, rig.fold_due().sessions, rig.wrong()) == (None, 0, [])


def test_the_hour_of_the_schedule_asks_for_sessions_with_enough(rig: FoldRig) -> None:
    rig.talk(6, session="jsonl:long")
    rig.talk(2, session="jsonl:short")
    assert rig.writes.ask_all(rig.now, least_messages=6) == 1
    assert rig.fold_due().folds == 1
    assert ([fold["trigger"] for fold in rig.folds("jsonl:long")], rig.folds("jsonl:short")) == (["scheduled"], [])


def test_an_event_before_its_turn_is_complete_waits_for_its_end(rig: FoldRig) -> None:
    rig.append(said(1), said(2, role="assistant"), said(3))
    call = [{"type": "tool_use", "id": "t1", "name": "look", "input": {}}]
    rig.append(said(4, role="assistant", parts=call))
    rig.fold_now()
    assert rig.state().messages_since_hwm == 2
    result = [{"type": "tool_result", "tool_use_id": "t1", "content": "it is raining in the north"}]
    rig.append(said(5, role="user", parts=result))
    rig.sessions.event(CHAT, "tool_done")
    assert (rig.fold_due().folds, rig.state().event, rig.due()) == (0, "tool_done", None)
    rig.append(said(6, "It is raining in the north.", role="assistant"))
    llm = fold_llm()
    assert (rig.fold_due(llm).folds, rig.live()[-1]["trigger"], rig.state().messages_since_hwm) == (1, "tool_done", 0)
    assert [one.sender.name for one in llm.requests[0].payload.messages] == [
        "User",
        "tool: look",
        "tool: look",
        "Assistant",
    ]
    assert rig.wrong() == []


def test_by_hand_at_once_whatever_the_policy_says(rig: FoldRig) -> None:
    rig.talk(2)
    report = rig.fold_now()
    assert (report.folds, report.busy, rig.folds()[0]["trigger"], rig.wrong()) == (1, 0, "manual", [])
    again = rig.fold_now()
    assert (again.folds, again.reasons) == (0, ["no message since the last fold"])
    assert (rig.state().event, rig.due(), rig.leases()) == (None, None, 0)


def test_what_another_worker_holds_is_said_and_looked_at_once_more(rig: FoldRig) -> None:
    rig.talk(20)
    (held,) = rig.writes.claim(now=rig.now, limit=1, besides=[], holder="other", lease_seconds=60)
    report = rig.fold_now()
    assert (report.busy, report.sessions, rig.row()["is_pending"]) == (1, 0, True)
    assert report.reasons == ["another worker is folding this session; it is looked at once more when that one is done"]
    rig.writes.release([held])
    assert rig.fold_due().folds == 1
    assert (rig.row()["is_pending"], rig.wrong()) == (False, [])


def test_a_session_that_is_not_there(rig: FoldRig) -> None:
    with pytest.raises(SessionUnknown):
        rig.folding().fold_session(uuid4())


def test_a_long_stretch_is_folded_in_steps_with_one_trigger(rig: FoldRig) -> None:
    rig.talk(50, words=3)
    llm = fold_llm()
    report = rig.fold_due(llm, step_messages=20)
    assert [fold["message_count"] for fold in rig.folds()] == [20, 20, 10]
    assert ({fold["trigger"] for fold in rig.folds()}, report.folds, report.sessions) == ({"turns"}, 3, 1)
    assert [len(request.payload.earlier) for request in llm.requests] == [0, 1, 2]
    assert rig.row()["running_summary"].splitlines() == [fold["summary"] for fold in rig.folds()]
    assert (rig.wrong(), rig.row()["folding_to_id"]) == ([], None)


def test_noise_is_covered_and_no_model_sees_it(rig: FoldRig) -> None:
    rig.talk(18)
    rig.append(said("n1", "!!!"), said("n2", "...", role="assistant"))
    llm = fold_llm()
    rig.fold_due(llm)
    (fold,) = rig.folds()
    assert (len(fold["message_ids"]), len(fold["noise_ids"]), len(llm.requests[0].payload.messages)) == (20, 2, 18)
    assert rig.wrong() == []


def test_nothing_but_noise_moves_the_hwm_and_asks_nobody(rig: FoldRig) -> None:
    rig.append(*(said(number, "!?", role="assistant" if number % 2 else "user") for number in range(4)))
    llm = fold_llm()
    report = rig.fold_now(llm)
    (fold,) = rig.folds()
    assert (llm.requests, report.folds, fold["summary"], fold["model_version"]) == ([], 1, "", "none")
    assert (fold["noise_ids"], rig.wrong(), rig.row()["running_summary"]) == (fold["message_ids"], [], "")


def test_a_thread_below_its_threshold_and_summaries_switched_off(rig: FoldRig) -> None:
    rig.talk(25, session="langgraph:t")
    assert rig.fold_due().folds == 0
    assert rig.fold_now(session="langgraph:t").reasons == ["the thread has 25 messages, no fold of one below 30"]
    rig.talk(20)
    off = replace(FoldRules(), summaries_enabled=False)
    assert rig.fold_due(rules=off).folds == 0
    assert rig.folds() == []


def test_a_running_summary_stays_within_its_limit(rig: FoldRig) -> None:
    rig.talk(60, words=60)
    llm = fold_llm()
    report = rig.fold_due(llm, step_messages=10, max_summary_tokens=90)
    row = rig.row()
    assert (len(rig.folds()), report.folds) == (6, 6)
    assert row["running_token_count"] == rig.counter.count(row["running_summary"])
    assert row["running_token_count"] <= 90
    assert any(request.task == "session_compress" for request in llm.requests)
    assert any(warning.startswith("running summary: ") for warning in report.warnings)
