"""Embeds the chunks that a vector space lacks, until the embedder fails."""

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
"""Texts per call, all lost if it fails. What a batch of chunks brings is saved together, also where a call failed."""

REST_SECONDS = 300.0
"""Database clock: pause after the embedder was unavailable, unless it names one."""

LONG_REST_SECONDS = 3_600.0
"""Database clock: pause after a configuration error."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """Numbers of the chunks embedded now, and of those the embedder rejected."""

    embedded: frozenset[int]
    refused: frozenset[int]


class Vectorising:
    """One embedder and its space during a run; once it failed, ``stop_reason`` is set and it rests ``rest_seconds``."""

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
        """Embed and save the missing vectors of these chunks, outside of any transaction. Never raises EmbedderError:
        after a failure the embedder is not called again in this run.
        """
        embedded, refused = set[int](), set[int]()
        if self.stop_reason is None:
            missing = self._vectors.missing(self.space_id, [(one.no, one.index_hash) for one in kept])
            lacking = [pair for pair in zip(chunks, kept, strict=True) if pair[1].no in missing]
            rows: list[VectorRow] = []
            try:
                for at in range(0, len(lacking), EMBEDDED_AT_ONCE):
                    part = lacking[at : at + EMBEDDED_AT_ONCE]
                    made = self._embedded(part)
                    rows += made
                    refused |= {row.no for _, row in part} - {row.chunk_no for row in made}
            except EmbedderError as error:
                self._stop(error)
            try:
                if rows:
                    self._vectors.save(self.space_id, rows)
                    self._has_saved = True
                embedded = {row.chunk_no for row in rows}
            except SpaceMismatch as error:
                self._stop(error)
        return Embedded(frozenset(embedded), frozenset(refused))

    def keep_indexes(self) -> None:
        """At the end of a run that saved vectors: build an index for scopes too large to scan."""
        if self._has_saved:
            self._vectors.keep_indexes()
            self._has_saved = False

    def _embedded(self, part: Sequence[tuple[Chunk, KeptChunk]]) -> list[VectorRow]:
        """Without the rejected ones. Raises EmbedderError."""
        bad: frozenset[int] = frozenset()
        vectors: Vectors
        try:
            vectors = self._embedder.embed([chunk.indexed for chunk, _ in part])
        except EmbedderRejected as rejected:
            vectors, bad = rejected.vectors, frozenset(rejected.positions)
        return [
            VectorRow(row.no, chunk.scopes, chunk.at, row.index_hash, vector)
            for place, ((chunk, row), vector) in enumerate(zip(part, vectors, strict=True))
            if place not in bad
        ]

    def _stop(self, error: EmbedderError | SpaceMismatch) -> None:
        self.failure = f"no vectors from {self._embedder.model}: {error}"
        self.stop_reason = f"{self.failure}; words alone are searched meanwhile"
        if isinstance(error, EmbedderUnavailable):
            self.rest_seconds = error.retry_after_seconds or REST_SECONDS
        else:
            self.rest_seconds = LONG_REST_SECONDS
