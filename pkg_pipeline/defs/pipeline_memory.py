"""What assets, schedules, sensors and ``run`` may do with the memory. Does not import Dagster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

from pkg_pipeline.adapters.inbox import Inbox, Refused, Report
from pkg_pipeline.defs.first_day import begin_of
from pkg_pipeline.memory.verdicts import Verdict
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.partitions import FinishedPartition, PartitionStore
from pkg_pipeline.stages.ports import Billing, Clock
from pkg_pipeline.stages.summaries.stores import Scope

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.monitoring.work import Unreported
    from pkg_pipeline.stages.archive.stage import MonthReport
    from pkg_pipeline.stages.folds.stage import FoldReport
    from pkg_pipeline.stages.interactions.stage import InteractionsReport
    from pkg_pipeline.stages.items.report import ItemsReport
    from pkg_pipeline.stages.llm.batch_ports import InFlight
    from pkg_pipeline.stages.profiles.stage import WeekReport
    from pkg_pipeline.stages.recall.chunks import DayReport as ChunkedDay
    from pkg_pipeline.stages.summaries.stage import DayReport
    from pkg_pipeline.wiring import Memory
    from pkg_pipeline.wiring.marts import MartWork
    from pkg_pipeline.wiring.threads import ThreadWork


ITEMS = "items"


class Backfills(Protocol):
    """Which backfills are open, and which of their days can be worked on (P31)."""

    def open(self) -> Sequence[tuple[UUID, datetime | None]]:
        """Id and, if it rests, the moment until which; oldest request first."""
        ...

    def ready_days(self, backfill_id: UUID) -> list[str]:
        """Keys of the days that can be worked on now."""
        ...

    def settle(self, backfill_id: UUID) -> int:
        """Marks what is finished; a backfill with nothing left ends. Returns how many are left."""
        ...


class PipelineMemory(Protocol):
    """Port of assets, schedules and sensors; ``OpenedMemory`` implements it."""

    @property
    def settings(self) -> Settings: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def partitions(self) -> PartitionStore: ...

    @property
    def inbox(self) -> Inbox: ...

    @property
    def marts(self) -> MartWork: ...

    @property
    def threads(self) -> ThreadWork: ...

    @property
    def database_url(self) -> str:
        """Of the running server, in libpq's form, for dbt."""
        ...

    def import_drop(self, path: Path, /) -> Report:
        """Imports one drop of the inbox. Raises Refused."""
        ...

    def make_searchable(self) -> InteractionsReport:
        """Interactions of all changed chats, and the chunks of those where little changed."""
        ...

    def has_unread_talks(self) -> bool:
        """Whether a run over items would read something now: not while a cap or the service makes it rest."""
        ...

    def read_items(self, billing: Billing, *, stale: bool) -> ItemsReport:
        """Reads what is due; ``stale`` also what another prompt, model or schema read."""
        ...

    @property
    def backfills(self) -> Backfills: ...

    def due_sessions(self, *, limit: int) -> int:
        """How many live sessions are due for a fold, counted up to ``limit``."""
        ...

    def unfolded_sessions(self, *, limit: int) -> int:
        """How many live sessions have enough unfolded turns, due or not, counted up to ``limit``."""
        ...

    def fold_sessions(self, billing: Billing, *, asks_all: bool) -> FoldReport:
        """Folds what is due; ``asks_all`` first marks every session that has something to fold (H7)."""
        ...

    def summarize(
        self, days: tuple[date, date], billing: Billing, scope: Scope, on_day: Callable[[DayReport], None]
    ) -> list[DayReport]: ...

    def batches_in_flight(self) -> InFlight: ...

    def batches_ready(self) -> bool:
        """Whether a run would find results of message batches. Asks the service, briefly. Raises an ``LlmError``."""
        ...

    def collect_batches(self, run_id: str | None) -> list[DayReport]:
        """Reads what message batches have answered, and makes summaries of it."""
        ...

    def build_chunks(self, days: tuple[date, date], *, on_day: Callable[[ChunkedDay], None]) -> list[ChunkedDay]: ...

    def due_weeks(self) -> list[date]:
        """Sundays of the weeks whose profiles are due, ascending."""
        ...

    def build_weeks(
        self, weeks: Sequence[date], billing: Billing, *, on_week: Callable[[WeekReport], None]
    ) -> list[WeekReport]: ...

    def due_months(self) -> list[date]:
        """First days of the months with texts to archive, ascending."""
        ...

    def archive_months(
        self, months: Sequence[date], *, run_id: str | None, on_month: Callable[[MonthReport], None]
    ) -> list[MonthReport]: ...

    def verify(self, asset: str, names: Sequence[str], span: tuple[date, date] | None) -> list[Verdict]:
        """Verdicts of the asset's checks over a closed range of partitions, or over all."""
        ...

    def preview(self, asset: str, partition: str | None) -> list[dict[str, Any]]:
        """Some rows that the asset wrote, without conversation text."""
        ...

    def unreported(self, asset: str) -> Sequence[Unreported]:
        """Work on ``asset`` outside of Dagster's runs that no run has reported yet."""
        ...

    def drop_reported(self, shown: Sequence[Unreported]) -> None: ...

    @property
    def partitions_start(self) -> date:
        """First day of the partitions: that of the settings, else of the memory's first month."""
        ...

    def silent_interactions(self) -> int:
        """How many open interactions have been silent for longer than the gap."""
        ...

    def pending(self, asset: str) -> int:
        """What attempts left undone, over all partitions."""
        ...

    def is_empty(self) -> bool: ...


