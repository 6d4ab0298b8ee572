"""A memory to search: the real import, interactions and chunks over a small embedder; summaries by SQL."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from typing import Any

import numpy as np

from pkg_pipeline.adapters.postgres.interactions.partitions import PostgresPartitionStore
from pkg_pipeline.adapters.postgres.recall.chunks import PostgresChunkStore
from pkg_pipeline.adapters.postgres.recall.spaces import PostgresSpaceStore
from pkg_pipeline.adapters.postgres.recall.vectors import PostgresVectorStore
from pkg_pipeline.adapters.text.term_analyzer import SnowballTerms
from pkg_pipeline.stages.ports import EmbedderRejected, Vectors
from pkg_pipeline.stages.recall import chunks
from pkg_pipeline.stages.recall.chunk_vectors import Vectorising
from pkg_pipeline.stages.recall.chunks import ChunkDeps, DayReport
from pkg_pipeline_tests.stages.ingest.import_rig import FixedClock, Rig

ANALYZER = SnowballTerms()
DIMENSIONS = 32
EVER = (date(2026, 1, 1), date(2026, 3, 31))

LOGICAL = {
    "chunks": """
        SELECT c.id, c.source, c.chat_id, c.interaction_id, c.subject_id, c.sender_entity_id, c.at, c.scopes,
               c.start_char, c.end_char, c.passage, c.passages, c.importance, c.is_withheld, c.topics, c.content,
               c.content_hash, c.index_hash, (SELECT array_agg(t ORDER BY t) FROM unnest(c.terms) t), c.lexical::text,
               ARRAY(SELECT m.external_id FROM messages m WHERE m.id = ANY(c.message_ids) ORDER BY 1)
        FROM memory_chunks c""",
    "terms": "SELECT term, chunks FROM chunk_terms WHERE chunks <> 0",
    "speakers": "SELECT term, entity_id FROM speaker_terms",
    "vectors": """
        SELECT c.id, s.model, e.scopes, e.at, e.index_hash, e.embedding::text FROM chunk_embeddings e
        JOIN memory_chunks c ON c.no = e.chunk_no JOIN embedding_spaces s ON s.id = e.space_id""",
    "codes": """
        SELECT c.id, d.scope, d.at, d.code::text FROM chunk_codes d LEFT JOIN memory_chunks c ON c.no = d.chunk_no""",
    "scopes": "SELECT scope, chunks FROM chunk_scopes WHERE chunks <> 0",
    "states": "SELECT interaction_id, space_id > 0, chunks, refused FROM chunk_states",
}
"""What is searched, without numbers in order of arrival, hashes over bigint ids, and clocks."""


@lru_cache(4096)
def place_of(word: str) -> tuple[int, int]:
    """The column of a word's vector, and what stands there."""
    digest = hashlib.blake2b(word.encode(), digest_size=2).digest()
    return digest[0] % DIMENSIONS, 1 if digest[1] % 2 else -1


class WordEmbedder:
    """Texts to unit vectors by their hashed words: the same everywhere, in no time. Texts with ``refused`` in them are
    refused; ``error`` is raised by the call after ``answers``.
    """

    dimensions = DIMENSIONS

    def __init__(self, model: str = "test:words", *, answers: int = 10**9, error: Exception | None = None) -> None:
        self.model = model
        self.texts: list[str] = []
        self._answers, self._error = answers, error

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self._error is not None and self._answers <= 0:
            raise self._error
        self._answers -= 1
        self.texts += texts
        vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
        for row, text in enumerate(texts):
            for word in text.split():
                column, sign = place_of(word)
                vectors[row, column] += sign
            length = float(np.linalg.norm(vectors[row]))
            vectors[row] /= length or 1
        bad = [row for row, text in enumerate(texts) if "refused" in text]
        if bad:
            vectors[bad] = 0
            raise EmbedderRejected("some texts", positions=bad, vectors=vectors)
        return vectors


