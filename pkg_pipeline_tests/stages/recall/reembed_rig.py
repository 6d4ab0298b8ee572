"""Conversations with chunks in one space, and everything that re-embedding them leaves behind. No expectations here."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from pkg_pipeline.adapters.postgres.recall.chunks import PostgresChunkStore
from pkg_pipeline.adapters.postgres.recall.spaces import PostgresSpaceStore
from pkg_pipeline.adapters.postgres.recall.vectors import PostgresVectorStore
from pkg_pipeline.adapters.text.term_analyzer import SnowballTerms
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import EmbedderRejected, Vectors
from pkg_pipeline.stages.recall import chunks
from pkg_pipeline.stages.recall.chunk_vectors import Vectorising
from pkg_pipeline.stages.recall.chunks import ChunkDeps
from pkg_pipeline.wiring.chunks import ReembedWork
from pkg_pipeline.wiring.memory import Memory
from pkg_pipeline_tests.stages.ingest.import_rig import FixedClock, Rig, line

DAY = 24 * 60
DAYS = (date(2026, 1, 1), date(2026, 3, 15))
OLD, NEW = "stub:old", "stub:new"
SIZES = {OLD: 24, NEW: 40}

VECTORS = """
SELECT c.id, s.model, e.index_hash, e.scopes, e.embedding::text
FROM chunk_embeddings e JOIN memory_chunks c ON c.no = e.chunk_no JOIN embedding_spaces s ON s.id = e.space_id
ORDER BY 1, 2"""
CODES = """
SELECT c.id, s.model, k.scope, k.at, k.code::text
FROM chunk_codes k JOIN memory_chunks c ON c.no = k.chunk_no JOIN embedding_spaces s ON s.id = k.space_id
ORDER BY 1, 2, 3"""
SCOPES = """
SELECT s.model, k.scope, k.chunks FROM chunk_scopes k JOIN embedding_spaces s ON s.id = k.space_id
WHERE k.chunks <> 0 ORDER BY 1, 2"""
STATES = """
SELECT t.interaction_id, coalesce(s.model, ''), t.input_hash, t.chunks, t.refused
FROM chunk_states t LEFT JOIN embedding_spaces s ON s.id = t.space_id ORDER BY 1, 2"""
GAPS = """
SELECT c.id FROM memory_chunks c, embedding_spaces s
WHERE s.state = 'active' AND NOT EXISTS (
    SELECT FROM chunk_embeddings e WHERE e.chunk_no = c.no AND e.space_id = s.id AND e.index_hash = c.index_hash)"""


class StubEmbedder:
    """Vectors that follow from the words and the model alone. ``before`` is called with the number of each call."""

    def __init__(self, model: str, before: Callable[[int], None] = lambda _: None, *, refuses: str = "\0") -> None:
        self.model = model
        self.dimensions = SIZES[model]
        self.calls = 0
        self.texts: list[str] = []
        self._before, self._refuses = before, refuses

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        self._before(self.calls)
        self.texts += texts
        vectors = np.stack([self._vector(text) for text in texts])
        if bad := [place for place, text in enumerate(texts) if self._refuses in text]:
            vectors[bad] = 0
            raise EmbedderRejected("refused", positions=bad, vectors=vectors)
        return vectors

    def _vector(self, text: str) -> np.ndarray:
        seed = hashlib.shake_128(f"{self.model} {text}".encode()).digest(self.dimensions)
        values = np.frombuffer(seed, dtype=np.uint8).astype(np.float32) - 127.5
        return values / np.linalg.norm(values)


class ReembedRig(Rig):
    """Import, interactions, chunks in the space that is asked, and re-embedding, over stub embedders."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        settings = Settings(home=Path("/nowhere"), timezone="Europe/Berlin")
        self.memory = Memory(settings, url=url, connections=self.pool, clock=FixedClock())
        self.spaces = PostgresSpaceStore(self.pool)

    def talk(self, *, conversations: int = 4, chat: str = "c1", first: int = 0) -> None:
        """Conversations of three messages, one a day."""
        self.take(
            line(chat, f"{day}-{number}", minute=day * DAY + number, sender=("ann", "bob")[number % 2])
            for day in range(first, first + conversations)
            for number in range(3)
        )
        self.build()

    def daily(self, embedder: StubEmbedder | None = None) -> None:
        """What the asset of chunks does, into the space that is asked."""
        active = self.spaces.active()
        embedder = embedder or StubEmbedder(active.model if active else OLD)
        space = active or self.spaces.open(embedder.model)
        deps = ChunkDeps(
            store=PostgresChunkStore(self.pool),
            partitions=self.memory.partitions,
            analyzer=SnowballTerms(),
            clock=self.memory.clock,
            vectorising=Vectorising(embedder, space, PostgresVectorStore(self.pool)),
        )
        chunks.build_days(DAYS, deps=deps)

    def work(self, embedder: StubEmbedder | None = None) -> ReembedWork:
        return ReembedWork(self.memory, embedder_of=lambda model: embedder or StubEmbedder(model))

    def logical(self) -> dict[str, Any]:
        """All that vectors are made of, by what it says and not by numbers that a run gives out."""
        return {
            "spaces": sorted((one.model, one.dimensions, one.state) for one in self.spaces.spaces()),
            "vectors": self.rows(VECTORS),
            "codes": self.rows(CODES),
            "scopes": self.rows(SCOPES),
            "states": self.rows(STATES),
        }

    def gaps(self) -> list[Any]:
        """Chunks without a vector of their words in the space that is asked."""
        return [row[0] for row in self.rows(GAPS)]

    def states(self) -> dict[str, str]:
        return {one.model: one.state for one in self.spaces.spaces()}

    def vectors(self, model: str) -> int:
        return sum(one.vectors for one in self.spaces.sizes() if one.model == model)
