"""``reembed`` as a program: a real database, the local server of models, stopped by a signal, in JSON and in words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import psycopg
import pytest

from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.settings import load
from pkg_pipeline.wiring import open_memory
from pkg_pipeline_tests.cli.processes import Program, dialogue, end, line, on_terminal, wait_until, written

SMALL, LARGE = "openai:embedding-3", "openai:text-embedding-3-small"


@pytest.fixture
def fake() -> Iterator[FakeAnthropic]:
    with FakeAnthropic() as server:
        yield server


@pytest.fixture
def program(given: Program, fake: FakeAnthropic, tmp_path: Path) -> Program:
    """With a conversation that can be searched by the small model."""
    given.variables |= {
        "PKG_LLM": "offline",
        "PKG_EMBEDDER": "openai",
        "MEMORY_EMBEDDING_BASE_URL": f"{fake.url}/v1",
        "MEMORY_EMBEDDING_API_KEY": "sk-test",
    }
    take_in(given, written(tmp_path / "talk.jsonl", dialogue()))
    return given


def take_in(program: Program, file: Path) -> None:
    """What an import and a run do, without Dagster, which takes longer than all the rest."""
    with open_memory(load(program.environment())) as memory:
        memory.import_path(file, self_rule="none")
        memory.build_interactions()
        memory.chunks.build((date(2025, 1, 1), date(2025, 1, 31)))


def models(program: Program) -> dict[str, tuple[str, int]]:
    items = program.ok("reembed", "--list", "--json").json["items"]
    return {one["model"]: (one["state"], one["vectors"]) for one in items}


def test_the_whole_way_there_and_back(program: Program, fake: FakeAnthropic) -> None:
    (state, chunks) = models(program)[SMALL]
    assert (state, chunks > 0) == ("active", True)
    dry = program.ok("reembed", "--to", LARGE, "--dry-run", "--json").json
    assert (dry["dry_run"], dry["chunks"], dry["usd"], dry["is_switch"]) == (True, chunks, None, True)
    assert dry["tokens"] > 0
    assert models(program) == {SMALL: ("active", chunks)}

    done = program.ok("reembed", "--to", "text-embedding-3-small", "--json").json
    assert (done["model"], done["embedded"], done["switched_from"]) == (LARGE, chunks, SMALL)
    assert models(program) == {SMALL: ("retired", chunks), LARGE: ("active", chunks)}
    assert "as before" in program.ok("reembed", "--to", LARGE).out
    said = program.ok("reembed", "--to", SMALL).out
    assert f"searches use {SMALL} now" in said
    assert f"pkg-pipeline reembed --drop {LARGE}" in said
    assert "2" in program.ok("reembed", "--list").out

    program("reembed", "--drop", SMALL).failed("the one that is asked")
    assert program.ok("reembed", "--drop", LARGE, "--json").json == {"dropped": {LARGE: chunks}}
    done = program.ok("reembed", "--to", LARGE, "--drop-old", "--json").json
    assert done["dropped"] == {SMALL: chunks}
    assert models(program) == {LARGE: ("active", chunks)}


def test_wrong_usage_is_told_in_a_sentence(given: Program) -> None:
    given("reembed").refused("--to MODEL, --drop MODEL and --list")
    given("reembed", "--to", "a", "--list").refused("say what to do by one of")
    given("reembed", "--list", "--dry-run").refused("go with --to MODEL")
    given("reembed", "--to", "offline:other").refused("'offline:other' is no known model; known are offline:")
    given("reembed", "--drop", "openai:x").refused("no vectors of openai:x here; there are: none")
    given("reembed", "--to", "embedding-3").failed("needs MEMORY_EMBEDDING_API_KEY")
    assert "No vectors yet" in given.ok("reembed", "--list").out


def test_an_embedder_that_fails_tells_how_far_it_is_and_how_to_go_on(program: Program) -> None:
    said = program("reembed", "--to", "openai:no-such-model")
    said.failed("no vectors from openai:no-such-model", "0 of", f"searches use {SMALL}", "goes on from there")
    assert models(program)["openai:no-such-model"] == ("building", 0)
    assert program.ok("reembed", "--drop", "no-such-model", "--json").json == {"dropped": {"openai:no-such-model": 0}}


def test_stopped_by_ctrl_c_it_says_so_and_goes_on_later(program: Program, fake: FakeAnthropic, tmp_path: Path) -> None:
    with psycopg.connect(program.variables["DATABASE_URL"], autocommit=True) as other:
        other.execute("BEGIN")
        other.execute("LOCK TABLE pkg.chunk_embeddings IN SHARE MODE")  # it waits with the first vectors in its hand
        process = program.start("reembed", "--to", LARGE)
        waiting = (
            "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database"
            " WHERE datname = current_database() AND NOT granted AND relation = 'pkg.chunk_embeddings'::regclass"
        )
        wait_until(lambda: other.execute(waiting).fetchone() != (0,))
        code, said = end(process)
        other.execute("ROLLBACK")
    assert code == 130
    assert said.strip().splitlines()[-1].startswith("stopped: 0 of ")
    assert f"pkg-pipeline reembed --to {LARGE} goes on from there" in said
    assert "Traceback" not in said
    assert models(program)[SMALL][0] == "active"
    assert program.ok("reembed", "--to", LARGE, "--json").json["switched_from"] == SMALL


def test_what_came_in_since_is_searchable_in_the_new_space(program: Program, tmp_path: Path) -> None:
    program.ok("reembed", "--to", LARGE)
    more = [line(number, "Olga Petrova", f"the keel is repaired {number}", day=9) for number in range(20, 24)]
    take_in(program, written(tmp_path / "more.jsonl", more))
    found = models(program)
    assert found[LARGE][1] > found[SMALL][1]
    assert program.ok("recall", "keel repaired", "--json").json["mode"] == "hybrid"


def test_people_see_a_forecast_and_a_result(program: Program) -> None:
    said = on_terminal(program, "reembed", "--to", LARGE, "--dry-run", answers=[])
    assert "to embed, about" in said.out
    said = on_terminal(program, "reembed", "--to", LARGE, answers=[])
    assert (said.code, "vectors made in" in said.out) == (0, True)
