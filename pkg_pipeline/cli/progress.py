"""Progress on standard error: bars on a terminal, else a line now and then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from pkg_pipeline.cli.terminal import notes, plain

SECONDS_BETWEEN_LINES = 10.0
SHORT_SECONDS = 2.0
"""Shorter work needs no bar."""

OnPart = Callable[[str, int, int], object]
"""Gets the name of the work, how much is done, and how much there is."""


@contextmanager
def showing(
    *, as_json: bool, starting: str = "", after_seconds: float = 0.0, lines: bool = True, in_bytes: bool = False
) -> Iterator[OnPart]:
    """Bars on a terminal, once ``after_seconds`` have passed; ``starting`` is shown until the first is known. None with
    ``as_json``. Without a terminal a line is printed every ten seconds, unless ``lines`` is off.
    """
    screen = notes()
    if as_json or not screen.is_terminal:
        yield Lines(screen) if lines and not screen.is_terminal else lambda *_: None
        return
    counts = DownloadColumn() if in_bytes else MofNCompleteColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), counts, TimeElapsedColumn(), TimeRemainingColumn())
    progress, began = Progress(*columns, console=screen, transient=True), time.monotonic()
    tasks: dict[str, Any] = {starting: progress.add_task(starting, total=None, visible=bool(starting))}

    def show(what: str, done: int, total: int) -> None:
        if time.monotonic() - began < after_seconds:
            return
        progress.start()
        progress.update(tasks[starting], visible=False)
        if what not in tasks:
            tasks[what] = progress.add_task(plain(what))
        progress.update(tasks[what], completed=done, total=max(done, total))

    if not after_seconds:
        progress.start()
    try:
        yield show
    finally:
        progress.stop()


class Lines:
    """Prints a line after so many seconds without one."""

    def __init__(self, screen: Console, *, now: Callable[[], float] = time.monotonic) -> None:
        self._screen, self._now = screen, now
        self._printed_at = now()
        self._begun: dict[str, tuple[float, int]] = {}

    def __call__(self, what: str, done: int, total: int) -> None:
        now = self._now()
        begun_at, before = self._begun.setdefault(what, (now, done))
        if now - self._printed_at < SECONDS_BETWEEN_LINES:
            return
        self._printed_at = now
        made, left = done - before, max(0, total - done)
        rest = f", about {_span((now - begun_at) / made * left)} left" if made and left else ""
        self._screen.print(f"{what}: {done:,} of {max(done, total):,}{rest}", markup=False)


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"