class OpenedMemory:
    """``PipelineMemory`` over ``wiring.Memory``."""

    def __init__(self, memory: Memory) -> None:
        from pkg_pipeline.adapters.postgres.monitoring.work import PostgresWorkStore
        from pkg_pipeline.wiring import process

        self._space = process
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
    def marts(self) -> MartWork:
        return self._memory.marts

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

    def is_empty(self) -> bool:
        return self._memory.reads.is_empty()

    def preview(self, asset: str, partition: str | None) -> list[dict[str, Any]]:
        from pkg_pipeline.adapters.postgres.reads.preview import preview

        return preview(self._memory.connections, asset, partition)

    def make_searchable(self) -> InteractionsReport:
        self._space.require_space(self.settings)
        return self._memory.make_searchable()

    def has_unread_talks(self) -> bool:
        return not self._work.is_resting(ITEMS) and self._memory.items.has_due()

    def read_items(self, billing: Billing, *, stale: bool) -> ItemsReport:
        self._space.require_space(self.settings)
        heard = self._space.while_there_is_space(self.settings, lambda _: None)
        report = self._memory.items.run(billing, on_progress=heard, stale=stale)
        # as a partition of its own: what is left is counted with what other assets have left
        left = FinishedPartition(ITEMS, (), report.left, None, rest_seconds=report.rest_seconds)
        self.partitions.finish(ITEMS, [left])
        self._memory.monitoring.recount()
        return report

    @property
    def backfills(self) -> Backfills:
        return self._memory.backfills

    @property
    def threads(self) -> ThreadWork:
        return self._memory.threads

    def due_sessions(self, *, limit: int) -> int:
        return self._memory.folding.due(limit=limit)

    def unfolded_sessions(self, *, limit: int) -> int:
        return self._memory.folding.unfolded(limit=limit)

    def fold_sessions(self, billing: Billing, *, asks_all: bool) -> FoldReport:
        self._space.require_space(self.settings)
        if asks_all:
            self._memory.folding.ask_all()
        return self._memory.folding.fold_due(billing)

    def summarize(
        self, days: tuple[date, date], billing: Billing, scope: Scope, on_day: Callable[[DayReport], None]
    ) -> list[DayReport]:
        self._space.require_space(self.settings)
        heard = self._space.while_there_is_space(self.settings, on_day)
        return self._memory.summarize(days, billing, scope, heard)

    def batches_in_flight(self) -> InFlight:
        return self._memory.batches.in_flight()

    def batches_ready(self) -> bool:
        return self._memory.batches.ready()

    def collect_batches(self, run_id: str | None) -> list[DayReport]:
        self._space.require_space(self.settings)
        heard = self._space.while_there_is_space(self.settings, lambda _: None)
        return self._memory.batched.collect(run_id, heard)

    def build_chunks(self, days: tuple[date, date], *, on_day: Callable[[ChunkedDay], None]) -> list[ChunkedDay]:
        self._space.require_space(self.settings)
        return self._memory.chunks.build(days, on_day=self._space.while_there_is_space(self.settings, on_day))

    def due_weeks(self) -> list[date]:
        return self._memory.profiles.due_weeks() if self._work.has_summaries() else []

    def build_weeks(
        self, weeks: Sequence[date], billing: Billing, *, on_week: Callable[[WeekReport], None]
    ) -> list[WeekReport]:
        self._space.require_space(self.settings)
        heard = self._space.while_there_is_space(self.settings, on_week)
        return self._memory.profiles.build_weeks(weeks, billing, on_week=heard)

    def due_months(self) -> list[date]:
        return self._memory.archive.due_months()

    def archive_months(
        self, months: Sequence[date], *, run_id: str | None, on_month: Callable[[MonthReport], None]
    ) -> list[MonthReport]:
        self._space.require_space(self.settings)
        heard = self._space.while_there_is_space(self.settings, on_month)
        return self._memory.archive.archive_months(months, run_id=run_id, on_month=heard)

    def verify(self, asset: str, names: Sequence[str], span: tuple[date, date] | None) -> list[Verdict]:
        from pkg_pipeline.adapters.postgres.monitoring.checks import PostgresCheckStore
        from pkg_pipeline.stages.monitoring.verification import CheckParams, verify
        from pkg_pipeline.wiring.models import due_after_seconds

        settings = self.settings
        store = PostgresCheckStore(self._memory.connections, timezone=settings.timezone)
        params = CheckParams(due_after_seconds(settings), settings.summary_min_messages)
        return verify(asset, names, span, store=store, clock=self.clock, params=params)

    def unreported(self, asset: str) -> Sequence[Unreported]:
        return self._work.unreported(asset)

    def drop_reported(self, shown: Sequence[Unreported]) -> None:
        self._work.drop_reported([one.id for one in shown])

    @property
    def partitions_start(self) -> date:
        return begin_of(self.settings, self._work.first_month)

    def silent_interactions(self) -> int:
        gap = timedelta(hours=self.settings.gap_hours)
        return self._work.silent_interactions(before=self.clock.now() - gap)

    def pending(self, asset: str) -> int:
        return self._work.pending(asset)


@contextmanager
def opened(settings: Settings, *, works: bool = True) -> Iterator[PipelineMemory]:
    """The memory of ``settings``, closed at the end. ``works`` migrates and reconciles first; without it nothing is
    written. Raises DatabaseUnavailable, EmbeddedError or SettingsError.
    """
    from pkg_pipeline import wiring

    with wiring.open_memory(settings, migrates=works) as memory:
        if works:
            wiring.reconcile(memory)
        yield OpenedMemory(memory)
