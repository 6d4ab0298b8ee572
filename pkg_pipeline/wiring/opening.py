"""Opens a memory: clock, server, connections. Opening one at the newest revision writes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime

from pkg_pipeline.adapters import home_files
from pkg_pipeline.adapters.clock import PinnedClock, SystemClock
from pkg_pipeline.adapters.postgres import engine, memories
from pkg_pipeline.adapters.postgres.migrations import migrate as migrations
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.settings import Settings, SettingsError
from pkg_pipeline.stages.ports import Clock
from pkg_pipeline.wiring.memory import Memory

POOL_CONNECTIONS = 6


def clock_of(settings: Settings) -> Clock:
    """The memory's clock. Raises SettingsError for a pinned time in the future."""
    if settings.now is None:
        return SystemClock()
    if settings.now > datetime.now(UTC):
        raise SettingsError(f"PKG_NOW: {settings.now.isoformat()} lies in the future")
    return PinnedClock(settings.now)


def database_url(settings: Settings, *, start: bool = True) -> str:
    """The libpq URL; starts the embedded server if needed."""
    if settings.database_url is not None:
        return _of_memory(settings.database_url.get_secret_value(), settings)
    return _of_memory(
        embedded.start(settings.database_folder) if start else embedded.dsn(settings.database_folder), settings
    )


def _of_memory(url: str, settings: Settings) -> str:
    """The URL of the deployment's own database, or that of a named memory's beside it."""
    return engine.libpq_url(url) if settings.memory is None else memories.url_of(url, settings.memory)


@contextmanager
def database(settings: Settings, *, stays: bool = False) -> Iterator[str]:
    """The URL while the server is needed (embedded: stops with its last user). ``stays``: restart a crashed one.

    Raises MemoryUnknown, before anything is written, where the settings name a memory that is not there.
    """
    with ExitStack() as leaving:
        if settings.database_url is not None:
            url = settings.database_url.get_secret_value()
        else:
            url = leaving.enter_context(embedded.running(settings.database_folder))
            if stays:
                leaving.enter_context(embedded.revived(settings.database_folder))
        if settings.memory is not None:
            memories.require(url, settings.memory)
        yield _of_memory(url, settings)


@contextmanager
def open_memory(
    settings: Settings,
    *,
    connections: int = POOL_CONNECTIONS,
    stays: bool = False,
    migrates: bool = True,
    pool: engine.MakePool = engine.pool,
) -> Iterator[Memory]:
    """The memory with at most ``connections``. ``stays``: for long-running programs. ``pool`` makes all its pools.
    Raises DatabaseUnavailable, EmbeddedError, SettingsError.

    Tables of an older revision are migrated, or refused unless ``migrates``.
    """
    clock = clock_of(settings)
    home_files.make_private(settings.home)
    with database(settings, stays=stays) as url:
        found = _installed(url)
        if found is None or found.revision != migrations.head() or found.timezone is None:
            if not migrates:
                raise engine.DatabaseUnavailable(
                    f"the tables are at revision {found.revision if found else 'none'}, the program at"
                    f" {migrations.head()}: pkg-pipeline db upgrade"
                )
            found = migrate(url, settings)
        if found.timezone != settings.timezone:
            # partitions are local days of this zone
            raise SettingsError(
                f"PKG_TIMEZONE: this memory was made with {found.timezone} and its days are cut there; set it back, "
                f"or begin a new PKG_HOME with {settings.timezone}"
            )
        memory = Memory(
            settings, url=url, connections=pool(url, size=connections, now=settings.now), clock=clock, pool=pool
        )
        try:
            yield memory
        finally:
            memory.close()


def migrate(url: str, settings: Settings) -> migrations.Installed:
    """Migrate to the newest revision; stores a new memory's time zone and what is too short for a summary."""
    migrations.upgrade(url)
    with engine.connect(url, autocommit=True) as connection:
        kept = {"timezone": settings.timezone, "summary_min_tokens": str(settings.summary_min_tokens)}
        for key, value in kept.items():
            connection.execute(query("work", "keep_setting"), {"key": key, "value": value})
    found = _installed(url)
    assert found is not None, "the tables were just made"
    return found


def reconcile(memory: Memory) -> None:
    """Apply changed settings, program versions and time: revive what failed under another prompt or model, mark the
    index if its rules changed, end finished backfills, blank deleted messages, keep what is too short for a summary.
    Idempotent; for workers, not readers.
    """
    from pkg_pipeline.adapters.postgres.monitoring.work import PostgresWorkStore

    memory.summaries.revive()
    memory.profiles.revive()
    memory.chunks.mark_outdated()
    memory.archive.blank_deleted()
    for backfill_id, _ in memory.backfills.open():
        memory.backfills.settle(backfill_id)
    memory.monitoring.set_least_summarised(memory.settings.summary_min_tokens)
    PostgresWorkStore(memory.connections).keep_first_month()


def _installed(url: str) -> migrations.Installed | None:
    with engine.connect(url, autocommit=True) as connection:
        return migrations.installed(connection)
