"""The program as real processes on a home of their own, and conversations for it to read. Not the tests."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from pkg_pipeline.adapters.server import embedded

COMMAND = [sys.executable, "-c", "from pkg_pipeline.cli.app import main; main()"]
NOW = "2025-03-15T12:00:00+00:00"
OURS = ("PKG_", "DATABASE_URL", "ANTHROPIC_", "PG", "COLUMNS", "DAGSTER_HOME")
PATIENCE_SECONDS = 120
ENOUGH_BYTES = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Said:
    """How a process ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on standard output."""
        return json.loads(self.out)

    def failed(self, *words: str) -> str:
        """Checks that it failed by one line with ``words``; returns the line."""
        assert self.code == 1, (self.code, self.out, self.err)
        lines = [line for line in self.err.splitlines() if line.strip()]
        assert len(lines) == 1, self.err
        assert lines[0].startswith("error: "), lines
        for word in words:
            assert word in lines[0], (word, lines[0])
        return lines[0]

    def refused(self, *words: str) -> None:
        """Checks that it was called wrongly."""
        assert self.code == 2, (self.code, self.out, self.err)
        assert self.out == ""
        assert "Traceback" not in self.err
        flat = " ".join(self.err.replace("│", " ").split())
        for word in words:
            assert word in flat, (word, flat)


_FORKS = """
import atexit, gc, importlib, json, os, statistics, sys, threading, traceback, warnings
import rich.progress
from matplotlib.backends import backend_agg, backend_svg
from pkg_pipeline import wiring
from pkg_pipeline.adapters.text import term_analyzer
from pkg_pipeline.adapters.text import tokens
from pkg_pipeline.adapters.embedders.offline import OfflineEmbedder
from pkg_pipeline.adapters.exports import detect
from pkg_pipeline.offline.llm import OfflineLlm
from pkg_pipeline.adapters.postgres import backup
from pkg_pipeline.adapters.postgres.recall import store as recall_store
from pkg_pipeline.cli import app, archive, backfill, doctor, importing, monitoring, operate, reading, recalling
from pkg_pipeline.cli import reembed
from pkg_pipeline.cli.sessions import session
from pkg_pipeline.cli.sessions import following as sessions
from pkg_pipeline.cli.sessions import window
from pkg_pipeline.memory.message import importance
from pkg_pipeline.wiring import folds, models, recall, windows
from pkg_pipeline.compare import wiring as comparing
from pkg_pipeline.defs import build, hops, local_runs
import dagster_postgres
from pkg_pipeline_tests import late_modules
from pkg_pipeline_tests.offline import chats
for hop in hops.HOPS[:-1]:
    importlib.import_module(f"pkg_pipeline.defs.assets.{hop.asset}")
# what is loaded or compiled at the first word, not at import
tokens.TiktokenCounter().count("word")
OfflineEmbedder().embed(["word"])
importance.score("word")
for language, said in (("en", "I'll bring it on Friday."), ("ru", "Я привезу в пятницу."), ("zh", "我周五带给你。")):
    talk = chats.chat(*[("Ann", said), ("Bo", said)] * 2, me="Ann", language=language)
    chats.answered(talk), chats.read_items(talk)
