"""What runs may do with the memory: the narrow port of assets, schedules, sensors and ``run``, and its real form.

Without Dagster, so that finding out that nothing is due loads none of it; the resource is ``resources.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pkg_pipeline.adapters.inbox import Inbox, Refused, Report
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import Clock
from pkg_pipeline.stages.stores import Lane, PartitionStore

if TYPE_CHECKING:
    from pkg_pipeline.stages.interactions import InteractionsReport
    from pkg_pipeline.stages.summaries import DayReport
    from pkg_pipeline.wiring import Memory


class PipelineMemory(Protocol):
    """What assets, schedules and sensors need; ``OpenedMemory`` gives it over the composition root."""

    @property
    def settings(self) -> Settings: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def partitions(self) -> PartitionStore: ...

    @property
    def inbox(self) -> Inbox: ...

    @property
    def database_url(self) -> str:
        """Of the server in force, in libpq's form; for dbt, which connects by itself."""
        ...

    def import_drop(self, path: Path, /) -> Report:
        """Take in one drop of the inbox. Raises Refused."""
        ...

    def build_interactions(self) -> InteractionsReport: ...

    def summarize(
        self, days: tuple[date, date], *, lane: Lane, run_id: str | None, on_day: Callable[[DayReport], None]
    ) -> list[DayReport]: ...

    def silent_interactions(self) -> int:
        """Interactions that are to be completed because their silence has outgrown the gap."""
        ...

    def pending(self, asset: str) -> int:
        """What attempts left undone, over all partitions."""
        ...


class OpenedMemory:
    """``wiring.Memory`` in the words of ``PipelineMemory``."""

    def __init__(self, memory: Memory) -> None:
        from pkg_pipeline.adapters.postgres.work_store import PostgresWorkStore

        self._memory = memory
        self._work = PostgresWorkStore(memory.connections)

    @property
    def settings(self) -> Settings:
        return self._memory.settings

    @property
    def clock(self) -> Clock:
        return self._memory.clock

    @property
    def partitions(self) -> PartitionStore:
        return self._memory.partitions

    @property
    def inbox(self) -> Inbox:
        return Inbox(self.settings.inbox)

    @property
    def database_url(self) -> str:
        return self._memory.url

    def import_drop(self, path: Path, /) -> Report:
        from pkg_pipeline.adapters.exports.containers import UnreadableExport
        from pkg_pipeline.wiring import ImportFailed

        try:
            return self._memory.import_path(path, unknown_self_ok=True)
        except (ImportFailed, UnreadableExport) as error:
            raise Refused(str(error)) from error

    def build_interactions(self) -> InteractionsReport:
        return self._memory.build_interactions()

    def summarize(
        self, days: tuple[date, date], *, lane: Lane, run_id: str | None, on_day: Callable[[DayReport], None]
    ) -> list[DayReport]:
        return self._memory.summarize(days, lane=lane, run_id=run_id, on_day=on_day)

    def silent_interactions(self) -> int:
        gap = timedelta(hours=self.settings.gap_hours)
        return self._work.silent_interactions(before=self.clock.now() - gap)

    def pending(self, asset: str) -> int:
        return self._work.pending(asset)


@contextmanager
def opened(settings: Settings) -> Iterator[PipelineMemory]:
    """The memory of ``settings``, closed at the end. Raises DatabaseUnavailable, EmbeddedError or SettingsError."""
    from pkg_pipeline import wiring

    with wiring.open_memory(settings) as memory:
        memory.revive_failed()  # before anybody asks what is due
        yield OpenedMemory(memory)
