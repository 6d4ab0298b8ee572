"""Ended in the midst of work: by a signal, a reader who leaves, a database that dies. One line, nothing torn."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from pkg_pipeline.adapters.server import state as server_state
from pkg_pipeline.fake_llm.faults import Fault
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline_tests.cli.processes import COMMAND, Program, dialogue, end, servers, wait_until, written
from pkg_pipeline_tests.cli.test_run import conversation

WITHIN_SECONDS = 5.0
SUMMARIES = "interaction_summaries"
DAYS = 24
"""Of talk, a day each; more of them are summarised than are asked about at once."""


@pytest.fixture
def fake() -> Iterator[FakeAnthropic]:
    with FakeAnthropic(port=0) as server:
        yield server


def with_model(program: Program, fake: FakeAnthropic, tmp_path: Path) -> Program:
    """``DAYS`` days of talk, to be summarised by the local model, two in a question."""
    program.variables.update(
        PKG_LLM="anthropic",
        ANTHROPIC_API_KEY="k",
        ANTHROPIC_BASE_URL=fake.url,
        PKG_BACKFILL_USD_PER_DAY="100",
        PKG_TALKS_TOGETHER="2",
    )
    file = tmp_path / "talk.jsonl"
    file.write_text(conversation(DAYS), encoding="utf-8")
    program.ok("import", file)
    return program


def counted(url: str, what: str) -> int:
    with psycopg.connect(url) as connection:
        found = connection.execute(f"SELECT count(*) FROM {what}").fetchone()  # type: ignore[arg-type]
    assert found is not None
    return found[0]


@pytest.mark.parametrize(
    ("command", "number", "code"),
    [
        (("run", "--only", SUMMARIES), signal.SIGINT, 130),
        (("backfill", "--older-than-days", "1"), signal.SIGTERM, 143),
    ],
)
def test_what_is_being_summarised_is_kept_and_the_rest_is_given_back(
    given: Program, fake: FakeAnthropic, tmp_path: Path, command: tuple[str, ...], number: int, code: int
) -> None:
    program, url = with_model(given, fake, tmp_path), given.variables["DATABASE_URL"]
    fake.script.replace([Fault(delay_seconds=0.5)])
    process = program.start(*command)
    wait_until(lambda: fake.journal, seconds=90)
    began = time.monotonic()
    ended, said = end(process, number)
    assert time.monotonic() - began < WITHIN_SECONDS
    assert (ended, said.count("stopped; what was committed stays")) == (code, 1), said
    assert "Traceback" not in said
    assert 2 * len(fake.journal) < DAYS, "it was over before the signal came"
    assert counted(url, "pkg.interaction_summaries") == 2 * len(fake.journal), "paid work was thrown away"
    assert counted(url, "pkg.leases") == 0
    assert counted(url, "dagster.runs WHERE status NOT IN ('CANCELED', 'SUCCESS')") == 0
    fake.script.replace([])
    program.ok(*command)
    assert counted(url, "pkg.interaction_summaries") == DAYS
    assert 2 * len(fake.journal) == DAYS, "something was asked for twice"


def test_a_model_that_takes_its_time_does_not_hold_up_the_end(
    program: Program, fake: FakeAnthropic, tmp_path: Path
) -> None:
    with_model(program, fake, tmp_path)
    fake.script.replace([Fault(delay_seconds=60)])
    process = program.start("run", PKG_LEASE_SECONDS="5")
    wait_until(lambda: fake.journal, seconds=90)
    began = time.monotonic()
    ended, said = end(process, signal.SIGTERM)
    assert time.monotonic() - began < WITHIN_SECONDS
    assert ended == 143
    assert len([one for one in said.strip().splitlines() if not one.startswith("interactions: ")]) == 1, said
    assert servers(program.home) == []
    assert program.ok("stats", "--json").json["total_interactions"] == DAYS


def test_a_reader_who_leaves_is_no_error(given: Program, tmp_path: Path) -> None:
    given.ok("import", written(tmp_path / "chat.jsonl", dialogue()))
    for arguments in ("--help", "doctor", "entities --json", "stats", "import --help", "queue --json", "nonsense"):
        done = subprocess.run(
            ["bash", "-c", 'read -r n; "$@" | true; echo "${PIPESTATUS[0]}"', "bash", *COMMAND, *arguments.split()],
            env=given.environment(),
            input="\n",
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr
        assert "Broken pipe" not in done.stderr
        assert done.stdout.strip() in ("0",) if arguments != "nonsense" else ("2",), (arguments, done)


@pytest.mark.parametrize("command", [("run", "--only", SUMMARIES), ("backfill", "--older-than-days", "1")])
def test_a_database_that_dies_under_work_is_one_line(
    program: Program, fake: FakeAnthropic, tmp_path: Path, command: tuple[str, ...]
) -> None:
    with_model(program, fake, tmp_path)
    fake.script.replace([Fault(delay_seconds=0.3)])
    process = program.start(*command)
    wait_until(lambda: len(fake.journal) > 4, seconds=90)
    kill_server(program.data)
    said = process.communicate(timeout=120)[1]
    assert process.returncode == 1, said
    assert "Traceback" not in said
    errors = [one for one in said.splitlines() if one.startswith("error: ")]
    assert len(errors) == 1, said
    assert "database" in errors[0]
    kept = len(fake.journal)
    fake.script.replace([])
    program.ok(*command, PKG_LEASE_SECONDS="1")
    assert kept > 0


def kill_server(folder: Path) -> None:
    """The server and all of its processes, as by a machine that is switched off."""
    found = server_state.pid_file(folder)
    assert found is not None
    family = [psutil.Process(found.pid), *psutil.Process(found.pid).children()]
    for process in family:
        process.kill()
    psutil.wait_procs(family, timeout=10)
