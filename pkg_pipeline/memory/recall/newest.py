"""Which of several values about the same matter is the newest: a question for what holds now is answered by it first.

A matter is a stretch of a chat that the question is about; a piece is of it where the words of the question stand in it
or near it. Values are of one kind where they are sums of like size, or places, hours, ways to reach one speaker. Of
offers that follow one another in a talk the last is what was agreed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

from pkg_pipeline.memory.recall.ranking import AskedFor
from pkg_pipeline.memory.recall.records import SPOKEN, Candidate, Ranked
from pkg_pipeline.memory.recall.wishes import Wish, answers, asks, names_time, sums

VALUES: Final[tuple[Wish, ...]] = ("mail", "number", "place", "work", "time", "amount")
"""Kinds of values; of a question for several, values are alike by the first of them."""
OF_A_SPEAKER: frozenset[Wish] = frozenset({"mail", "number", "place", "work"})
HOLDS_NOW: frozenset[Wish] = frozenset({"newest", "mail", "number", "place", "amount"})
MOST_LOOKED_AT = 150
REACH = 6
"""Chunks on each side between what names the matter and what says its value."""
NEAR = 0.6
"""Share of the best around a piece in its weight, its own being the rest."""
COMPANY = 0.3
CHANGED = 0.1
HALF_TOLD = 0.15
"""What pieces gain in chats of those who are meant and where they say that something is new, and lose that say only
half of what is asked for; a best score being 1.
"""
SAME_MATTER = 0.4
"""How far below the best piece another is of the same matter."""
LIKE_SIZE = 1.5
OFFERED = 1.3
"""Sums that differ by a bigger factor are sums of different things, or no offers for the same."""
ANSWERED = 3
"""An offer is answered by another within so many pieces."""


def newest_first(order: Sequence[Ranked], asked: AskedFor) -> list[Ranked]:
    """The newest value of the matter goes first, older ones follow in their places, marked where they differ.

    All else stays. As given where nothing is asked for that may have changed, or the first or all of something. Where a
    time is named, the newest of that time.
    """
    wanted = asked.wishes
    looked_at = [one for one in order[:MOST_LOOKED_AT] if asked.is_in_time(one.candidate)]
    if not looked_at or not wanted & HOLDS_NOW or wanted & {"first", "list"}:
        return list(order)
    kinds: tuple[Wish, ...] = tuple(one for one in VALUES if one in wanted)
    found = _same_matter(looked_at, kinds, _weights(looked_at, asked.speakers))
    if not found:
        return list(order)
    newest = sorted(found, key=lambda entry: (entry.candidate.at, entry.candidate.no), reverse=True)
    if "amount" in kinds:
        offers = [one for one in _answers_to(newest[0], order) if one not in newest]
        newest = [*offers[::-1], *newest]
    told = sums(newest[0].candidate.text) if "amount" in kinds else frozenset[float]()
    older = iter([replace(entry, is_before=not told & sums(entry.candidate.text)) for entry in newest[1:]])
    kept = {entry.candidate.no for entry in newest}
    places = [place for place, entry in enumerate(order) if entry.candidate.no in kept]
    # the newest leads, older ones follow where any of them stood
    rest = [
        next(older) if entry.candidate.no in kept else entry for entry in [*order[: places[0]], *order[places[0] + 1 :]]
    ]
    return [newest[0], *rest]


def _weights(order: Sequence[Ranked], meant: frozenset[UUID]) -> list[float]:
    """Of each piece: its own score and the best around it, in shares of the best score."""
    best = max(entry.score for entry in order) or 1.0
    chats = {entry.candidate.chat for entry in order if entry.candidate.sender_entity_id in meant}
    own = [entry.score / best + COMPANY * (entry.candidate.chat in chats) for entry in order]
    talks: dict[UUID | None, dict[int, float]] = {}
    for entry, weight in zip(order, own, strict=True):
        talks.setdefault(entry.candidate.interaction_id, {})[entry.candidate.no] = weight
    made: list[float] = []
    for entry, weight in zip(order, own, strict=True):
        talk, no = talks[entry.candidate.interaction_id], entry.candidate.no
        near = max([talk[at] for at in range(no - REACH, no + REACH + 1) if at in talk])
        made.append((1 - NEAR) * weight + NEAR * near)
    return made


def _same_matter(order: Sequence[Ranked], kinds: Sequence[Wish], weights: Sequence[float]) -> list[Ranked]:
    """The values of these kinds that are about the same as the likeliest; empty without one."""
    found: list[tuple[float, int, float]] = []
    best = 0.0
    for place in sorted(range(len(weights)), key=lambda place: -weights[place]):
        if found and weights[place] + CHANGED < best - SAME_MATTER:
            break
        one = order[place].candidate
        if one.source not in SPOKEN or asks(one.text) or not (share := _told(kinds, one.text)):
            continue
        weight = weights[place] + CHANGED * answers("newest", one.text) - HALF_TOLD * (1 - share)
        found.append((weight, place, share))
        best = max(best, weight)
    if not found:
        return []
    first = order[max(found)[1]].candidate
    alike = [
        (share, order[place])
        for weight, place, share in found
        if weight >= best - SAME_MATTER and _alike(kinds, order[place].candidate, first)
    ]
    most = max(share for share, _ in alike)
    return [entry for share, entry in alike if share == most]


def _answers_to(offer: Ranked, order: Sequence[Ranked]) -> list[Ranked]:
    """The sums offered behind it in its talk, each soon after the one before."""
    by_no = {entry.candidate.no: entry for entry in order}
    found: list[Ranked] = []
    last = offer.candidate
    while near := [
        by_no[no]
        for no in range(last.no + 1, last.no + 1 + ANSWERED)
        if no in by_no and _is_answer(by_no[no].candidate, last)
    ]:
        found.append(near[0])
        last = near[0].candidate
    return found


def _is_answer(one: Candidate, offer: Candidate) -> bool:
    is_of_talk = one.source in SPOKEN and one.interaction_id == offer.interaction_id
    return is_of_talk and not asks(one.text) and _are_like(one, offer, OFFERED)


def _told(kinds: Sequence[Wish], text: str) -> float:
    """The share of the kinds that a text says a value of."""
    return sum(_says(kind, text) for kind in kinds) / len(kinds) if kinds else 1.0


def _says(kind: Wish, text: str) -> bool:
    if kind == "amount":
        return bool(sums(text))
    return names_time(text) if kind == "time" else answers(kind, text)


def _alike(kinds: Sequence[Wish], one: Candidate, other: Candidate) -> bool:
    if one is other:
        return True
    if not kinds or one.chat != other.chat:
        return False
    if kinds[0] in OF_A_SPEAKER:
        return one.sender_entity_id == other.sender_entity_id
    is_sum = "amount" in kinds and (kinds == ("amount",) or bool(sums(one.text) and sums(other.text)))
    return not is_sum or _are_like(one, other, LIKE_SIZE)


def _are_like(one: Candidate, other: Candidate, factor: float) -> bool:
    return any(1 / factor <= mine / theirs <= factor for mine in sums(one.text) for theirs in sums(other.text))
