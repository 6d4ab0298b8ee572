"""The chunks' part of the composition root: the store, the words' analyzer, the space in force and its embedder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import TYPE_CHECKING

from pkg_pipeline.adapters.postgres.recall.chunks import PostgresChunkStore
from pkg_pipeline.adapters.postgres.recall.spaces import PostgresSpaceStore
from pkg_pipeline.adapters.postgres.recall.vectors import PostgresVectorStore
from pkg_pipeline.memory.recall.records import INDEX_VERSION
from pkg_pipeline.settings import SettingsError
from pkg_pipeline.stages.ports import Embedder, EmbedderMisconfigured, Vectors
from pkg_pipeline.stages.recall import chunks
from pkg_pipeline.stages.recall.chunk_vectors import Vectorising
from pkg_pipeline.stages.recall.chunks import ChunkDeps, DayReport
from pkg_pipeline.wiring.embedders import embedder_name, embedder_named

if TYPE_CHECKING:
    from pkg_pipeline.wiring.memory import Memory

WORDS_ALONE = "words"


class ChunkWork:
    """What ``Memory`` does with chunks. No model is loaded before a text is embedded."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._store = PostgresChunkStore(memory.connections)
        self._spaces = PostgresSpaceStore(memory.connections)
        self._embedders = dict[str, Embedder]()

    def build(
        self, days: tuple[date, date], *, on_day: Callable[[DayReport], None] = lambda _: None
    ) -> list[DayReport]:
        """Chunks of what is outdated in the closed range of days; without a usable embedder their words alone."""
        model, remark = self._model()

        def tell(report: DayReport) -> None:
            report.add_reason(remark)
            on_day(report)

        return chunks.build_days(days, deps=self._deps(model), on_day=tell)

    def mark_outdated(self) -> bool:
        """All days are due once more when the rules of indexing or the space became another; whether they did."""
        return self._store.mark_outdated(f"{INDEX_VERSION} {self._model()[0] or WORDS_ALONE}")

    def _deps(self, model: str | None) -> ChunkDeps:
        from pkg_pipeline.adapters.text.term_analyzer import SnowballTerms

        vectorising = None
        if model is not None:
            space = self._spaces.active() or self._spaces.open(model)
            vectorising = Vectorising(self._embedder(model), space, PostgresVectorStore(self._memory.connections))
        return ChunkDeps(
            store=self._store,
            partitions=self._memory.partitions,
            analyzer=SnowballTerms(),
            clock=self._memory.clock,
            vectorising=vectorising,
        )

    def _model(self) -> tuple[str | None, str | None]:
        """The model whose vectors are made, if any, and a sentence where the settings name another one.

        Search never mixes spaces (B4): new chunks go into the space that is asked, whatever the settings prefer by now.
        """
        wanted = embedder_name(self._memory.settings)
        if wanted is None or (active := self._spaces.active()) is None or active.model == wanted:
            return wanted, None
        return active.model, (
            f"the vectors in use are of {active.model}, the settings name {wanted}; to change over: "
            f"pkg-pipeline reembed --to {wanted}"
        )

    def _embedder(self, model: str) -> Embedder:
        if model not in self._embedders:
            try:
                self._embedders[model] = embedder_named(model, self._memory.settings)
            except SettingsError as error:
                self._embedders[model] = Unusable(model, str(error))
        return self._embedders[model]


class Unusable:
    """Stands for an embedder that the settings do not suffice for: its space waits, words go on."""

    def __init__(self, model: str, why: str) -> None:
        self.model = model
        self.dimensions = None
        self._why = why

    def embed(self, texts: Sequence[str]) -> Vectors:
        del texts
        raise EmbedderMisconfigured(self._why)
