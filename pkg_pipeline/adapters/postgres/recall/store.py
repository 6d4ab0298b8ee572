"""The store of recall. It builds each search statement from ``recall.sql`` with space, scope and dimensions as
constants: only then can the partial index of a big scope be used.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, LiteralString
from uuid import UUID

from pgvector import HalfVector
from psycopg.rows import namedtuple_row
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.as_sent import AsSent
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.reading import as_known, numbered_text, read_rows
from pkg_pipeline.adapters.postgres.recall.vector_indexes import SCAN_LIMIT
from pkg_pipeline.memory.hashing import message_key
from pkg_pipeline.memory.recall.lexical import DIMENSIONS as TERM_NUMBERS
from pkg_pipeline.memory.recall.records import EVERYTHING, Candidate, LexicalVector
from pkg_pipeline.memory.recall.vector_codes import CODE_BITS
from pkg_pipeline.memory.records import ContextChat
from pkg_pipeline.stages.recall.records import FactsQuery, QuestionFacts, ScopeFacts, SearchQuery, Space

SCANNED_TIME = 60_000
"""Codes up to which a time range of a big scope is scanned; rarer chunks are slow to find by its index."""

RERANKED = 400
"""Nearest codes that are compared by their vectors."""

SCORED = 10_000
"""Chunks scored by words; only questions of common words alone reach it."""

MESSAGE_IDS = 50
"""External ids per derived chunk."""

SPARE = 20
"""Additional candidates per list, for those that rest on deleted messages."""

NAME_LIMIT, NAME_SCAN = 50, 1_000
"""Names of more people are ignored; people looked at per name."""

KEPT_KEYS = 16_384
"""Of messages that many questions find."""

FOREVER = datetime.max.replace(tzinfo=UTC)

_OPTIONAL = re.compile(r"\s*--\? (.*)$")


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes above which a scope or time range is not scanned; lowered by tests."""

    scanned: int = SCAN_LIMIT
    scanned_time: int = SCANNED_TIME
    reranked: int = RERANKED


class PostgresRecallStore:
    def __init__(self, connections: ConnectionPool, *, limits: Limits | None = None) -> None:
        self._connections = connections
        self._limits = limits or Limits()

    def question_facts(self, query: FactsQuery) -> QuestionFacts:
        """One round trip."""
        scopes = tuple(scope for scope in (query.entity_id, query.chat_id) if scope is not None) or (EVERYTHING,)
        is_timed = query.at_from is not None or query.at_to is not None
        text, names = facts_statement(is_timed, self._limits.scanned_time + 1)
        given: dict[str, Any] = {
            "scopes": list(scopes),
            "entity": query.entity_id,
            "chat": query.chat_id,
            "names": list(query.names),
            "terms": [0, *query.terms],
            "at_from": query.at_from,
            "at_to": query.at_to,
            "name_scan": NAME_SCAN,
            "name_limit": NAME_LIMIT,
        }
        (found,) = read_rows(self._connections, text, [given[name] for name in names], row=namedtuple_row)
        return _facts(found, scopes, found.in_range if is_timed else None)

    def search(self, query: SearchQuery) -> list[Candidate]:
        """One round trip, and one before it if the time range of a big scope is not counted yet."""
        text, given = search_statement(self._with_time_counted(query), self._limits)
        return _best(read_rows(self._connections, text, given, row=namedtuple_row), query.limit)

    def _with_time_counted(self, query: SearchQuery) -> SearchQuery:
        facts = query.facts
        is_timed = query.at_from is not None or query.at_to is not None
        if not is_timed or query.vector is None or min(_sizes(facts), default=0) <= self._limits.scanned:
            return query
        if all(one.in_range is not None for one in facts.scopes):
            return query
        timed = FactsQuery((), (), query.entity_id, query.chat_id, query.at_from, query.at_to)
        return replace(query, facts=replace(facts, scopes=self.question_facts(timed).scopes))


