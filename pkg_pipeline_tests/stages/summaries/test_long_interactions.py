"""P18: a long interaction is read in windows and pages, told as one, and survives a kill; memory stays bounded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pkg_pipeline.memory.summary.increments import FEW_NEW
from pkg_pipeline.memory.summary.merging import MERGED_AT_ONCE, MergeInput
from pkg_pipeline.memory.text.normalise import sentences, word_count
from pkg_pipeline.stages.ports import LlmRequest
from pkg_pipeline_tests import forks
from pkg_pipeline_tests.stages.summaries.long_worker import USD_PER_CALL, paid
from pkg_pipeline_tests.stages.summaries.summary_rig import OLD, ScriptedLlm, SummaryRig, good_answer

COUNT = 3_000
"""Six windows, and more than a claim brings along."""

MOST_GROWTH_MB = 80
"""Generous; what a hundred thousand messages take is measured by ``benchmarks/long_interaction.py``."""

TEXTS = (
    "Shelf {0} was counted today and costs {0} EUR.",
    "Good, then we agreed on shelf {0} and pay by Friday.",
    "I will send you the list of shelf {0} tomorrow.",
    "Thanks, that helps.",
)


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[SummaryRig]:
    made = SummaryRig(database_url, tmp_path)
    yield made
    made.close()


def fill(rig: SummaryRig, count: int = COUNT) -> None:
    rig.say("c", [TEXTS[index % 4].format(index) for index in range(count)], minutes=0.05)
    rig.load()


def worker(rig: SummaryRig, *options: str) -> forks.Ended:
    return forks.run("pkg_pipeline_tests.stages.summaries.long_worker", rig.url, str(rig.folder / "w"), *options)


def row(rig: SummaryRig, columns: str) -> tuple[Any, ...]:
    [found] = rig.rows(f"SELECT {columns} FROM interaction_summaries WHERE status = 'completed'")
    return found


@pytest.mark.parametrize("model", ["offline", "paid"])
def test_a_long_interaction_is_summarised_in_bounded_memory_and_says_what_it_cost(rig: SummaryRig, model: str) -> None:
    fill(rig)
    done = worker(rig, model)
    assert done.code == 0, done.err
    took = json.loads(done.out)
    assert (took["summarized"], took["longest"]) == (1, 500)
    assert took["asked"] == {"interaction_summary": 6, "interaction_summary_merge": 1}
    assert took["growth_mb"] < MOST_GROWTH_MB
    count, windows, method, cost, summary = row(rig, "message_count, window_count, method, cost_usd, summary")
    assert (count, windows, method) == (COUNT, 6, "windows")
    assert float(cost) == pytest.approx(7 * USD_PER_CALL if model == "paid" else 0.0)
    assert word_count(summary) <= 200
    assert 1 <= len(sentences(summary)) <= 4
    ids = row(rig, "message_ids")[0]
    assert ids == [f"{OLD:%Y%m%d%H%M}-{index:05}" for index in range(COUNT)]


def test_a_killed_run_goes_on_with_the_windows_it_has_paid_for(rig: SummaryRig) -> None:
    """SIGKILL while the fifth window is asked about: four are in the ledger, two and the merge are asked for."""
    fill(rig)
    assert worker(rig, "paid", "die:5").code == -9
    assert rig.one("SELECT count(*) FROM llm_calls") == 4
    rig.leases_ran_out()
    done = worker(rig, "paid")
    assert json.loads(done.out)["asked"] == {"interaction_summary": 2, "interaction_summary_merge": 1}
    calls, hashes, billed = rig.rows("SELECT count(*), count(DISTINCT request_hash), sum(cost_usd) FROM llm_calls")[0]
    assert (calls, hashes) == (7, 7)
    assert row(rig, "cost_usd, window_count") == (billed, 6)


def test_few_new_messages_in_a_long_interaction_are_one_short_question(rig: SummaryRig) -> None:
    fill(rig, 2_400)
    rig.summarize(ScriptedLlm(paid))
    for index in range(3):
        rig.line("c", f"z{index}", f"And shelf number {index} too.", OLD + timedelta(hours=5, minutes=index), "Anna")
    rig.load()
    llm = ScriptedLlm(paid)
    reports = rig.summarize(llm)
    [request] = llm.requests
    assert [message.external_id for message in request.payload.source.messages][-3:] == ["z0", "z1", "z2"]
    assert len(request.payload.source.messages) == 7
    assert [reason for report in reports for reason in report.reasons] == [FEW_NEW]
    assert row(rig, "method, message_count") == ("update", 2_403)
    rig.summarize(again := ScriptedLlm(paid))
    assert again.requests == []


def test_an_edit_in_a_long_interaction_pays_for_its_window_only(rig: SummaryRig) -> None:
    fill(rig, 2_400)
    rig.summarize(ScriptedLlm(paid))
    at = OLD + timedelta(minutes=0.05 * 700)
    rig.line("c", f"{OLD:%Y%m%d%H%M}-00700", "It was shelf 7 after all.", at, "Anna", edited_at="2026-03-01T00:00:00Z")
    rig.load()
    llm = ScriptedLlm(paid)
    rig.summarize(llm)
    assert [request.task for request in llm.requests] == ["interaction_summary", "interaction_summary_merge"][
        : len(llm.requests)
    ]


def test_very_many_windows_are_told_in_steps_and_by_rule_where_no_answer_passes(rig: SummaryRig) -> None:
    """45 windows: three questions over fifteen each, one over those three; a bad answer leaves the rule's text."""
    fill(rig, 450)
    llm = ScriptedLlm(paid)
    rig.summarize(llm, window_messages=10)
    merges = [request.payload for request in llm.requests if isinstance(request.payload, MergeInput)]
    assert [len(merge.parts) for merge in merges] == [15, 15, 15, 3]
    assert all(len(merge.parts) <= MERGED_AT_ONCE for merge in merges)
    rig.line("c", "late", "And one more.", OLD + timedelta(hours=2), "Anna")
    rig.load()

    def bad_merge(request: LlmRequest) -> object:
        return "bad" if isinstance(request.payload, MergeInput) else good_answer(request.payload)

    rig.summarize(ScriptedLlm(bad_merge, model="scripted-2"), window_messages=10)
    summary, quarantined, windows = row(rig, "summary, quarantined, window_count")
    assert len(sentences(summary)) == 4
    assert any("put together by rule" in entry["reason"] for entry in quarantined)
    assert windows == 46
