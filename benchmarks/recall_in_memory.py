"""A memory of chunks without a database: what recall searches, kept in arrays, so that a change is measured in seconds.

Chunks, terms, weights, ranking and block are the product's own; searched is exactly. Vectors are kept in a file by the
hash of their texts. Not here: scopes of entities, topics, summaries, edits.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from pkg_pipeline.adapters.embedders.offline import OfflineEmbedder
from pkg_pipeline.adapters.text.term_analyzer import SnowballTerms
from pkg_pipeline.adapters.text.tokens import TiktokenCounter
from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.message.importance import score_many
from pkg_pipeline.memory.recall.chunking import ChunkedInteraction, message_chunks
from pkg_pipeline.memory.recall.lexical import document_vector, term_number
from pkg_pipeline.memory.recall.records import EVERYTHING, Candidate, Chunk, ChunkedMessage
from pkg_pipeline.memory.records import ContextChat
from pkg_pipeline.stages.recall.chunks import name_terms
from pkg_pipeline.stages.recall.records import FactsQuery, QuestionFacts, ScopeFacts, SearchQuery, Space
from pkg_pipeline.stages.recall.stage import RecallParts, RecallSettings

SILENCE = timedelta(hours=6)
NAME_LIMIT = 50
SPACE = Space(1, "offline:cached", 512, "active")
SOURCE = "jsonl"


@dataclass(frozen=True, slots=True)
class Said:
    """A message of a corpus; ``id`` is its key ``chat/message`` within the corpus."""

    chat: str
    id: str
    speaker: str
    at: datetime
    text: str
    is_tool_result: bool = False
    source: str = SOURCE

    @property
    def key(self) -> str:
        return hashing.message_key(self.source, self.chat, self.id)


class CachedEmbedder:
    """The offline embedder; what it said once is read from ``path``."""

    model = SPACE.model
    dimensions = SPACE.dimensions

    def __init__(self, path: Path) -> None:
        self._path, self._embedder = path, OfflineEmbedder()
        self._known: dict[str, NDArray[np.float16]] = {}
        self._is_changed = False
        if path.is_file():
            with np.load(path) as stored:
                self._known = dict(zip(stored["keys"].tolist(), stored["vectors"], strict=True))

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        keys = [hashlib.blake2b(text.encode(), digest_size=12).hexdigest() for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if missing:
            made = self._embedder.embed(list(missing.values())).astype(np.float16)
            self._known |= dict(zip(missing, made, strict=True))
            self._is_changed = True
        return np.array([self._known[key] for key in keys], np.float32).reshape(len(texts), -1)

    def save(self) -> None:
        if self._is_changed:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            np.savez(self._path, keys=np.array(list(self._known)), vectors=np.stack(list(self._known.values())))
            self._is_changed = False


class CorpusInMemory:
    """The chunks of one corpus as a ``RecallStore``."""

    def __init__(self, said: Sequence[Said], embedder: CachedEmbedder) -> None:
        self._analyzer = SnowballTerms()
        self._embedder = embedder
        self._said = {one.key: one for one in said}
        self._keys = list(self._said)
        self.chunks: list[Chunk] = [*_chunks(list(self._said.values()))]
        self._chats = np.array([chunk.chat_id.int & (2**62 - 1) for chunk in self.chunks])
        self._times = np.array([chunk.at.timestamp() for chunk in self.chunks])
        self._vectors = embedder.embed([chunk.indexed for chunk in self.chunks])

    @cached_property
    def _postings(self) -> dict[int, tuple[NDArray[np.int64], NDArray[np.float32]]]:
        found: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for place, chunk in enumerate(self.chunks):
            own, around = ([*map(term_number, self._analyzer.terms(one))] for one in (chunk.own, chunk.around))
            for term, weight in document_vector(own, around).items():
                found[term].append((place, weight))
        return {
            term: (np.array([place for place, _ in rows]), np.array([weight for _, weight in rows], np.float32))
            for term, rows in found.items()
        }

    @cached_property
    def _speakers(self) -> dict[int, set[tuple[str, str]]]:
        """Term of a name → its people as (chat, name)."""
        found: dict[int, set[tuple[str, str]]] = defaultdict(set)
        people = {(one.chat, one.speaker) for one in self._said.values() if one.speaker}
        for chat, name in people:
            for term in name_terms(name, self._analyzer):
                found[term].add((chat, name))
        return found

    def question_facts(self, query: FactsQuery) -> QuestionFacts:
        meant: dict[int, set[UUID]] = {}
        for term in query.names:
            who = {
                _person(chat, name)
                for chat, name in self._speakers.get(term, ())
                if query.chat_id is None or hashing.chat_id(SOURCE, chat) == query.chat_id
            }
            if 0 < len(who) <= NAME_LIMIT:
                meant[term] = who
        scope = query.entity_id or query.chat_id or EVERYTHING
        return QuestionFacts(
            unknown=None,
            space=SPACE,
            scopes=(ScopeFacts(scope, int(self._within(query).sum()), is_indexed=False),),
            chunks=len(self.chunks),
            document_frequencies={term: len(self._postings[term][0]) for term in query.terms if term in self._postings},
            meant=tuple(sorted({one for who in meant.values() for one in who})),
            names=frozenset(meant),
        )

    def search(self, query: SearchQuery) -> list[Candidate]:
        fits = self._within(query) & (self._times <= query.as_of.timestamp())
        if query.at_from is not None:
            fits &= self._times >= query.at_from.timestamp()
        if query.at_to is not None:
            fits &= self._times < query.at_to.timestamp()
        lexical = np.zeros(len(self.chunks), np.float32)
        worded = np.zeros(len(self.chunks), bool)
        for term, weight in query.words.items():
            if term in self._postings:
                places, weights = self._postings[term]
                lexical[places] += weight * weights
                if term in query.fetch_terms:
                    worded[places] = True
        assert query.vector is not None
        similarity = self._vectors @ query.vector
        near = _best(similarity, fits, query.limit)
        best = _best(lexical, fits & worded, query.limit)
        order = dict.fromkeys([*near, *best])
        found = [self._candidate(place, float(lexical[place]), float(similarity[place])) for place in order]
        return sorted(found, key=lambda one: (-(one.similarity or 0), -one.lexical, one.no))

    def _within(self, query: FactsQuery | SearchQuery) -> NDArray[np.bool_]:
        if query.entity_id is not None:
            return self._with_person(query.entity_id)
        if query.chat_id is None:
            return np.ones(len(self.chunks), bool)
        return self._chats == query.chat_id.int & (2**62 - 1)

    def _with_person(self, person: UUID) -> NDArray[np.bool_]:
        """All of a chat of two, and one's own messages in a group."""
        own = np.array([chunk.sender_entity_id == person for chunk in self.chunks])
        chat = self._chats[own][0]
        people = {chunk.sender_entity_id for chunk in self.chunks if chunk.chat_id.int & (2**62 - 1) == chat}
        return self._chats == chat if len(people) == 2 else own

    def _candidate(self, place: int, lexical: float, similarity: float) -> Candidate:
        chunk = self.chunks[place]
        said = self._said[self._keys[chunk.message_ids[0]]]
        return Candidate(
            no=place,
            id=chunk.id,
            source=chunk.source,
            chat=ContextChat(SOURCE, said.chat, "direct", said.chat),
            at=chunk.at,
            text=chunk.own,
            message_ids=(said.key,),
            lexical=lexical,
            similarity=similarity,
            interaction_id=chunk.interaction_id,
            sender_entity_id=chunk.sender_entity_id,
            speaker=said.speaker,
            passage=chunk.passage,
            passages=chunk.passages,
            importance=chunk.importance,
        )

    def parts(self, settings: RecallSettings | None = None) -> RecallParts:
        """What ``stages.recall.recall`` needs to ask it."""
        return RecallParts(
            self,
            self._analyzer,
            lambda _: self._embedder,
            COUNTER,
            settings or RecallSettings(ZoneInfo("UTC")),
        )


