"""Entry of the program: the table of commands, each imported when it is used, and the handling of failures."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer._click.shell_completion import CompletionItem  # Typer's groups import it from here
from typer.core import TyperGroup

from pkg_pipeline.adapters.interruption import INTERRUPTION
from pkg_pipeline.cli.terminal import FAILED, CommandFailed, let_readers_leave, notes, without_controls

PRIVATE = 0o077
"""Umask: files are readable by this user alone."""

PROGRAM = "pkg-pipeline"

CONNECTION_LOST = ("08", "57P")
"""SQLSTATE classes of a server that ends a connection or accepts none: killed, restarted, starting."""

COMMANDS = {
    "demo": ("demo", "demo", "The whole way on the bundled conversations: no key, no network."),
    "import": ("importing", "import_files", "Take conversations in. Repeating an import changes nothing twice."),
    "run": ("run", "run", "Work off all that is due now, or a range of days, through Dagster, here."),
    "backfill": ("backfill", "backfill", "Summarise older conversations, or stale ones again; forecast first."),
    "entities": (
        "people",
        "group",
        "Everybody the memory knows, by name; who is who: merge, split, alias, rename, suggest.",
    ),
    "context": ("reading", "context", "Everything that matters about somebody, within a token budget."),
    "recall": ("recalling", "recall", "The messages, decisions and facts that answer a question."),
    "export": ("export", "export", "A table of the memory as CSV, JSON lines or Parquet."),
    "sessions": (
        "sessions.following",
        "sessions",
        "Chats that are followed while they run, and what is folded of them.",
    ),
    "window": ("sessions.window", "window", "The messages to give to a model next, within its window."),
    "session": ("sessions.session", "session", "A live session: append, event, fold, set, show."),
    "summaries": ("reading", "summaries", "Summaries with decisions and action items, newest first."),
    "items": ("items", "items", "Tasks and decisions over all conversations: list, show, close, reopen, edit."),
    "facts": ("facts", "facts", "What is known about people: list, confirm, reject, edit, add."),
    "receipts": ("receipts", "receipts", "What served contexts drew on: show, rebuild."),
    "why": ("why", "why", "From a served line back to its words, reader, gate, run and cost."),
    "chats": ("chats", "chats", "Chats and their categories: list, set."),
    "stats": ("monitoring", "stats", "Figures of the memory: coverage, backlog, cost, budget."),
    "queue": ("monitoring", "queue", "What waits, what is worked on, what was given up."),
    "dev": ("programs.dev", "dev", "Database, Dagster's pages and daemon, API; one Ctrl-C ends all."),
    "serve": ("programs.serving", "serve", "The read API until Ctrl-C."),
    "reembed": ("reembed", "reembed", "Another model for the vectors, beside the one in use, then the switch."),
    "compare": ("compare", "compare", "A conversation with compression and without: tokens and cost of every turn."),
    "init": ("operate", "init", "Create the home, the database and its tables."),
    "doctor": ("doctor", "doctor", "Tell what is in force and what is wrong."),
    "db": ("operate", "db", "The database: upgrade, downgrade REV, start, stop, status."),
    "memories": ("memories", "memories", "Several memories of one deployment: create, list, drop."),
    "archive": ("archive", "archive", "Old texts: status, restore, compact."),
    "threads": ("sessions.threads", "threads", "Threads of LangGraph agents: list, import, prune, delete."),
    "forget": ("forget", "forget", "People, chats, sessions, messages out of every table and file, for good."),
    "rebuild": ("rebuild", "rebuild", "Clear what is derived; the next run makes it again from kept answers."),
    "backup": ("operate", "backup", "Write the whole memory into one file."),
    "restore": ("operate", "restore", "Replace the memory by a backup."),
    "uninstall": ("operate", "uninstall", "Remove everything the program keeps."),
}
"""Name → module in this package, function or Typer group in it, line in the list of commands."""


class _Commands(TyperGroup):
    """Loads a command when it is used; the list of commands needs only the table."""

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

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Completes from the table, without loading the commands."""
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        return [
            CompletionItem(name, help=words) for name, (_, _, words) in COMMANDS.items() if name.startswith(incomplete)
        ]

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            INTERRUPTION.exit(str(interrupt))

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
        name=PROGRAM,
        help="Conversations in, tiered memory out.",
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_root)
    return app


