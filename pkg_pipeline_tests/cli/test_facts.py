"""``facts`` as a real process: lists, review, refusals; for people and for programs (B2)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from pkg_pipeline_tests.cli.processes import NOW, Program
from pkg_pipeline_tests.stages.memory_builder import MemoryBuilder, Said

FACT = {
    "id", "entity_id", "type", "value", "display", "status", "probability", "message_ids", "true_from", "true_to",
    "known_from", "known_to", "decided_by",
}  # fmt: skip
AT = datetime.fromisoformat(NOW) - timedelta(days=4)


@pytest.fixture
def build(database_url: str) -> Iterator[MemoryBuilder]:
    memory = MemoryBuilder(database_url)
    memory.person("Me", is_self=True)
    memory.person("Olga")
    memory.chat("Olga", ["Me", "Olga"])
    talk = memory.conversation("Olga", AT, [Said("Olga", "x")])
    given: dict[str, Any] = {"interaction_id": talk, "valid_from": AT, "message_ids": ["m1"]}
    memory.fact("Olga", "position", "Engineer", **given)
    memory.fact("Olga", "birthday", "1990-03-14", status="candidate", **given)
    yield memory
    memory.close()


def listed(given: Program, *options: str) -> list[dict[str, Any]]:
    return given.ok("facts", "list", *options, "--json").json["items"]


@pytest.mark.usefixtures("build")
def test_a_review_from_the_list_to_the_context(given: Program) -> None:
    assert all(set(one) >= FACT for one in listed(given))
    assert {one["display"] for one in listed(given, "--entity", "Olga")} == {"Engineer", "14 March 1990"}
    (waiting,) = listed(given, "--status", "candidate")
    assert "14 March" not in given.ok("context", "Olga").out
    (confirmed,) = given.ok("facts", "confirm", waiting["id"][:8], "--json").json["items"]
    assert (confirmed["status"], confirmed["decided_by"]) == ("confirmed", "person")
    assert "14 March 1990" in given.ok("context", "Olga").out
    given.ok("facts", "edit", waiting["id"], "--value", "1990-03-16")
    assert "16 March 1990" in given.ok("context", "Olga").out
    made = given.ok(
        "facts", "add", "--entity", "Olga", "--type", "position", "--value", "Head of [red]sales", "--json"
    ).json
    context = given.ok("context", "Olga").out
    assert "Head of [red]sales" in context
    assert "Engineer" not in context
    assert [one["value"] for one in listed(given, "--status", "closed")] == ["Engineer"]
    given.ok("facts", "reject", made["id"], waiting["id"])
    assert {one["type"] for one in listed(given, "--status", "rejected")} == {"birthday", "position"}
    context = given.ok("context", "Olga").out
    assert "Head of" not in context
    assert "16 March" not in context
    assert "Engineer" in context
    assert "rejected (yours)" in given.ok("facts", "list", "--type", "birthday").out


@pytest.mark.usefixtures("build")
def test_what_is_wrong_is_said(given: Program) -> None:
    olga = ("facts", "add", "--entity", "Olga", "--type")
    given("facts", "confirm", "0" * 8).failed("no fact")
    given("facts", "add", "--entity", "Nobody", "--type", "phone", "--value", "+4915123456789").failed("nobody")
    given(*olga, "birthday", "--value", "14 March by the way").refused("--value", "no birthday")
    given(*olga, "phone", "--value", "0151 234").refused("--value", "no phone number with its country")
    given(*olga, "phone", "--value", "+4915123456789", "--from", "soon").refused("--from")
    given("facts", "list", "--status", "open").refused("--status", "candidate")
    given("facts", "list", "--cursor", "x").refused("--cursor")
    assert listed(given, "--status", "rejected") == []