COUNTER = TiktokenCounter()


def _best(scores: NDArray[np.float32], fits: NDArray[np.bool_], limit: int) -> list[int]:
    places = np.flatnonzero(fits)
    return [int(place) for place in places[np.argsort(-scores[places], kind="stable")[:limit]]]


def _person(chat: str, name: str) -> UUID:
    return hashing.entity_id(SOURCE, f"{chat} {name}")


def _chunks(said: Sequence[Said]) -> Iterable[Chunk]:
    importance = score_many([one.text for one in said]).values
    talks: dict[str, list[list[int]]] = defaultdict(list)
    for place in sorted(range(len(said)), key=lambda place: (said[place].at, place)):
        one = said[place]
        chat = talks[one.chat]
        if not chat or one.at - said[chat[-1][-1]].at >= SILENCE:
            chat.append([])
        chat[-1].append(place)
    for chat, rows in talks.items():
        for places in rows:
            first = said[places[0]]
            interaction = ChunkedInteraction(
                hashing.interaction_id(hashing.chat_key(SOURCE, chat), first.id),
                hashing.chat_id(SOURCE, chat),
                SOURCE,
                chat,
            )
            yield from message_chunks(
                interaction, (_message(place, said[place], importance[place]) for place in places)
            )


def _message(place: int, said: Said, importance: float) -> ChunkedMessage:
    return ChunkedMessage(
        id=place,
        external_id=said.id,
        sender_entity_id=_person(said.chat, said.speaker),
        speaker=said.speaker,
        sent_at=said.at,
        text=said.text,
        importance=float(importance),
        is_tool_result=said.is_tool_result,
        entity_ids=(),
    )
