"""stats and queue as real processes, on a small memory of which one conversation is summarised, offline."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from pkg_pipeline import wiring
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline_tests.cli.processes import NOW, Program, dialogue, line, written

QUEUE = {"waiting", "active", "failed", "profiles", "partitions", "backfills", "batches", "stopped", "lists"}


@pytest.fixture
def counted(given: Program) -> Program:
    """One summarised conversation and a younger one that waits; every day counted by the runs themselves."""
    folder = given.home.parent / "exports"
    written(folder / "one.jsonl", dialogue())
    written(folder / "two.jsonl", [
        line(number, ("Olga Smirnova", "Me")[number % 2], f"words {number}", chat="c2", day=2, is_self=number % 2 == 1)
        for number in range(4)
    ])  # fmt: skip
    given.ok("import", folder)
    settings = Settings.model_validate(
        {"home": Path(given.home), "database_url": given.variables["DATABASE_URL"], "now": NOW, "llm": "offline"}
    )
    with wiring.open_memory(settings) as memory:
        memory.build_interactions()
        memory.summarize((date(2025, 1, 1), date(2025, 1, 1)), Billing("backfill"))
        assert memory.monitoring.recount() == 0, "the runs counted what they changed"
    return given


def test_stats_and_queue_speak_to_programs_and_to_people(counted: Program) -> None:
    stats = counted.ok("stats", "--json").json
    assert stats["total_interactions"] == 2
    assert stats["eligible_interactions"] == (
        stats["summarized_interactions"] + stats["pending_in_queue"] + stats["failed_interactions"]
    )
    assert stats["summarized_interactions"] >= 1
    assert stats["stale_summaries"] == 0
    assert stats["days_behind"] == 0
    assert [lane["lane"] for lane in stats["budget"]] == ["live", "backfill"]
    nothing = {"served": 0, "tokens": 0, "hypothetical_tokens": 0, "saved_share": None}
    assert stats["served"] == {"days": 30, "contexts": nothing, "windows": nothing}
    assert "summarised" in counted.ok("stats").out
    queue = counted.ok("queue", "--json").json
    assert set(queue) == QUEUE
    assert queue["waiting"] == len(queue["lists"]["waiting"]["items"]) == stats["pending_in_queue"]
    page = counted.ok("queue", "--state", "failed", "--json").json
    assert page == {"items": [], "next": None}
    assert "waiting" in counted.ok("queue").out


def test_what_contexts_saved_is_told(counted: Program) -> None:
    (person,) = [one for one in counted.ok("entities", "--json").json["items"] if one["name"] == "Olga Petrova"]
    answers = [counted.ok("context", person["id"], "--json").json for _ in range(2)]
    found = counted.ok("stats", "--json").json["served"]["contexts"]
    assert (found["served"], found["tokens"]) == (2, sum(one["tokens"] for one in answers))
    whole = sum(max(one["tokens"], one["hypothetical_tokens"]) for one in answers)
    assert found["hypothetical_tokens"] == whole
    assert found["saved_share"] == pytest.approx(1 - found["tokens"] / whole, abs=1e-4)
    assert f"2 in 30 days, {found['tokens']:,} tokens for" in counted.ok("stats", COLUMNS="160").out


def test_wrong_usage_is_told(counted: Program) -> None:
    for arguments in (("--state", "lost"), ("--cursor", "x"), ("--state", "failed", "--cursor", "x")):
        assert counted("queue", *arguments).code == 2, arguments
