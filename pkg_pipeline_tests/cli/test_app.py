"""The entry: help, wrong usage, what is loaded, how signals and failures end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import psycopg
import psycopg_pool
import pytest
import typer

from pkg_pipeline.adapters.server.embedded import EmbeddedError
from pkg_pipeline.cli import app
from pkg_pipeline.cli.terminal import CommandFailed, plain, without_controls
from pkg_pipeline.settings import SettingsError
from pkg_pipeline.stages.ports import LlmMisconfigured
from pkg_pipeline_tests.cli.processes import COMMAND, Program, servers, wait_until

HEAVY = {"alembic", "anthropic", "dagster", "dateparser", "fastapi", "psycopg", "pydantic", "rich", "sqlalchemy"}


def test_help_names_every_command_and_loads_nothing_heavy() -> None:
    code = (
        "import sys, json\n"
        "from pkg_pipeline.cli.app import main\n"
        "try: main(['--help'])\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for name in app.COMMANDS:
        assert f"  {name} " in done.stdout, name
    assert set(json.loads(done.stderr)) & HEAVY == set()


@pytest.mark.parametrize("name", list(app.COMMANDS))
def test_every_command_loads_and_has_a_help_of_its_own(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        app.build_app()([name, "--help"])
    assert not ended.value.code
    assert "--help" in capsys.readouterr().out


def test_status_of_a_stopped_database_loads_no_driver(program: Program) -> None:
    code = (
        "import sys\n"
        "from pkg_pipeline.cli.app import main\n"
        "try: main(['db', 'status', '--json'])\n"
        "except SystemExit: pass\n"
        "assert not {'psycopg', 'sqlalchemy', 'dagster', 'numpy'} & set(sys.modules), sorted(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], env=program.environment(), check=True, stdout=subprocess.DEVNULL)


def test_wrong_usage_ends_with_2_and_says_nothing_on_standard_output(program: Program) -> None:
    for arguments, word in (
        (("frobnicate",), "No such command"),
        (("context",), "Missing argument"),
        (("entities", "--limit", "0"), "--limit"),
        (("dev", "--api-port", "-3"), "--api-port"),
        (("dev", "--dagster-port", "99999"), "--dagster-port"),
        (("import", "--frobnicate", "x"), "No such option"),
    ):
        program(*arguments, *(() if arguments[0] == "dev" else ("--json",))).refused(word)
    assert not program.home.exists()


def test_a_failure_is_one_line_and_with_json_also_one_document(program: Program) -> None:
    said = program("db", "status", "--json", PKG_TIMEZONE="Mars/Base")
    line = said.failed("PKG_TIMEZONE", "Mars/Base", "Europe/Berlin")
    assert said.json == {"error": line.removeprefix("error: ")}


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (CommandFailed("so it is"), "so it is"),
        (SettingsError("PKG_NOW: no"), "PKG_NOW: no"),
        (EmbeddedError("not there"), "not there"),
        (LlmMisconfigured("no key"), "no key"),
        (psycopg.OperationalError("server closed\nmore"), "the database went away (server closed)"),
        (psycopg.errors.AdminShutdown("terminating connection"), "the database went away (terminating connection)"),
        (psycopg.errors.CrashShutdown("another process died"), "the database went away (another process died)"),
        (psycopg.errors.CannotConnectNow("starting up"), "the database went away (starting up)"),
        (psycopg_pool.PoolTimeout("30 s"), "the database gives no connection: it is down, or others hold"),
        (PermissionError(13, "Permission denied", "/x/y"), "/x/y: Permission denied"),
        (OSError(28, "No space left on device"), "No space left on device"),
    ],
)
def test_what_a_person_can_mend_is_explained(error: Exception, said: str) -> None:
    found = app.explained(error)
    assert found is not None
    assert found.startswith(said)


@pytest.mark.parametrize("error", [ValueError("x"), KeyError("x"), psycopg.ProgrammingError("x"), OSError("no number")])
def test_faults_of_the_program_keep_their_traceback(error: Exception) -> None:
    assert app.explained(error) is None


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_command_that_is_stopped_takes_its_server_with_it(program: Program, number: int, code: int) -> None:
    program.home.mkdir()
    script = (
        "import signal\n"
        "from pathlib import Path\n"
        "from pkg_pipeline.adapters.server import embedded\n"
        "from pkg_pipeline.cli import app, operate\n"
        "def wait(json: bool = False) -> None:\n"
        f"    with embedded.running(Path({str(program.data)!r})):\n"
        f"        Path({str(program.home / 'reached')!r}).touch()\n"
        "        signal.pause()\n"
        "operate.init = wait\n"
        "app.main(['init'])\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], env=program.environment(), stderr=subprocess.PIPE, text=True
    )
    wait_until(lambda: (program.home / "reached").exists())
    assert len(servers(program.home)) == 1
    process.send_signal(number)
    _, said = process.communicate(timeout=20)
    assert process.returncode == code, said
    assert "Traceback" not in said
    assert servers(program.home) == []


def test_output_into_a_closed_pipe_is_no_traceback(given: Program) -> None:
    done = subprocess.run(
        ["bash", "-c", '"$@" | true', "bash", *COMMAND, "doctor"],
        env=given.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr


def test_words_of_others_are_neither_markup_nor_terminal_commands() -> None:
    assert plain("[red]x[/red]") == r"\[red]x\[/red]"
    assert without_controls("a\x1b]0;owned\x07b\u009bc\r\nd\te") == "a�]0;owned�b�c�\nd\te"


def test_a_command_of_the_table_is_a_function_or_a_group() -> None:
    group = typer.main.get_command(app.build_app())
    context = typer.Context(group)
    assert group.list_commands(context) == list(app.COMMANDS)  # type: ignore[attr-defined]
    assert group.get_command(context, "nothing") is None  # type: ignore[attr-defined]
