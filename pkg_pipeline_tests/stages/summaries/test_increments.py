"""P27–P29: new, late, edited and deleted messages of a summarised interaction, through the real import."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pkg_pipeline.memory.summary import increments
from pkg_pipeline.memory.summary.increments import UpdateInput
from pkg_pipeline.offline.llm import OfflineLlm
from pkg_pipeline.stages.ports import LlmRequest
from pkg_pipeline_tests.stages.summaries.summary_rig import NOW, OLD, USUAL, ScriptedLlm, SummaryRig, good_answer
from pkg_pipeline_tests.stages.summaries.test_summaries_publication import CONTRACT, FRIDAY, change, with_items

MINUTE = timedelta(minutes=1)


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[SummaryRig]:
    made = SummaryRig(database_url, tmp_path)
    yield made
    made.close()


def told(rig: SummaryRig, texts: list[str] | tuple[str, ...] = USUAL) -> None:
    rig.say("c", texts)
    rig.load()
    rig.summarize(ScriptedLlm(with_items))


def more(rig: SummaryRig, count: int, *, text: str = "One more thing, number {0}.", sender: str = "Anna") -> None:
    for index in range(count):
        rig.line("c", f"more{index:03}", text.format(index), OLD + timedelta(hours=1, minutes=index), sender)
    rig.load()


def live(rig: SummaryRig, columns: str) -> tuple[Any, ...]:
    [row] = rig.rows(f"SELECT {columns} FROM interaction_summaries WHERE status IN ('completed', 'dirty')")
    return row


def reasons(reports: list[Any]) -> list[str]:
    return [reason for report in reports for reason in report.reasons]


def items(rig: SummaryRig) -> list[tuple[Any, ...]]:
    return rig.rows("SELECT kind, item_id, status FROM summary_items ORDER BY kind")


# new messages, the most an update takes → (method, prompts asked with, reason)
PLANS = [
    (1, 10, "update", "interaction_summary_update", increments.FEW_NEW),
    (10, 10, "update", "interaction_summary_update", increments.FEW_NEW),
    (11, 10, "whole", "interaction_summary", increments.MANY_NEW),
    (1, 0, "whole", "interaction_summary", increments.MANY_NEW),
]


@pytest.mark.parametrize(("count", "most", "method", "task", "reason"), PLANS)
def test_few_new_messages_update_and_many_make_anew(rig: SummaryRig, count, most, method, task, reason) -> None:
    told(rig)
    before = items(rig)
    more(rig, count)
    llm = ScriptedLlm(lambda request: good_answer(request.payload))
    reports = rig.summarize(llm, update_messages=most)
    assert [request.task for request in llm.requests] == [task]
    assert live(rig, "method, message_count, revision_count, schema_version, window_count") == (
        method,
        3 + count,
        2,
        1,
        1,
    )
    assert reasons(reports) == [reason]
    assert sum(report.updated for report in reports) == (method == "update")
    assert items(rig) == before  # what nobody said again keeps its id and is served on
    assert rig.one("SELECT prompt_version FROM llm_calls ORDER BY created_at DESC LIMIT 1") == f"{task}/1"


def test_an_update_reads_the_known_and_a_few_messages_before_the_new_ones(rig: SummaryRig) -> None:
    told(rig, [*USUAL, *(f"Small talk, part {index}." for index in range(20))])
    more(rig, 2)
    llm = ScriptedLlm()
    rig.summarize(llm)
    [asked] = [request.payload for request in llm.requests]
    assert isinstance(asked, UpdateInput)
    assert [m.text for m in asked.source.messages] == [
        *(f"Small talk, part {index}." for index in range(16, 20)),
        "One more thing, number 0.",
        "One more thing, number 1.",
    ]
    assert asked.new_numbers == {5, 6}
    assert list(asked.refs) == ["d1", "a1"]
    assert USUAL[2] not in llm.requests[0].user


def test_an_open_item_is_closed_under_its_id_with_a_quote_of_the_new_message(rig: SummaryRig) -> None:
    told(rig)
    [(action, _), _] = [(row[1], row[2]) for row in items(rig)]
    more(rig, 1, text="The contract is on its way, I sent it today.")

    def close(request: LlmRequest) -> object:
        word = {"id": "a1", "state": "closed", "quote": "I sent it today", "message_ids": [4]}
        return good_answer(request.payload, known=[{"id": "d1", "state": "kept"}, word])

    rig.summarize(ScriptedLlm(close))
    found = rig.rows("SELECT item_id, status, closed_at, message_ids FROM summary_items WHERE kind = 'action_item'")
    assert found == [(action, "closed", OLD.date(), [f"{OLD:%Y%m%d%H%M}-00002", "more000"])]
    [stored] = live(rig, "action_items")[0]
    assert (stored["closed_quote"], stored["closed_by"], stored["quote"]) == (
        "I sent it today", ["more000"], CONTRACT["quote"],
    )  # fmt: skip
    # the message that said so is deleted: the duty is withheld at once, and open again when made anew
    rig.line("c", "more000", "x", OLD + timedelta(hours=1), "Anna", edited_at=NOW.isoformat(), deleted=True)
    rig.load()
    assert rig.rows("SELECT is_withheld FROM summary_items WHERE kind = 'action_item'") == [(True,)]
    rig.summarize()
    assert ("action_item", action, "open") in items(rig)


SILENT = [
    ({"known": []}, "was not answered"),
    (
        {"known": [{"id": "a1", "state": "closed", "quote": "I will send the contract", "message_ids": [3]}]},
        "without a new",
    ),
    ({"known": [{"id": "d1", "state": "closed", "quote": "number 0", "message_ids": [4]}]}, "only action items"),
    ({"known": [{"id": "a9", "state": "kept"}]}, "names no known item"),
    ({"known": [{"id": "a1", "state": "closed", "quote": "never said", "message_ids": [4]}]}, "quote is not in"),
]


@pytest.mark.parametrize(("answer", "why"), SILENT)
def test_an_update_that_forgets_or_closes_without_evidence_loses_nothing(rig: SummaryRig, answer, why) -> None:
    told(rig)
    before = items(rig)
    more(rig, 1)
    rig.summarize(ScriptedLlm(lambda request: good_answer(request.payload, **answer)))
    assert items(rig) == before
    assert any(why in entry["reason"] for entry in live(rig, "quarantined")[0])


def test_when_no_update_passes_it_is_made_anew_in_the_same_attempt(rig: SummaryRig) -> None:
    told(rig)
    more(rig, 1)
    llm = ScriptedLlm(lambda request: "bad" if isinstance(request.payload, UpdateInput) else with_items(request))
    reports = rig.summarize(llm)
    assert [request.task for request in llm.requests] == ["interaction_summary_update"] * 2 + ["interaction_summary"]
    assert live(rig, "method, status") == ("whole", "completed")
    assert reasons(reports) == [increments.NOT_PASSED]


def test_an_edit_makes_anew_and_what_rests_on_other_messages_keeps_its_id(rig: SummaryRig) -> None:
    told(rig)
    before = {kind: key for kind, key, _ in items(rig)}
    change(rig, 0, "Good day, shall we meet on Friday?")
    rig.load()
    reports = rig.summarize(ScriptedLlm(lambda request: good_answer(request.payload)))  # says no item again
    assert {kind: key for kind, key, _ in items(rig)} == before
    assert [item["is_carried"] for item in live(rig, "decisions || action_items")[0]] == [True, True]
    assert (reasons(reports), sum(r.carried for r in reports), sum(r.lost for r in reports)) == (
        [increments.CHANGED],
        2,
        0,
    )
    change(rig, 1, "No, let us meet on Monday.")
    rig.load()
    reports = rig.summarize(ScriptedLlm(lambda request: good_answer(request.payload)))
    assert [kind for kind, _, _ in items(rig)] == ["action_item"]
    [lost] = [entry for entry in live(rig, "quarantined")[0] if entry["part"].startswith("known")]
    assert lost == {"part": f"known decision {before['decision']}", "reason": "rests on a message that was edited"}
    assert sum(report.lost for report in reports) == 2  # and the important message that it was


def test_edits_there_and_back_make_a_chain_and_keep_ids(rig: SummaryRig) -> None:
    """A → B → A → B: five calls' worth of states, no cycle; the decision's id comes back with its text."""
    told(rig)
    decision = {kind: key for kind, key, _ in items(rig)}["decision"]
    for version, text in enumerate(["No, on Monday.", USUAL[1], "No, on Monday."], start=1):
        edited = (NOW + version * timedelta(days=1)).isoformat()
        rig.line("c", f"{OLD:%Y%m%d%H%M}-00001", text, OLD + MINUTE, "Me", edited_at=edited)
        rig.load()
        rig.summarize(ScriptedLlm(with_items))
        assert (("decision", decision, None) in items(rig)) == (text == USUAL[1])
    chain = rig.rows("SELECT id, parent_summary_id, status FROM interaction_summaries ORDER BY revision_count")
    assert [row[2] for row in chain] == ["superseded"] * 3 + ["completed"]
    assert [row[1] for row in chain] == [None, *(row[0] for row in chain[:-1])]
    assert len({row[0] for row in chain}) == 4


def test_a_late_message_in_the_middle_is_an_update_too(rig: SummaryRig) -> None:
    told(rig)
    rig.line("c", "late", "By the way, the café closes at ten.", OLD + 1.5 * MINUTE, "Anna")
    rig.load()
    assert rig.partitions.due("interaction_summaries", now=NOW)
    llm = ScriptedLlm()
    rig.summarize(llm)
    assert [m.external_id for m in llm.requests[0].payload.source.messages][-1] == "late"
    assert live(rig, "method, message_count") == ("update", 4)
    assert rig.summarize(again := ScriptedLlm()) is not None
    assert again.requests == []


def test_an_update_is_replayed_and_not_paid_twice(rig: SummaryRig) -> None:
    """Killed between the ledger and the publication."""
    told(rig)
    more(rig, 1)
    llm = ScriptedLlm()

    class Killed(Exception):
        pass

    class Dying:
        def __getattr__(self, name: str) -> Any:
            if name == "publish":
                raise Killed
            return getattr(rig.store, name)

    with pytest.raises(Killed):
        rig.summarize(llm, store=Dying())
    rig.leases_ran_out()
    rig.summarize(llm)
    assert len(llm.requests) == 1
    assert live(rig, "method, cost_usd > 0") == ("update", True)
    assert rig.one("SELECT sum(cost_usd) FROM llm_calls") == rig.one("SELECT sum(cost_usd) FROM interaction_summaries")


def test_a_dirty_summary_below_the_minimum_is_let_go_and_nothing_pends(rig: SummaryRig) -> None:
    """Two messages are left of three: no new summary, nothing that rests on the deleted one, what stands is served."""
    told(rig)
    change(rig, 1, USUAL[1], deleted=True)
    rig.load()
    assert live(rig, "status, dirty_reason") == ("dirty", "deleted")
    llm = ScriptedLlm()
    reports = rig.summarize(llm)
    assert llm.requests == []
    assert rig.rows("SELECT status FROM interaction_summaries") == [("superseded",)]
    assert [(kind, status) for kind, _, status in items(rig)] == [("action_item", "open")]
    assert sum(report.pending for report in reports) == 0
    assert rig.partitions.due("interaction_summaries", now=NOW) == []
    [lost] = [e for e in rig.one("SELECT quarantined FROM interaction_summaries") if e["part"].startswith("known")]
    assert lost["reason"] == "rests on a message that is gone"
    # enough is said again: the item that was served on is known to the next summary
    more(rig, 2)
    kept = items(rig)
    rig.summarize(llm)
    assert live(rig, "status, message_count") == ("completed", 4)
    assert items(rig) == kept


OFFLINE = [
    (
        "Could you send me the contract by Friday?",
        "Sure, I will send you the contract tomorrow.",
        "I sent you the contract just now.",
    ),
    ("Пришли, пожалуйста, договор до пятницы.", "Хорошо, пришлю договор завтра.", "Готово, договор отправил."),
    ("请你明天把合同发给我，可以吗？", "好的，我明天把合同发给你。", "合同已经发给你了。"),
]


@pytest.mark.parametrize("texts", OFFLINE)
def test_offline_an_open_item_is_closed_by_a_later_message(rig: SummaryRig, texts) -> None:
    rig.say("c", [texts[0], texts[1], texts[0][:1] + "." * 3])
    rig.load()
    rig.summarize(OfflineLlm())
    before = rig.rows("SELECT item_id, status FROM summary_items WHERE kind = 'action_item'")
    assert [status for _, status in before] == ["open"]
    rig.line("c", "late", texts[2], OLD + timedelta(hours=1), "Me")
    rig.load()
    rig.summarize(OfflineLlm())
    assert live(rig, "method")[0] == "update"
    assert rig.rows("SELECT item_id, status FROM summary_items WHERE kind = 'action_item'") == [
        (before[0][0], "closed")
    ]


def test_a_joined_interactions_items_are_known_to_its_heir(rig: SummaryRig) -> None:
    """Two talks far apart; a late message joins them. Nothing that either knew is lost."""
    told(rig)
    later = OLD + timedelta(hours=7)
    rig.say("c", ["Hello again my friend.", "Agreed: dinner on Sunday at eight.", "Very good, see you."], at=later)
    rig.load()
    dinner = {**FRIDAY, "description": "Dinner on Sunday", "quote": "dinner on Sunday at eight", "message_ids": [2]}
    rig.summarize(ScriptedLlm(lambda request: good_answer(request.payload, decisions=[dinner])))
    before = {row[1] for row in items(rig)}
    assert len(before) == 3
    rig.line("c", "between", "Are you there?", OLD + timedelta(hours=3, minutes=30), "Anna")
    rig.load()
    rig.summarize(ScriptedLlm())
    assert live(rig, "message_count") == (7,)
    assert {row[1] for row in items(rig)} == before
