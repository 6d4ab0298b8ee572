"""In which order the chunks that a search brought are worth printing. Pure arithmetic over scores; reads no text.

Both scores are brought to one scale within the answer (BM25 by its best, cosine between its least and its best) and
added: that measured better than reciprocal ranks, which throw away how much better the first is than the second.
Who is meant and which time is meant are added as priors. Recency and importance are not: measured, they only hurt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import heapify, heappop, heapreplace
from math import log1p
from uuid import UUID

from pkg_pipeline.memory.recall.records import Candidate, ChunkSource, Ranked


@dataclass(frozen=True, slots=True)
class RankingRules:
    """What each part counts, on the scale on which the best BM25 and the best cosine are 1.

    ``speaker``: said by somebody whom the question names. ``period``: said in a time that it names. ``dated``: carries
    a date, where it asks when. ``relation``: on the right side of an event that it names. ``derived``: a summary or an
    item, against the messages it was made from. ``repeat``: what one more chunk of the same interaction loses, times
    the logarithm of how many there are: questions over several conversations need several.
    """

    lexical: float = 1.0
    similarity: float = 1.0
    speaker: float = 0.5
    period: float = 0.4
    dated: float = 0.05
    relation: float = 0.3
    derived: Mapping[ChunkSource, float] | None = None
    repeat: float = 0.015


@dataclass(frozen=True, slots=True)
class AskedFor:
    """What the question says beside its words. ``sides``: half-open spans of time that a named event leaves."""

    speakers: frozenset[UUID] = frozenset()
    periods: tuple[tuple[datetime, datetime], ...] = ()
    sides: tuple[tuple[datetime | None, datetime | None], ...] = ()
    asks_when: bool = False


DATED_SCORE = 0.3
"""Importance that a date alone gives a message (P15)."""


def ranked(candidates: Sequence[Candidate], asked: AskedFor, rules: RankingRules) -> list[Ranked]:
    """All candidates, best first. Deterministic: ties go to the later, then by id."""
    best = max((one.lexical for one in candidates), default=0.0)
    cosines = [one.similarity for one in candidates if one.similarity is not None]
    least, most = min(cosines, default=0.0), max(cosines, default=0.0)
    scored: list[Ranked] = []
    for one in candidates:
        parts = [("lexical", rules.lexical * one.lexical / best if best > 0 else 0.0)]
        if one.similarity is not None and most > least:
            parts.append(("similarity", rules.similarity * (one.similarity - least) / (most - least)))
        parts += _priors(one, asked, rules)
        scored.append(Ranked(one, sum(value for _, value in parts), tuple(parts)))
    scored.sort(key=lambda entry: (-entry.score, -entry.candidate.at.timestamp(), str(entry.candidate.id)))
    return _spread(scored, rules.repeat)


def _priors(one: Candidate, asked: AskedFor, rules: RankingRules) -> list[tuple[str, float]]:
    parts: list[tuple[str, float]] = []
    if one.sender_entity_id is not None and one.sender_entity_id in asked.speakers:
        parts.append(("speaker", rules.speaker))
    if any(start <= one.at < end for start, end in asked.periods):
        parts.append(("period", rules.period))
    if any(within(one.at, side) for side in asked.sides):
        parts.append(("relation", rules.relation))
    if asked.asks_when and one.importance >= DATED_SCORE:
        parts.append(("dated", rules.dated))
    if rules.derived is not None and (weight := rules.derived.get(one.source)):
        parts.append(("derived", weight))
    return parts


def within(at: datetime, side: tuple[datetime | None, datetime | None]) -> bool:
    """Whether a moment lies in a span that may be open at either end."""
    start, end = side
    return (start is None or start <= at) and (end is None or at < end)


def _spread(scored: list[Ranked], repeat: float) -> list[Ranked]:
    """The order in which an interaction that has been heard already has to be that much better."""
    if repeat <= 0:
        return scored
    heard: dict[UUID | None, int] = {}
    waiting = [(-entry.score, place, 0) for place, entry in enumerate(scored)]
    heapify(waiting)
    order: list[Ranked] = []
    while waiting:
        _, place, reckoned = waiting[0]
        entry = scored[place]
        times = heard.get(entry.candidate.interaction_id, 0)
        if reckoned < times:
            # its interaction was heard since it was weighed: it is weighed again and takes its new place
            heapreplace(waiting, (repeat * log1p(times) - entry.score, place, times))
            continue
        heappop(waiting)
        order.append(entry)
        heard[entry.candidate.interaction_id] = times + 1
    return order
