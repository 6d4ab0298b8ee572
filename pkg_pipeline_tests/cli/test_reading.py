"""entities, summaries and context as real processes: the shapes that INTERFACES promises, and every refusal."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from pkg_pipeline import wiring
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline_tests.cli.processes import NOW, Program, dialogue, line, written

TIERS = ["permanent", "hot", "warm", "cold"]
CONTEXT = {
    "receipt_id", "entity", "as_of", "text", "tokens", "max_tokens", "hypothetical_tokens", "tiers", "left_out",
    "brief", "brief_parts",
}  # fmt: skip
SUMMARY = {
    "id", "interaction_id", "chat", "started_at", "ended_at", "status", "revision", "summary", "key_points", "tone",
    "decisions", "action_items", "extracted_facts", "important_messages", "model_version", "cost_usd",
}  # fmt: skip
DECISION = {"id", "description", "date", "importance", "quote", "message_ids"}
ACTION = {"id", "description", "owner", "status", "due_date", "closed_at", "quote", "message_ids"}


@pytest.fixture
def told(given: Program) -> Program:
    """Two Olgas and one Wei; the first Olga's conversation is summarised, offline."""
    folder = given.home.parent / "exports"
    written(folder / "one.jsonl", dialogue())
    written(folder / "two.jsonl", [
        line(1, "Olga Smirnova", "Are you there?", chat="c2"),
        line(2, "Me", "Yes, tomorrow at 3 pm.", chat="c2", is_self=True),
        line(3, "Wei Chen", "See you at the office then", chat="c3"),
    ])  # fmt: skip
    given.ok("import", folder)
    settings = Settings.model_validate(
        {"home": Path(given.home), "database_url": given.variables["DATABASE_URL"], "now": NOW, "llm": "offline"}
    )
    with wiring.open_memory(settings) as memory:
        memory.items.run(Billing("backfill"))
        memory.summarize((date(2025, 1, 1), date(2025, 1, 1)), Billing("backfill"))
    return given


def test_entities_by_page_and_by_name(told: Program) -> None:
    everyone = told.ok("entities", "--json").json
    assert set(everyone) == {"items", "next"}
    assert [one["name"] for one in everyone["items"]] == ["Me", "Olga Petrova", "Olga Smirnova", "Wei Chen"]
    assert everyone["next"] is None
    assert [one["name"] for one in told.ok("entities", "olga", "--json").json["items"]] == [
        "Olga Petrova", "Olga Smirnova",
    ]  # fmt: skip
    first = told.ok("entities", "--limit", "3", "--json").json
    rest = told.ok("entities", "--limit", "3", "--cursor", first["next"], "--json").json
    assert [one["name"] for one in rest["items"]] == ["Wei Chen"]
    assert rest["next"] is None
    told("entities", "--cursor", "rubbish").refused("--cursor")
    shown = told.ok("entities").out
    assert "Me (you)" in shown
    assert "jsonl:wei.chen" in shown


def test_summaries_have_the_promised_shape_and_can_be_narrowed(told: Program) -> None:
    found = told.ok("summaries", "--json").json
    assert set(found) == {"items", "next"}
    (summary,) = found["items"]
    assert set(summary) >= SUMMARY
    assert summary["chat"] == "jsonl:c1"
    assert summary["status"] == "completed"
    assert summary["decisions"], "the offline reader finds the agreed price"
    assert all(set(one) >= DECISION for one in summary["decisions"])
    assert all(set(one) >= ACTION for one in summary["action_items"])
    ids = {identity for one in summary["decisions"] for identity in one["message_ids"]}
    assert ids <= {f"jsonl:c1/c1-{number}" for number in range(1, 7)}
    for options, count in (
        (("--entity", "Olga Petrova"), 1),
        (("--entity", "Wei Chen"), 0),
        (("--chat", "jsonl:c1"), 1),
        (("--chat", "jsonl:c2"), 0),
        (("--from", "2025-01-01", "--to", "2025-01-01"), 1),
        (("--from", "2025-01-02"), 0),
        (("--to", "2024-12-31"), 0),
        (("--status", "completed"), 1),
        (("--status", "quarantined"), 0),
    ):
        assert len(told.ok("summaries", *options, "--json").json["items"]) == count, options
    assert "1 summary" in told.ok("summaries").out
    told("summaries", "--status", "lost").refused("--status", "completed")
    told("summaries", "--from", "yesterday").refused("--from", "2026-03-15")
    told("summaries", "--chat", "nocolon").refused("--chat")
    told("summaries", "--entity", "Olga").failed("Olga Petrova", "Olga Smirnova")


def test_context_has_the_promised_shape_and_keeps_its_budget(told: Program) -> None:
    found = told.ok("context", "Olga Petrova", "--json").json
    assert set(found) >= CONTEXT
    assert set(found["entity"]) == {"id", "name", "type"}
    assert found["tokens"] <= found["max_tokens"] == 4000
    assert [tier["tier"] for tier in found["tiers"]][: len(TIERS)] == TIERS
    for tier in found["tiers"]:
        for item in tier["items"]:
            assert set(item) >= {"kind", "id", "text", "at", "message_ids"}
            assert item["text"] in found["text"]
    assert found["hypothetical_tokens"] > 0
    assert found["text"] in told.ok("context", found["entity"]["id"]).out
    smallest = told.ok("context", "Olga Petrova", "--max-tokens", "1", "--json").json
    assert smallest["tokens"] <= smallest["max_tokens"] == 1
    assert smallest["left_out"]
    told("context", "Olga Petrova", "--max-tokens", "0").refused("--max-tokens")


def test_context_of_another_moment(told: Program) -> None:
    before = told.ok("context", "Olga Petrova", "--as-of", "2024-12-31", "--json").json
    assert before["tiers"] == [] or not any(tier["items"] for tier in before["tiers"] if tier["tier"] != "permanent")
    during = told.ok("context", "Olga Petrova", "--as-of", "2025-01-01T10:03:30+00:00", "--json").json
    assert datetime.fromisoformat(during["as_of"]) == datetime(2025, 1, 1, 10, 3, 30, tzinfo=UTC)
    assert "contract by Friday" in during["text"]
    assert "deposit" not in during["text"]
    whole_day = told.ok("context", "Olga Petrova", "--as-of", "2025-01-01", "--json").json
    assert datetime.fromisoformat(whole_day["as_of"]) == datetime(2025, 1, 1, 23, 59, 59, 999_999, tzinfo=UTC)
    assert "contract by Friday" in whole_day["text"], "a day means its end, as over HTTP"
    told("context", "Olga Petrova", "--as-of", "soon").refused("--as-of")


def test_names_that_fit_several_or_nobody(told: Program) -> None:
    line = told("context", "olga", "--json").failed("Olga Petrova", "Olga Smirnova", "ids")
    assert told("context", "olga", "--json").json == {"error": line.removeprefix("error: ")}
    told("context", "Wei Chn").failed("nobody", "did you mean Wei Chen (jsonl:", "last contact 2025-")
    told("context", "00000000-0000-0000-0000-000000000000").failed("nobody")


def test_control_characters_of_a_conversation_do_not_reach_the_terminal(given: Program) -> None:
    name = "Eve \x1b]0;owned\x07[red]"
    file = written(given.home.parent / "e.jsonl", [line(1, name, "\x1b[2Jgone [/nothing]", is_self=False)])
    given.ok("import", file, "--self", "none")
    shown = given.ok("entities").out + given.ok("context", name).out
    assert "\x1b" not in shown
    assert "[red]" in shown
