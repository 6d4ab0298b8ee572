"""Chunks without words and unit vectors without a model, for the stores of vectors and spaces."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.recall.spaces import PostgresSpaceStore
from pkg_pipeline.adapters.postgres.recall.vectors import PostgresVectorStore
from pkg_pipeline.memory.recall.records import EVERYTHING
from pkg_pipeline.memory.recall.vector_codes import code_text, codes
from pkg_pipeline.stages.recall.records import VectorRow

START = datetime(2026, 1, 1, tzinfo=UTC)
CHAT = UUID(int=100)
PEOPLE = [UUID(int=200 + number) for number in range(5)]

NEW_CHUNKS = """
INSERT INTO memory_chunks
    (id, source, chat_id, interaction_id, at, scopes, message_ids, content_hash, index_hash, terms, lexical)
SELECT gen_random_uuid(), 'message', %(chat)s, %(interaction)s, %(at)s::timestamptz + n * interval '1 minute',
    %(scopes)s, ARRAY[n], 'c' || n, 'h' || n, '{}', '{}/536870912'
FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS n RETURNING no
"""


def unit(count: int, dimensions: int = 64, *, seed: int = 1) -> np.ndarray:
    made = np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


class VectorRig:
    """Two stores on one database."""

    def __init__(self, url: str, *, scan_limit: int = 20_000, size: int = 4) -> None:
        self.url = url
        self.connections = engine.pool(url, size=size)
        self.spaces = PostgresSpaceStore(self.connections)
        self.vectors = PostgresVectorStore(self.connections, scan_limit=scan_limit)

    def close(self) -> None:
        self.connections.close()

    def rows(self, text: str, **given: Any) -> list[tuple[Any, ...]]:
        with self.connections.connection() as connection:
            return connection.execute(text.encode(), given or None).fetchall()

    def run(self, text: str, **given: Any) -> None:
        with self.connections.connection() as connection:
            connection.execute(text.encode(), given or None)

    def chunks(
        self, count: int, *, scopes: Sequence[UUID] = (CHAT,), first: int = 1, interaction: UUID | None = None
    ) -> list[int]:
        """Numbers of new chunks with index hashes h1, h2, …"""
        given = {"chat": CHAT, "interaction": interaction, "at": START, "scopes": list(scopes)}
        return [row[0] for row in self.rows(NEW_CHUNKS, **given, first=first, last=first + count - 1)]

    def save(
        self,
        space_id: int,
        numbers: Sequence[int],
        vectors: np.ndarray,
        *,
        scopes: Sequence[UUID] = (CHAT,),
        index_hash: str | None = None,
    ) -> int:
        rows = [
            VectorRow(number, tuple(scopes), START + timedelta(minutes=number), index_hash or f"h{number}", vector)
            for number, vector in zip(numbers, vectors, strict=True)
        ]
        return self.vectors.save(space_id, rows)

    def counts(self, space_id: int) -> dict[UUID, int]:
        """Scope → codes, as they are counted; those without any are left out."""
        return dict(
            self.rows("SELECT scope, chunks FROM chunk_scopes WHERE space_id = %(s)s AND chunks <> 0", s=space_id)
        )

    def assert_consistent(self) -> None:
        """Sizes are those of the codes; codes are those of the vectors, in exactly the scopes of the vector's row."""
        real = self.rows("SELECT space_id, scope, count(*) FROM chunk_codes GROUP BY 1, 2 ORDER BY 1, 2")
        assert self.rows("SELECT space_id, scope, chunks FROM chunk_scopes WHERE chunks <> 0 ORDER BY 1, 2") == real
        expected = self.rows(
            "SELECT DISTINCT space_id, scope, chunk_no FROM chunk_embeddings,"
            " unnest(scopes || %(everything)s::uuid) AS scope ORDER BY 1, 2, 3",
            everything=EVERYTHING,
        )
        assert self.rows("SELECT space_id, scope, chunk_no FROM chunk_codes ORDER BY 1, 2, 3") == expected


def text_of_code(vector: np.ndarray) -> str:
    return code_text(codes(vector[None])[0])
