"""The program's entry: every command by name, and what a failure looks like."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import orjson
import typer

from pkg_pipeline.adapters.embedded import EmbeddedError
from pkg_pipeline.adapters.postgres.engine import DatabaseUnavailable
from pkg_pipeline.cli import doctor, importing, operate, reading, serving
from pkg_pipeline.cli.terminal import FAILED, CommandFailed, notes
from pkg_pipeline.settings import SettingsError
from pkg_pipeline.stages.ports import LlmMisconfigured

SAID_IN_ONE_LINE = (CommandFailed, SettingsError, DatabaseUnavailable, EmbeddedError, LlmMisconfigured)


def build_app() -> typer.Typer:
    """The Typer application with all commands."""
    app = typer.Typer(
        name="pkg-pipeline",
        help="Conversations in, tiered memory out.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.command("init")(operate.init)
    app.command("doctor")(doctor.doctor)
    app.add_typer(operate.db, name="db")
    app.command("import")(importing.import_files)
    app.command("entities")(reading.entities)
    app.command("summaries")(reading.summaries)
    app.command("context")(reading.context)
    app.command("serve")(serving.serve)
    app.command("backup")(operate.backup)
    app.command("restore")(operate.restore)
    app.command("uninstall")(operate.uninstall)
    return app


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
