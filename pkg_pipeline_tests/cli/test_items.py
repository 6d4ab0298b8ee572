"""``items`` as a real process: the shape that INTERFACES promises, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from pkg_pipeline_tests.cli.processes import NOW, Program
from pkg_pipeline_tests.stages.memory_builder import MemoryBuilder, Said
from pkg_pipeline_tests.stages.reads.item_rows import item, reading

ITEM = {
    "id", "kind", "status", "text", "owner", "owner_name", "due_date", "importance", "probability", "decided_by",
    "message_ids", "closed_by", "renewed_in", "person_ids", "chat", "first_at", "last_at",
}  # fmt: skip
AT = datetime.fromisoformat(NOW)


@pytest.fixture
def build(database_url: str) -> Iterator[MemoryBuilder]:
    memory = MemoryBuilder(database_url)
    memory.person("Me", is_self=True)
    memory.person("Olga")
    memory.chat("Olga", ["Me", "Olga"])
    yield memory
    memory.close()


@pytest.fixture
def over(build: MemoryBuilder) -> UUID:
    """One that is overdue; beside it one that is due, one that was done, a decision."""
    talk = build.conversation("Olga", AT - timedelta(days=4), [Said("Olga", "x")])
    at = AT - timedelta(days=4)
    done = {"at": AT, "event": "done", "status": "done"}
    item(build, talk, "Pay the rent", about=["Olga"], at=at, due=(AT + timedelta(days=4)).date(), owner="self")
    item(build, talk, "Call the plumber", done, about=["Olga"], at=at)
    item(build, talk, "The rent is 900", about=["Olga"], at=at, kind="decision")
    made = item(build, talk, "Send the [red]keys\x1b[2J", about=["Olga"], at=at, due=(AT - timedelta(days=1)).date())
    reading(build, talk)
    return made


def test_lists_for_programs_and_for_people(given: Program, over: UUID) -> None:
    found = given.ok("items", "list", "--json").json
    assert set(found) == {"items", "next"}
    assert all(set(one) >= ITEM for one in found["items"])
    assert [one["overdue"] for one in found["items"]] == [True, False, False]
    for options, expected in (
        (("--overdue",), 1),
        (("--open",), 2),
        (("--open", "--person", "Me"), 1),
        (("--person", "Olga"), 3),
        (("--status", "done"), 1),
        (("--kind", "decision"), 1),
        (("--limit", "1"), 1),
    ):
        assert len(given.ok("items", "list", *options, "--json").json["items"]) == expected, options
    shown = given.ok("items", "list").out
    assert str(over)[:8] in shown
    assert "overdue" in shown
    assert "[red]keys" in shown, "the words of others are no markup"
    assert "\x1b" not in shown
    assert "3 items" in shown
    given("items", "list", "--kind", "task").refused("--kind", "decision")
    given("items", "list", "--status", "closed").refused("--status", "perhaps_done")
    given("items", "list", "--open", "--status", "done").refused("--status")
    given("items", "list", "--person", "Nobody").failed("nobody")
    given("items", "list", "--cursor", "x").refused("--cursor")


def test_one_item_with_its_history(given: Program, over: UUID) -> None:
    found = given.ok("items", "show", str(over)[:8], "--json").json
    assert (found["id"], [state["event"] for state in found["history"]]) == (str(over), ["opened"])
    shown = given.ok("items", "show", str(over)).out
    assert "telegram:direct%3AOlga/m1" in shown
    given("items", "show", "0" * 8).failed("no item")


def test_only_a_status_that_a_person_gave_is_marked_as_theirs(given: Program, build: MemoryBuilder) -> None:
    at = AT - timedelta(days=4)
    talk = build.conversation("Olga", at, [Said("Olga", "x")])
    by_message = {"at": AT, "event": "done", "status": "done"}
    edited = {"at": AT, "event": "edited", "status": "done", "decided_by": "person", "message_ids": []}
    item(build, talk, "Call the plumber", by_message, edited, about=["Olga"], at=at)
    shown = given.ok("items", "list", "--status", "done").out
    assert "plumber" in shown
    assert "(yours)" not in shown


def test_a_person_closes_reopens_and_edits(given: Program, over: UUID) -> None:
    def now() -> tuple[str, str, str | None, str]:
        one = given.ok("items", "show", str(over), "--json").json
        return one["status"], one["text"], one["due_date"], one["owner"]

    text, due = "Send the [red]keys\x1b[2J", "2025-03-14"
    closed = given.ok("items", "close", str(over)[:8], "--json").json
    assert set(closed) >= ITEM
    assert (closed["status"], closed["decided_by"]) == ("done", "person")
    assert "(yours)" in given.ok("items", "list", "--status", "done").out
    given.ok("items", "reopen", str(over))
    assert now() == ("open", text, due, "them")
    given.ok("items", "close", str(over), "--as", "cancelled")
    given.ok("items", "edit", str(over), "--text", "Send  both keys", "--no-due", "--owner", "self")
    assert now() == ("cancelled", "Send both keys", None, "self")
    given.ok("items", "edit", str(over), "--due", "2025-04-01")
    assert now()[2] == "2025-04-01"
    given("items", "edit", str(over)).refused("--text")
    given("items", "edit", str(over), "--due", "2025-04-01", "--no-due").refused("--no-due")
    given("items", "edit", str(over), "--text", " ").refused("--text")
    given("items", "close", str(over), "--as", "lapsed").refused("--as")
    given("items", "reopen", "0" * 8).failed("no item")
    (decision,) = given.ok("items", "list", "--kind", "decision", "--json").json["items"]
    given("items", "close", decision["id"], "--as", "done").refused("not done")
    assert given.ok("items", "close", decision["id"], "--json").json["status"] == "cancelled"


def test_nothing_is_imported_yet(given: Program) -> None:
    said = given.ok("items", "list")
    assert "nothing is imported yet" in said.err
    assert "0 items" in said.out
