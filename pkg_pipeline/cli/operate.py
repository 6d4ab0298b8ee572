"""Commands for the memory as a whole: init, db, backup, restore, uninstall."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pkg_pipeline.adapters.home_files import OURS
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.cli.terminal import (
    CommandFailed,
    JsonFlag,
    YesFlag,
    confirm,
    memory_in_force,
    plain,
    settings_in_force,
    show,
)

if TYPE_CHECKING:
    from pkg_pipeline.settings import Settings

db = typer.Typer(help="The database: upgrade, downgrade REV, start, stop, status.", no_args_is_help=True)


def init(json: JsonFlag = False) -> None:
    """Create the home, the database and its tables. Safe to repeat."""
    from pkg_pipeline.adapters.postgres.migrations import migrate

    settings = settings_in_force()
    try:
        settings.inbox.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandFailed(f"{error.filename}: {error.strerror}; set PKG_HOME to a folder you can write to") from error
    with memory_in_force(settings) as memory:
        revision = migrate.current(memory.url)
    answer = {"home": str(settings.home), "database": _kind(settings), "revision": revision}
    show(
        answer,
        as_json=json,
        human=lambda screen: screen.print(f"ready: {plain(settings.home)}, {_kind(settings)} database"),
    )


@db.command()
def upgrade(json: JsonFlag = False) -> None:
    """Bring the tables up to date: of the memory that is named, or without a name of all."""
    from pkg_pipeline.adapters.postgres.migrations import migrate
    from pkg_pipeline.wiring import database, memories

    settings = settings_in_force()
    with database(settings) as url:
        migrate.upgrade(url)
        _say_revision(url, as_json=json, memories=memories.upgrade(settings) if settings.memory is None else {})


@db.command()
def downgrade(
    revision: Annotated[str, typer.Argument(help="Such as 0001, or base for none.")],
    yes: YesFlag = False,
    json: JsonFlag = False,
) -> None:
    """Take revisions back; what only they hold is lost."""
    from pkg_pipeline.adapters.postgres.migrations import migrate
    from pkg_pipeline.wiring import database

    try:
        migrate.check_revision(revision)
    except migrate.RevisionUnknown as error:
        raise typer.BadParameter(str(error), param_hint="REVISION") from error
    settings = settings_in_force()
    confirm(f"Go back to {revision}? What later revisions hold is lost.", yes=yes, as_json=json)
    with database(settings) as url:
        try:
            migrate.downgrade(url, revision)
        except migrate.RevisionUnknown as error:
            raise CommandFailed(str(error)) from error
        _say_revision(url, as_json=json)


@db.command()
def start(json: JsonFlag = False) -> None:
    """Start the embedded server and let it run until `db stop`."""
    settings = _embedded_only()
    embedded.keep(settings.database_folder, kept=True)
    with embedded.running(
        settings.database_folder
    ) as url:  # counts as a user of the server, so that no other process stops it meanwhile
        pass
    show({"running": True, "url": url}, as_json=json, human=lambda screen: screen.print(f"running: {url}"))


@db.command()
def stop(json: JsonFlag = False) -> None:
    """Stop the embedded server, whoever uses it."""
    settings = _embedded_only()
    embedded.keep(settings.database_folder, kept=False)
    stopped = embedded.stop(settings.database_folder)
    said = "stopped" if stopped else "was not running"
    show({"running": False, "stopped": stopped}, as_json=json, human=lambda screen: screen.print(said))


@db.command()
def status(json: JsonFlag = False) -> None:
    """Whether the database answers and at which revision it is."""
    from pkg_pipeline.adapters.postgres.migrations import revisions

    settings = settings_in_force()
    runs = settings.database_url is not None or embedded.is_running(settings.database_folder)
    revision = _current_revision(settings) if runs else None
    answer = {"running": runs, "kind": _kind(settings), "revision": revision, "head": revisions.head()}
    show(
        answer,
        as_json=json,
        human=lambda screen: screen.print(
            f"{answer['kind']}: {'running' if answer['running'] else 'stopped'},"
            f" revision {answer['revision'] or ('none' if answer['running'] else 'unknown')} of {answer['head']}"
        ),
    )


def backup(
    file: Annotated[Path, typer.Argument(help="The file to write.")],
    json: JsonFlag = False,
) -> None:
    """Write the whole memory, with Dagster's history, into one file."""
    from pkg_pipeline.adapters.postgres import backup as backups
    from pkg_pipeline.adapters.postgres.migrations import migrate
    from pkg_pipeline.settings import load_with_origins
    from pkg_pipeline.wiring import carried_settings, database

    settings, origins = load_with_origins()
    if settings.database_url is None and not embedded.is_initialised(settings.database_folder):
        raise CommandFailed(f"there is nothing to back up: {settings.home} has no database yet")
    with database(settings) as url:
        try:
            if migrate.current(url) is not None:
                carried_settings.keep(url, settings, origins)
            size = backups.dump(url, file)
        except backups.BackupFailed as error:
            raise CommandFailed(str(error)) from error
    show(
        {"file": str(file), "bytes": size},
        as_json=json,
        human=lambda screen: screen.print(f"{plain(file)}: {size:,} bytes"),
    )


