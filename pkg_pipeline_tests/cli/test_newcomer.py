"""The first minutes: the version, an empty memory, the demo shown by dev, completion in a shell."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.cli import terminal
from pkg_pipeline.cli.app import COMMANDS
from pkg_pipeline.cli.programs import dev
from pkg_pipeline.settings import Settings
from pkg_pipeline_tests.cli.processes import Program, short_folder

INSTALLED = Path(sys.executable).with_name("pkg-pipeline")


def test_the_version_is_said(program: Program) -> None:
    assert program.ok("--version").out.startswith("pkg-pipeline 0.")
    assert not program.home.exists()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("entities",), 0),
        (("summaries",), 0),
        (("stats",), 0),
        (("sessions",), 0),
        (("queue",), 0),
        (("recall", "the price"), 0),
        (("run",), 0),
        (("context", "Olga"), 1),
        (("recall", "the price", "--entity", "Olga"), 1),
    ],
)
def test_an_empty_memory_says_what_to_do_in_one_line(given: Program, arguments: tuple[str, ...], code: int) -> None:
    for more in ((), ("--json",)):
        said = given(*arguments, *more, PKG_LLM="offline", PKG_EMBEDDER="none")
        assert said.code == code, said.err
        hints = [line for line in said.err.splitlines() if "nothing is imported yet" in line]
        assert len(hints) == 1, said.err
        assert " import PATH " in hints[0]


def test_dev_shows_the_demo_where_there_is_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    with short_folder() as folder:
        monkeypatch.setenv("PKG_HOME", str(folder))
        monkeypatch.delenv("DATABASE_URL", raising=False)
        settings = Settings(home=folder)
        screen = Console(record=True, width=400, file=open(os.devnull, "w"))  # noqa: PTH123, SIM115
        assert dev._with_a_memory(settings, screen) is settings, "nothing at all: a memory of one's own begins"
        demo = folder / "demo"
        demo.mkdir()
        embedded.start(demo / "postgres")
        (demo / "pkg.toml").write_text('timezone = "Asia/Nicosia"\n')
        shown = dev._with_a_memory(settings, screen)
        assert (shown.home, shown.timezone) == (demo, "Asia/Nicosia")
        assert "these are the pages of the demo" in screen.export_text()
        given = settings.model_copy(update={"database_url": "postgresql://elsewhere"})
        assert dev._with_a_memory(given, screen) is given
        shutil.copytree(demo / "postgres", folder / "postgres", ignore=lambda *_: ["postmaster.pid", ".s.PGSQL.5432"])
        assert dev._with_a_memory(settings, screen) is settings, "a memory of one's own comes first"
        screen.file.close()


def test_the_program_is_called_as_a_shell_finds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.delenv("PKG_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    assert terminal.own_command() == str(INSTALLED)
    monkeypatch.chdir(INSTALLED.parent.parent)
    assert terminal.own_command() == f"bin/{INSTALLED.name}"
    monkeypatch.setenv("PATH", f"{INSTALLED.parent}:/usr/bin")
    assert terminal.own_command() == "pkg-pipeline"
    monkeypatch.setenv("PKG_HOME", "/a home")
    assert terminal.own_command() == "PKG_HOME='/a home' pkg-pipeline"


def completed(words: str, tmp_path: Path, *, shell: str = "bash") -> list[str]:
    """What the shell offers after ``words``."""
    environment = {**os.environ, "HOME": str(tmp_path), "PATH": f"{INSTALLED.parent}:/usr/bin:/bin"}
    if shell == "zsh":
        environment |= {"_PKG_PIPELINE_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": words}
        done = subprocess.run([INSTALLED], env=environment, capture_output=True, text=True, check=True)
        return [line.split('"')[1] for line in done.stdout.splitlines() if '"' in line]
    script = f"""
        eval "$(pkg-pipeline --show-completion)"
        COMP_WORDS=({words.replace(" ", " ")}{' ""' if words.endswith(" ") else ""})
        COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
        _pkg_pipeline_completion pkg-pipeline
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_bash_completes_commands_groups_and_options(tmp_path: Path) -> None:
    assert completed("pkg-pipeline ", tmp_path) == list(COMMANDS)
    assert completed("pkg-pipeline s", tmp_path) == [name for name in COMMANDS if name.startswith("s")]
    assert completed("pkg-pipeline archive ", tmp_path) == ["status", "restore", "compact"]
    assert completed("pkg-pipeline context --ma", tmp_path) == ["--max-tokens"]


def test_zsh_completes_commands(tmp_path: Path) -> None:
    assert completed("pkg-pipeline s", tmp_path, shell="zsh") == [name for name in COMMANDS if name.startswith("s")]


def test_completion_is_installed_for_bash_and_zsh(tmp_path: Path) -> None:
    # the shell is told by the process that calls, which is a test here: this variable lets it be named
    environment = {**os.environ, "HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    for shell, kept in (("bash", ".bash_completions/pkg-pipeline.sh"), ("zsh", ".zfunc/_pkg-pipeline")):
        subprocess.run(
            [INSTALLED, "--install-completion", shell], env=environment, check=True, stdout=subprocess.DEVNULL
        )
        assert "_PKG_PIPELINE_COMPLETE" in (tmp_path / kept).read_text()
    assert str(tmp_path / ".bash_completions") in (tmp_path / ".bashrc").read_text()


def test_completing_a_command_loads_none() -> None:
    code = (
        "import os, sys\n"
        "os.environ |= {'_PKG_PIPELINE_COMPLETE': 'complete_bash', 'COMP_WORDS': 'pkg-pipeline ', 'COMP_CWORD': '1'}\n"
        "from pkg_pipeline.cli.app import main\n"
        "try: main([])\n"
        "except SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert not loaded & {"psycopg", "rich", "dagster", "numpy", "fastapi", "matplotlib"}
    assert done.stdout.split() == list(COMMANDS)