class ChunkRig(Rig):
    """One database; ``chunk`` works off January to March, due or not."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.chunk_store = PostgresChunkStore(self.pool)
        self.vectors = PostgresVectorStore(self.pool)
        self.spaces = PostgresSpaceStore(self.pool)
        self.partitions = PostgresPartitionStore(self.pool)

    def deps(self, embedder: WordEmbedder | None, **changes: Any) -> ChunkDeps:
        vectorising = None
        if embedder is not None:
            space = self.spaces.active() or self.spaces.open(embedder.model)
            vectorising = Vectorising(embedder, space, changes.pop("vectors", self.vectors))
        given: dict[str, Any] = {
            "store": self.chunk_store,
            "partitions": self.partitions,
            "analyzer": ANALYZER,
            "clock": FixedClock(),
            "vectorising": vectorising,
        }
        return ChunkDeps(**{**given, **changes})

    def load(self, lines: Sequence[Any]) -> None:
        self.take(lines)
        self.build()

    def chunk(self, embedder: WordEmbedder | None = None, *, deps: ChunkDeps | None = None) -> DayReport:
        """What was done to all days together; words and vectors where no embedder is given."""
        used = deps or self.deps(embedder or WordEmbedder())
        total = DayReport(EVER[0])
        for report in chunks.build_days(EVER, deps=used):
            for name in ("interactions", "chunks", "kept", "embedded", "refused", "removed", "pending"):
                setattr(total, name, getattr(total, name) + getattr(report, name))
            for reason in report.reasons:
                total.add_reason(reason)
        return total

    def due(self) -> list[str]:
        return [one.key for one in self.partitions.due(chunks.ASSET, now=FixedClock().now())]

    def run(self, statement: str, *parameters: Any) -> None:
        with self.connection() as connection:
            connection.execute(statement, parameters)  # type: ignore[arg-type]

    def logical(self) -> dict[str, list[tuple[Any, ...]]]:
        with self.connection() as connection:
            return {
                name: sorted(connection.execute(sql).fetchall(), key=repr)  # type: ignore[arg-type]
                for name, sql in LOGICAL.items()
            }

    def recount(self) -> None:
        """Frequencies, codes and sizes of scopes are those of a count from nothing."""
        assert self.rows("SELECT term, chunks FROM chunk_terms WHERE chunks <> 0 ORDER BY 1") == self.rows(
            "SELECT term, count(*) FROM (SELECT unnest(terms) AS term FROM memory_chunks UNION ALL"
            " SELECT 0 FROM memory_chunks) t GROUP BY term ORDER BY 1"
        )
        orphans = "SELECT count(*) FROM chunk_codes d LEFT JOIN memory_chunks c ON c.no = d.chunk_no WHERE c.no IS NULL"
        assert self.value(orphans) == 0
        assert self.rows("SELECT scope, chunks FROM chunk_scopes WHERE chunks <> 0 ORDER BY 1") == self.rows(
            "SELECT scope, count(*) FROM chunk_codes GROUP BY scope ORDER BY 1"
        )

    def wait_for_the_dead(self) -> None:
        """The server lets go of what a killed process held a moment after its end."""
        with self.connection() as connection:
            connection.execute(
                "SELECT pg_advisory_lock(hashtextextended(id::text, 5)) FROM"
                " (SELECT id FROM interactions UNION SELECT interaction_id FROM chunk_states) held"
            )
            connection.execute("SELECT pg_advisory_unlock_all()")

    def forget_chunks(self) -> None:
        """As if nothing had ever been searched; the space stays."""
        tables = "memory_chunks, chunk_terms, speaker_terms, chunk_states, chunk_embeddings, chunk_codes, chunk_scopes"
        self.run(f"TRUNCATE {tables}")

    def summarise(self, text: str = "They agreed on the plan.") -> None:
        """Every interaction gets a live summary with a decision about its others, as the stage leaves them."""
        with self.connection() as connection, connection.transaction():
            for statement in SUMMARIES:
                connection.execute(statement, {"text": text})  # type: ignore[arg-type]


SUMMARIES = (
    "DELETE FROM interaction_summaries",
    """
    INSERT INTO interaction_summaries (id, interaction_id, status, input_hash, prompt_version, model_version, language,
        summary, key_points, message_ids, message_count, source_token_count, summary_token_count, compression_ratio,
        cost_usd, generation_seconds)
    SELECT md5(id || %(text)s)::uuid, id, 'completed', input_hash, 'p', 'm', 'en', %(text)s, '["Trip to Lisbon"]', '{}',
        message_count, 1, 1, 1, 0, 0
    FROM interactions""",
    """
    INSERT INTO items (id, kind, status, text, owner, importance, probability, chat_id, interaction_id, quote,
        message_ids, first_at, last_at)
    SELECT md5(id::text)::uuid, 'decision', 'open', 'Go by train', 'both', 'high', 1, chat_id, id, 'train',
        ARRAY[first_external_id], ended_at, ended_at
    FROM interactions ON CONFLICT DO NOTHING""",
    """
    INSERT INTO item_people (item_id, entity_id)
    SELECT md5(interaction_id::text)::uuid, entity_id FROM interaction_participants WHERE role = 'other'
    ON CONFLICT DO NOTHING""",
    """
    INSERT INTO item_states (item_id, place, at, event, status, text, owner, probability, decided_by, interaction_id,
        quote, message_ids)
    SELECT id, 0, first_at, 'opened', status, text, owner, 1, 'memory', interaction_id, quote, message_ids FROM items
    ON CONFLICT DO NOTHING""",
    """
    INSERT INTO dirty_partitions (asset, partition_key, reason)
    SELECT 'memory_chunks', to_char(day, 'YYYY-MM-DD'), 'summarised' FROM interactions GROUP BY day""",
)
