"""``demo`` as a person meets it: everything it says to do next works as it is printed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import psycopg

from pkg_pipeline.adapters.server import embedded
from pkg_pipeline_tests.cli.processes import COMMAND, Program
from pkg_pipeline_tests.conftest import REPOSITORY


def test_a_demo_says_what_to_do_next_answers_its_questions_and_leaves_nothing_behind(
    program: Program, tmp_path: Path
) -> None:
    """One demo for all of it: making one is what takes the time."""
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "letter.txt").write_text("mine", encoding="utf-8")
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "MPLCONFIGDIR"):
        program.variables.pop(name, None)
    program.variables |= {"PKG_MARTS": "true", "PKG_NOW": "2025-11-22T12:00:00+00:00"}
    environment = program.environment(HOME=str(mine), COLUMNS="200")
    done = subprocess.run([*COMMAND, "demo"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in mine.iterdir()) == ["letter.txt"]
    next_commands_work(program, done.stdout)
    documented_questions_have_answers(program)
    again = program.ok("demo", "--json").json
    assert again["run"]["failed"] == 0
    assert {row["asset"] for row in again["run"]["runs"]} == {"messages", "interactions"}, "nothing changed"
    program.ok("uninstall", "--yes")
    assert not program.home.exists()


def next_commands_work(program: Program, said: str) -> None:
    """Its home is cut into days of another time zone than the default one, and the next commands did not know that."""
    lines = [line.strip() for line in said.splitlines() if line.strip().startswith("PKG_HOME=")]
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


def documented_questions_have_answers(program: Program) -> None:
    """The demo's runs brought the marts up to date with the rest."""
    with embedded.running(program.home / "demo" / "postgres") as url, psycopg.connect(url) as connection:
        answers = {
            file.stem: len(connection.execute(file.read_bytes()).fetchall())
            for file in sorted((REPOSITORY / "docs" / "queries").glob("*.sql"))
        }
    assert len(answers) == 5
    del answers["overdue_promises"]  # the one there is counts as kept (docs/marts.md)
    assert all(answers.values()), answers
