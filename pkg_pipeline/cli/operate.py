"""Commands that keep the house: init, db, backup, restore, uninstall."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from pkg_pipeline.adapters import embedded
from pkg_pipeline.adapters.postgres import backup as backups
from pkg_pipeline.adapters.postgres import engine, migrate
from pkg_pipeline.cli.terminal import CommandFailed, JsonFlag, console, settings_in_force, show
from pkg_pipeline.settings import Settings
from pkg_pipeline.wiring import database, database_url, open_memory

db = typer.Typer(help="The database: upgrade, downgrade REV, start, stop, status.", no_args_is_help=True)

OURS = ("postgres", "postgres.lock", "postgres.keep", "dagster", "inbox", "demo", "dev.lock", "logs", "pkg.toml")
"""All that the program puts into PKG_HOME; uninstall touches nothing else."""

Yes = Annotated[bool, typer.Option("--yes", help="Do it without asking.")]


def init(json: JsonFlag = False) -> None:
    """Create the home, the database and its tables. Safe to repeat."""
    settings = settings_in_force()
    settings.inbox.mkdir(parents=True, exist_ok=True)
    with open_memory(settings) as memory:
        revision = migrate.current(memory.url)
    answer = {"home": str(settings.home), "database": _kind(settings), "revision": revision}
    show(answer, as_json=json, human=lambda screen: screen.print(f"ready: {settings.home}, {_kind(settings)} database"))


@db.command()
def upgrade(json: JsonFlag = False) -> None:
    """Bring the tables up to date."""
    settings = settings_in_force()
    with database(settings) as url:
        migrate.upgrade(url)
        _say_revision(url, as_json=json)


@db.command()
def downgrade(
    revision: Annotated[str, typer.Argument(help="Such as 0001, or base for none.")],
    yes: Yes = False,
    json: JsonFlag = False,
) -> None:
    """Take revisions back; what only they hold is lost."""
    if not yes:
        typer.confirm(f"Go back to {revision}? What later revisions hold is lost.", abort=True)
    settings = settings_in_force()
    with database(settings) as url:
        migrate.downgrade(url, revision)
        _say_revision(url, as_json=json)


@db.command()
def start(json: JsonFlag = False) -> None:
    """Start the embedded server and let it run until `db stop`."""
    settings = _embedded_only()
    embedded.keep(settings.database_folder, kept=True)
    url = database_url(settings)
    show({"running": True, "url": url}, as_json=json, human=lambda screen: screen.print(f"running: {url}"))


@db.command()
def stop(json: JsonFlag = False) -> None:
    """Stop the embedded server."""
    settings = _embedded_only()
    embedded.keep(settings.database_folder, kept=False)
    stopped = embedded.stop(settings.database_folder)
    said = "stopped" if stopped else "was not running"
    show({"running": False}, as_json=json, human=lambda screen: screen.print(said))


@db.command()
def status(json: JsonFlag = False) -> None:
    """Whether the database answers and at which revision it is."""
    settings = settings_in_force()
    if settings.database_url is None and not embedded.is_running(settings.database_folder):
        answer = {"running": False, "kind": "embedded", "revision": None, "head": migrate.head()}
    else:
        url = database_url(settings, start=False)
        answer = {"running": True, "kind": _kind(settings), "revision": migrate.current(url), "head": migrate.head()}
    show(
        answer,
        as_json=json,
        human=lambda screen: screen.print(
            f"{answer['kind']}: {'running' if answer['running'] else 'stopped'},"
            f" revision {answer['revision'] or 'unknown'} of {answer['head']}"
        ),
    )


def backup(
    file: Annotated[Path, typer.Argument(help="The file to write.")],
    json: JsonFlag = False,
) -> None:
    """Write the whole memory, with Dagster's history, into one file."""
    with database(settings_in_force()) as url:
        try:
            size = backups.dump(url, file)
        except (backups.BackupFailed, OSError) as error:
            raise CommandFailed(str(error)) from error
    show({"file": str(file), "bytes": size}, as_json=json, human=lambda screen: screen.print(f"{file}: {size:,} bytes"))


def restore(
    file: Annotated[Path, typer.Argument(help="A file that `backup` wrote.")],
    yes: Yes = False,
    json: JsonFlag = False,
) -> None:
    """Replace the memory by a backup; then its tables are brought up to date."""
    settings = settings_in_force()
    if not yes:
        typer.confirm(f"Replace everything in the {_kind(settings)} database by {file}?", abort=True)
    with database(settings) as url:
        migrate.prepare(url)
        try:
            backups.restore(url, file)
        except backups.BackupFailed as error:
            raise CommandFailed(str(error)) from error
        migrate.upgrade(url)
        _say_revision(url, as_json=json)


def uninstall(yes: Yes = False, json: JsonFlag = False) -> None:
    """Remove everything the program keeps: the database, Dagster's home, the inbox, the settings."""
    settings = settings_in_force()
    there = [settings.home / name for name in OURS if (settings.home / name).exists()]
    if not yes:
        screen = console()
        for path in there:
            screen.print(f"  {path}")
        if settings.database_url is not None:
            screen.print(f"  schemas {', '.join(backups.SCHEMAS)} of the database in DATABASE_URL")
        typer.confirm("Delete all of this for good?", abort=True)
    schemas = backups.drop(engine.libpq_url(settings.database_url.get_secret_value())) if settings.database_url else []
    for home in (settings.home / "demo", settings.home):
        if embedded.is_initialised(home / "postgres"):
            embedded.stop(home / "postgres")
    for path in there:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    left = sorted(str(path) for path in settings.home.iterdir()) if settings.home.exists() else []
    if settings.home.exists() and not left:
        settings.home.rmdir()
    answer = {"removed": [str(path) for path in there], "schemas": schemas, "left": left}
    show(answer, as_json=json, human=lambda screen: screen.print(_gone(settings, left)))


def _gone(settings: Settings, left: list[str]) -> str:
    rest = f"; not ours and left alone: {', '.join(left)}" if left else ""
    return f"removed {settings.home}{rest}. The program itself goes with its checkout or environment."


def _embedded_only() -> Settings:
    settings = settings_in_force()
    if settings.database_url is not None:
        raise CommandFailed("DATABASE_URL is set: that server is not started or stopped from here")
    return settings


def _kind(settings: Settings) -> str:
    return "embedded" if settings.database_url is None else "given"


def _say_revision(url: str, *, as_json: bool) -> None:
    answer = {"revision": migrate.current(url), "head": migrate.head()}
    show(answer, as_json=as_json, human=lambda screen: screen.print(f"revision {answer['revision'] or 'none'}"))
