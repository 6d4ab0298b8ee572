"""Wiring of chunks: store, term analyzer, active space and its embedder."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from pkg_pipeline.adapters.embedders.names import OFFLINE_MODEL, OPENAI_PREFIX, openai_space
from pkg_pipeline.adapters.postgres.interactions.partitions import PostgresPartitionStore
from pkg_pipeline.adapters.postgres.recall.chunks import PostgresChunkStore
from pkg_pipeline.adapters.postgres.recall.spaces import PostgresSpaceStore
from pkg_pipeline.adapters.postgres.recall.vectors import PostgresVectorStore
from pkg_pipeline.memory.recall.records import CHUNKS_VERSION
from pkg_pipeline.settings import SettingsError
from pkg_pipeline.stages.partitions import FinishedPartition
from pkg_pipeline.stages.ports import Embedder, EmbedderMisconfigured, Vectors
from pkg_pipeline.stages.recall import at_once, chunks, reembed
from pkg_pipeline.stages.recall.chunk_vectors import Vectorising
from pkg_pipeline.stages.recall.chunks import ChunkDeps, DayReport
from pkg_pipeline.stages.recall.records import Space, VectorRow
from pkg_pipeline.stages.recall.reembed import Filled, Progress, ReembedDeps, ReembedForecast, ReembedReport, SpaceSize
from pkg_pipeline.wiring.models import embedder_name, embedder_named
from pkg_pipeline.wiring.process import require_space, while_there_is_space

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool

    from pkg_pipeline.adapters.text.term_analyzer import SnowballTerms
    from pkg_pipeline.stages.interactions.stage import InteractionsReport
    from pkg_pipeline.wiring.process import Process

WORDS_ALONE = "words"


class ChunkWork:
    """The chunk operations of ``Memory``. Models load with the first text."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._store = PostgresChunkStore(process.connections)
        self._spaces = PostgresSpaceStore(process.connections)
        self._embedders = dict[str, Embedder]()

    def build(
        self, days: tuple[date, date], *, on_day: Callable[[DayReport], None] = lambda _: None
    ) -> list[DayReport]:
        """Build outdated chunks in the closed range of days; terms only if no embedder is usable."""
        model, remark, active = self._model()

        def tell(report: DayReport) -> None:
            report.add_reason(remark)
            on_day(report)

        return chunks.build_days(days, deps=self._deps(model, active), on_day=tell)

    def make_at_once(self, built: InteractionsReport) -> DayReport | None:
        """Chunks of what was just built; None where some is left to its day."""
        if not built.touched:
            return None
        model, _, active = self._model()
        return at_once.make_at_once(built, deps=self._deps(model, active))

    def mark_outdated(self) -> bool:
        """Mark all days if the indexing rules or the space changed; returns whether they did."""
        return self._store.mark_outdated(f"{CHUNKS_VERSION} {self._model()[0] or WORDS_ALONE}")

    @cached_property
    def _analyzer(self) -> SnowballTerms:
        from pkg_pipeline.adapters.text.term_analyzer import SnowballTerms

        return SnowballTerms()

    def _deps(self, model: str | None, active: Space | None) -> ChunkDeps:
        vectorising = None
        if model is not None:
            space = active or self._spaces.open(model)
            vectorising = Vectorising(self._embedder(model), space, PostgresVectorStore(self._process.connections))
        return ChunkDeps(
            store=self._store,
            partitions=self._process.partitions,
            analyzer=self._analyzer,
            clock=self._process.clock,
            vectorising=vectorising,
        )

    def _model(self) -> tuple[str | None, str | None, Space | None]:
        """(model to embed with, note if the settings name another, active space).

        Spaces are never mixed (B4): new chunks go into the active space.
        """
        wanted = embedder_name(self._process.settings)
        active = None if wanted is None else self._spaces.active()
        if active is None or active.model == wanted:
            return wanted, None, active
        remark = (
            f"the vectors in use are of {active.model}, the settings name {wanted}; to change over: "
            f"pkg-pipeline reembed --to {wanted}"
        )
        return active.model, remark, active

    def _embedder(self, model: str) -> Embedder:
        if model not in self._embedders:
            try:
                self._embedders[model] = embedder_named(model, self._process.settings)
            except SettingsError as error:
                self._embedders[model] = Unusable(model, str(error))
        return self._embedders[model]


class Unusable:
    """An embedder that the settings do not suffice for: every call fails."""

    def __init__(self, model: str, why: str) -> None:
        self.model = model
        self.dimensions = None
        self._why = why

    def embed(self, texts: Sequence[str]) -> Vectors:
        del texts
        raise EmbedderMisconfigured(self._why)


