"""With which day partitions begin. Does not import Dagster."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime

from pkg_pipeline.settings import Settings


def begin_of(settings: Settings, first_month: Callable[[], date | None]) -> date:
    """First day of the partitions: from the settings, else the memory's first month, else this month."""
    if settings.partitions_start is not None:
        return settings.partitions_start
    return first_month() or datetime.now(settings.zone).date().replace(day=1)


def begin_if_known(settings: Settings) -> date:
    """As ``begin_of`` if the server answers now, else this month. Starts and migrates nothing."""
    import psycopg

    from pkg_pipeline import wiring
    from pkg_pipeline.adapters.postgres import engine
    from pkg_pipeline.adapters.postgres.monitoring.work import first_month
    from pkg_pipeline.adapters.server.embedded import EmbeddedError

    def asked() -> date | None:
        try:
            with engine.connect(wiring.database_url(settings, start=False), autocommit=True) as connection:
                return first_month(connection)
        except (engine.DatabaseUnavailable, EmbeddedError, psycopg.Error):
            return None  # a sensor notices the earlier days once it answers

    return begin_of(settings, asked)
