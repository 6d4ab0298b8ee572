"""recall, and context with a hint, as real processes: the promised shape, what people see, every refusal."""

from __future__ import annotations

from datetime import date

import pytest

from pkg_pipeline import wiring
from pkg_pipeline.settings import Settings
from pkg_pipeline_tests.cli.processes import NOW, Program, dialogue, line, written

RECALL = {"query", "mode", "as_of", "known_as_of", "text", "tokens", "results", "embedding_model", "warnings"}
RESULT = {"id", "source", "text", "score", "at", "topics", "message_ids"}
PRICE = "what price did we agree on?"


@pytest.fixture
def told(given: Program) -> Program:
    """Two talks, searchable by their words; no model is loaded."""
    folder = given.home.parent / "exports"
    given.variables |= {"PKG_LLM": "offline", "PKG_EMBEDDER": "none"}
    written(folder / "one.jsonl", dialogue())
    written(folder / "two.jsonl", [
        line(1, "Olga Smirnova", "Are you there? The price of the yard went up.", chat="c2", day=9),
        line(2, "Me", "Yes, tomorrow at 3 pm.\u202e\x1b[31m", chat="c2", day=9, is_self=True),
    ])  # fmt: skip
    settings = Settings.model_validate(
        {"home": given.home, "database_url": given.variables["DATABASE_URL"], "now": NOW, "llm": "offline",
         "embedder": "none"}
    )  # fmt: skip
    with wiring.open_memory(settings) as memory:
        memory.import_path(folder)
        memory.build_interactions()
        memory.chunks.build((date(2025, 1, 1), date(2025, 1, 31)))
    return given


def keys(program: Program, *arguments: object) -> list[str]:
    return [
        one for result in program.ok("recall", *arguments, "--json").json["results"] for one in result["message_ids"]
    ]


def test_the_promised_shape_and_what_people_see(told: Program) -> None:
    found = told.ok("recall", PRICE, "--json").json
    assert set(found) == RECALL
    assert (found["query"], found["mode"], found["embedding_model"]) == (PRICE, "keyword", None)
    assert found["as_of"] == "2025-03-15T12:00:00Z"
    assert found["warnings"]
    assert len(found["results"]) > 2
    assert 0 < found["tokens"] <= 1_000, "the default"
    for result in found["results"]:
        assert set(result) >= RESULT
        assert f"- {result['text']}\n" in found["text"]
    assert found["results"][0]["message_ids"] in (["jsonl:c1/c1-1"], ["jsonl:c1/c1-2"], ["jsonl:c2/c2-1"])
    assert len(told.ok("recall", PRICE, "--top-k", "2", "--json").json["results"]) == 2
    small = told.ok("recall", PRICE, "--max-tokens", "40", "--json").json
    assert 0 < small["tokens"] <= 40
    assert told.ok("recall", "zzz", "--json").json["results"] == []

    said = told.ok("recall", PRICE)
    assert found["text"] in said.out
    assert f"{len(found['results'])} pieces, {found['tokens']:,} tokens, found by words" in said.out
    assert "keywords only" in " ".join(said.out.split("note: ")[1].split())
    odd = told.ok("recall", "tomorrow", "--chat", "jsonl:c2").out
    assert "\x1b" not in odd
    assert "\u202e" not in odd
    assert "nothing found" in told.ok("recall", "zzz").out


def test_scopes_and_moments(told: Program) -> None:
    assert set(keys(told, PRICE, "--entity", "Olga Smirnova")) == {"jsonl:c2/c2-1", "jsonl:c2/c2-2"}
    by_chat = keys(told, PRICE, "--chat", "jsonl:c2")
    assert by_chat == keys(told, PRICE, "--session", "jsonl:c2")
    assert set(by_chat) == {"jsonl:c2/c2-1", "jsonl:c2/c2-2"}
    assert keys(told, PRICE, "--topic", "no such topic") == []
    assert not any(one.startswith("jsonl:c2") for one in keys(told, PRICE, "--as-of", "2025-01-08"))
    assert keys(told, PRICE, "--as-of", "2024-12-31") == []
    assert keys(told, PRICE, "--entity", "Olga Smirnova", "--session", "jsonl:c1") == []


def test_refusals(told: Program) -> None:
    told("recall").refused("query")
    told("recall", " ").refused("query", "must have words")
    told("recall", PRICE, "--top-k", "0").refused("--top-k")
    told("recall", PRICE, "--max-tokens", "0").refused("--max-tokens")
    told("recall", PRICE, "--as-of", "soon").refused("--as-of")
    told("recall", PRICE, "--as-of", "2999-01-01").refused("--as-of", "future")
    told("recall", PRICE, "--chat", "nocolon").refused("--chat")
    told("recall", PRICE, "--session", "nocolon").refused("--session")
    told("recall", PRICE, "--session", "jsonl:c1", "--chat", "jsonl:c1").refused("--session", "give one of them")
    told("recall", PRICE, "--entity", "Olga").failed("Olga Petrova", "Olga Smirnova")
    told("recall", PRICE, "--chat", "jsonl:c9").failed("jsonl:c9", "pkg-pipeline summaries")
    # bytes that are no text
    assert keys(told, "price \udcff", "--topic", "\udcff") == []
    told("recall", PRICE, "--chat", "jsonl:\udcff").failed("pkg-pipeline summaries")


def test_a_context_with_a_hint(told: Program) -> None:
    plain = told.ok("context", "Olga Petrova", "--json").json
    hinted = told.ok("context", "Olga Petrova", "--hint", PRICE, "--json").json
    assert [tier["tier"] for tier in hinted["tiers"]] == ["permanent", "hot", "warm", "cold", "relevant"]
    shown = [one for tier in hinted["tiers"] for item in tier["items"] for one in item["message_ids"]]
    assert "jsonl:c1/c1-2" in shown
    assert len(shown) == len(set(shown))
    nothing = told.ok("context", "Olga Petrova", "--hint", "zzz", "--json").json
    for answer in (plain, nothing):
        answer.pop("receipt_id")
    assert nothing == plain
    told("context", "Olga Petrova", "--hint", " ").refused("--hint", "must have words")
