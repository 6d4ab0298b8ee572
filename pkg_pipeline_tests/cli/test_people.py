"""``entities`` as a real process: the list as ever, and who is who for people and for programs (B20)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from pkg_pipeline_tests.cli.processes import NOW, Program
from pkg_pipeline_tests.stages.memory_builder import MemoryBuilder, Said

AT = datetime.fromisoformat(NOW) - timedelta(days=4)
ANNA, OTHER_ANNA = "telegram:user:Anna Petrova", "mail:user:Anna P."


@pytest.fixture
def build(database_url: str) -> Iterator[MemoryBuilder]:
    memory = MemoryBuilder(database_url)
    memory.person("Me", is_self=True)
    memory.person("Anna Petrova")
    memory.person("Anna P.", source="mail")
    for number, name in enumerate(("Anna Petrova", "Anna P.")):
        memory.chat(name, ["Me", name])
        memory.conversation(name, AT + timedelta(days=number), [Said(name, f"words of {name}"), Said("Me", "yes")])
        memory.fact(name, "phone", "+49 30 901820", status="confirmed")
    memory.totals()
    yield memory
    memory.close()


def listed(given: Program, *options: str) -> list[dict[str, Any]]:
    return given.ok("entities", *options, "--json").json["items"]


@pytest.mark.usefixtures("build")
def test_the_list_is_as_ever_and_a_command_may_be_a_name(given: Program) -> None:
    assert [one["name"] for one in listed(given)] == ["Anna P.", "Anna Petrova", "Me"]
    assert [one["name"] for one in listed(given, "petrova")] == ["Anna Petrova"]
    assert [one["name"] for one in listed(given, "--limit", "1")] == ["Anna P."]
    assert given.ok("entities", "list", "merge", "--json").json == {"items": [], "next": None}
    assert "Anna Petrova" in given.ok("entities").out
    helped = given.ok("entities", "--help").out
    assert all(name in helped for name in ("list", "merge", "split", "alias", "rename", "suggest", "undo"))


@pytest.mark.usefixtures("build")
def test_from_a_suggestion_to_a_person_and_back(given: Program) -> None:
    (pair,) = given.ok("entities", "suggest", "--json").json["items"]
    assert [one["kind"] for one in pair["evidence"]] == ["phone"]
    assert "phone +49 30 901820" in given.ok("entities", "suggest").out
    before = given.ok("context", "Anna Petrova").out
    assert "words of Anna P." not in before
    said = given.ok("entities", "merge", "Anna Petrova", "Anna P.").out
    assert ANNA in said
    assert OTHER_ANNA in said
    context = given.ok("context", "Anna P.").out
    assert "words of Anna P." in context
    assert "words of Anna Petrova" in context
    assert given.ok("context", ANNA).out == context
    (person,) = listed(given, "anna")
    assert person["identities"] == [OTHER_ANNA, ANNA]
    again = given.ok("entities", "merge", "Anna Petrova", "Anna P.", "--json").json
    assert again["decision"] is None
    assert given.ok("entities", "suggest", "--json").json["items"] == []
    given.ok("entities", "alias", "Anna Petrova", "[red]Anya", "Аня")
    assert (
        given.ok("entities", "rename", "Аня", "Anna the [b]first", "--json").json["entity"]["name"]
        == "Anna the [b]first"
    )
    assert "# Anna the [b]first" in given.ok("context", "[red]anya").out
    history = given.ok("entities", "history", "--json").json["items"]
    assert [one["kind"] for one in history] == ["rename", "alias", "merge"]
    assert "alias" in given.ok("entities", "history", "Anna Petrova").out
    (merged,) = [line for line in given.ok("entities", "history", COLUMNS="200").out.splitlines() if "merge" in line]
    assert (ANNA in merged, OTHER_ANNA in merged) == (True, True), "both have one name now"
    for decision in history:
        given.ok("entities", "undo", decision["id"][:8])
    assert given.ok("context", "Anna Petrova").out == before
    assert "undone before" in given.ok("entities", "undo", history[0]["id"]).out


@pytest.mark.usefixtures("build")
def test_what_is_wrong_is_said(given: Program) -> None:
    refused = given("entities", "merge", "Anna", "Me")
    refused.failed("fits 2")
    assert "last contact" in refused.err
    assert given("entities", "merge", "Anna P.", "Me").code == 2
    given("entities", "merge", "Anna P.", "Nobody At All").failed("nobody here is called")
    assert given("entities", "split", "Anna P.", "mail:x").code == 2
    given("entities", "undo", "0" * 8).failed("no decision")
    assert given("entities", "merge", "Anna P.").code == 2
    given.ok("entities", "dismiss", "Anna P.", "Anna Petrova")
    assert json.loads(given.ok("entities", "suggest", "--json").out)["items"] == []
