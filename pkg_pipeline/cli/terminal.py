"""How commands speak: one JSON document for programs, tables for people, one clear line for a failure."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import orjson
import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from pkg_pipeline.settings import Settings, SettingsError, load
from pkg_pipeline.stages.message_stores import ExportSource

JsonFlag = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]

DONE, FAILED, WRONG_USAGE = 0, 1, 2


class CommandFailed(Exception):
    """A command cannot do what was asked; the message is the one line that the person sees."""


def console() -> Console:
    """For people: standard output, colours and width as the terminal has them."""
    return Console(highlight=False, soft_wrap=True)


def notes() -> Console:
    """Progress and remarks: standard error, so that standard output stays what was asked for."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def show(answer: Any, *, as_json: bool, human: Callable[[Console], None]) -> None:
    """Print ``answer`` for programs or for people."""
    if as_json:
        sys.stdout.write(orjson.dumps(answer, option=orjson.OPT_INDENT_2, default=str).decode() + "\n")
    else:
        human(console())


def settings_in_force() -> Settings:
    """The settings; a wrong one ends the command with its line."""
    try:
        return load()
    except SettingsError as error:
        raise CommandFailed(str(error)) from error


@contextmanager
def reading_progress(*, as_json: bool) -> Iterator[Callable[[ExportSource], None]]:
    """A progress bar over the bytes of a file, on a terminal only."""
    screen = notes()
    if as_json or not screen.is_terminal:
        yield lambda _: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen, transient=True) as progress:
        tasks: dict[str, Any] = {}

        def advance(export: ExportSource) -> None:
            if export.name not in tasks:
                tasks[export.name] = progress.add_task(export.name[-40:], total=export.bytes_total)
            progress.update(tasks[export.name], completed=export.bytes_read, total=export.bytes_total)

        yield advance


def counted(number: float, one: str, many: str | None = None) -> str:
    """``1 message``, ``1,200 messages``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
