"""Ranks the chunks of a search by scores alone.

BM25 (by its best) and cosine (min-max) are added, which measured better than reciprocal rank fusion; speaker and period
are priors. Recency and importance measured worse and are not used.
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
    """Weights, relative to a best BM25 and best cosine of 1.

    ``speaker``, ``period``: named in the question. ``dated``: has a date where one is asked for. ``relation``: on the
    right side of a named event. ``derived``: a summary or item. ``repeat``: penalty per further chunk of an
    interaction, times log of their number.
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
    """What the question names; ``sides``: half-open spans that its events leave."""

    speakers: frozenset[UUID] = frozenset()
    periods: tuple[tuple[datetime, datetime], ...] = ()
    sides: tuple[tuple[datetime | None, datetime | None], ...] = ()
    asks_when: bool = False


DATED_SCORE = 0.3
"""Importance of a message with only a date (P15)."""


def ranked(candidates: Sequence[Candidate], asked: AskedFor, rules: RankingRules) -> list[Ranked]:
    """All candidates, best first; ties by later time, then by id."""
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
    """Reorders with the penalty for interactions that already occur."""
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
            # its interaction occurred since: weigh it again
            heapreplace(waiting, (repeat * log1p(times) - entry.score, place, times))
            continue
        heappop(waiting)
        order.append(entry)
        heard[entry.candidate.interaction_id] = times + 1
    return order
