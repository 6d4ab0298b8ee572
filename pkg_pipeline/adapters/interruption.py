"""SIGINT, SIGTERM and SIGHUP end a command within seconds by one line: a KeyboardInterrupt unwinds it, threads finish
what they began, the rest is cut off.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

BY_SIGNAL = 128
"""Exit code of a program ended by signal N: 128 + N."""

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
GRACE_SECONDS = 3.0
"""For work in progress; stopping our server comes on top."""

LINE = "stopped; what was committed stays, run the same command to go on"
SHOW_CURSOR = "\x1b[?25h"


class Interruption:
    """The signals of one process (``INTERRUPTION``). ``number``: the first that came."""

    def __init__(self) -> None:
        self.number: int | None = None
        self.is_bounded = True
        """False where a program bounds its own shutdown."""
        self._is_watching = self._is_raised = False
        self._saying = threading.Lock()

    def watch(self, cut_off: Callable[[], object]) -> None:
        """From now on a signal ends the process, by force if need be, after calling ``cut_off``; also if Dagster or
        uvicorn installed handlers.
        """
        self._is_watching = True
        for number in SIGNALS:
            signal.signal(number, self._interrupt)
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        threading.Thread(target=self._bound, args=(reader, cut_off), name="signals", daemon=True).start()

    def check(self) -> None:
        """Raises KeyboardInterrupt if a signal came unnoticed."""
        if self.number is not None:
            self._is_raised = True
            raise KeyboardInterrupt

    @contextmanager
    def raised(self) -> Iterator[None]:
        """Inside, a signal raises KeyboardInterrupt whatever handlers are installed: only for it psycopg cancels the
        running statement.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._interrupt) for number in SIGNALS}
        try:
            self.check()
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def exit(self, words: str = "") -> NoReturn:
        """Print ``words`` or the standard line and exit with the signal's code."""
        self._say(words or LINE)
        code = BY_SIGNAL + (self.number or signal.SIGINT)
        if self._is_watching:  # a normal interpreter exit takes a second
            with suppress(OSError):
                sys.stdout.flush()
            os._exit(code)
        sys.exit(code)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        del frame
        self.number = self.number or number
        if not self._is_raised:  # a second signal must not interrupt the shutdown
            self._is_raised = True
            raise KeyboardInterrupt

    def _bound(self, reader: int, cut_off: Callable[[], object]) -> None:
        while not (came := [number for number in os.read(reader, 64) if number in SIGNALS]):
            pass
        self.number = self.number or came[0]
        threading.Event().wait(GRACE_SECONDS)
        if not self.is_bounded:
            return
        try:
            _end_children()
            cut_off()
        finally:
            self._say(LINE)
            os._exit(BY_SIGNAL + self.number)

    def _say(self, words: str) -> None:
        if not self._saying.acquire(blocking=False):
            return
        cursor = SHOW_CURSOR if os.isatty(2) else ""  # hidden by a progress bar
        try:
            os.write(2, f"{cursor}{words}\n".encode())
        except OSError:
            return


INTERRUPTION = Interruption()


def _end_children() -> None:
    """Child processes (pg_dump, dbt); our server is none."""
    import psutil

    for child in psutil.Process().children(recursive=True):
        try:
            child.kill()
        except psutil.Error:
            continue
