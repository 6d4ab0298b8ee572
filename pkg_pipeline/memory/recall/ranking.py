"""Ranks the chunks of a search by scores alone.

BM25 (by its best) and cosine (min-max) are added, which measured better than reciprocal rank fusion; speaker, period
and the look of an answer are priors. Recency and importance measured worse and are not used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import log1p
from uuid import UUID

from pkg_pipeline.memory.languages.scripts import script_in
from pkg_pipeline.memory.recall.records import SPOKEN, Candidate, ChunkSource, Ranked
from pkg_pipeline.memory.recall.wishes import Wish, answers, says_little

LOOKS: Mapping[Wish, float] = {
    "amount": 0.3,
    "time": 0.2,
    "instruction": 0.2,
    "number": 0.4,
    "mail": 0.4,
    "preference": 0.4,
}
"""What a piece gains that looks like an answer to what is asked for."""


@dataclass(frozen=True, slots=True)
class RankingRules:
    """Weights, relative to a best BM25 and best cosine of 1.

    ``speaker``, ``period``: named in the question. ``dated``: has a date where one is asked for. ``relation``: on the
    right side of a named event. ``looks``: like an answer, by what is asked for. ``derived``: a summary or item.
    ``repeat``: penalty per further chunk of an interaction, times log of their number. ``neighbours``: share of what is
    found around it in its conversation. ``alone``: penalty of what says little and does not follow what is found.
    """

    lexical: float = 0.6
    similarity: float = 1.0
    speaker: float = 0.5
    period: float = 0.4
    dated: float = 0.05
    relation: float = 0.3
    looks: Mapping[Wish, float] = field(default_factory=lambda: LOOKS)
    derived: Mapping[ChunkSource, float] | None = None
    repeat: float = 0.015
    neighbours: float = 0.3
    alone: float = 0.3


@dataclass(frozen=True, slots=True)
class AskedFor:
    """What the question names; ``sides``: half-open spans that its events leave.

    ``is_foreign``: of its words only those in other languages occur.
    """

    speakers: frozenset[UUID] = frozenset()
    periods: tuple[tuple[datetime, datetime], ...] = ()
    sides: tuple[tuple[datetime | None, datetime | None], ...] = ()
    asks_when: bool = False
    wishes: frozenset[Wish] = frozenset()
    is_foreign: bool = False

    def is_in_time(self, one: Candidate) -> bool:
        """Whether it was said in a time that is named; any was, where none is."""
        return not self.periods or any(start <= one.at < end for start, end in self.periods)


TRANSLATED = 0.7
"""Weight of words where only those of other languages are found."""
REACH = 6
NEARER = 0.8
"""Chunks on each side whose scores count, and the weight of each next one."""
FOUND_SHARE = 0.5
FEW_SPEAKERS = 8
"""Where more speak at once, several talks lie between one another, and neighbours say less."""
ELSEWHERE = 0.35
WORDED = 0.15
"""Shares of the best score, or of the best words, from which a piece in another script bears on the question."""
BEST = 10
"""Pieces whose scripts tell in which one it was talked about."""
LED_TO = frozenset({"speaker", "period"})
NEXT = 0.0001
"""How far behind the piece before it one that says little comes."""
DATED_SCORE = 0.3
"""Importance of a message with only a date (P15)."""


def ranked(candidates: Sequence[Candidate], asked: AskedFor, rules: RankingRules) -> list[Ranked]:
    """All candidates, best first; ties by later time, then by id."""
    best = max((one.lexical for one in candidates), default=0.0)
    cosines = [one.similarity for one in candidates if one.similarity is not None]
    least, most = min(cosines, default=0.0), max(cosines, default=0.0)
    found: list[list[tuple[str, float]]] = []
    words = rules.lexical * (TRANSLATED if asked.is_foreign else 1.0)
    for one in candidates:
        parts = [("lexical", words * one.lexical / best if best > 0 else 0.0)]
        if one.similarity is not None and most > least:
            parts.append(("similarity", rules.similarity * (one.similarity - least) / (most - least)))
        found.append(parts)
    if rules.neighbours > 0:
        for parts, lent in zip(found, _lent(candidates, [*map(_sum, found)]), strict=True):
            if lent:
                parts.append(("neighbours", rules.neighbours * lent))
    wanted: list[tuple[Wish, float]] = [(wish, weight) for wish, weight in rules.looks.items() if wish in asked.wishes]
    names_any = bool(asked.speakers or asked.periods or asked.sides or asked.asks_when or rules.derived)
    for one, parts in zip(candidates, found, strict=True):
        if names_any:
            parts += _priors(one, asked, rules)
        if looks := sum(weight for wish, weight in wanted if answers(wish, one.text)):
            parts.append(("looks", looks))
    if rules.alone > 0:
        _behind_what_they_answer(candidates, found, rules.alone)
    scored = [Ranked(one, _sum(parts), tuple(parts)) for one, parts in zip(candidates, found, strict=True)]
    scored.sort(key=lambda entry: (-entry.score, -entry.candidate.at.timestamp(), entry.candidate.id.int))
    return _spread(scored, rules.repeat)


def _behind_what_they_answer(
    candidates: Sequence[Candidate], found: Sequence[list[tuple[str, float]]], alone: float
) -> None:
    """Puts each piece that says little behind the one before it, or ``alone`` lower where that is not found.

    "Same", "lol" are found by what is around them and by who says them; they tell something only where the one before
    is printed too.
    """
    telling = {
        one.no: place for place, one in enumerate(candidates) if one.source in SPOKEN and not says_little(one.text)
    }
    for place, one in enumerate(candidates):
        if one.source not in SPOKEN or one.no in telling:
            continue
        before = telling.get(one.no - 1)
        if before is not None and candidates[before].interaction_id == one.interaction_id:
            lost = max(0.0, _sum(found[place]) - _sum(found[before]) + NEXT)
        else:
            lost = alone
        if lost:
            found[place].append(("little", -lost))


def _sum(parts: Sequence[tuple[str, float]]) -> float:
    return sum(value for _, value in parts)


@dataclass(slots=True)
class _Talk:
    """Of one conversation: how many pieces there are, whose, and what each of those found is above the floor."""

    pieces: int = 0
    speakers: set[UUID | None] = field(default_factory=set[UUID | None])
    found: dict[int, float] = field(default_factory=dict[int, float])


def _lent(candidates: Sequence[Candidate], scores: Sequence[float]) -> list[float]:
    """What is found around each piece of a conversation: what is asked for is said in a stretch.

    Only what scores above half of the best counts as found, and less where few pieces of the conversation are there: in
    a short one all are neighbours. Chunks of a conversation are numbered in its order.
    """
    floor = FOUND_SHARE * max(scores, default=0.0)
    talks: dict[UUID, _Talk] = {}
    of: list[_Talk | None] = []
    for one, score in zip(candidates, scores, strict=True):
        talk = None
        if one.source in SPOKEN and one.interaction_id is not None:
            talk = talks.get(one.interaction_id) or talks.setdefault(one.interaction_id, _Talk())
            talk.pieces += 1
            talk.speakers.add(one.sender_entity_id)
            if score > floor:
                talk.found[one.no] = score - floor
        of.append(talk)
    weights = [(distance, NEARER**distance) for distance in range(1, REACH + 1)]
    lent = [0.0] * len(candidates)
    for place, (one, talk) in enumerate(zip(candidates, of, strict=True)):
        if talk is None or talk.pieces == 1 or not talk.found:
            continue
        found, no = talk.found, one.no
        sum_around = sum(
            weight * (found.get(no - distance, 0.0) + found.get(no + distance, 0.0)) for distance, weight in weights
        )
        is_stretch = min(1.0, (talk.pieces - 1) / REACH)
        lent[place] = sum_around * is_stretch * min(1.0, FEW_SPEAKERS / len(talk.speakers))
    return lent


def _priors(one: Candidate, asked: AskedFor, rules: RankingRules) -> list[tuple[str, float]]:
    parts: list[tuple[str, float]] = []
    if one.sender_entity_id is not None and one.sender_entity_id in asked.speakers:
        parts.append(("speaker", rules.speaker))
    if asked.periods and asked.is_in_time(one):
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
    """Reorders with the penalty for interactions that already occur: by how many of its own stand before."""
    if repeat <= 0:
        return scored
    heard: dict[UUID | None, int] = {}
    weighed: list[tuple[float, int]] = []
    for place, entry in enumerate(scored):
        talk = entry.candidate.interaction_id
        before = heard.get(talk, 0)
        weighed.append((repeat * log1p(before) - entry.score, place))
        heard[talk] = before + 1
    return [scored[place] for _, place in sorted(weighed)]


def bearing(order: Sequence[Ranked], question: str) -> list[Ranked]:
    """All but what is in another script than the question and the best pieces, unless it scores well, shares words with
    the question, or a name or time of the question leads to it: it would fill a block and say nothing to it.
    """
    here = script_in(question)
    if sum(script_in(entry.candidate.text) == here for entry in order[:BEST]) <= BEST / 2:
        return list(order)
    least = ELSEWHERE * order[0].score
    worded = WORDED * max(entry.candidate.lexical for entry in order)
    return [
        entry
        for entry in order
        if entry.score >= least
        or entry.candidate.lexical > worded
        or any(name in LED_TO for name, _ in entry.parts)
        or script_in(entry.candidate.text) in ("", here)
    ]