def _say_version(asked: bool) -> None:
    if asked:
        from pkg_pipeline.adapters.versions import program_version

        typer.echo(f"{PROGRAM} {program_version()}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Say which version this is.")
    ] = False,
    memory: Annotated[
        str | None,
        typer.Option("--memory", metavar="NAME", help="The memory that the command is about; else PKG_MEMORY."),
    ] = None,
) -> None:
    """Conversations in, tiered memory out."""
    del version
    if memory is not None:
        os.environ["PKG_MEMORY"] = memory


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs a command; exit code 0 done, 1 failed, 2 wrong usage, 128 + N ended by signal N."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    INTERRUPTION.watch(_leave_servers)
    let_readers_leave()
    os.umask(PRIVATE)
    # a command builds large tables and ends: garbage collection took a fifth of its time
    gc.set_threshold(100_000, 20, 20)
    # pydantic searches all installed packages for plugins; this program needs none
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # matplotlib's font cache goes there, not into a folder of the user that nothing would remove
    fonts = Path(os.environ.get("PKG_HOME") or "~/.local/share/pkg-pipeline", "cache", "matplotlib")
    os.environ.setdefault("MPLCONFIGDIR", os.path.expanduser(fonts))  # noqa: PTH111 - "~nobody" is no error here
    # numpy's library starts a thread per core when loaded, which costs as much as a query; the embedding model,
    # its one heavy user, is set to one thread anyway
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        build_app()(given, prog_name=PROGRAM)
    except (Exception, KeyboardInterrupt) as error:
        if INTERRUPTION.number is not None:  # whatever exception ended it
            INTERRUPTION.exit()
        said = explained(error)
        if said is None:
            raise
        if "--json" in given:
            import orjson

            sys.stdout.write(orjson.dumps({"error": said}).decode() + "\n")
        notes().print(f"error: {without_controls(said)}", markup=False)
        sys.exit(FAILED)
    finally:
        sys.stdout.flush()


def explained(error: BaseException) -> str | None:
    """One line for a failure the user can act on; None for a fault of the program."""
    import psycopg
    import psycopg_pool

    from pkg_pipeline.adapters.postgres.engine import DatabaseUnavailable
    from pkg_pipeline.adapters.server.embedded import EmbeddedError
    from pkg_pipeline.settings import SettingsError
    from pkg_pipeline.stages.ports import LlmMisconfigured
    from pkg_pipeline.wiring.process import SpaceLow

    ours = (CommandFailed, SettingsError, DatabaseUnavailable, EmbeddedError, LlmMisconfigured, SpaceLow)
    if isinstance(error, ours):
        return str(error)
    if isinstance(error, psycopg_pool.PoolTimeout):
        return (
            "the database gives no connection: it is down, or others hold all it has (max_connections); try again then"
        )
    if isinstance(error, psycopg.errors.DiskFull):
        return "the disk of the database is full; what was committed stays: free some space and do the same again"
    if (lost := _lost_database(error)) is not None:
        said = str(lost).strip().splitlines()
        return f"the database went away ({said[0] if said else 'no reason given'}); what was committed stays, try again"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return None


def _lost_database(error: BaseException | None) -> BaseException | None:
    """The driver's error in the chain of causes of ``error``; Dagster and SQLAlchemy wrap it."""
    kinds = ("OperationalError", "InterfaceError", "StoreUnavailable", "DagsterPostgresException")
    while error is not None:
        state = str(getattr(error, "sqlstate", None))  # the driver has a class for each SQLSTATE
        if type(error).__name__ in kinds or state.startswith(CONNECTION_LOST):
            original = getattr(error, "orig", None)  # SQLAlchemy's message holds the statement
            return original if isinstance(original, BaseException) else error
        error = error.__cause__ or error.__context__
    return None


def _leave_servers() -> None:
    if "pkg_pipeline.adapters.server.embedded" in sys.modules:
        from pkg_pipeline.adapters.server import embedded

        embedded.leave()
