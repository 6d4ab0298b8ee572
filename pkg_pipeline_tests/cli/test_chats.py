"""``chats``: what there is, and a person's word on what counts, which outlives imports (P34)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pkg_pipeline_tests.cli.processes import Program, dialogue, line, written

NEWS = [line(n, "News", f"Breaking story number {n} of the day", chat="news", chat_kind="channel") for n in range(4)]


@pytest.fixture
def home(given: Program) -> Program:
    given.variables |= {"PKG_LLM": "offline", "PKG_SUMMARY_MIN_AGE_DAYS": "1"}
    folder = given.home.parent / "exports"
    written(folder / "one.jsonl", dialogue())
    written(folder / "two.jsonl", NEWS)
    given.ok("import", folder)
    return given


def listed(program: Program, *more: str) -> dict[str, tuple[str | None, str]]:
    rows: list[dict[str, Any]] = program.ok("chats", "list", "--json", *more).json["items"]
    return {one["chat"]: (one["category"], one["category_source"]) for one in rows}


def found(program: Program) -> set[str]:
    return {one["chat"] for one in program.ok("recall", "river", "--top-k", "50", "--json").json["results"]}


def test_chats_are_listed_with_who_says_their_category(home: Program) -> None:
    assert listed(home) == {"jsonl:c1": (None, "export"), "jsonl:news": (None, "export")}
    home.ok("chats", "set", "jsonl:news", "--category", "mass")
    assert listed(home, "--category", "mass") == {"jsonl:news": ("mass", "user")}
    (shown,) = [row for row in home.ok("chats", "list", COLUMNS="160").out.splitlines() if "jsonl:news" in row]
    assert "you" in shown
    first = home.ok("chats", "list", "--limit", "1", "--json").json
    second = home.ok("chats", "list", "--limit", "1", "--cursor", first["next"], "--json").json
    assert {one["chat"] for one in first["items"] + second["items"]} == {"jsonl:c1", "jsonl:news"}
    assert second["next"] is None


def test_what_a_person_says_of_a_chat_holds_whatever_is_imported(home: Program) -> None:
    home.ok("run")
    assert found(home) == {"jsonl:c1"}
    answer = home.ok("chats", "set", "jsonl:c1", "--category", "mass", "--json").json
    assert answer == {"chat": "jsonl:c1", "category": "mass", "category_source": "user"}
    home.ok("import", Path(home.home).parent / "exports")
    home.ok("run")
    assert listed(home)["jsonl:c1"] == ("mass", "user")
    assert found(home) == set()
    assert "ordinary" in home.ok("chats", "set", "jsonl:c1", "--category", "none").out
    home.ok("run")
    assert listed(home)["jsonl:c1"] == (None, "user")
    assert found(home) == {"jsonl:c1"}


def told(program: Program) -> set[str]:
    """Kinds of what the context tells beside messages."""
    tiers = program.ok("context", "Olga Petrova", "--max-tokens", "90", "--json").json["tiers"]
    return {one["kind"] for tier in tiers for one in tier["items"]} - {"message"}


def test_of_a_mass_chat_nothing_is_told_from_that_moment_on(home: Program) -> None:
    home.ok("run")
    before = told(home), home.ok("items", "list", "--json").json, home.ok("facts", "list", "--json").json
    assert len(before[1]["items"]) > 0
    home.ok("chats", "set", "jsonl:c1", "--category", "mass")
    assert told(home) == set()
    for listed_by in ("summaries", "items list", "facts list"):
        assert home.ok(*listed_by.split(), "--json").json["items"] == [], listed_by
    home.ok("chats", "set", "jsonl:c1", "--category", "none")
    home.ok("run")
    after = told(home), home.ok("items", "list", "--json").json, home.ok("facts", "list", "--json").json
    assert after == before


def test_refusals(home: Program) -> None:
    home("chats", "set", "jsonl:c1", "--category", "boring").refused("--category")
    home("chats", "set", "jsonl:c1").refused("--category")
    home("chats", "set", "jsonl:nowhere", "--category", "work").failed("no chat jsonl:nowhere")
    home("chats", "list", "--cursor", "what").refused("cursor")
