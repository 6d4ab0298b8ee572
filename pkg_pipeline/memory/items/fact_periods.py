"""Until when each fact about one person holds (B2): a newer value of the same type ends the one before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pkg_pipeline.memory.gate.fact_values import SINGLE, TIMELESS
from pkg_pipeline.memory.languages.scripts import is_han
from pkg_pipeline.memory.text.normalise import comparable


@dataclass(frozen=True, slots=True)
class StatedFact:
    """A confirmed fact of one person. ``is_ended``: it says that the value holds no longer; ``replaces``: that it takes
    the place of earlier ones of its type; ``is_decided``: a person said that it is right.
    """

    id: UUID
    fact_type: str
    value: str
    valid_from: datetime
    is_ended: bool
    replaces: bool
    is_decided: bool = False


def held_until(facts: Iterable[StatedFact]) -> dict[UUID, datetime | None]:
    """Each fact with when it ceased to hold; None: it holds. Of a single-valued type at most one value holds.

    What says an end holds from and until then. What only repeats a part of a value that holds ("Bristol" of "12 Oak
    Street, Bristol") adds nothing and ends at once.
    """
    until: dict[UUID, datetime | None] = {}
    by_type: dict[str, list[StatedFact]] = {}
    for fact in facts:
        by_type.setdefault(fact.fact_type, []).append(fact)
    for fact_type, stated in by_type.items():
        order = sorted(stated, key=lambda one: (_weight(one), one.valid_from, one.id))
        until |= _of_type(order, is_single=fact_type in SINGLE)
    return until


def _weight(fact: StatedFact) -> bool:
    """Of what never changes a person's own word is the last one, whenever something else was said."""
    return fact.fact_type in TIMELESS and fact.is_decided


def _of_type(stated: Sequence[StatedFact], *, is_single: bool) -> dict[UUID, datetime | None]:
    until: dict[UUID, datetime | None] = {}
    current: list[StatedFact] = []
    for fact in stated:
        if fact.is_ended:
            ended = [one for one in current if _is_same(one, fact)] or (current if is_single else [])
            until[fact.id] = fact.valid_from
        elif any(_is_part(fact.value, one.value) for one in current):
            until[fact.id] = fact.valid_from
            continue
        else:
            is_new = is_single or fact.replaces
            ended = [one for one in current if not _is_same(one, fact) and (is_new or _is_part(one.value, fact.value))]
            until[fact.id] = None
        for one in ended:
            until[one.id] = max(fact.valid_from, one.valid_from)
        current = [one for one in current if one not in ended] + ([] if fact.is_ended else [fact])
    return until


def _is_same(one: StatedFact, other: StatedFact) -> bool:
    return comparable(one.value) == comparable(other.value)


def _is_part(value: str, whole: str) -> bool:
    """Whether a value says only what another one says, and less."""
    said, known = comparable(value), comparable(whole)
    if said == known or not said:
        return False
    return f" {said} " in f" {known} ".replace(",", " ") or (is_han(said[-1]) and said in known)
