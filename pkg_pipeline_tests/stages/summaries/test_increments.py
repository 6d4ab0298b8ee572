"""P27–P29: new, late, edited and deleted messages of a summarised interaction, through the real import."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pkg_pipeline.memory.summary import increments
from pkg_pipeline.memory.summary.increments import UpdateInput
from pkg_pipeline.prompts import summary, summary_update
from pkg_pipeline_tests.stages.summaries.summary_rig import NOW, OLD, USUAL, ScriptedLlm, SummaryRig, good_answer
from pkg_pipeline_tests.stages.summaries.test_summaries_publication import change

MINUTE = timedelta(minutes=1)


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[SummaryRig]:
    made = SummaryRig(database_url, tmp_path)
    yield made
    made.close()


def told(rig: SummaryRig, texts: list[str] | tuple[str, ...] = USUAL) -> None:
    rig.say("c", texts)
    rig.load()
    rig.summarize(ScriptedLlm())


def more(rig: SummaryRig, count: int, *, text: str = "One more thing, number {0}.", sender: str = "Anna") -> None:
    for index in range(count):
        rig.line("c", f"more{index:03}", text.format(index), OLD + timedelta(hours=1, minutes=index), sender)
    rig.load()


def live(rig: SummaryRig, columns: str) -> tuple[Any, ...]:
    [row] = rig.rows(f"SELECT {columns} FROM interaction_summaries WHERE status IN ('completed', 'dirty')")
    return row


def reasons(reports: list[Any]) -> list[str]:
    return [reason for report in reports for reason in report.reasons]


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
    versions = {"interaction_summary": summary.VERSION, "interaction_summary_update": summary_update.VERSION}
    more(rig, count)
    llm = ScriptedLlm(lambda request: good_answer(request.payload))
    reports = rig.summarize(llm, update_messages=most)
    assert [request.task for request in llm.requests] == [task]
    assert live(rig, "method, message_count, revision_count, schema_version, window_count") == (
        method,
        3 + count,
        2,
        2,
        1,
    )
    assert reasons(reports) == [reason]
    assert sum(report.updated for report in reports) == (method == "update")
    assert rig.one("SELECT prompt_version FROM llm_calls ORDER BY created_at DESC LIMIT 1") == versions[task]


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
    assert USUAL[2] not in llm.requests[0].user


def test_when_no_update_passes_it_is_made_anew_in_the_same_attempt(rig: SummaryRig) -> None:
    told(rig)
    more(rig, 1)
    llm = ScriptedLlm(
        lambda request: "bad" if isinstance(request.payload, UpdateInput) else good_answer(request.payload)
    )
    reports = rig.summarize(llm)
    assert [request.task for request in llm.requests] == ["interaction_summary_update"] * 2 + ["interaction_summary"]
    assert live(rig, "method, status") == ("whole", "completed")
    assert reasons(reports) == [increments.NOT_PASSED]


def test_an_edit_makes_anew(rig: SummaryRig) -> None:
    told(rig)
    change(rig, 0, "Good day, shall we meet on Friday?")
    rig.load()
    reports = rig.summarize(ScriptedLlm())
    assert reasons(reports) == [increments.CHANGED]
    assert live(rig, "method, status, revision_count") == ("whole", "completed", 2)


def test_edits_there_and_back_make_a_chain(rig: SummaryRig) -> None:
    """A → B → A → B: five calls' worth of states, no cycle."""
    told(rig)
    for version, text in enumerate(["No, on Monday.", USUAL[1], "No, on Monday."], start=1):
        edited = (NOW + version * timedelta(days=1)).isoformat()
        rig.line("c", f"{OLD:%Y%m%d%H%M}-00001", text, OLD + MINUTE, "Me", edited_at=edited)
        rig.load()
        rig.summarize(ScriptedLlm())
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
    """Two messages are left of three: no new summary, and the old one is not served."""
    told(rig)
    change(rig, 1, USUAL[1], deleted=True)
    rig.load()
    assert live(rig, "status, dirty_reason") == ("dirty", "deleted")
    llm = ScriptedLlm()
    reports = rig.summarize(llm)
    assert llm.requests == []
    assert rig.rows("SELECT status FROM interaction_summaries") == [("superseded",)]
    assert sum(report.pending for report in reports) == 0
    assert rig.partitions.due("interaction_summaries", now=NOW) == []
    # enough is said again
    more(rig, 2)
    rig.summarize(llm)
    assert live(rig, "status, message_count") == ("completed", 4)
