"""P11, P12: which interactions are summarised, and when; what a run leaves behind."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from pkg_pipeline.stages.ports import LlmRejected
from pkg_pipeline_tests.stages.summaries.summary_rig import (
    NOW,
    OLD,
    PARAMS,
    USUAL,
    ScriptedLlm,
    SummaryRig,
    good_answer,
)

DAY = timedelta(days=1)
GAP = timedelta(hours=6)


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[SummaryRig]:
    made = SummaryRig(database_url, tmp_path)
    yield made
    made.close()


# last message before NOW, messages, chat fields, minimum age in days → summarised?
ELIGIBILITY = [
    ("old enough", timedelta(days=8), 3, {}, 7, True),
    ("due exactly at its end plus the minimum age", timedelta(days=7), 3, {}, 7, True),
    ("a microsecond too young", timedelta(days=7) - timedelta(microseconds=1), 3, {}, 7, False),
    ("two messages are no interaction to speak of", timedelta(days=8), 2, {}, 7, False),
    ("mass chats never", timedelta(days=8), 3, {"chat_category": "mass"}, 7, False),
    ("channels are mass", timedelta(days=8), 3, {"chat_kind": "channel"}, 7, False),
    ("work chats do", timedelta(days=8), 3, {"chat_category": "work"}, 7, True),
    ("age 0: on completion, silence longer than the gap", GAP + timedelta(microseconds=1), 3, {}, 0, True),
    ("age 0: silence of exactly the gap is not complete", GAP, 3, {}, 0, False),
    ("age 0: still going on", timedelta(hours=1), 3, {}, 0, False),
]


@pytest.mark.parametrize(
    ("ended_ago", "count", "fields", "age_days", "expected"),
    [row[1:] for row in ELIGIBILITY],
    ids=[row[0] for row in ELIGIBILITY],
)
def test_eligibility(rig: SummaryRig, ended_ago, count, fields, age_days, expected) -> None:
    start = NOW - ended_ago - timedelta(minutes=count - 1)
    rig.say("c", USUAL[:count], at=start, **fields)
    rig.load()
    due_after = max(age_days * 86_400, PARAMS["gap_seconds"])
    rig.summarize(days=(start.date(), start.date()), due_after_seconds=due_after)
    assert (rig.status_of("c") == ["completed"]) is expected


def test_what_is_too_young_makes_its_day_due_by_time_alone(rig: SummaryRig) -> None:
    start = NOW - timedelta(days=6)
    rig.say("c", at=start)
    rig.load()
    [report] = rig.summarize(days=(start.date(), start.date()))
    assert (report.summarized, report.pending) == (0, 1)
    ends = start + timedelta(minutes=2)
    assert rig.partitions.due("interaction_summaries", now=ends + 7 * DAY - timedelta(microseconds=1)) == []
    [due] = rig.partitions.due("interaction_summaries", now=ends + 7 * DAY)
    assert due.key == start.date().isoformat()


def test_oldest_first_but_those_never_tried_before_those_tried(rig: SummaryRig) -> None:
    """A retry of an old poisoned interaction must not take the day's budget from the others."""
    for index in range(4):
        rig.say(f"c{index}", [f"topic{index} {text}" for text in USUAL], at=OLD + index * DAY)
    rig.load()
    poison = ScriptedLlm(lambda request: LlmRejected("no"))
    rig.summarize(poison, days=(OLD.date(), OLD.date()))
    rig.retries_are_due()
    llm = ScriptedLlm()
    rig.summarize(llm)
    order = [next(index for index in range(4) if f"topic{index}" in request.user) for request in llm.requests]
    assert order == [1, 2, 3, 0]


def test_a_second_run_changes_no_row_and_makes_no_call(rig: SummaryRig) -> None:
    for index in range(5):
        rig.say(f"c{index}", at=OLD + index * DAY)
    rig.say("young", at=NOW - 2 * DAY)
    rig.load()
    rig.summarize()

    def rows() -> list[tuple[str, ...]]:
        tables = (
            "interaction_summaries",
            "llm_calls",
            "budgets",
            "leases",
            "interactions",
        )
        return [row for table in tables for row in rig.rows(f"SELECT '{table}', ctid::text, xmin::text FROM {table}")]

    states = rig.rows("SELECT partition_key, pending, ctid::text FROM partition_states WHERE pending = 0 ORDER BY 1")
    before, again = rows(), ScriptedLlm()
    reports = rig.summarize(again)
    assert again.requests == []
    assert sum(report.summarized for report in reports) == 0
    assert rows() == before
    assert states == rig.rows(
        "SELECT partition_key, pending, ctid::text FROM partition_states WHERE pending = 0 ORDER BY 1"
    )


def test_empty_days_are_not_written_to(rig: SummaryRig) -> None:
    rig.say("c")
    rig.load()
    reports = rig.summarize(days=(date(2001, 1, 1), date(2026, 3, 15)))
    assert len(reports) == (date(2026, 3, 15) - date(2001, 1, 1)).days + 1
    assert rig.one("SELECT count(*) FROM partition_states") == 1


def test_a_mark_that_arrives_while_its_day_is_worked_on_stays(rig: SummaryRig) -> None:
    rig.say("c")
    rig.load()

    def answer(request):
        if not rig.rows("SELECT 1 FROM dirty_partitions WHERE reason = 'meanwhile'"):
            rig.run(
                "INSERT INTO dirty_partitions (asset, partition_key, reason)"
                " VALUES ('interaction_summaries', %s, 'meanwhile')",
                OLD.date().isoformat(),
            )
        return good_answer(request.payload)

    rig.summarize(ScriptedLlm(answer))
    assert rig.rows("SELECT reason FROM dirty_partitions WHERE asset = 'interaction_summaries'") == [("meanwhile",)]
    [due] = rig.partitions.due("interaction_summaries", now=NOW)
    assert (due.key, due.attempt) == (OLD.date().isoformat(), 2)
    rig.summarize()
    assert rig.partitions.due("interaction_summaries", now=NOW) == []


def test_an_interaction_whose_chat_was_not_looked_at_again_waits_and_nothing_spins(rig: SummaryRig) -> None:
    """An edit that came in after the interactions were built: summarised now, it would be dirty from birth for ever."""
    rig.say("c")
    rig.load()
    rig.summarize()
    rig.line(
        "c", f"{OLD:%Y%m%d%H%M}-00001", "No, on Monday.", OLD + timedelta(minutes=1), "Me", edited_at=NOW.isoformat()
    )
    rig.take_in()
    llm = ScriptedLlm()
    report = next(report for report in rig.summarize(llm) if report.day == OLD.date())
    assert (llm.requests, report.pending, rig.status_of("c")) == ([], 1, ["dirty"])
    assert rig.partitions.due("interaction_summaries", now=NOW) == []  # not before the chat had its minute
    rig.memory.build_interactions()
    rig.summarize(llm)
    assert (len(llm.requests), rig.status_of("c")) == (1, ["superseded", "completed"])
