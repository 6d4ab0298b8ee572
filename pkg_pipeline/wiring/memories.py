"""Several memories of one deployment: made, dropped, brought up to date, and each one's settings."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable

from pkg_pipeline.adapters import home_files
from pkg_pipeline.adapters.postgres import memories as catalogue
from pkg_pipeline.adapters.postgres.memories import MemoryExists, MemoryRow, MemoryUnknown
from pkg_pipeline.adapters.postgres.migrations import migrate as migrations
from pkg_pipeline.place_settings import MEMORIES_FOLDER, MEMORY_NAME
from pkg_pipeline.settings import Settings, load
from pkg_pipeline.wiring.opening import database, migrate

__all__ = ["MemoryExists", "MemoryRow", "MemoryUnknown", "create", "drop", "listed", "names", "own", "settings_of"]


def own(settings: Settings) -> Settings:
    """Those of the deployment's own memory, which all others are made beside."""
    return settings if settings.memory is None else _loaded(settings, "")


def settings_of(settings: Settings, name: str) -> Settings:
    """Those of the deployment with the file of the memory ``name`` over them. Raises SettingsError."""
    return _loaded(settings, name)


def _loaded(settings: Settings, name: str) -> Settings:
    given = {"PKG_HOME": str(settings.home), "PKG_MEMORY": name}
    if settings.database_url is not None:
        given["DATABASE_URL"] = settings.database_url.get_secret_value()
    return load({**os.environ, **given})


def create(settings: Settings, name: str) -> Settings:
    """A new, empty memory with a folder and a token of its own; returns its settings. A killed one leaves none.

    Raises MemoryExists, DatabaseUnavailable, SettingsError.
    """
    made = settings_of(settings, name)
    with database(own(settings)) as url:

        def prepare(copy: str) -> None:
            migrate(copy, made)
            home_files.make_private(made.home)
            made.inbox.mkdir(parents=True, exist_ok=True)
            home_files.machine_token(made.memory_home)

        catalogue.create(url, name, prepare=prepare, clean=_cleaner(settings))
    return made


def drop(settings: Settings, name: str) -> None:
    """A memory with everything that is its own, for good; killed, the next ``create`` or ``drop`` finishes it. Raises
    MemoryUnknown.
    """
    with database(own(settings)) as url:
        catalogue.drop(url, name, clean=_cleaner(settings))


def drop_all(settings: Settings) -> list[str]:
    with database(own(settings)) as url:
        return catalogue.drop_all(url, clean=_cleaner(settings))


def listed(settings: Settings) -> list[MemoryRow]:
    with database(own(settings)) as url:
        return catalogue.listed(url)


def names(settings: Settings) -> list[str]:
    with database(own(settings)) as url:
        return catalogue.names(url)


def upgrade(settings: Settings) -> dict[str, str | None]:
    """Brings all but the own to the newest revision, one after the other; returns each one's revision."""
    found = dict[str, str | None]()
    with database(own(settings)) as url:
        for name in catalogue.names(url):
            one = catalogue.url_of(url, name)
            if migrations.current(one) != migrations.head():
                migrate(one, settings_of(settings, name))
            found[name] = migrations.current(one)
    return found


def _cleaner(settings: Settings) -> Callable[[str], None]:
    def clean(name: str) -> None:
        folder = settings.home / MEMORIES_FOLDER / name
        if MEMORY_NAME.fullmatch(name) and folder.exists():
            shutil.rmtree(folder)

    return clean
