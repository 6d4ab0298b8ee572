"""``demo`` as a person meets it: everything it says to do next works as it is printed."""

from __future__ import annotations

import subprocess

import psycopg

from pkg_pipeline.adapters.server import embedded
from pkg_pipeline_tests.cli.processes import Program
from pkg_pipeline_tests.conftest import REPOSITORY


def test_what_the_demo_says_to_do_next_works(program: Program) -> None:
    """Its home is cut into days of another time zone than the default one, and the next commands did not know that."""
    said = program.ok("demo", COLUMNS="200")
    lines = [line.strip() for line in said.out.splitlines() if line.strip().startswith("PKG_HOME=")]
    assert len(lines) == 6
    # in a shell that knows nothing: no PKG_HOME, no environment on its path
    bare = {name: value for name, value in program.environment().items() if name not in ("PKG_HOME", "VIRTUAL_ENV")}
    bare["PATH"] = "/usr/bin:/bin"
    for line in lines:
        if line.endswith(" dev"):
            line += " --help"  # it would go on until Ctrl-C
        done = subprocess.run(["sh", "-c", line], env=bare, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (line, done.stderr)
        assert len(done.stdout.splitlines()) > 5, line
    again = program.ok("demo", COLUMNS="200")
    assert "0 messages new" in again.err + again.out


def test_after_a_demo_the_documented_questions_to_the_marts_have_answers(program: Program) -> None:
    """``run`` brings the marts up to date with the rest; once more, there is nothing to do."""
    given = {"PKG_MARTS": "true", "PKG_NOW": "2025-11-22T12:00:00+00:00"}
    done = program.ok("demo", "--json", **given).json
    (built,) = [row for row in done["run"]["runs"] if row["asset"] == "marts"]
    assert (built["status"], built["rows"] > 100) == ("done", True)
    assert done["run"]["failed"] == 0
    with embedded.running(program.home / "demo" / "postgres") as url, psycopg.connect(url) as connection:
        answers = {
            file.stem: len(connection.execute(file.read_bytes()).fetchall())
            for file in sorted((REPOSITORY / "docs" / "queries").glob("*.sql"))
        }
    assert len(answers) == 5
    assert all(answers.values()), answers
    again = program.ok("demo", "--json", **given).json
    assert {row["asset"] for row in again["run"]["runs"]} == {"messages", "interactions"}, "nothing changed"
