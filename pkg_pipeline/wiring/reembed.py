"""Re-embedding's part of the composition root: the space of a named model, filled by the stage that makes chunks."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from pkg_pipeline.adapters.embedders.names import OFFLINE_MODEL, OPENAI_PREFIX, openai_space
from pkg_pipeline.adapters.postgres.interactions.partitions import PostgresPartitionStore
from pkg_pipeline.adapters.postgres.recall.chunks import PostgresChunkStore
from pkg_pipeline.adapters.postgres.recall.spaces import PostgresSpaceStore
from pkg_pipeline.adapters.postgres.recall.vectors import PostgresVectorStore
from pkg_pipeline.stages.partitions import FinishedPartition
from pkg_pipeline.stages.ports import Embedder
from pkg_pipeline.stages.recall import chunks, reembed
from pkg_pipeline.stages.recall.chunk_vectors import Vectorising
from pkg_pipeline.stages.recall.chunks import ChunkDeps
from pkg_pipeline.stages.recall.records import Space, VectorRow
from pkg_pipeline.stages.recall.reembed import Filled, Progress, ReembedDeps, ReembedForecast, ReembedReport, SpaceSize
from pkg_pipeline.wiring.embedders import embedder_named
from pkg_pipeline.wiring.space import require_space, while_there_is_space

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool

    from pkg_pipeline.wiring.memory import Memory

OFFLINE = "offline"


class ModelUnknown(Exception):
    """A name that no embedder goes by; the message is a sentence."""


def space_named(given: str) -> str:
    """The space that a person means: ``offline``, ``offline:NAME``, ``openai:NAME``, or a bare NAME of such a service.

    Raises ModelUnknown.
    """
    name = given.strip()
    if name in (OFFLINE, OFFLINE_MODEL):
        return OFFLINE_MODEL
    model = name.removeprefix(OPENAI_PREFIX)
    if not model or model == "none" or any(sign.isspace() for sign in model) or model.startswith((OFFLINE + ":", "-")):
        raise ModelUnknown(f"{given!r} is no known model; known are {OFFLINE_MODEL} and {OPENAI_PREFIX}NAME")
    return openai_space(model)


class ReembedWork:
    """What ``Memory`` does with spaces of vectors."""

    def __init__(self, memory: Memory, *, embedder_of: Callable[[str], Embedder] | None = None) -> None:
        self._memory = memory
        self._embedder_of = embedder_of or (lambda model: embedder_named(model, memory.settings))
        self._spaces = PostgresSpaceStore(memory.connections)
        self._vectors = PostgresVectorStore(memory.connections)

    def sizes(self) -> list[SpaceSize]:
        """Every space with what it holds and lacks."""
        return self._spaces.sizes()

    def forecast(self, model: str) -> ReembedForecast:
        """What ``run`` would have to do now; nothing is written and no model is asked."""
        return reembed.forecast(model, spaces=self._spaces, counter=self._memory.counter)

    def usd(self, model: str, tokens: int) -> float | None:
        """The model in the wheel costs nothing; what a service takes for embeddings is not in the price table."""
        del tokens
        return 0.0 if model == OFFLINE_MODEL else None

    def run(self, model: str, *, drop_old: bool = False, on_progress: Progress = reembed.no_progress) -> ReembedReport:
        """Fill, switch, drop. Raises ReembedStopped, ReembedBusy, SpaceLow, or at first SettingsError."""
        embedder = self._embedder_of(model)
        deps = ReembedDeps(
            spaces=self._spaces,
            vectors=self._vectors,
            fill=lambda space, on_saved: self._fill(embedder, space, on_saved),
            wait=time.sleep,
        )
        settings = self._memory.settings
        require_space(settings)
        heard = while_there_is_space(settings, on_progress)
        return reembed.reembed(model, deps=deps, drop_old=drop_old, on_progress=heard)

    def drop(self, model: str) -> int:
        """Take a space away; how many vectors it had. Raises SpaceUnknown, SpaceMismatch, ReembedBusy."""
        return reembed.drop(model, spaces=self._spaces)

    def _fill(self, embedder: Embedder, space: Space, on_saved: Callable[[int], None]) -> Filled:
        """One pass of the chunks stage over all days. Days stay marked for it: the space in force is its business."""
        from pkg_pipeline.adapters.text.term_analyzer import SnowballTerms

        days = self._spaces.days()
        if days is None:
            return Filled(0, 0, 0, None)
        vectorising = Vectorising(embedder, space, _Counted(self._memory.connections, on_saved))
        deps = ChunkDeps(
            store=PostgresChunkStore(self._memory.connections),
            partitions=_NoMarks(self._memory.connections),
            analyzer=SnowballTerms(),
            clock=self._memory.clock,
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
    """The store of partitions, left alone: what is filled beside the space in force ends nobody's marks."""

    def begin(self, asset: str, keys: Sequence[str], *, now: datetime) -> Mapping[str, tuple[int, ...]]:
        del asset, keys, now
        return {}

    def finish(self, asset: str, done: Sequence[FinishedPartition]) -> None:
        del asset, done


class _Counted(PostgresVectorStore):
    """Tells how many vectors were saved. Indexes wait until the space is full."""

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
