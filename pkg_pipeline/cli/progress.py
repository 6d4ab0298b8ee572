"""How far long work is: bars on a terminal, a line now and then where nobody watches; always on standard error."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from pkg_pipeline.cli.terminal import notes

SECONDS_BETWEEN_LINES = 10.0

OnPart = Callable[[str, int, int], object]
"""Hears what is worked on, how much of it is done, and how much there is."""


@contextmanager
def showing(*, as_json: bool, starting: str = "") -> Iterator[OnPart]:
    """Bars with what is left of each kind of work, on a terminal; ``starting`` is said until the first is known. With
    ``as_json`` there are none. Elsewhere, a log for instance, a line is printed every ten seconds.
    """
    screen = notes()
    if not screen.is_terminal:
        yield Lines(screen)
        return
    if as_json:
        yield lambda *_: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen, transient=True) as progress:
        tasks: dict[str, Any] = {starting: progress.add_task(starting, total=None, visible=bool(starting))}

        def show(what: str, done: int, total: int) -> None:
            progress.update(tasks[starting], visible=False)
            if what not in tasks:
                tasks[what] = progress.add_task(what)
            progress.update(tasks[what], completed=done, total=max(done, total))

        yield show


class Lines:
    """Prints how far it is whenever so many seconds have passed since it began, or since the last line."""

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