# ── which way ─────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class VectorPlan:
    """``way``: scan the ``codes`` of ``scope``, search its ``graph`` (HNSW), or ``none``: no vectors."""

    way: str
    scope: UUID
    space_id: int = 0
    dimensions: int = 0


def vector_plan(query: SearchQuery, limits: Limits) -> VectorPlan:
    """The way of the smallest scope: a scan if it (or its time range) is small enough or has no index."""
    space, scopes = query.facts.space, query.facts.scopes
    if query.vector is None or query.code is None or space is None or space.dimensions is None or not scopes:
        return VectorPlan("none", EVERYTHING)
    best = min(scopes, key=lambda one: (_work(one), one.scope))
    is_small = best.chunks <= limits.scanned or (best.in_range is not None and best.in_range <= limits.scanned_time)
    way = "codes" if is_small or not best.is_indexed else "graph"
    return VectorPlan(way, best.scope, space.id, space.dimensions)


def _sizes(facts: QuestionFacts) -> list[int]:
    return [one.chunks for one in facts.scopes]


def _work(scope: ScopeFacts) -> int:
    return scope.chunks if scope.in_range is None else min(scope.chunks, scope.in_range)


def _flags(query: SearchQuery, plan: VectorPlan) -> frozenset[str]:
    described = {name for name in ("topics", "sources") if getattr(query, name)}
    flags = set(described)
    if query.scopes != (EVERYTHING,):
        flags.add("scoped")
    if len(query.scopes) > 1:
        flags |= {"two_scopes", "narrowed"}
    if described or query.known_as_of is not None:
        flags |= {"described", "narrowed"}
    if query.at_from is not None:
        flags.add("begun")
    if plan.scope != EVERYTHING:
        flags.add("indexed_scope")
    flags.add("words_only" if plan.way == "none" else "vectors")
    return frozenset(flags)


# ── statements ────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=8)
def facts_statement(is_timed: bool, counted: int) -> tuple[LiteralString, tuple[str, ...]]:
    text = _chosen(query("recall", "question_facts"), frozenset({"timed"} if is_timed else ()))
    return numbered_text(text.format(counted=counted))


def search_statement(query: SearchQuery, limits: Limits) -> tuple[LiteralString, list[Any]]:
    """The statement of a search and its parameters."""
    plan = vector_plan(query, limits)
    text, names = _search_text(plan, _flags(query, plan), query.limit, limits.reranked, query.known_as_of is not None)
    given = _parameters(query, plan)
    return text, [given[name] for name in names]


@lru_cache(maxsize=512)
def _search_text(
    plan: VectorPlan, flags: frozenset[str], limit: int, reranked: int, is_known: bool
) -> tuple[LiteralString, tuple[str, ...]]:
    """Only numbers and ids are formatted in; texts are parameters."""
    nearest = {
        "codes": query("recall", "nearest_by_codes"),
        "graph": query("recall", "nearest_by_graph"),
        "none": query("recall", "no_vectors"),
    }[plan.way]
    codes = "ALL" if "narrowed" in flags else max(reranked, limit + SPARE)
    filled = {
        "space": plan.space_id,
        "scope": plan.scope,
        "dimensions": plan.dimensions,
        "codes": codes,
        "reranked": max(reranked, limit + SPARE),
        "limit": limit + SPARE,
        "scored": SCORED,
    }
    text = _chosen(query("recall", "candidates"), flags).format(
        nearest=_chosen(nearest, flags).format(**filled),
        worded=_chosen(query("recall", "by_words"), flags).format(**filled),
        message_ids=MESSAGE_IDS,
    )
    return numbered_text(
        as_known(text, query("known", "everywhere"), query("known", "of_search")) if is_known else text
    )


def _chosen(statement: str, flags: frozenset[str]) -> str:
    """The statement with those optional lines (``--? flag``) whose flag is set."""
    lines: list[str] = []
    for line in statement.splitlines():
        found = _OPTIONAL.search(line)
        if found is None:
            lines.append(line)
        elif found[1] in flags:
            lines.append(line[: found.start()])
    return "\n".join(line for line in lines if not line.startswith("--"))