OFFLINE = "offline"


class ModelUnknown(Exception):
    """No embedder has this name."""


def space_named(given: str) -> str:
    """Full name of a space: ``offline``, ``offline:NAME``, ``openai:NAME``, or a bare NAME of that service. Raises
    ModelUnknown.
    """
    name = given.strip()
    if name in (OFFLINE, OFFLINE_MODEL):
        return OFFLINE_MODEL
    model = name.removeprefix(OPENAI_PREFIX)
    if not model or model == "none" or any(sign.isspace() for sign in model) or model.startswith((OFFLINE + ":", "-")):
        raise ModelUnknown(f"{given!r} is no known model; known are {OFFLINE_MODEL} and {OPENAI_PREFIX}NAME")
    return openai_space(model)


class ReembedWork:
    def __init__(self, process: Process, *, embedder_of: Callable[[str], Embedder] | None = None) -> None:
        self._process = process
        self._embedder_of = embedder_of or (lambda model: embedder_named(model, process.settings))
        self._spaces = PostgresSpaceStore(process.connections)
        self._embedders = dict[str, Embedder]()
        self._vectors = PostgresVectorStore(process.connections)

    def sizes(self) -> list[SpaceSize]:
        return self._spaces.sizes()

    def forecast(self, model: str) -> ReembedForecast:
        return reembed.forecast(model, spaces=self._spaces, counter=self._process.counter)

    def usd(self, model: str, tokens: int) -> float | None:
        """USD; 0 for the offline model, None for services (no embedding prices known)."""
        del tokens
        return 0.0 if model == OFFLINE_MODEL else None

    def run(self, model: str, *, drop_old: bool = False, on_progress: Progress = reembed.no_progress) -> ReembedReport:
        """Fill, activate, drop. Raises ReembedStopped, ReembedBusy, SpaceLow, or at first SettingsError."""
        embedder = self._embedder_of(model)
        deps = ReembedDeps(
            spaces=self._spaces,
            vectors=self._vectors,
            fill=lambda space, on_saved: self._fill(embedder, space, on_saved),
            wait=time.sleep,
        )
        settings = self._process.settings
        require_space(settings)
        heard = while_there_is_space(settings, on_progress)
        return reembed.reembed(model, deps=deps, drop_old=drop_old, on_progress=heard)

    def drop(self, model: str) -> int:
        """Drop a space; returns its number of vectors. Raises SpaceUnknown, SpaceMismatch, ReembedBusy."""
        return reembed.drop(model, spaces=self._spaces)

    def _fill(self, embedder: Embedder, space: Space, on_saved: Callable[[int], None]) -> Filled:
        """One pass of the chunks stage over all days; their marks stay for the active space."""
        from pkg_pipeline.adapters.text.term_analyzer import SnowballTerms

        days = self._spaces.days()
        if days is None:
            return Filled(0, 0, 0, None)
        vectorising = Vectorising(embedder, space, _Counted(self._process.connections, on_saved))
        deps = ChunkDeps(
            store=PostgresChunkStore(self._process.connections),
            partitions=_NoMarks(self._process.connections),
            analyzer=SnowballTerms(),
            clock=self._process.clock,
            vectorising=vectorising,
        )
        reports = chunks.build_days(days, deps=deps)
        return Filled(
            embedded=sum(one.embedded for one in reports),
            refused=sum(one.refused for one in reports),
            pending=sum(one.pending for one in reports),
            stop_reason=vectorising.failure,
        )


class _NoMarks(PostgresPartitionStore):
    """Leaves the marks of the active space alone."""

    def begin(self, asset: str, keys: Sequence[str], *, now: datetime) -> Mapping[str, tuple[int, ...]]:
        del asset, keys, now
        return {}

    def finish(self, asset: str, done: Sequence[FinishedPartition]) -> None:
        del asset, done


class _Counted(PostgresVectorStore):
    """Reports the number of saved vectors; builds no index before the space is full."""

    def __init__(self, connections: ConnectionPool, on_saved: Callable[[int], None]) -> None:
        super().__init__(connections)
        self._on_saved = on_saved

    def save(self, space_id: int, rows: Sequence[VectorRow]) -> int:
        saved = super().save(space_id, rows)
        self._on_saved(saved)
        return saved

    def keep_indexes(self, space_id: int | None = None) -> list[str]:
        del space_id
        return []
