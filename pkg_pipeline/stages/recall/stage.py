"""Recall: a question → the matching chunks as a text block within a budget (P5, L7). Reads only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.periods.questions import QuestionTime, read_time
from pkg_pipeline.memory.recall.block import RecallRules, recall_block
from pkg_pipeline.memory.recall.lexical import term_number
from pkg_pipeline.memory.recall.newest import newest_first
from pkg_pipeline.memory.recall.ranking import AskedFor, RankingRules, bearing, ranked
from pkg_pipeline.memory.recall.records import Candidate, ChunkSource, Ranked, RecallBlock, RecallMode
from pkg_pipeline.memory.recall.vector_codes import codes
from pkg_pipeline.memory.recall.wishes import wishes
from pkg_pipeline.memory.text.cleaning import clean_name
from pkg_pipeline.memory.text.language import detect
from pkg_pipeline.memory.text.timestamps import iso
from pkg_pipeline.stages.ports import TermAnalyzer, TokenCounter, Vectors
from pkg_pipeline.stages.reads.stores import BadRequest, ChatUnknown, EntityUnknown, require_past
from pkg_pipeline.stages.recall.question_vector import Embedders, embedded
from pkg_pipeline.stages.recall.records import CANDIDATES, FactsQuery, QuestionFacts, RecallStore, SearchQuery
from pkg_pipeline.stages.recall.words import Words, foreign_names

MOST_QUERY_CHARS = 2_000
MOST_TOP_K = 200
DEFAULT_TOKENS = 1_000
FEWEST_CANDIDATES, STEP, CHOICE = 60, 20, 4
"""Minimum of candidates, their step (fewer distinct statements), and candidates per wanted line. A budget in tokens
limits them not: with 60 instead of 200 a block of 1,000 tokens lost two to seven points of every corpus.
"""
MOST_MEANT = 2
"""Where a question may mean more people, none of them is searched apart."""
ANEW = "what was summarised, read or folded anew since known_as_of is not found as it was then"
"""The index is of today; its pieces are left out where what they say was made later (B11)."""


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """``max_tokens``, or ``top_k`` where it is set, hold for a request that names neither."""

    zone: ZoneInfo
    max_tokens: int = DEFAULT_TOKENS
    top_k: int | None = None
    ranking: RankingRules = field(default_factory=RankingRules)


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """One question; ``chat_id`` may be a session. ``at_from``/``at_to`` are half-open."""

    query: str
    now: datetime
    entity_id: UUID | None = None
    chat_id: UUID | None = None
    topics: tuple[str, ...] = ()
    sources: frozenset[ChunkSource] = frozenset()
    top_k: int | None = None
    max_tokens: int | None = None
    as_of: datetime | None = None
    known_as_of: datetime | None = None
    at_from: datetime | None = None
    at_to: datetime | None = None

    @property
    def moment(self) -> datetime:
        return self.now if self.as_of is None else self.as_of


@dataclass(frozen=True, slots=True)
class RecallResult:
    """The answer; ``warnings`` say what is degraded (keywords only, a failed rewrite)."""

    query: str
    mode: RecallMode
    as_of: datetime
    block: RecallBlock
    model: str | None
    warnings: tuple[str, ...] = ()
    known_as_of: datetime | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "query": self.query,
            "mode": self.mode,
            "as_of": iso(self.as_of),
            "known_as_of": None if self.known_as_of is None else iso(self.known_as_of),
            "text": self.block.text,
            "tokens": self.block.tokens,
            "results": [_result_json(line.ranked, line.text) for line in self.block.lines],
            "embedding_model": self.model,
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, slots=True)
class RecallParts:
    store: RecallStore
    analyzer: TermAnalyzer
    embedders: Embedders
    counter: TokenCounter
    settings: RecallSettings
    rewrite: Callable[[str, datetime], tuple[tuple[str, ...], str | None]] | None = None
    on_served: Callable[[str], object] = lambda _: None
    """Gets every block, so that it is known when it comes back (B14)."""


@dataclass(frozen=True, slots=True)
class Searched:
    """The candidates before ranking, and what the question names."""

    candidates: tuple[Candidate, ...]
    asked: AskedFor
    mode: RecallMode
    model: str | None
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """The ranked candidates before rendering."""

    ranked: tuple[Ranked, ...]
    mode: RecallMode
    model: str | None
    warnings: tuple[str, ...]


def recall(parts: RecallParts, request: RecallRequest) -> RecallResult:
    """The block for a question, of at most ``DEFAULT_TOKENS`` unless asked otherwise. Raises BadRequest, EntityUnknown,
    ChatUnknown.
    """
    request = _with_limits(request, parts.settings)
    found = find(parts, request)
    rules = RecallRules(
        max_tokens=request.max_tokens,
        top_k=request.top_k,
        zone=parts.settings.zone,
        language=detect([request.query]),
    )
    block = recall_block(found.ranked, rules, parts.counter.count_many)
    if block.lines:
        parts.on_served(block.text)
    warnings = found.warnings if request.known_as_of is None else (*found.warnings, ANEW)
    return RecallResult(
        request.query, found.mode, request.moment, block, found.model, warnings, known_as_of=request.known_as_of
    )


def find(parts: RecallParts, request: RecallRequest) -> Found:
    """The ranked candidates; also used for the hint of a context. Raises as ``recall``."""
    one = search(parts, request)
    order = bearing(ranked(one.candidates, one.asked, parts.settings.ranking), request.query)
    return Found(tuple(newest_first(order, one.asked)), one.mode, one.model, one.warnings)


def search(parts: RecallParts, request: RecallRequest) -> Searched:
    """The candidates of a question. Raises as ``recall``."""
    _checked(request)
    queries, note = ((request.query,), None) if parts.rewrite is None else parts.rewrite(request.query, request.moment)
    time = read_time(request.query, asked_at=request.moment, zone=parts.settings.zone)
    words = Words.of(parts.analyzer, time.rest, queries[1:])
    facts = parts.store.question_facts(
        FactsQuery(
            terms=_numbers((*words.asked, *words.others)),
            names=_numbers((*parts.analyzer.terms(request.query), *foreign_names(request.query))),
            entity_id=request.entity_id,
            chat_id=request.chat_id,
            at_from=request.at_from,
            at_to=request.at_to,
        )
    )
    if facts.unknown == "entity":
        raise EntityUnknown(str(request.entity_id))
    if facts.unknown == "chat":
        raise ChatUnknown(str(request.chat_id))
    vector, warning = embedded(parts.embedders, facts, list(queries))
    query = _search_query(request, facts, words, vector)
    candidates = _searched(parts, request, query, time)
    asked = replace(_asked_for(parts, request.query, candidates, facts, time), is_foreign=words.is_foreign(facts))
    mode: RecallMode = "keyword" if vector is None else "hybrid" if query.words else "vector"
    model = None if vector is None or facts.space is None else facts.space.model
    warnings = tuple(one for one in (warning, note and f"searched for as it was asked: {note}") if one)
    return Searched(tuple(candidates), asked, mode, model, warnings)


def _checked(request: RecallRequest) -> None:
    if not request.query.strip():
        raise BadRequest("query", "query must have words")
    if len(request.query) > MOST_QUERY_CHARS:
        raise BadRequest("query", f"query may have at most {MOST_QUERY_CHARS:,} characters")
    if request.top_k is not None and not 1 <= request.top_k <= MOST_TOP_K:
        raise BadRequest("top_k", f"top_k must be from 1 to {MOST_TOP_K}")
    if request.max_tokens is not None and request.max_tokens < 1:
        raise BadRequest("max_tokens", "max_tokens must be at least 1")
    require_past(request.now, as_of=request.as_of, known_as_of=request.known_as_of)


def _numbers(terms: Iterable[str]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(map(term_number, terms)))


def _search_query(
    request: RecallRequest,
    facts: QuestionFacts,
    words: Words,
    vector: Vectors | None,
) -> SearchQuery:
    return SearchQuery(
        facts=facts,
        as_of=request.moment,
        words=words.weighed(facts),
        fetch_terms=words.fetched(facts, is_needed=vector is None),
        vector=vector,
        code=None if vector is None else codes(vector[None, :])[0].tobytes(),
        entity_id=request.entity_id,
        chat_id=request.chat_id,
        topics=tuple(topic.casefold() for topic in request.topics),
        sources=request.sources,
        at_from=request.at_from,
        at_to=request.at_to,
        limit=_candidates(request),
        is_past=request.as_of is not None,
        known_as_of=request.known_as_of,
    )


def _candidates(request: RecallRequest) -> int:
    if request.top_k is None:
        return CANDIDATES
    return min(max(-(-CHOICE * request.top_k // STEP) * STEP, FEWEST_CANDIDATES), CANDIDATES)


def _with_limits(request: RecallRequest, settings: RecallSettings) -> RecallRequest:
    if request.top_k is not None or request.max_tokens is not None:
        return request
    if settings.top_k is not None:
        return replace(request, top_k=settings.top_k)
    return replace(request, max_tokens=settings.max_tokens)


def _searched(parts: RecallParts, request: RecallRequest, query: SearchQuery, time: QuestionTime) -> list[Candidate]:
    """What is found in the scope, and in each time and with each person that the question names."""
    found = {one.no: one for one in parts.store.search(query)}
    narrower: list[SearchQuery] = []
    if query.at_from is None and query.at_to is None:
        narrower += [replace(query, at_from=one.start, at_to=one.end) for one in time.periods[:2]]
    if request.entity_id is None and request.chat_id is None and len(query.facts.meant) <= MOST_MEANT:
        narrower += filter(None, (_with_person(parts, query, person) for person in query.facts.meant))
    for one in narrower:
        for candidate in parts.store.search(one):
            found.setdefault(candidate.no, candidate)
    return [found[no] for no in sorted(found)]


def _with_person(parts: RecallParts, query: SearchQuery, person: UUID) -> SearchQuery | None:
    """The same search within what belongs to a person; None where that is nothing."""
    facts = parts.store.question_facts(
        FactsQuery(tuple(query.words), entity_id=person, at_from=query.at_from, at_to=query.at_to)
    )
    if facts.unknown is not None or not any(scope.chunks for scope in facts.scopes):
        return None
    return replace(query, facts=facts, entity_id=person, limit=FEWEST_CANDIDATES)


def _asked_for(
    parts: RecallParts, question: str, candidates: Sequence[Candidate], facts: QuestionFacts, time: QuestionTime
) -> AskedFor:
    """Speakers and times the question means. A named event is dated by the candidate that shares most of its terms."""
    sides: list[tuple[datetime | None, datetime | None]] = []
    for relation in time.relations:
        if relation.direction == "during":
            continue  # its time is that of what is found, whichever side
        wanted = set(parts.analyzer.terms(relation.event))
        best: tuple[int, float, Candidate] | None = None
        for one in candidates:
            shared = len(wanted.intersection(parts.analyzer.terms(one.text)))
            if shared and (best is None or (shared, one.lexical) > best[:2]):
                best = (shared, one.lexical, one)
        if best is not None:
            at = best[2].at
            sides.append((None, at) if relation.direction == "before" else (at, None))
    return AskedFor(
        speakers=frozenset(facts.meant),
        periods=tuple((period.start, period.end) for period in time.periods),
        sides=tuple(sides),
        asks_when=time.asks_when,
        wishes=wishes(question),
    )


def _result_json(entry: Ranked, text: str) -> dict[str, Any]:
    one = entry.candidate
    return {
        "id": str(one.id),
        "source": one.source,
        "text": text,
        "score": round(entry.score, 4),
        "at": iso(one.at),
        "topics": list(one.topics),
        "message_ids": list(one.message_ids),
        "chat": hashing.chat_key(one.chat.source, one.chat.external_id),
        "speaker": None if one.speaker is None else clean_name(one.speaker),
        "interaction_id": None if one.interaction_id is None else str(one.interaction_id),
        "passage": [one.passage + 1, one.passages],
        "before": entry.is_before,
        "stale": one.is_stale,
    }
