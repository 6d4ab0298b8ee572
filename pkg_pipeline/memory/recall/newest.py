"""Which of several values about the same matter is the newest: a question for what holds now is answered by it first.

A matter is a stretch of a chat that the question is about; a piece is of it where the words of the question stand in it
or near it. Values are of one kind where they are sums of like size, or places, hours, ways to reach one speaker.
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
"""Sums that differ by a bigger factor are sums of different things."""


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
    found: list[tuple[float, int]] = []
    best = 0.0
    for place in sorted(range(len(weights)), key=lambda place: -weights[place]):
        if found and weights[place] + CHANGED < best - SAME_MATTER:
            break
        one = order[place].candidate
        if one.source not in SPOKEN or asks(one.text) or not (share := _told(kinds, one.text)):
            continue
        weight = weights[place] + CHANGED * answers("newest", one.text) - HALF_TOLD * (1 - share)
        found.append((weight, place))
        best = max(best, weight)
    if not found:
        return []
    first = order[max(found)[1]].candidate
    alike = [order[place] for weight, place in found if weight >= best - SAME_MATTER]
    return [entry for entry in alike if _alike(kinds, entry.candidate, first)]


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
    if "amount" not in kinds or (kinds != ("amount",) and not (sums(one.text) and sums(other.text))):
        return True
    return any(1 / LIKE_SIZE <= mine / theirs <= LIKE_SIZE for mine in sums(one.text) for theirs in sums(other.text))
