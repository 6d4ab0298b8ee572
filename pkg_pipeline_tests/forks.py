"""Processes of their own for workers that die, each forked from one that has loaded their modules once: what one of
them loaded at its first use is there for those after it.

What a worker does is in its own module, under ``main``; what it is to prove is in the tests.
"""

from __future__ import annotations

import atexit
import functools
import json
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from typing import IO

from pkg_pipeline_tests.conftest import REPOSITORY

PATIENCE_SECONDS = 120

_LOOP = """
import importlib, json, os, signal, sys, traceback
from pkg_pipeline_tests import late_modules
for line in sys.stdin:
    asked = json.loads(line)
    main = importlib.import_module(asked["module"]).main
    known = set(sys.modules)
    child = os.fork()
    if child == 0:
        signal.alarm(asked["seconds"])
        for number, name in enumerate((os.devnull, asked["out"], asked["err"])):
            opened = os.open(name, os.O_WRONLY if number else os.O_RDONLY)
            os.dup2(opened, number)
            os.close(opened)
        code = 1
        try:
            main(*asked["arguments"])
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            late_modules.tell(asked["late"], known)
            os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    late_modules.load(asked["late"])
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a worker ended and what it said; the code of one that a signal ended is the signal's, negative."""

    code: int
    out: str
    err: str


class _Forks:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._late = tempfile.NamedTemporaryFile()  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(
            [sys.executable, "-c", _LOOP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY
        )

    def run(self, module: str, arguments: tuple[str, ...]) -> Ended:
        told, answers = self._process.stdin, self._process.stdout
        assert told is not None
        assert answers is not None
        with self._lock, tempfile.NamedTemporaryFile() as out, tempfile.NamedTemporaryFile() as err:
            asked = {"module": module, "arguments": arguments, "seconds": PATIENCE_SECONDS, "late": self._late.name}
            told.write(json.dumps({**asked, "out": out.name, "err": err.name}) + "\n")
            told.flush()
            code = answers.readline()
            assert code, f"{module} cannot be loaded"
            return Ended(int(code), _text(out), _text(err))

    def close(self) -> None:
        self._process.communicate(timeout=10)
        self._late.close()


def _text(file: IO[bytes]) -> str:
    return file.read().decode()


@functools.cache
def _forks() -> _Forks:
    made = _Forks()
    atexit.register(made.close)
    return made


def run(module: str, *arguments: str) -> Ended:
    """``main(*arguments)`` of the module in a process of its own; ``SIGALRM`` ends it after ``PATIENCE_SECONDS``."""
    return _forks().run(module, arguments)
