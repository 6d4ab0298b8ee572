"""The parts of a recall one by one, and the exact answer beside it: what the latency benchmark asks past the server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np
import psycopg
from pgvector import HalfVector

from benchmarks.recall_memory import EPOCH, NOW, Memory, made_id
from pkg_pipeline.adapters.embedders.offline import OfflineEmbedder
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.recall.store import Limits, PostgresRecallStore, vector_plan
from pkg_pipeline.adapters.text.term_analyzer import SnowballTerms
from pkg_pipeline.memory.recall.lexical import question_vector, rare_first, term_number
from pkg_pipeline.memory.recall.vector_codes import codes
from pkg_pipeline.stages.recall.records import FactsQuery, SearchQuery
from pkg_pipeline.stages.recall.words import FETCHED_CHUNKS

TIMES = {
    "a month": (datetime(2025, 5, 1, tzinfo=NOW.tzinfo), datetime(2025, 6, 1, tzinfo=NOW.tzinfo)),
    "half a year": (datetime(2025, 1, 1, tzinfo=NOW.tzinfo), datetime(2025, 7, 1, tzinfo=NOW.tzinfo)),
}


@dataclass
class Case:
    """One row: entities that take turns, which of their chats (0 direct, 1 and 2 groups), a time by name."""

    label: str
    entities: list[int] = field(default_factory=list)
    chat: int | None = None
    time: str | None = None
    http_ms: list[float] = field(default_factory=list)
    cpu_ms: float = 0.0
    exact_ms: list[float] = field(default_factory=list)
    found: list[float] = field(default_factory=list)
    ways: set[str] = field(default_factory=set)
    parts: dict[str, list[float]] = field(default_factory=dict)

    def scope(self, memory: Memory, turn: int) -> tuple[int | None, int | None]:
        if not self.entities:
            return None, None
        entity = self.entities[turn % len(self.entities)]
        chats = (entity, *memory.plan.groups[entity])
        return entity, None if self.chat is None else chats[self.chat]


def cases(memory: Memory) -> list[Case]:
    """Each size of entity bare, in one of its groups, in a time, in both; then everything, bare and in a time."""
    rows: list[Case] = []
    for size in sorted({size for size, _ in memory.plan.sized}):
        entities = [entity for chunks, entity in memory.plan.sized if chunks == size]
        rows += [
            Case(f"entity of {size:,}", entities),
            Case(f"entity of {size:,}, a group", entities, chat=1),
            Case(f"entity of {size:,}, a small group", entities, chat=2),
            Case(f"entity of {size:,}, a month", entities, time="a month"),
            Case(f"entity of {size:,}, half a year", entities, time="half a year"),
            Case(f"entity of {size:,}, a group, half a year", entities, chat=1, time="half a year"),
        ]
    return [*rows, Case("everything"), Case("everything, a month", time="a month"),
            Case("everything, half a year", time="half a year")]  # fmt: skip


class Probe:
    """The parts of a recall one by one, and how much of the true nearest ten the search brought."""

    def __init__(self, url: str, memory: Memory) -> None:
        self._memory = memory
        self._pool = engine.pool(url, size=1, readonly=True)
        self._store = PostgresRecallStore(self._pool)
        self._analyzer, self._embedder = SnowballTerms(), OfflineEmbedder()
        self._raw = psycopg.connect(url, autocommit=True, options="-csearch_path=pkg,public -cjit=off")

    def close(self) -> None:
        self._raw.close()
        self._pool.close()

    def ask(self, case: Case, turn: int, question: str, *, judged: bool) -> None:
        entity, chat = case.scope(self._memory, turn)
        scope = {
            "entity_id": None if entity is None else made_id("entity", entity),
            "chat_id": None if chat is None else made_id("chat", chat),
        }
        at_from, at_to = TIMES[case.time] if case.time else (None, None)
        with _timed(case, "words"):
            terms = self._analyzer.terms(question)
            numbers = tuple(map(term_number, terms))
        with _timed(case, "facts"):
            facts = self._store.question_facts(FactsQuery(numbers, numbers, **scope, at_from=at_from, at_to=at_to))
        with _timed(case, "vector"):
            vector = self._embedder.embed([question])[0]
            code = codes(vector[None])[0].tobytes()
        query = SearchQuery(
            facts=facts,
            as_of=NOW,
            words=question_vector(terms, facts.document_frequencies, facts.chunks),
            fetch_terms=rare_first(terms, facts.document_frequencies, limit=FETCHED_CHUNKS).terms,
            vector=vector,
            code=code,
            at_from=at_from,
            at_to=at_to,
            **scope,
        )
        with _timed(case, "search"):
            found = self._store.search(query)
        case.ways.add(vector_plan(query, Limits()).way)
        if judged:
            within = _within(self._memory, entity, chat, case.time)
            true = set(self._memory.nearest(vector, within))
            case.found.append(len(true & {one.no for one in found[:10]}) / max(len(true), 1))
        if entity is not None:
            self._exact(case, entity, chat, vector)

    def _exact(self, case: Case, entity: int, chat: int | None, vector: np.ndarray) -> None:
        at_from, at_to = TIMES[case.time] if case.time else (None, None)
        text = (
            "SELECT no FROM ideal WHERE entity = %s AND (%s::uuid IS NULL OR chat = %s)"
            " AND at >= coalesce(%s::timestamptz, '-infinity') AND at < coalesce(%s::timestamptz, 'infinity')"
            " ORDER BY embedding <#> %s::halfvec LIMIT 10"
        )
        chat_id = None if chat is None else made_id("chat", chat)
        given = (made_id("entity", entity), chat_id, chat_id, at_from, at_to, HalfVector(vector).to_text())
        started = time.perf_counter()
        self._raw.execute(text, given, prepare=True).fetchall()
        case.exact_ms.append((time.perf_counter() - started) * 1000)


@contextmanager
def _timed(case: Case, part: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    case.parts.setdefault(part, []).append((time.perf_counter() - started) * 1000)


def _within(memory: Memory, entity: int | None, chat: int | None, period: str | None) -> np.ndarray | None:
    plan, fits = memory.plan, np.ones(memory.chunks, bool)
    if entity is not None:
        fits &= plan.entity == entity
    if chat is not None:
        fits &= plan.chat == chat
    if period is not None:
        start, end = ((moment - EPOCH) // timedelta(microseconds=1) for moment in TIMES[period])
        fits &= (plan.at >= start) & (plan.at < end)
    return None if fits.all() else fits
