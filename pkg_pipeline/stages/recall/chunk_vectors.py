"""Vectors for chunks: asks an embedder for those that a space lacks, until it fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pkg_pipeline.memory.recall.records import Chunk
from pkg_pipeline.stages.ports import Embedder, EmbedderError, EmbedderRejected, EmbedderUnavailable
from pkg_pipeline.stages.recall.records import KeptChunk, Space, SpaceMismatch, VectorRow

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.recall.vectors import PostgresVectorStore
    from pkg_pipeline.stages.ports import Vectors

EMBEDDED_AT_ONCE = 128
"""Texts in a call; what a failing call loses."""

REST_SECONDS = 300.0
"""By the database's clock: when an embedder that did not answer is asked again, unless it says itself."""

LONG_REST_SECONDS = 3_600.0
"""The same for one that is set up wrongly: somebody has to do something first."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """Numbers of chunks that got a vector now, and of those whose text was refused."""

    embedded: frozenset[int]
    refused: frozenset[int]


class Vectorising:
    """One embedder and its space during a run. ``stop_reason`` is None while it answers, ``rest_seconds`` is how long
    it is not asked again.
    """

    def __init__(self, embedder: Embedder, space: Space, vectors: PostgresVectorStore) -> None:
        self._embedder, self._space, self._vectors = embedder, space, vectors
        self.failure: str | None = None
        self.stop_reason: str | None = None
        self.rest_seconds = 0.0
        self._has_saved = False

    @property
    def space_id(self) -> int:
        return self._space.id

    def give(self, chunks: Sequence[Chunk], kept: Sequence[KeptChunk]) -> Embedded:
        """Embed and save what the space lacks of these chunks, outside of any transaction. Never raises EmbedderError:
        after a failure the embedder is not asked again in this run.
        """
        embedded, refused = set[int](), set[int]()
        if self.stop_reason is None:
            missing = self._vectors.missing(self.space_id, [(one.no, one.index_hash) for one in kept])
            lacking = [pair for pair in zip(chunks, kept, strict=True) if pair[1].no in missing]
            for at in range(0, len(lacking), EMBEDDED_AT_ONCE):
                part = lacking[at : at + EMBEDDED_AT_ONCE]
                try:
                    bad = self._give_part(part)
                except (EmbedderError, SpaceMismatch) as error:
                    self._stop(error)
                    break
                refused |= bad
                embedded |= {row.no for _, row in part} - bad
        return Embedded(frozenset(embedded), frozenset(refused))

    def keep_indexes(self) -> None:
        """At the end of a run that saved vectors: scopes that have outgrown scanning get their index."""
        if self._has_saved:
            self._vectors.keep_indexes()
            self._has_saved = False

    def _give_part(self, part: Sequence[tuple[Chunk, KeptChunk]]) -> set[int]:
        """Numbers of the refused. Raises EmbedderError, SpaceMismatch."""
        bad: frozenset[int] = frozenset()
        vectors: Vectors
        try:
            vectors = self._embedder.embed([chunk.indexed for chunk, _ in part])
        except EmbedderRejected as rejected:
            vectors, bad = rejected.vectors, frozenset(rejected.positions)
        rows = [
            VectorRow(row.no, chunk.scopes, chunk.at, row.index_hash, vector)
            for place, ((chunk, row), vector) in enumerate(zip(part, vectors, strict=True))
            if place not in bad
        ]
        if rows:
            self._vectors.save(self.space_id, rows)
            self._has_saved = True
        return {part[place][1].no for place in bad}

    def _stop(self, error: EmbedderError | SpaceMismatch) -> None:
        self.failure = f"no vectors from {self._embedder.model}: {error}"
        self.stop_reason = f"{self.failure}; words alone are searched meanwhile"
        if isinstance(error, EmbedderUnavailable):
            self.rest_seconds = error.retry_after_seconds or REST_SECONDS
        else:
            self.rest_seconds = LONG_REST_SECONDS
