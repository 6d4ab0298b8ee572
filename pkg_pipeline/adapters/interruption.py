"""The signals that end a command: within seconds, by one line, with what is under way finished where it can be.

A signal unwinds the command by a KeyboardInterrupt: what threads have begun they finish and save, every ``finally``
runs. What is not over by then is cut off; everything that was committed stays.
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
"""A program ended by signal N says 128 + N, as shells do."""

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
GRACE_SECONDS = 3.0
"""What is under way when the signal comes has so long; stopping a server of ours comes after it."""

LINE = "stopped; what was committed stays, run the same command to go on"
SHOW_CURSOR = "\x1b[?25h"


class Interruption:
    """The signals of one process. ``number`` is that of the first that came. Only one is made, ``INTERRUPTION``."""

    def __init__(self) -> None:
        self.number: int | None = None
        self.is_bounded = True
        """False where a program takes its time to end and bounds it itself."""
        self._is_watching = self._is_raised = False
        self._saying = threading.Lock()

    def watch(self, cut_off: Callable[[], object]) -> None:
        """From now on a signal ends the process, by force if need be; ``cut_off`` is called before that.

        Signals are noticed too while other code, Dagster's or uvicorn's, has put handlers of its own.
        """
        self._is_watching = True
        for number in SIGNALS:
            signal.signal(number, self._interrupt)
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        threading.Thread(target=self._bound, args=(reader, cut_off), name="signals", daemon=True).start()

    def check(self) -> None:
        """Raises KeyboardInterrupt where a signal came and nobody heard of it."""
        if self.number is not None:
            self._is_raised = True
            raise KeyboardInterrupt

    @contextmanager
    def raised(self) -> Iterator[None]:
        """Inside, a signal raises KeyboardInterrupt whatever handlers there are: for an exception of any other kind
        psycopg does not cancel the statement that is under way.
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
        """Say the one line, or ``words`` instead, and end with the code of the signal."""
        self._say(words or LINE)
        code = BY_SIGNAL + (self.number or signal.SIGINT)
        if self._is_watching:  # taking everything apart that is loaded takes a second
            with suppress(OSError):
                sys.stdout.flush()
            os._exit(code)
        sys.exit(code)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        del frame
        self.number = self.number or number
        if not self._is_raised:  # impatience must not break what ends the first one in good order
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
        cursor = SHOW_CURSOR if os.isatty(2) else ""  # a progress bar that was cut off has hidden it
        try:
            os.write(2, f"{cursor}{words}\n".encode())
        except OSError:
            return


INTERRUPTION = Interruption()


def _end_children() -> None:
    """What this process has started and would leave behind: pg_dump, dbt. A server is no child of ours."""
    import psutil

    for child in psutil.Process().children(recursive=True):
        try:
            child.kill()
        except psutil.Error:
            continue
