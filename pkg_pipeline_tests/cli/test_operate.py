"""init, db and uninstall as real processes, each on a home of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import psycopg

from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline_tests.cli.processes import COMMAND, Program, dialogue, on_terminal, servers, written

HEAD = migrate.head()


def test_init_makes_everything_and_may_be_repeated(program: Program) -> None:
    for _ in range(2):
        said = program.ok("init", "--json")
        assert said.json == {"home": str(program.home), "database": "embedded", "revision": HEAD}
        assert said.err == ""
    assert (program.home / "inbox").is_dir()
    assert servers(program.home) == []
    assert program.ok("init").out == f"ready: {program.home}, embedded database\n"


def test_start_status_stop(program: Program) -> None:
    assert program.ok("db", "status", "--json").json == {
        "running": False, "kind": "embedded", "revision": None, "head": HEAD,
    }  # fmt: skip
    assert not program.home.exists()
    started = program.ok("db", "start", "--json").json
    assert started["running"] is True
    with psycopg.connect(started["url"]) as connection:
        assert connection.info.server_version >= 180000
    assert program.ok("db", "status").out == f"embedded: running, revision none of {HEAD}\n"
    program.ok("init")
    assert len(servers(program.home)) == 1, "a command that ends must not stop a server that was started to stay"
    assert program.ok("db", "status", "--json").json["revision"] == HEAD
    assert program.ok("db", "stop", "--json").json == {"running": False, "stopped": True}
    assert servers(program.home) == []
    assert program.ok("db", "stop").out == "was not running\n"


def test_down_and_up_again(program: Program) -> None:
    program.ok("db", "start")
    program.ok("init")
    program("db", "downgrade", "0999", "--yes").refused("0999", "base", HEAD)
    program("db", "downgrade", "base", "--json").failed("--yes")
    assert program.ok("db", "downgrade", "base", "--yes", "--json").json == {"revision": None, "head": HEAD}
    program("db", "downgrade", HEAD, "--yes").failed("nothing to take back")
    assert program.ok("db", "upgrade", "--json").json == {"revision": HEAD, "head": HEAD}
    assert on_terminal(program, "db", "downgrade", "base", answers=[("lost.", "n\n")]).code == 1
    assert program.ok("db", "status", "--json").json["revision"] == HEAD
    assert on_terminal(program, "db", "downgrade", "base", answers=[("lost.", "y\n")]).code == 0
    assert program.ok("db", "status", "--json").json["revision"] is None


def test_tables_of_a_newer_program_are_left_alone(program: Program) -> None:
    url = program.ok("db", "start", "--json").json["url"]
    program.ok("init")
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE pkg.alembic_version SET version_num = '0999'")
    program("entities").failed("0999", "newer version")
    program("db", "upgrade").failed("0999")


def test_uninstall_takes_what_is_ours_and_names_what_is_not(program: Program) -> None:
    program.ok("db", "start")
    program.ok("init")
    demo = program.home / "demo" / "postgres"
    embedded.start(demo)
    assert len(servers(program.home)) == 2
    mine = written(program.home / "notes" / "mine.txt", [])
    (program.home / "dev.pid").write_text("1\n")  # as a killed `dev` leaves it
    program("uninstall", "--json").failed("--yes")
    assert len(servers(program.home)) == 2
    said = program.ok("uninstall", "--yes", "--json").json
    assert said["left"] == [str(mine.parent)]
    assert str(program.home / "postgres") in said["removed"]
    assert sorted(path.name for path in program.home.iterdir()) == ["notes"]
    assert mine.exists()
    assert servers(program.home) == []


def test_uninstall_of_nothing_and_by_consent(program: Program) -> None:
    assert "nothing lay in" in program.ok("uninstall", "--yes").out
    program.ok("init")
    said = on_terminal(program, "uninstall", answers=[("for good?", "n\n")])
    assert said.code == 1
    assert str(program.data) in said.out
    assert program.data.exists()
    assert on_terminal(program, "uninstall", answers=[("for good?", "y\n")]).code == 0
    assert not program.home.exists()


def test_a_home_that_cannot_be_is_one_line(program: Program) -> None:
    program.home.write_text("a file")
    program("init").failed("PKG_HOME", "not a folder")
    for place in ("/proc/nowhere/home", "/sys/pkg-home"):
        program("init", PKG_HOME=place).failed(place.rpartition("/")[0], "PKG_HOME")
        program("entities", PKG_HOME=place).failed("PKG_HOME")
        program("db", "start", PKG_HOME=place).failed("PKG_HOME")


def test_variables_for_other_postgres_servers_do_not_disturb(program: Program) -> None:
    strange = {"PGPORT": "1", "PGDATA": "/nowhere", "PGUSER": "nobody", "PGDATABASE": "none", "PGOPTIONS": "-cfoo=bar"}
    file = written(program.home.parent / "chat.jsonl", dialogue())
    assert program.ok("import", file, "--json", **strange).json["messages_new"] == 6


def test_nothing_stays_behind_outside_the_home(program: Program, tmp_path: Path) -> None:
    """A run, a comparison with its picture: the user's own folder is as it was, and the home is gone."""
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "letter.txt").write_text("mine", encoding="utf-8")
    quiet = {"HOME": str(mine), "XDG_CACHE_HOME": "", "XDG_CONFIG_HOME": "", "MPLCONFIGDIR": ""}
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "MPLCONFIGDIR"):
        program.variables.pop(name, None)
    chat = written(tmp_path / "chat.jsonl", dialogue())
    pages = tmp_path / "pages"
    pages.mkdir()
    for arguments in (("import", chat), ("run",), ("compare", chat, "--out", pages), ("uninstall", "--yes")):
        done = subprocess.run(
            [*COMMAND, *map(str, arguments)],
            env={name: value for name, value in program.environment(**quiet).items() if value},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (arguments, done.stderr)
        assert sorted(path.name for path in mine.iterdir()) == ["letter.txt"], arguments
    assert len(list(pages.iterdir())) == 2
    assert not program.home.exists()
