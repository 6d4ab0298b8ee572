"""memories create, list and drop as real processes, and what other commands do about a named one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pkg_pipeline.adapters.postgres import memories
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline_tests.cli.processes import Program, dialogue, on_terminal, written
from pkg_pipeline_tests.stages.many_memories import named_deployment

HEAD = migrate.head()


@pytest.fixture
def deployed(given: Program, server_url: str) -> Iterator[Program]:
    with named_deployment(server_url) as url:
        given.variables |= {"DATABASE_URL": url, "PKG_LLM": "offline", "PKG_EMBEDDER": "none"}
        yield given


def test_from_the_first_command_to_the_last(deployed: Program, tmp_path: Path) -> None:
    folder = deployed.home / "memories" / "anna"
    made = deployed.ok("memories", "create", "anna", "--json").json
    assert made == {"memory": "anna", "home": str(folder), "token_file": str(folder / "api-token")}
    assert (folder / "api-token").stat().st_mode & 0o777 == 0o600
    deployed("memories", "create", "anna").failed("already")
    deployed.ok("memories", "create", "bob")
    export = written(tmp_path / "export.jsonl", dialogue())
    deployed.ok("--memory", "anna", "import", export)
    named = [one["name"] for one in deployed.ok("entities", "--json", PKG_MEMORY="anna").json["items"]]
    assert "Olga Petrova" in named
    for other in ({}, {"PKG_MEMORY": "bob"}):
        assert deployed.ok("entities", "--json", **other).json["items"] == []
    assert deployed.ok("--memory", "bob", "entities", "--json", PKG_MEMORY="anna").json["items"] == [], "it wins"

    listed = deployed.ok("memories", "list", "--json").json
    assert [one["memory"] for one in listed["items"]] == ["anna", "bob"]
    assert listed["next"] is None
    assert "2 memories" in deployed.ok("memories", "list").out
    upgraded = deployed.ok("db", "upgrade", "--json").json
    assert upgraded == {"revision": HEAD, "head": HEAD, "memories": {"anna": HEAD, "bob": HEAD}}
    assert deployed.ok("--memory", "bob", "db", "upgrade", "--json").json == {"revision": HEAD, "head": HEAD}

    copy = tmp_path / "anna.dump"
    deployed.ok("--memory", "anna", "backup", copy)
    deployed.ok("--memory", "bob", "restore", copy, "--yes")
    assert deployed.ok("--memory", "bob", "entities", "--json").json["items"]

    deployed("memories", "drop", "anna", "--json").failed("--yes")
    assert on_terminal(deployed, "memories", "drop", "anna", answers=[("good?", "n\n")]).code == 1
    assert deployed.ok("memories", "drop", "anna", "--yes", "--json").json == {"dropped": "anna"}
    assert not folder.exists()
    assert deployed.home.joinpath("memories", "bob", "inbox").is_dir()
    deployed("memories", "drop", "anna", "--yes").failed("no memory anna")


def test_a_memory_that_is_not_there_is_made_by_no_other_command(deployed: Program, tmp_path: Path) -> None:
    export = written(tmp_path / "export.jsonl", dialogue())
    for arguments in (("import", export), ("init",), ("run",), ("db", "upgrade"), ("backup", tmp_path / "x")):
        deployed("--memory", "nobody", *arguments).failed("no memory nobody", "memories create nobody")
    assert memories.names(deployed.variables["DATABASE_URL"]) == []
    deployed("--memory", "No Body", "entities").failed("PKG_MEMORY")
    deployed("memories", "create", "No Body").refused("names no memory")
    deployed("--memory", "anna", "uninstall", "--yes").failed("memories drop anna")


def test_uninstall_takes_all_with_it(deployed: Program) -> None:
    for name in ("anna", "bob"):
        deployed.ok("memories", "create", name)
    asked = on_terminal(deployed, "uninstall", answers=[("good?", "n\n")])
    assert "anna, bob" in asked.out
    assert memories.names(deployed.variables["DATABASE_URL"]) == ["anna", "bob"]
    deployed.ok("uninstall", "--yes")
    assert memories.names(deployed.variables["DATABASE_URL"]) == []
    assert not deployed.home.exists()


def test_beside_the_embedded_database(program: Program) -> None:
    program.ok("memories", "create", "anna")
    assert program.ok("--memory", "anna", "init", "--json").json["revision"] == HEAD
    assert program.ok("--memory", "anna", "db", "status", "--json").json["kind"] == "embedded"
    assert [one["memory"] for one in program.ok("memories", "list", "--json").json["items"]] == ["anna"]