def _parameters(query: SearchQuery, plan: VectorPlan) -> dict[str, Any]:
    vectors: dict[str, Any] = {}
    if plan.way != "none" and query.vector is not None and query.code is not None:
        vectors = {
            "vector": AsSent(HalfVector(query.vector).to_binary()),
            "code": AsSent(CODE_BITS.to_bytes(4, "big") + query.code),
            "space": plan.space_id,
            "scope": plan.scope,
        }
    return vectors | {
        "words": sparse_text(query.words),
        "fetched": list(query.fetch_terms),
        "scopes": list(query.scopes),
        "topics": list(query.topics),
        "sources": sorted(query.sources),
        "at_from": query.at_from,
        "at_to": _end(query),
        "as_of": query.as_of,
        "is_past": query.is_past,
        "known": FOREVER if query.known_as_of is None else query.known_as_of,
        "served": FOREVER,
    }


def sparse_text(words: LexicalVector) -> str:
    """A lexical vector as a sparsevec, whose indices start at 1 as term numbers do."""
    return "{" + ",".join(f"{term}:{weight:.7g}" for term, weight in sorted(words.items())) + f"}}/{TERM_NUMBERS}"


def _end(query: SearchQuery) -> datetime:
    """The exclusive end of the search; ``as_of`` itself is included."""
    try:
        behind = query.as_of + timedelta(microseconds=1)
    except OverflowError:
        behind = FOREVER
    return behind if query.at_to is None else min(query.at_to, behind)


# ── rows ──────────────────────────────────────────────────────────────────────────────────────


def _facts(found: Any, scopes: tuple[UUID, ...], in_range: list[int] | None) -> QuestionFacts:
    counts: dict[int, int] = {int(term): int(chunks) for term, chunks in found.frequencies or ()}
    total = counts.pop(0, 0)
    sizes = found.sizes or ()
    unknown = None if found.is_entity_known and found.is_chat_known else "chat" if found.is_entity_known else "entity"
    return QuestionFacts(
        unknown=unknown,
        space=None if found.space_id is None else Space(found.space_id, found.model, found.dimensions, "active"),
        scopes=tuple(
            ScopeFacts(scope, size, is_indexed, counted)
            for scope, size, is_indexed, counted in zip(
                scopes, sizes, found.are_indexed or (), in_range or [None] * len(sizes), strict=False
            )
        ),
        chunks=total,
        document_frequencies=counts,
        meant=tuple(found.meant or ()),
        names=frozenset(found.names or ()),
    )


def _best(rows: Sequence[Any], limit: int) -> list[Candidate]:
    """At most ``limit`` rows of either list, in the given order."""
    near = [one.no for one in rows if one.is_near][:limit]
    worded = sorted((one for one in rows if one.is_worded), key=lambda one: (-one.lexical, one.no))[:limit]
    kept = {*near, *(one.no for one in worded)}
    return [_candidate(one) for one in rows if one.no in kept]


_chat = lru_cache(KEPT_KEYS)(ContextChat)
_key = lru_cache(KEPT_KEYS)(message_key)


def _candidate(found: Any) -> Candidate:
    source, chat = found.chat_source, found.chat_external_id
    return Candidate(
        no=found.no,
        id=found.id,
        source=found.source,
        chat=_chat(source, chat, found.kind, found.title),
        at=found.at,
        text=found.text,
        message_ids=tuple([_key(source, chat, external_id) for external_id in found.message_ids]),
        lexical=found.lexical,
        similarity=found.similarity,
        interaction_id=found.interaction_id,
        subject_id=found.subject_id,
        sender_entity_id=found.sender_entity_id,
        speaker=found.speaker,
        is_self=found.is_self,
        passage=found.passage,
        passages=found.passages,
        importance=found.importance,
        topics=tuple(found.topics),
        is_stale=found.is_stale,
    )
