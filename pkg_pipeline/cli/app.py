"""The program's entry: every command by name, and what a failure looks like.

A command's module is imported when the command is used: the web framework and Dagster take longer to load than most
commands take to run.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

import orjson
import typer
from typer.core import TyperGroup

from pkg_pipeline.adapters.embedded import EmbeddedError
from pkg_pipeline.adapters.postgres.engine import DatabaseUnavailable
from pkg_pipeline.cli.terminal import FAILED, CommandFailed, notes
from pkg_pipeline.settings import SettingsError
from pkg_pipeline.stages.ports import LlmMisconfigured

SAID_IN_ONE_LINE = (CommandFailed, SettingsError, DatabaseUnavailable, EmbeddedError, LlmMisconfigured)

COMMANDS = {
    "demo": ("demo", "demo", "The whole way on the bundled conversations: no key, no network."),
    "import": ("importing", "import_files", "Take conversations in. Repeating an import changes nothing twice."),
    "run": ("run", "run", "Work off all that is due now, or a range of days, through Dagster, here."),
    "entities": ("reading", "entities", "Everybody the memory knows, by name."),
    "context": ("reading", "context", "Everything that matters about somebody, within a token budget."),
    "summaries": ("reading", "summaries", "Summaries with decisions and action items, newest first."),
    "dev": ("dev", "dev", "Database, Dagster's pages and daemon, API; one Ctrl-C ends all."),
    "serve": ("serving", "serve", "The read API until Ctrl-C."),
    "init": ("operate", "init", "Create the home, the database and its tables."),
    "doctor": ("doctor", "doctor", "Tell what is in force and what is wrong."),
    "db": ("operate", "db", "The database: upgrade, downgrade REV, start, stop, status."),
    "backup": ("operate", "backup", "Write the whole memory into one file."),
    "restore": ("operate", "restore", "Replace the memory by a backup."),
    "uninstall": ("operate", "uninstall", "Remove everything the program keeps."),
}
"""Name → module in this package, function or group in it, what the list of commands says."""


class _Commands(TyperGroup):
    """Commands by name, each loaded when it is used; the list is made of the table alone."""

    def list_commands(self, ctx: Any) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[cmd_name]
        found = getattr(importlib.import_module(f"pkg_pipeline.cli.{module}"), attribute)
        return _as_command(cmd_name, found)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, words) for name, (_, _, words) in COMMANDS.items()])


def _as_command(name: str, found: Callable[..., Any] | typer.Typer) -> Any:
    if isinstance(found, typer.Typer):
        group = typer.main.get_group(found)
        group.name = name
        return group
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    single.command(name)(found)
    return typer.main.get_command(single)


def build_app() -> typer.Typer:
    """The Typer application with all commands."""
    app = typer.Typer(
        cls=_Commands,
        name="pkg-pipeline",
        help="Conversations in, tiered memory out.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_root)
    return app


def _root() -> None:
    """Conversations in, tiered memory out."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; exit code 0 done, 1 it failed, 2 wrong usage."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        build_app()(given)
    except SAID_IN_ONE_LINE as error:
        if "--json" in given:
            sys.stdout.write(orjson.dumps({"error": str(error)}).decode() + "\n")
        notes().print(f"error: {error}", markup=False)
        sys.exit(FAILED)
    except KeyboardInterrupt:
        notes().print("stopped; what was committed stays, run the same command to go on", markup=False)
        sys.exit(130)