def restore(
    file: Annotated[Path, typer.Argument(help="A file that `backup` wrote.")],
    yes: YesFlag = False,
    json: JsonFlag = False,
) -> None:
    """Put a backup in place of the memory, if there is one; its tables are brought up to date, its settings taken over.

    An empty home needs no consent. What is set here stays; the time zone is the backup's.
    """
    from pkg_pipeline.adapters.postgres import backup as backups
    from pkg_pipeline.adapters.postgres.migrations import migrate
    from pkg_pipeline.settings import load_with_origins
    from pkg_pipeline.wiring import carried_settings, database

    settings, origins = load_with_origins()
    try:
        backups.check(file)  # before any question and before a server is created for it
        given = carried_settings.carried(backups.kept(file))
        carried_settings.refuse_other_zone(given, settings, origins)
        with database(settings) as url:
            if not backups.is_empty(url):
                confirm(f"Replace everything in the {_kind(settings)} database by {file}?", yes=yes, as_json=json)
            migrate.prepare(url)
            backups.restore(url, file)
            migrate.upgrade(url)
            taken = carried_settings.take_over(given, settings.memory_home / "pkg.toml")
            _end_unfinished_runs(settings, url)
            answer = {"revision": migrate.current(url), "head": migrate.head(), "settings": taken}
        said = f"revision {answer['revision']}" + (f"; into pkg.toml: {', '.join(taken)}" if taken else "")
        show(answer, as_json=json, human=lambda screen: screen.print(said, markup=False))
    except backups.BackupFailed as error:
        raise CommandFailed(str(error)) from error


def _end_unfinished_runs(settings: Settings, url: str) -> None:
    """Ends runs that were unfinished at the time of the backup: they would look as if they were running."""
    from pkg_pipeline.adapters import dagster_home
    from pkg_pipeline.adapters.postgres import backup as backups

    if not backups.has_unfinished_runs(url):
        return
    from pkg_pipeline.defs.automation import orphans
    from pkg_pipeline.wiring.process import running

    with dagster_home.instance(settings.dagster_home, url, running(settings)) as instance:
        orphans.settle(instance, code_server_is_gone=True, processes_are_gone=True)


def uninstall(yes: YesFlag = False, json: JsonFlag = False) -> None:
    """Remove everything the program keeps: the database, Dagster's home, the inbox, the settings."""
    settings = settings_in_force()
    if settings.memory is not None:
        raise CommandFailed(f"PKG_MEMORY: this removes all memories; one goes by: memories drop {settings.memory}")
    there = [settings.home / name for name in OURS if (settings.home / name).exists()]
    confirm("Delete all of this for good?", yes=yes, as_json=json, details=_what_goes(settings, there))
    schemas = _drop_schemas(settings)
    for home in (settings.home / "demo", settings.home):
        embedded.stop(home / "postgres")
    for path in there:
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    left = sorted(str(path) for path in settings.home.iterdir()) if settings.home.exists() else []
    if settings.home.exists() and not left and not settings.home.is_symlink():
        settings.home.rmdir()
    answer = {"removed": [str(path) for path in there], "schemas": schemas, "left": left}
    show(answer, as_json=json, human=lambda screen: screen.print(_gone(settings, answer), markup=False))


def _what_goes(settings: Settings, there: list[Path]) -> Iterator[object]:
    yield from there
    if settings.database_url is not None:
        from pkg_pipeline.adapters.postgres.backup import SCHEMAS
        from pkg_pipeline.wiring import memories

        yield f"schemas {', '.join(SCHEMAS)} of the database in DATABASE_URL"
        if named := memories.names(settings):
            yield f"the memories {', '.join(named)}, each a database beside it"


def _drop_schemas(settings: Settings) -> list[str]:
    if settings.database_url is None:
        return []
    from pkg_pipeline.adapters.postgres import backup as backups
    from pkg_pipeline.adapters.postgres import engine
    from pkg_pipeline.wiring import memories

    memories.drop_all(settings)
    return backups.drop(engine.libpq_url(settings.database_url.get_secret_value()))


def _gone(settings: Settings, answer: dict[str, list[str]]) -> str:
    removed = f"removed what lay in {settings.home}" if answer["removed"] else f"nothing lay in {settings.home}"
    schemas = f"; dropped the schemas {', '.join(answer['schemas'])}" if answer["schemas"] else ""
    rest = f"; not ours and left alone: {', '.join(answer['left'])}" if answer["left"] else ""
    return f"{removed}{schemas}{rest}. The program itself goes with its checkout or environment."


def _embedded_only() -> Settings:
    settings = settings_in_force()
    if settings.database_url is not None:
        raise CommandFailed("DATABASE_URL is set: that server is not started or stopped from here")
    return settings


def _kind(settings: Settings) -> str:
    return "embedded" if settings.database_url is None else "given"


def _current_revision(settings: Settings) -> str | None:
    from pkg_pipeline.adapters.postgres.migrations import migrate
    from pkg_pipeline.wiring import database_url

    return migrate.current(database_url(settings, start=False))


def _say_revision(url: str, *, as_json: bool, memories: Mapping[str, str | None] | None = None) -> None:
    from pkg_pipeline.adapters.postgres.migrations import migrate

    answer: dict[str, Any] = {"revision": migrate.current(url), "head": migrate.head()}
    said = [f"revision {answer['revision'] or 'none'}"]
    if memories:
        answer["memories"] = memories
        said += [f"{name}: revision {revision}" for name, revision in memories.items()]
    show(answer, as_json=as_json, human=lambda screen: screen.print("\n".join(said)))
