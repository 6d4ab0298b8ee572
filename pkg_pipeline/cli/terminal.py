"""Output of commands: JSON for programs, tables for people, one line for a failure. Rich is loaded where needed."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO, cast

import typer
from typer._click.globals import get_current_context  # of the command that is running

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from pkg_pipeline.settings import Settings
    from pkg_pipeline.wiring import Memory

JsonFlag = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
YesFlag = Annotated[bool, typer.Option("--yes", help="Do it without asking.")]

DONE, FAILED, WRONG_USAGE = 0, 1, 2

DEMO_FOLDER = "demo"
"""The demo's home, inside the home in force."""

COLUMNS_WITHOUT_TERMINAL = 160
"""Output to a file has no width; eighty columns would cut names."""

_CONTROLS = {
    code: "\N{REPLACEMENT CHARACTER}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"
}


class CommandFailed(Exception):
    """A command cannot do what was asked; the message is the line the user sees."""


def console() -> Console:
    """Standard output for people, with the terminal's colours and width."""
    return _console(stderr=False)


def notes() -> Console:
    """Standard error, for progress and remarks."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    from rich.console import Console

    made = Console(stderr=stderr, highlight=False, soft_wrap=True, emoji=False)
    if not made.is_terminal:
        made.width = max(made.width, COLUMNS_WITHOUT_TERMINAL)
    return made


def plain(text: object) -> str:
    """Text of others for our output: markup is escaped, control sequences removed."""
    from rich.markup import escape

    return escape(without_controls(text))


def as_text(typed: str) -> str:
    """Typed text with invalid UTF-8 replaced: neither JSON nor the database takes it."""
    return typed.encode("utf-8", "replace").decode()


def without_controls(text: object) -> str:
    """``text`` without control characters other than line ends and tabs, and without marks that reverse a line."""
    from pkg_pipeline.memory.text.cleaning import without_direction

    return without_direction(str(text)).translate(_CONTROLS)


def show(answer: Any, *, as_json: bool, human: Callable[[Console], None]) -> None:
    if as_json:
        import orjson

        sys.stdout.write(orjson.dumps(answer, option=orjson.OPT_INDENT_2, default=str).decode() + "\n")
    else:
        human(console())


def own_command(*, home: Path | None = None) -> str:
    """How to call this program from the current folder; with PKG_HOME if ``home`` is not the default, and with the
    memory in force.
    """
    beside = Path(sys.executable).with_name("pkg-pipeline")
    on_path = shutil.which("pkg-pipeline")
    if not beside.exists() or (on_path is not None and beside.samefile(on_path)):
        called = "pkg-pipeline"
    else:
        called = str(beside.relative_to(Path.cwd()) if beside.is_relative_to(Path.cwd()) else beside)
    given = str(home) if home is not None else os.environ.get("PKG_HOME")
    prefix = f"PKG_HOME={shlex.quote(given)} " if given else ""
    if home is None and (memory := os.environ.get("PKG_MEMORY")):
        prefix += f"PKG_MEMORY={shlex.quote(memory)} "
    return prefix + shlex.quote(called)


def settings_in_force() -> Settings:
    """Raises SettingsError, whose line ends the command."""
    from pkg_pipeline.settings import load

    return load()


def confirm(question: str, *, yes: bool, as_json: bool, details: Iterable[object] = ()) -> None:
    """Raises CommandFailed where nobody can be asked for consent to ``details``, typer.Abort for a no."""
    if yes:
        return
    if as_json or not sys.stdin.isatty():
        raise CommandFailed(f"not done, since nobody can be asked here: {question} Repeat it with --yes")
    for detail in details:
        notes().print(f"  {plain(detail)}")
    typer.confirm(question, abort=True, err=True)


@contextmanager
def memory_in_force(settings: Settings | None = None) -> Iterator[Memory]:
    """The memory of ``settings``, or of those in force. Errors of a request become wrong usage."""
    from pkg_pipeline.stages.reads.paging import BadCursor
    from pkg_pipeline.stages.reads.stores import BadRequest
    from pkg_pipeline.wiring import open_memory

    with open_memory(settings or settings_in_force()) as memory:
        try:
            yield memory
        except BadCursor as error:
            raise typer.BadParameter(str(error), param_hint="--cursor") from error
        except BadRequest as error:
            option = f"--{error.field.replace('_', '-')}"
            options = {name for one in get_current_context().command.params for name in one.opts}
            raise typer.BadParameter(str(error), param_hint=option if option in options else error.field) from error


def one_of(given: str | None, allowed: Iterable[str], option: str) -> None:
    """Raises wrong usage for a value that is not allowed."""
    if given is not None and given not in allowed:
        raise typer.BadParameter(f"{given!r} is none of {', '.join(allowed)}", param_hint=option)


def table(*headers: str, numbers: slice = slice(0)) -> Table:
    """A plain table; the columns in ``numbers`` are right-aligned. Without headers it has two columns, names first."""
    from rich.table import Table

    made = Table(*headers, box=None, show_header=bool(headers), padding=(0, 2, 0, 0))
    for column in made.columns[numbers]:
        column.justify = "right"
    return made


def say_if_more(screen: Console, cursor: str | None) -> None:
    """How to get the next page."""
    if cursor is not None:
        screen.print(f"there is more: --cursor {cursor}", markup=False)


@contextmanager
def working(words: str, *, as_json: bool) -> Iterator[None]:
    """A spinner on a terminal."""
    screen = notes()
    if as_json or not screen.is_terminal:
        yield
        return
    with screen.status(f"{words} …"):
        yield


def counted(number: float, one: str, many: str | None = None) -> str:
    """``1 message``, ``1,200 messages``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def let_readers_leave() -> None:
    """A reader that closes standard output ends the command silently; unread remarks are dropped."""
    sys.stdout = cast(TextIO, _Unread(sys.stdout, ends=True))
    sys.stderr = cast(TextIO, _Unread(sys.stderr, ends=False))


class _Unread:
    """A text stream that writes nowhere once its reader has left."""

    def __init__(self, stream: TextIO, *, ends: bool) -> None:
        self._stream, self._ends = stream, ends

    def write(self, text: str) -> int:
        with self._reader_may_leave():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with self._reader_may_leave():
            self._stream.flush()

    @contextmanager
    def _reader_may_leave(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)
            if self._ends:
                sys.exit(DONE)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
