"""Windows of sessions over a real database: what is read, shown, recalled and recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from pkg_pipeline.memory.window.records import LiveTurnTooLong
from pkg_pipeline.stages.ports import EmbedderUnavailable
from pkg_pipeline.stages.reads.stores import BadRequest, StoreUnavailable
from pkg_pipeline.stages.window.stage import NOT_FOLDED, SessionUnknown, WindowRequest, window
from pkg_pipeline_tests.stages.sessions.session_rig import said, turns
from pkg_pipeline_tests.stages.window.window_rig import SETTINGS, Recall, WindowRig, piece, shown


@pytest.fixture
def rig(database_url: str) -> Iterator[WindowRig]:
    rig = WindowRig(database_url)
    yield rig
    rig.close()


def text_of(answer: Any) -> str:
    return answer.window.summary


def test_a_session_without_a_fold_is_shown_as_it_is(rig: WindowRig) -> None:
    """Three words a message; the answer in the shape of the interface."""
    rig.append(*turns(range(4)))
    found = rig.window(strategy="rolling").to_json()
    assert found.pop("receipt_id")
    assert found == {
        "session": "jsonl:talk",
        "id": str(rig.id()),
        "strategy": "rolling",
        "as": "anthropic",
        "messages": [
            {"role": "user" if number % 2 == 0 else "assistant", "content": f"{role} says {number}"}
            for number, role in enumerate(["user", "assistant"] * 2)
        ],
        "tokens": 12,
        "budget": {
            "window": 8_000, "margin": 0, "output": 0, "system": 0, "available": 8_000, "calibration": 1.0,
        },
        "tiers": [
            {"tier": "summary", "tokens": 0, "messages": []},
            {"tier": "condensed", "tokens": 0, "messages": []},
            {"tier": "recent", "tokens": 12, "messages": [f"jsonl:talk/{number}" for number in range(4)]},
        ],
        "hypothetical_tokens": rig.state().token_count,
        "topics": [],
        "summaries": [],
        "recalled": [],
        "left_out": [],
        "warnings": [],
    }  # fmt: skip


def test_folded_messages_give_way_to_their_summary_but_for_the_last_ten(rig: WindowRig) -> None:
    rig.append(*turns(range(40)))
    first, second = rig.fold(20), rig.fold(34, start=21)
    rig.told(first, "They met.")
    rig.told(second, "They talked.", topics=["tea"])
    rig.settle(running_summary="They met and talked.")
    for topic, mentions, day in (("rain", 1, 2), ("tea", 2, 1), ("snow", 1, 3)):
        rig.topic(topic, mentions, day)
    found = rig.window()
    assert shown(found) == [str(number) for number in range(30, 40)]
    assert found.topics == ("tea", "snow", "rain"), "the most mentioned, then the last seen"
    assert text_of(found).startswith(
        "[Conversation Summary]\nThey met and talked.\n\n[Recallable Topics]: tea, snow, rain\n"
    )
    assert found.summaries == (first, second)
    assert found.hypothetical_tokens == rig.state().token_count
    assert [one.topic for one in rig.windows.topics(rig.id(), limit=2)] == ["tea", "snow"]
    rig.append(*turns(range(40, 80)))
    assert shown(rig.window()) == [str(number) for number in range(34, 80)], "all that no fold covers"


def test_a_running_summary_on_a_deleted_message_is_not_served(rig: WindowRig) -> None:
    """H15, P29: the folds that stand in for it are at most so many, and none of what was deleted is among them."""
    rig.append(*turns(range(30)))
    folds = [rig.fold(end, start=end - 4) for end in (5, 10, 15, 20)]
    for fold, text in zip(folds, ("One.", "Two.", "Three.", "Four."), strict=True):
        rig.told(fold, text)
    rig.settle(running_summary="All of it.")
    few = replace(SETTINGS, max_summaries_in_context=2)
    assert text_of(rig.window(settings=few)) == "[Conversation Summary]\nAll of it."
    rig.told(folds[1], "Two.", status="dirty", dirty_reason="edited")
    rig.settle(dirty_folds=1)
    assert text_of(rig.window(settings=few)) == "[Conversation Summary]\nAll of it."
    rig.told(folds[3], "Four.", status="dirty", dirty_reason="deleted")
    rig.settle(dirty_folds=2)
    found = rig.window(settings=few)
    assert text_of(found) == "[Conversation Summary]\nTwo.\n\nThree."
    assert found.summaries == (folds[1], folds[2])
    assert "deleted message" in found.warnings[0]
    assert ("summary", "withheld") in {(one.kind, one.reason) for one in found.left_out}
    rig.told(folds[3], "Four.", status="superseded")
    rig.settle(dirty_folds=1)
    assert text_of(rig.window()) == "[Conversation Summary]\nAll of it."
    assert "edited" in rig.window().warnings[0]


def test_strategies(rig: WindowRig) -> None:
    """T1. What the window holds anyway is not recalled, nor what a summary in it was made of; and only five pieces."""
    rig.append(*turns(range(30)), said(30, "what about tea?"))
    fold = rig.fold(20)
    rig.told(fold, "They met.")
    rig.settle(running_summary="They met.")
    pieces = [
        piece("in the window", "25"),
        piece("of the fold", subject_id=fold),
        piece("half in it", "3", "25"),
        piece("much " * 400),
        *(piece(f"old {number}", str(number)) for number in range(9)),
    ]
    recall = Recall(*pieces, warnings=["keywords only"])
    limited = replace(SETTINGS, relevant_share=300)
    hybrid = rig.window(settings=limited, recall=recall)
    memory = "[Relevant Memory]\n- half in it\n- old 0\n- old 1\n- old 2\n- old 3"
    assert text_of(hybrid) == f"[Conversation Summary]\nThey met.\n\n{memory}"
    assert hybrid.recalled == tuple(one.id for one in (pieces[2], *pieces[4:8]))
    assert hybrid.warnings == ("keywords only",)
    assert recall.asked[0].query == "what about tea?"
    retrieval = rig.window(settings=limited, recall=recall, strategy="retrieval", query="rain")
    assert "Conversation Summary" not in text_of(retrieval)
    assert "- of the fold" in text_of(retrieval), "without the summary its words are as good as others"
    assert (retrieval.summaries, recall.asked[1].query) == ((), "rain")
    rolling = rig.window(settings=limited, recall=recall, strategy="rolling")
    assert text_of(rolling) == "[Conversation Summary]\nThey met."
    assert len(recall.asked) == 2
    assert shown(rolling) == shown(retrieval) == shown(hybrid), "what is not folded is always raw (T2)"


def test_nothing_is_recalled_before_something_is_folded(rig: WindowRig) -> None:
    rig.append(*turns(range(5)))
    recall = Recall(piece("x", "1"))
    assert rig.window(recall=recall).recalled == ()
    assert recall.asked == []


@pytest.mark.parametrize("error", [RuntimeError("words of Anna"), EmbedderUnavailable("away"), StoreUnavailable("x")])
def test_recall_that_fails_stops_no_window(rig: WindowRig, error: Exception) -> None:
    """L10."""
    rig.append(*turns(range(9)))
    rig.fold(4)
    rig.settle(running_summary="They met.")
    found = rig.window(recall=Recall(error=error))
    assert text_of(found) == "[Conversation Summary]\nThey met."
    assert len(found.warnings) == 1
    assert "recall failed" in found.warnings[0]
    assert "Anna" not in found.warnings[0]


def test_too_many_messages_are_named_and_a_long_live_turn_is_found(rig: WindowRig) -> None:
    rig.append(*turns(range(20)))
    limits = replace(SETTINGS, raw_history_limit=5, max_messages_per_thread=5)
    found = rig.window(settings=replace(limits, context_window=20), strategy="rolling")
    assert shown(found) == [str(number) for number in range(14, 20)], "three words each"
    assert sum(one.count for one in found.left_out) == 14
    assert {one.reason for one in found.left_out} == {"budget"}
    assert found.warnings == ("messages left out that no summary stands for yet: 14",)
    agent = [said(f"t{number}", role="assistant", parts=[
        {"type": "tool_use", "id": f"c{number}", "name": "look", "input": {}}]) if number % 2 == 0 else
        said(f"t{number}", role="tool", parts=[
            {"type": "tool_result", "tool_use_id": f"c{number - 1}", "content": "ok"}])
        for number in range(30)]  # fmt: skip
    rig.append(said("q", "find it"), *agent)
    rig.windows.asked.clear()
    found = rig.window(settings=limits)
    assert shown(found)[-31:] == ["q", *(f"t{number}" for number in range(30))]
    assert [query.history_limit for query in rig.windows.asked] == [5, 2_000]


@pytest.mark.parametrize("has_failed", [False, True], ids=["no fold yet", "the model is down"])
@pytest.mark.parametrize("number", [180, 450])
def test_nothing_unfolded_is_left_out_while_it_fits(rig: WindowRig, number: int, has_failed: bool) -> None:
    """T2: 80 of 180 messages were dropped by a limit of 100, and no summary stood for them."""
    rig.append(*turns(range(number)))
    rig.settle(last_error="overloaded" if has_failed else None)
    found = rig.window(strategy="rolling")
    assert shown(found) == [str(one) for one in range(number)]
    assert found.left_out == ()
    assert found.warnings == ((NOT_FOLDED,) if has_failed else ())
    found = rig.window(strategy="rolling", model_window=300)
    assert shown(found) == [str(one) for one in range(number - 100, number)], "three words each"
    assert sum(one.count for one in found.left_out) == number - 100
    assert f"messages left out that no summary stands for yet: {number - 100}" in found.warnings


def test_more_unfolded_messages_than_are_read_are_named(rig: WindowRig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pkg_pipeline.stages.window.stage.MOST_LIVE_MESSAGES", 110)
    rig.append(*turns(range(120)))
    found = rig.window(settings=replace(SETTINGS, max_messages_per_thread=100), strategy="rolling")
    assert shown(found) == [str(one) for one in range(10, 120)]
    assert [(one.id, one.reason, one.count) for one in found.left_out] == [(None, "raw_history_limit", 10)]
    assert (found.warnings, found.unsummarised) == (("messages left out that no summary stands for yet: 10",), 10)


def test_a_sliding_session_shows_at_most_its_context(rig: WindowRig) -> None:
    """W1: of history before the live turn."""
    rig.append(*turns(range(21)))
    rig.settle(policy="sliding")
    found = rig.window(settings=replace(SETTINGS, context_size=6))
    assert shown(found) == [str(number) for number in range(14, 21)]
    assert {one.reason for one in found.left_out} == {"context_size"}
    assert len(found.left_out) == 14
    assert found.warnings == ("messages left out that no summary stands for yet: 14",)


def test_texts_in_the_archive_are_read_there(rig: WindowRig) -> None:
    rig.append(*turns(range(6)))
    rig.run("CREATE TABLE of_may PARTITION OF archived_messages FOR VALUES FROM ('2026-05-01') TO ('2026-06-01')")
    rig.run(
        "INSERT INTO archived_messages (month, message_id, chat_id, interaction_id, external_id, sent_at, content,"
        " content_hash) SELECT '2026-05-01', id, chat_id, gen_random_uuid(), external_id, sent_at, content,"
        " content_hash FROM messages WHERE external_id = '2'"
    )
    rig.run(
        "UPDATE messages SET content = '[archived]', is_archived = true, archived_month = '2026-05-01'"
        " WHERE external_id = '2'"
    )
    assert [one["content"] for one in rig.window().messages][2] == "user says 2"


# ── what is recorded ─────────────────────────────────────────────────────────────────────────

SERVED = (
    "SELECT prompt_tokens, hypothetical_tokens, model, tiers, left_out, reported_prompt_tokens, completion_tokens,"
    " cost_usd::float8 FROM served_windows ORDER BY served_at"
)


def test_every_window_is_recorded_without_its_words(rig: WindowRig) -> None:
    rig.append(*turns(range(30)))
    fold = rig.fold(20)
    rig.told(fold, "They met.")
    rig.settle(running_summary="They met.")
    answer = rig.window(model="m")
    row = rig.rows(SERVED)[0]
    assert row[:3] == (answer.window.tokens, rig.state().token_count, "m")
    assert row[3][0] == {
        "tier": "summary",
        "tokens": 4,
        "messages": [],
        "summaries": [str(fold)],
        "recalled": [],
        "topics": 0,
    }
    assert row[3][2]["messages"] == [f"jsonl:talk/{number}" for number in range(20, 30)]
    assert "says" not in str(row)
    assert rig.value("SELECT id FROM served_windows") == answer.receipt_id


def test_usage_goes_to_the_last_window_once(rig: WindowRig) -> None:
    rig.append(*turns(range(4)))
    assert not rig.served.record_usage(rig.id(), input_tokens=1, output_tokens=1), "no window was served"
    rig.window()
    rig.window(model="m")
    assert rig.served.record_usage(rig.id(), input_tokens=70, output_tokens=7)
    assert not rig.served.record_usage(rig.id(), input_tokens=80, output_tokens=8), "it has its report"
    assert [row[5:] for row in rig.rows(SERVED)] == [(None, None, None), (70, 7, 0.5)]
    rig.window()
    assert rig.served.record_usage(rig.id(), input_tokens=9, output_tokens=1, cost_usd=0.25, model="other")
    assert rig.rows(SERVED)[2][2:3] + rig.rows(SERVED)[2][5:] == ("other", 9, 1, 0.25)


def test_what_a_model_reports_makes_its_budget_smaller_never_larger(rig: WindowRig) -> None:
    """B12: the median of the last 20 ratios, from 1 to 3; the system prompt is a part of what is reported."""
    rig.append(*turns(range(4)))  # 12 tokens
    assert rig.window(model="m", system_tokens=8).window.budget.available == 7_992
    for reported in (30, 32, 900):  # of 20: 1.5, 1.6, 45
        rig.window(model="m", system_tokens=8)
        rig.served.record_usage(rig.id(), input_tokens=reported, output_tokens=1)
    budget = rig.window(model="m").window.budget
    assert (budget.calibration, budget.available) == (1.6, 5_000)
    assert rig.window(model="n").window.budget.calibration == 1.0
    rig.run("UPDATE served_windows SET reported_prompt_tokens = 1 WHERE reported_prompt_tokens IS NOT NULL")
    assert rig.window(model="m").window.budget.calibration == 1.0
    rig.run("UPDATE served_windows SET reported_prompt_tokens = 999 WHERE reported_prompt_tokens IS NOT NULL")
    assert rig.window(model="m").window.budget.calibration == 3.0


def test_a_record_that_cannot_be_kept_fails_nothing(rig: WindowRig, caplog: pytest.LogCaptureFixture) -> None:
    rig.append(*turns(range(4)))
    rig.window()
    rig.run("ALTER TABLE served_windows ADD CHECK (prompt_tokens < 0) NOT VALID")
    assert rig.window().window.tokens == 12
    assert not rig.served.record_usage(rig.id(), input_tokens=1, output_tokens=1)
    assert rig.served.lost == 2
    assert "1 records of served windows could not be kept: CheckViolation" in caplog.text


# ── what cannot be answered ──────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        ({"model_window": 0}, "model_window"),
        ({"system_tokens": -1}, "system_tokens"),
        ({"system_tokens": 9_000}, "system_tokens"),
        ({"model_window": 1, "system_tokens": 0}, None),
    ],
)
def test_wrong_requests(rig: WindowRig, request_: dict[str, int], field: str | None) -> None:
    rig.append(*turns(range(2)))
    if field is None:
        rig.append(said("q", "a long question"))
        with pytest.raises(LiveTurnTooLong):
            rig.window(**request_)
        return
    with pytest.raises(BadRequest) as raised:
        rig.window(**request_)
    assert raised.value.field == field


def test_a_session_that_is_not_there(rig: WindowRig) -> None:
    with pytest.raises(SessionUnknown):
        window(rig.parts(), WindowRequest(session_id=uuid4(), now=rig.now))
