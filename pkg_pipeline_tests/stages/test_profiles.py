"""Profiles over a real database: what a row holds, what it costs, and that a week says the same whenever it is built."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from pkg_pipeline.stages.ports import LlmUnavailable
from pkg_pipeline_tests.stages.profile_rig import CHAT, DEAL, FIRST, NOW, WEEK, ProfileRig, good_profile, profile_llm

LATER = WEEK + timedelta(days=7)


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[ProfileRig]:
    made = ProfileRig(database_url, tmp_path)
    yield made
    made.close()


def test_a_row_holds_what_is_counted_and_what_is_worded(rig: ProfileRig) -> None:
    rig.meet("Anna", [0, 30, 60])
    rig.meet("Anna", [90], DEAL)
    rig.settle()
    [report] = rig.build()
    row = rig.profile("Anna")
    assert (report.persons, report.profiled, report.calls, report.pending) == (1, 1, 1, 0)
    assert (row["total_interactions"], row["total_messages"], row["summarized_interactions"]) == (4, 12, 4)
    assert (row["frequency"], row["mean_gap_days"], row["coverage"]) == ("monthly", 30, 1)
    assert row["first_interaction_at"].startswith("2026-03-03")
    assert row["last_meaningful_contact_at"].startswith("2026-06-01")  # a decision and an open item
    assert [made["description"] for made in row["key_decisions"]] == ["They order 12 shelves for 300 EUR"]
    assert [item["description"] for item in row["open_action_items"]] == ["Send the contract by Friday"]
    assert row["key_decisions"][0]["interaction_id"] == row["open_action_items"][0]["interaction_id"]
    assert row["open_action_items"][0]["since"] == "2026-06-01"
    assert (row["relationship_type"], row["milestones"][0]["day"]) == ("friend", "2026-03-03")
    assert (row["is_carried_over"], row["status"]) == (False, "completed")
    assert row["cost_usd"] == pytest.approx(0.001)
    assert report.compression_ratio == round(row["source_token_count"] / row["summary_token_count"], 2)


def test_only_persons_met_long_enough_ago_and_summarised_have_one(rig: ProfileRig) -> None:
    rig.meet("Old", [0])
    rig.meet("Young", [21])
    rig.say("short", CHAT[:2], at=FIRST, senders=("Short", "Me"))
    rig.settle()
    rig.build()
    assert [
        name
        for (name,) in rig.rows(
            "SELECT e.name FROM entity_relationship_profiles p JOIN entities e ON e.id = p.entity_id"
        )
    ] == ["Old"]


def test_running_it_again_calls_nobody_and_writes_nothing(rig: ProfileRig) -> None:
    rig.meet("Anna", [0, 40])
    rig.meet("Bob", [1])
    rig.settle()
    rig.build()
    before = (rig.profile_digest(), rig.rows("SELECT ctid, xmin FROM entity_relationship_profiles"))
    states = rig.rows("SELECT ctid, xmin FROM partition_states")
    llm = profile_llm()
    [again] = rig.build(llm)
    assert (llm.requests, again.unchanged, again.profiled, again.cost_usd) == ([], 2, 0, 0.0)
    assert (rig.profile_digest(), rig.rows("SELECT ctid, xmin FROM entity_relationship_profiles")) == before
    assert rig.rows("SELECT ctid, xmin FROM partition_states") == states
