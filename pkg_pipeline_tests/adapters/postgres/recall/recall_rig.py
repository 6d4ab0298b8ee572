"""A small memory with chunks, words and vectors, and the search of it by hand, against which the store is held."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.recall.spaces import PostgresSpaceStore
from pkg_pipeline.adapters.postgres.recall.store import Limits, PostgresRecallStore, sparse_text
from pkg_pipeline.adapters.postgres.recall.vectors import PostgresVectorStore
from pkg_pipeline.memory.recall.records import Candidate, ChunkSource
from pkg_pipeline.memory.recall.vector_codes import codes
from pkg_pipeline.stages.recall.records import FactsQuery, SearchQuery, VectorRow

START = datetime(2025, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 3, 15, 12, tzinfo=UTC)
PEOPLE = [UUID(int=100 + number) for number in range(4)]
CHATS = [UUID(int=200 + number) for number in range(5)]
TOPICS = ("boats", "money", "school")
SOURCES: tuple[ChunkSource, ...] = ("message", "message", "message", "decision", "fact")
DIMENSIONS = 64

SCANNED = Limits()
IN_GRAPH = Limits(scanned=-1, scanned_time=-1)
TIME_SCANNED = Limits(scanned=-1)


@dataclass(frozen=True)
class Stored:
    """One chunk as it was written; its text is ``text NUMBER``."""

    number: int
    source: ChunkSource
    chat_id: UUID
    entity_id: UUID
    at: datetime
    topics: tuple[str, ...]
    words: dict[int, float]
    vector: np.ndarray | None
    is_withheld: bool = False
    no: int = 0

    @property
    def scopes(self) -> tuple[UUID, UUID]:
        return self.entity_id, self.chat_id


@dataclass(frozen=True)
class Wanted:
    """A filter, as a question has it."""

    entity_id: UUID | None = None
    chat_id: UUID | None = None
    topics: tuple[str, ...] = ()
    sources: frozenset[ChunkSource] = field(default_factory=frozenset)
    at_from: datetime | None = None
    at_to: datetime | None = None
    as_of: datetime = NOW

    def fits(self, one: Stored) -> bool:
        return (
            (self.entity_id is None or self.entity_id in one.scopes)
            and (self.chat_id is None or self.chat_id in one.scopes)
            and (not self.topics or bool(set(self.topics) & set(one.topics)))
            and (not self.sources or one.source in self.sources)
            and (self.at_from is None or one.at >= self.at_from)
            and (self.at_to is None or one.at < self.at_to)
            and one.at <= self.as_of
            and not one.is_withheld
        )


class RecallRig:
    """Stores on one database, and everything that was put into it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.connections = engine.pool(url, size=2)
        self.reads = engine.pool(url, size=1, readonly=True)
        self.vectors = PostgresVectorStore(self.connections, scan_limit=20)
        self.space_id = PostgresSpaceStore(self.connections).open("offline:small").id
        self.random = np.random.default_rng(5)
        self.chunks: list[Stored] = []

    def close(self) -> None:
        self.connections.close()
        self.reads.close()

    def run(self, text: str, *given: Any) -> list[tuple[Any, ...]]:
        with self.connections.connection() as connection:
            cursor = connection.execute(text.encode(), given or None)
            return cursor.fetchall() if cursor.description else []

    def people(self) -> None:
        for number, person in enumerate(PEOPLE):
            self.run("INSERT INTO entities (id, name, name_at) VALUES (%s, %s, now())", person, f"Person {number}")
        for number, chat in enumerate(CHATS):
            kind = "direct" if number < 3 else "group"
            self.run(
                "INSERT INTO chats (id, source, external_id, kind, title, title_at)"
                " VALUES (%s, 'telegram', %s, %s, 'T', now())", chat, f"chat:{number}", kind,
            )  # fmt: skip

    def members(self) -> None:
        for chat, person in {(one.chat_id, one.entity_id) for one in self.chunks}:
            self.run("INSERT INTO chat_members VALUES (%s, %s) ON CONFLICT DO NOTHING", chat, person)

    def vector(self) -> np.ndarray:
        made = self.random.normal(size=DIMENSIONS).astype(np.float32)
        return np.asarray(made / np.linalg.norm(made), np.float32)

    def made(self, number: int) -> Stored:
        """Everything about it by chance; every seventh has no vector, every eleventh is withheld."""
        choose = self.random.integers
        chat = int(choose(len(CHATS)))
        terms = sorted({int(term) for term in choose(1, 40, 6)})
        return Stored(
            number=number,
            source=SOURCES[choose(len(SOURCES))],
            chat_id=CHATS[chat],
            entity_id=PEOPLE[chat] if chat < 3 else PEOPLE[choose(len(PEOPLE))],
            at=START + timedelta(hours=int(choose(10_000))),
            topics=tuple(topic for topic in TOPICS if choose(4) == 0),
            words={term: round(float(self.random.uniform(0.1, 2)), 3) for term in terms},
            vector=None if number % 7 == 3 else self.vector(),
            is_withheld=number % 11 == 5,
        )

    def add(self, stored: Stored) -> Stored:
        """The message, or for what was derived the message it rests on, and the chunk with its vector."""
        text = f"text {stored.number}"
        self.run(
            "INSERT INTO messages (id, chat_id, sender_entity_id, sent_at, exported_at, token_count, importance_score,"
            " is_outgoing, external_id, content, content_hash)"
            " VALUES (%s, %s, %s, %s, now(), 2, 0, false, %s, %s, 'h')",
            stored.number, stored.chat_id, stored.entity_id, stored.at, str(stored.number), text,
        )  # fmt: skip
        is_message = stored.source == "message"
        no = self.run(
            "INSERT INTO memory_chunks (id, source, chat_id, subject_id, sender_entity_id, at, scopes, message_ids,"
            " is_withheld, topics, content, content_hash, index_hash, terms, lexical)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, 'h', 'h', %s, %s::sparsevec) RETURNING no",
            UUID(int=stored.number), stored.source, stored.chat_id, None if is_message else UUID(int=stored.number),
            stored.entity_id if is_message else None, stored.at, list(stored.scopes), [stored.number],
            stored.is_withheld, list(stored.topics), None if is_message else text, list(stored.words),
            sparse_text(stored.words),
        )[0][0]  # fmt: skip
        added = Stored(**{**{name: getattr(stored, name) for name in stored.__dataclass_fields__}, "no": no})
        self.chunks.append(added)
        return added

    def fill(self, count: int) -> None:
        self.people()
        for number in range(1, count + 1):
            self.add(self.made(number))
        self.members()
        self.save(self.chunks)

    def save(self, chunks: Iterable[Stored]) -> None:
        self.vectors.save(
            self.space_id,
            [VectorRow(one.no, one.scopes, one.at, "h", one.vector) for one in chunks if one.vector is not None],
        )
        self.vectors.keep_indexes()

    def store(self, limits: Limits = SCANNED) -> PostgresRecallStore:
        return PostgresRecallStore(self.reads, limits=limits)

    def query(
        self,
        store: PostgresRecallStore,
        wanted: Wanted,
        *,
        vector: np.ndarray | None,
        words: dict[int, float] | None = None,
        fetch_terms: tuple[int, ...] = (),
        limit: int = 10,
    ) -> SearchQuery:
        scope: dict[str, Any] = {"entity_id": wanted.entity_id, "chat_id": wanted.chat_id}
        times: dict[str, Any] = {"at_from": wanted.at_from, "at_to": wanted.at_to}
        return SearchQuery(
            facts=store.question_facts(FactsQuery(terms=(), **scope, **times)),
            as_of=wanted.as_of,
            words=words or {},
            fetch_terms=fetch_terms,
            vector=vector,
            code=None if vector is None else codes(vector[None])[0].tobytes(),
            topics=wanted.topics,
            sources=wanted.sources,
            limit=limit,
            **scope,
            **times,
        )

    # ── by hand ───────────────────────────────────────────────────────────────────────────────

    def nearest(self, wanted: Wanted, vector: np.ndarray, limit: int) -> list[int]:
        fitting = [one for one in self.chunks if wanted.fits(one) and one.vector is not None]
        return [one.no for one in sorted(fitting, key=lambda one: (-similarity(one, vector), one.no))][:limit]

    def worded(self, wanted: Wanted, words: dict[int, float], fetch: tuple[int, ...], limit: int) -> list[int]:
        fitting = [one for one in self.chunks if wanted.fits(one) and set(fetch) & set(one.words)]
        return [one.no for one in sorted(fitting, key=lambda one: (-lexical(one, words), one.no))][:limit]

    def assert_scored(self, found: list[Candidate], words: dict[int, float], vector: np.ndarray | None) -> None:
        stored = {one.no: one for one in self.chunks}
        for one in found:
            known = stored[one.no]
            assert abs(one.lexical - lexical(known, words)) < 1e-3
            if vector is None or known.vector is None:
                assert one.similarity is None
            else:
                assert one.similarity is not None
                assert abs(one.similarity - similarity(known, vector)) < 1e-2
            assert one.text == f"text {known.number}"
            assert one.message_ids == (f"telegram:chat%3A{CHATS.index(known.chat_id)}/{known.number}",)


def similarity(one: Stored, vector: np.ndarray) -> float:
    """By the halves that are stored."""
    assert one.vector is not None
    return float(one.vector.astype(np.float16).astype(np.float32) @ vector.astype(np.float16).astype(np.float32))


def lexical(one: Stored, words: dict[int, float]) -> float:
    return sum(weight * words.get(term, 0.0) for term, weight in one.words.items())
