"""P18, P19, B8, B9: the ladder of one interaction, what it may cost, and what is kept of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pkg_pipeline.memory.records import Attachment
from pkg_pipeline.stages.llm.run import TROUBLE_LIMIT
from pkg_pipeline.stages.ports import (
    LlmMisconfigured,
    LlmRefused,
    LlmRejected,
    LlmRequest,
    LlmTooLong,
    LlmUnavailable,
)
from pkg_pipeline.stages.summaries.summarize import CALLS_PER_WINDOW
from pkg_pipeline_tests.stages.summaries.summary_rig import NOW, OLD, USUAL, ScriptedLlm, SummaryRig, good_answer

DAY = timedelta(days=1)
LONG = tuple(f"Point {index}: the delivery of part {index} is agreed." for index in range(20))


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[SummaryRig]:
    made = SummaryRig(database_url, tmp_path)
    yield made
    made.close()


def attempts(rig: SummaryRig) -> list[tuple[Any, ...]]:
    return rig.rows(
        "SELECT attempts, deferrals, state, round(extract(epoch FROM retry_at - updated_at))::int FROM summary_attempts"
    )


def poisoned(words: str, bad: object, good: Any = None) -> Any:
    """Answers ``bad`` about conversations that hold ``words``."""

    def answer(request: LlmRequest) -> object:
        return bad if words in request.user else good_answer(request.payload)

    return answer


def test_invalid_json_is_asked_for_again_more_strictly(rig: SummaryRig) -> None:
    rig.say("c")
    rig.load()
    llm = ScriptedLlm(lambda request: "no json" if len(llm.requests) == 1 else good_answer(request.payload))
    rig.summarize(llm)
    usual, strict = llm.requests
    assert rig.status_of("c") == ["completed"]
    assert strict.user.startswith(usual.user)
    assert "is no valid JSON" in strict.user
    assert rig.rows("SELECT outcome FROM llm_calls ORDER BY created_at") == [("quarantined",), ("ok",)]


def test_what_fails_strictly_too_goes_in_halves(rig: SummaryRig) -> None:
    rig.say("c", LONG)
    rig.load()
    llm = ScriptedLlm(lambda request: "{}" if len(request.payload.messages) == 20 else good_answer(request.payload))
    rig.summarize(llm)
    assert [len(request.payload.messages) for request in llm.requests] == [20, 20, 10, 10]
    assert rig.status_of("c") == ["completed"]


BAD_ANSWERS = [
    ("no JSON", "I am sorry"),
    ("another schema", '{"summary": "x"}'),
    ("empty", ""),
    ("NUL where the database takes none", '{"summary": "a\\u0000b c d", "key_points": ["x"], "tone": "neutral"}'),
    ("a real NUL and half a character", "\x00\ud800"),
    ("rejected", LlmRejected("400")),
    ("refused", LlmRefused("declined", category="policy")),
    ("too long", LlmTooLong("the answer did not fit")),
]


@pytest.mark.parametrize("bad", [row[1] for row in BAD_ANSWERS], ids=[row[0] for row in BAD_ANSWERS])
def test_a_poisoned_interaction_fails_visibly_after_three_bounded_attempts_and_stops_nobody(rig, bad) -> None:
    rig.say("poison", ["Poison " + text for text in USUAL])
    rig.say("after", at=OLD + timedelta(hours=1))
    rig.load()
    llm = ScriptedLlm(poisoned("Poison", bad))
    waits = []
    for attempt in range(1, 4):
        before = llm.calls_about("Poison")
        report = next(report for report in rig.summarize(llm) if report.day == OLD.date())
        assert 1 <= llm.calls_about("Poison") - before <= CALLS_PER_WINDOW
        [(counted, _, state, wait)] = attempts(rig)
        waits.append(wait)
        assert (counted, state) == (attempt, "failed" if attempt == 3 else "waiting")
        assert rig.status_of("after") == ["completed"]
        rig.summarize(llm)  # before its time it is not tried
        assert llm.calls_about("Poison") - before <= CALLS_PER_WINDOW
        rig.retries_are_due()
    assert waits == [60, 120, 240]
    assert (report.pending, report.failed) == (0, 1)
    known = llm.calls_about("Poison")
    rig.summarize(llm)
    assert llm.calls_about("Poison") == known
    assert len(llm.requests) - known == 1
    assert rig.one("SELECT count(*) FROM interaction_summaries WHERE status = 'quarantined'") == 3
    reasons = rig.rows("SELECT quarantined->0->>'reason' FROM interaction_summaries WHERE status = 'quarantined'")
    assert all(reason for (reason,) in reasons)


def fail_for_good(rig: SummaryRig) -> None:
    for _ in range(3):
        rig.summarize(ScriptedLlm(lambda request: "bad"))
        rig.retries_are_due()
    assert [row[2] for row in attempts(rig)] == ["failed"]


def test_failed_is_tried_again_when_asked_for_once_each_time(rig: SummaryRig) -> None:
    """With ``--failed`` a run once took the same interaction again and again."""
    rig.say("c")
    rig.load()
    fail_for_good(rig)
    llm = ScriptedLlm(lambda request: LlmRefused("declined"))
    report = next(report for report in rig.summarize(llm, retry_failed=True) if report.day == OLD.date())
    assert (len(llm.requests), report.failed, report.pending) == (1, 1, 0)
    assert rig.partitions.due("interaction_summaries", now=NOW) == []
    rig.summarize(retry_failed=True)
    assert rig.status_of("c")[-1] == "completed"
    assert attempts(rig) == []


@pytest.mark.parametrize("change", ["model", "prompt", "input"])
def test_failed_is_tried_again_when_what_failed_is_no_longer_the_same(rig: SummaryRig, change: str) -> None:
    rig.say("c")
    rig.load()
    fail_for_good(rig)
    if change == "input":
        rig.line("c", "late", "One more thing.", OLD + timedelta(hours=1), "Anna")
        rig.load()
    llm = ScriptedLlm(model="scripted-2" if change == "model" else "scripted-1")
    rig.summarize(llm, prompt_version="another/1" if change == "prompt" else "summary/3")
    assert len(llm.requests) == 1
    assert rig.status_of("c")[-1] == "completed"


def test_a_changed_prompt_makes_the_days_of_what_failed_due_once(rig: SummaryRig) -> None:
    rig.say("c")
    rig.load()
    fail_for_good(rig)
    assert rig.partitions.due("interaction_summaries", now=NOW) == []
    assert rig.store.revive(prompt_version="summary/3", model="scripted-1") == 0
    assert rig.store.revive(prompt_version="another/1", model="scripted-1") == 1
    assert [due.key for due in rig.partitions.due("interaction_summaries", now=NOW)] == [OLD.date().isoformat()]
    assert rig.store.revive(prompt_version="another/1", model="scripted-1") == 0


def test_the_old_summary_stays_served_while_a_new_one_fails(rig: SummaryRig) -> None:
    rig.say("c")
    rig.load()
    rig.summarize()
    rig.line("c", "late", "One more thing.", OLD + timedelta(hours=1), "Anna")
    rig.load()
    fail_for_good(rig)
    live = rig.rows("SELECT status, summary FROM interaction_summaries WHERE status IN ('completed', 'dirty')")
    assert [status for status, _ in live] == ["completed"]


# what the service asks for, deferrals before → seconds of rest
DEFERRALS = [(None, 0, 60), (None, 1, 120), (None, 9, 3600), (7.0, 0, 7), (0.0, 0, 1), (10**9, 0, 86_400)]


@pytest.mark.parametrize(("asked", "before", "rest"), DEFERRALS)
def test_transport_and_quota_defer_without_counting(rig: SummaryRig, asked, before, rest) -> None:
    rig.say("c")
    rig.load()
    down = ScriptedLlm(lambda request: LlmUnavailable("529", retry_after_seconds=asked))
    rig.summarize(down)
    if before:
        rig.run("UPDATE summary_attempts SET deferrals = %s", before)
        rig.retries_are_due()
        rig.summarize(down)
    assert attempts(rig) == [(0, before + 1, "waiting", rest)]
    assert rig.one("SELECT calls FROM budgets") == 0
    assert rig.one("SELECT reserved_usd FROM budgets") == 0
    rig.retries_are_due()
    rig.summarize()
    assert rig.status_of("c") == ["completed"]


def test_a_service_that_is_down_is_not_asked_about_every_interaction(rig: SummaryRig) -> None:
    for index in range(12):
        rig.say(f"c{index}", at=OLD + index * DAY)
    rig.load()
    down = ScriptedLlm(lambda request: LlmUnavailable("no connection"))
    reports = rig.summarize(down)
    assert len(down.requests) == TROUBLE_LIMIT
    assert sum(report.pending for report in reports) == 12
    assert any("does not answer" in reason for report in reports for reason in report.reasons)
    assert rig.partitions.due("interaction_summaries", now=NOW) == []  # not before its rest is over
    assert rig.one("SELECT count(*) FROM leases") == 0
    rig.run("UPDATE partition_states SET resume_at = clock_timestamp()")
    assert len(rig.partitions.due("interaction_summaries", now=NOW)) == 12
    rig.retries_are_due()
    assert sum(report.summarized for report in rig.summarize()) == 12


def test_one_interaction_that_breaks_the_connection_does_not_stop_the_others(rig: SummaryRig) -> None:
    for index in range(6):
        rig.say(f"c{index}", [f"topic{index} {text}" for text in USUAL], at=OLD + index * DAY)
    rig.load()
    reports = rig.summarize(ScriptedLlm(poisoned("topic0", LlmUnavailable("broke"))))
    assert sum(report.summarized for report in reports) == 5


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_wrong_key_stops_the_run_with_one_error_and_leaves_nothing_locked(rig: SummaryRig, concurrency: int) -> None:
    for index in range(6):
        rig.say(f"c{index}", [f"topic{index} {text}" for text in USUAL], at=OLD + index * DAY)
    rig.load()
    llm = ScriptedLlm(
        lambda request: LlmMisconfigured("401") if len(llm.requests) > 1 else good_answer(request.payload)
    )
    with pytest.raises(LlmMisconfigured, match="401"):
        rig.summarize(llm, concurrency=concurrency)
    assert rig.one("SELECT count(*) FROM interaction_summaries WHERE status = 'completed'") == 1
    assert rig.one("SELECT count(*) FROM leases") == 0
    assert attempts(rig) == []
    assert len(llm.requests) <= 1 + concurrency
    assert sum(report.summarized for report in rig.summarize()) == 5


def test_a_long_interaction_is_read_in_windows_and_no_message_is_lost(rig: SummaryRig) -> None:
    texts = [f"Item {index} costs {index} EUR." for index in range(1203)]
    rig.say("c", texts, minutes=0.2)
    rig.load()

    llm = ScriptedLlm()
    rig.summarize(llm)
    seen = [message.text for request in llm.requests for message in request.payload.messages]
    assert seen == texts
    assert [len(request.payload.messages) for request in llm.requests] == [500, 500, 203]
    assert rig.one("SELECT message_count FROM interaction_summaries") == 1203
    # a message more at the end: the windows before it were paid for already
    rig.line("c", "late", "Item last costs 7 EUR.", OLD + timedelta(hours=5), "Anna")
    rig.load()
    again = ScriptedLlm()
    rig.summarize(again, update_messages=0)
    assert len(again.requests) == 1


def test_texts_beyond_the_models_window_are_read_in_windows_even_inside_one_message(rig: SummaryRig) -> None:
    huge = " ".join(f"word{index}" for index in range(12_000))
    rig.say("c", ["Hello there, my friend.", huge, "That was long."])
    rig.load()
    llm = ScriptedLlm(window_tokens=40_000)
    rig.summarize(llm)
    assert len(llm.requests) > 2
    asked = [request.payload for request in llm.requests if request.task == "interaction_summary"]
    read = [(message.external_id, message.text) for source in asked for message in source.messages]
    assert "".join(text for key, text in read if key.endswith("-00001")) == huge
    assert rig.status_of("c") == ["completed"]


def test_windows_that_passed_are_not_paid_again_when_another_failed(rig: SummaryRig) -> None:
    rig.say("c", [f"Item {index} costs {index} EUR." for index in range(90)])
    rig.load()
    llm = ScriptedLlm(poisoned("Item 89 ", "bad"))
    rig.summarize(llm, window_messages=30)
    assert len(llm.requests) == 2 + 2 + 1 + 1  # two good windows; the third as usual, stricter, and its two halves
    rig.retries_are_due()
    healed = ScriptedLlm()
    rig.summarize(healed, window_messages=30)
    assert len(healed.requests) == 1
    assert rig.status_of("c")[-1] == "completed"


def test_going_back_to_an_earlier_text_is_not_paid_for_twice(rig: SummaryRig) -> None:
    """B8: A → B → A. The summaries are a chain of three, the calls are two."""
    rig.say("c")
    rig.load()
    rig.summarize(llm := ScriptedLlm())
    for version, text in enumerate(["No, on Monday.", USUAL[1]], start=1):
        edited = (NOW + version * DAY).isoformat()
        rig.line("c", f"{OLD:%Y%m%d%H%M}-00001", text, OLD + timedelta(minutes=1), "Me", edited_at=edited)
        rig.load()
        rig.summarize(llm)
    assert len(llm.requests) == 2
    chain = rig.rows(
        "SELECT id, parent_summary_id, status, revision_count, cost_usd > 0"
        " FROM interaction_summaries ORDER BY revision_count"
    )
    assert [row[2:] for row in chain] == [("superseded", 1, True), ("superseded", 2, True), ("completed", 3, False)]
    assert [row[1] for row in chain] == [None, chain[0][0], chain[1][0]]


def test_a_refused_answer_is_never_replayed(rig: SummaryRig) -> None:
    rig.say("c")
    rig.load()
    llm = ScriptedLlm(lambda request: "bad")
    rig.summarize(llm)
    first = len(llm.requests)
    rig.retries_are_due()
    rig.summarize(llm)
    assert len(llm.requests) == 2 * first


def test_ledger_budget_and_summaries_agree_on_what_was_spent(rig: SummaryRig) -> None:
    for index in range(4):
        rig.say(f"c{index}", [f"topic{index} {text}" for text in USUAL], at=OLD + index * DAY)
    rig.load()
    reports = rig.summarize(ScriptedLlm(poisoned("topic2", "bad"), usd_per_call=0.0123))
    ledger, calls = rig.rows("SELECT sum(cost_usd), count(*) FROM llm_calls")[0]
    assert calls == 3 + CALLS_PER_WINDOW - 1  # the first half fails, so the second is not asked for
    assert ledger == rig.one("SELECT sum(cost_usd) FROM interaction_summaries")
    assert (ledger, calls, 0) == rig.rows("SELECT spent_usd, calls, reserved_usd FROM budgets")[0]
    assert float(ledger) == pytest.approx(sum(report.cost_usd for report in reports))
    subjects = rig.one("SELECT count(*) FROM llm_call_subjects s JOIN interactions i ON i.id = s.subject_id")
    assert subjects == calls


def test_the_model_is_given_the_attachments_of_each_message(rig: SummaryRig) -> None:
    rig.say("c")
    at = OLD + timedelta(minutes=30)
    rig.line("c", "file", "", at, "Anna", attachments=[{"name": "offer.pdf", "type": "application/pdf", "size": 9}])
    rig.load()
    llm = ScriptedLlm(lambda request: good_answer(request.payload))
    rig.summarize(llm)
    (request,) = llm.requests
    attached = {one.external_id: one.attachments for one in request.payload.messages if one.attachments}
    assert attached == {"file": (Attachment("offer.pdf", "application/pdf", 9),)}
    assert [one.text for one in request.payload.messages][-1] == "[file offer.pdf]"