gc.collect()
gc.freeze()
for line in sys.stdin:
    asked = json.loads(line)
    known = set(sys.modules)
    child = os.fork()
    if child == 0:
        os.environ.clear()
        os.environ.update(asked["environment"])
        for number, name in enumerate((os.devnull, asked["out"], asked["err"])):
            opened = os.open(name, os.O_WRONLY if number else os.O_RDONLY)
            os.dup2(opened, number)
            os.close(opened)
        sys.stdin = open(0, closefd=False)
        sys.argv = ["pkg-pipeline", *asked["arguments"]]
        code = 0
        try:
            app.main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else end.code is not None
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
        except BaseException:
            code = 1
            traceback.print_exc()
        # ends as the interpreter does, but takes nothing apart: that costs half a second with all that is loaded
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        late_modules.tell(asked["late"], known)
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    late_modules.load(asked["late"])
"""


class Launcher:
    """Runs each command as a process of its own, forked from one that has loaded the modules once."""

    def __init__(self) -> None:
        self._late = tempfile.NamedTemporaryFile()  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", _FORKS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, arguments: list[str], environment: dict[str, str]) -> Said:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with tempfile.NamedTemporaryFile() as out, tempfile.NamedTemporaryFile() as err:
            asked = {"arguments": arguments, "environment": environment, "late": self._late.name}
            asked |= {"out": out.name, "err": err.name}
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
            code = int(self._process.stdout.readline())
            return Said(code, out.read().decode(), err.read().decode())

    def close(self) -> None:
        self._process.communicate(timeout=10)
        self._late.close()


@dataclass(slots=True)
class Program:
    """The program with one environment."""

    home: Path
    launcher: Launcher
    variables: dict[str, str] = field(default_factory=dict[str, str])

    def environment(self, **more: str) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        # dbt takes seconds: whoever looks at marts asks for them
        ours = {"PKG_HOME": str(self.home), "PKG_MARTS": "false", "PKG_SUMMARY_MIN_TOKENS": "0"}
        return {**inherited, **ours, **self.variables, **more}

    def __call__(self, *arguments: object, **more: str) -> Said:
        said = self.launcher.run([str(one) for one in arguments], self.environment(**more))
        assert "Traceback" not in said.err, said.err
        return said

    def ok(self, *arguments: object, **more: str) -> Said:
        said = self(*arguments, **more)
        assert said.code == 0, (arguments, said.out, said.err)
        return said

    def start(self, *arguments: object, **more: str) -> subprocess.Popen[str]:
        """In the background, standard error as a pipe to read from."""
        return subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            env=self.environment(**more),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def data(self) -> Path:
        return self.home / "postgres"


@contextmanager
def short_folder() -> Iterator[Path]:
    """A folder with a short path, as sockets need; gone afterwards with every server in it."""
    memory = Path("/dev/shm")  # servers of their own write much that nobody keeps
    roomy = memory.is_dir() and shutil.disk_usage(memory).free > ENOUGH_BYTES
    folder = Path(tempfile.mkdtemp(prefix="pkgc-", dir=memory if roomy else None))
    try:
        yield folder
    finally:
        for version in folder.rglob("PG_VERSION"):
            if (version.parent / "postmaster.pid").exists():
                embedded.stop(version.parent, mode="immediate")
        shutil.rmtree(folder, ignore_errors=True)


def servers(folder: Path) -> list[psutil.Process]:
    """PostgreSQL's main processes whose data lie somewhere in ``folder``."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter(["name", "cmdline"]):
        words = process.info["cmdline"] or []
        if process.info["name"] == "postgres" and any(word.startswith(str(folder)) for word in words):
            found.append(process)
    ids = {process.pid for process in found}
    return [process for process in found if not _is_child(process, ids)]


def _is_child(process: psutil.Process, of: set[int]) -> bool:
    """Whether one of them started it a moment ago: until it names itself it looks as they do."""
    try:
        return process.ppid() in of
    except psutil.NoSuchProcess:
        return True


def wait_until(true: Any, *, seconds: float = 30) -> None:
    """Polls ``true``; fails after ``seconds``."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.02)


def end(process: subprocess.Popen[str], number: int = signal.SIGINT, *, seconds: float = 20) -> tuple[int, str]:
    """Sends the signal; returns the exit code and the rest of standard error."""
    process.send_signal(number)
    _, rest = process.communicate(timeout=seconds)
    return process.returncode, rest


def on_terminal(program: Program, *arguments: object, answers: list[tuple[str, str]]) -> Said:
    """Runs on a pseudo terminal; each answer is typed once its question has appeared. Everything is in ``out``."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        env=program.environment(TERM="xterm", COLUMNS="120"),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    said, left, seen, deadline = "", list(answers), 0, time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        if not select.select([ours], [], [], 1)[0]:
            continue
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other side is closed
            break
        said += piece.decode(errors="replace")
        if left and left[0][0] in said[seen:]:
            seen = len(said)
            os.write(ours, left.pop(0)[1].encode())
    os.close(ours)
    return Said(process.wait(timeout=10), said, "")


# ── conversations ─────────────────────────────────────────────────────────────────────────────


def line(number: int, sender: str, text: str, *, chat: str = "c1", day: int = 1, **more: object) -> dict[str, Any]:
    """One message of the generic format, in January 2025."""
    return {
        "chat_id": chat,
        "message_id": f"{chat}-{number}",
        "sender_id": sender.casefold().replace(" ", "."),
        "sender_name": sender,
        "sent_at": f"2025-01-{day:02}T10:{number:02}:00+00:00",
        "text": text,
        "chat_kind": "direct",
        **more,
    }


def written(file: Path, lines: list[dict[str, Any]]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines), encoding="utf-8")
    return file


def dialogue(other: str = "Olga Petrova", *, chat: str = "c1", marked: bool = True) -> list[dict[str, Any]]:
    """Six messages of a direct chat; ``marked`` says which are mine."""
    texts = [
        ("Me", "Hello, shall we agree on the price of the boat?"),
        (other, "We agreed on 4,500 USD, the deadline is 20 February 2025."),
        ("Me", "Good. I will send the contract by Friday."),
        (other, "Please send it to the yard as well, they need it before 7 February."),
        ("Me", "Done, and I paid the deposit of 500 USD today."),
        (other, "Thank you, confirmed!"),
    ]
    mark: dict[str, object]
    lines: list[dict[str, Any]] = []
    for number, (sender, text) in enumerate(texts, 1):
        mark = {"is_self": sender == "Me"} if marked else {}
        lines.append(line(number, sender, text, chat=chat, **mark))
    return lines
