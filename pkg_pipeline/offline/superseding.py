"""Which standing decision a new one repeats, and which it supersedes: the same matter on other terms (B16)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from pkg_pipeline.memory.items.records import ShownItem
from pkg_pipeline.memory.records import Language
from pkg_pipeline.memory.text.language_data import in_any
from pkg_pipeline.offline.dates import find_dates
from pkg_pipeline.offline.found import FoundDecision
from pkg_pipeline.offline.matters import Matter, Weights, matter_of, sums_of
from pkg_pipeline.offline.phrases import mark
from pkg_pipeline.offline.reading import Reading, language_of

SAME_DECISION = 0.75
SAME_SUBJECT = 0.7
ALIKE = 0.4
"""From this likeness on other terms need no word of change."""
SUPERSEDED = 2.0
"""From this score on a decision takes the place of another."""
SHARED_WEIGHT = 2.0
CHANGED_WEIGHT = 1.0
NAMED_WEIGHT = 1.0
ALONE_WEIGHT = 0.5
PRICE_WEIGHT = 2.0
"""Weights of a shared subject, of words of change, of the old terms named again, of no other decision on such terms, of
the only price near the new one.
"""
NEAR = 3
"""Lines before a decision that may say what it is about."""
LEAST_SUM = 20
COMPARABLE = 2.5
"""A sum takes another's place if neither is so many times the other."""
NEAR_PRICE = 4 / 3
"""A single sum is the next price of what had a single sum within this."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a decision fixes."""

    sums: frozenset[int]
    days: frozenset[date]
    hours: frozenset[str]

    def differ_from(self, old: Terms, today: date) -> bool:
        """Whether a sum, a day or an hour is another than before. A day that has passed is no longer moved."""
        if self.sums and old.sums:
            return any(1 / COMPARABLE <= new / one <= COMPARABLE for new in self.sums - old.sums for one in old.sums)
        moved = bool(self.days and old.days) and max(old.days) >= today and bool(self.days - old.days)
        return moved or (bool(self.hours and old.hours) and not self.hours & old.hours)

    def name(self, old: Terms) -> bool:
        """Whether something of the old terms is said again."""
        return bool(self.sums & old.sums or self.days & old.days or self.hours & old.hours)

    def are_of(self, other: Terms) -> bool:
        """Whether both fix the same kind of thing."""
        kinds = ((self.sums, other.sums), (self.days, other.days), (self.hours, other.hours))
        return any(one and two for one, two in kinds)


def fixed_by(text: str, language: Language, today: date) -> Terms:
    """The sums, days and hours of a text, each number once."""
    dates = find_dates(text, language, today)
    for one in reversed(dates):
        text = f"{text[: one.start]} {text[one.end :]}"
    hours = frozenset(m.group().lower() for m in mark("clock").finditer(text))
    rest = mark("clock").sub(" ", text)
    sums = frozenset(one for one in sums_of(rest) if one >= LEAST_SUM and not 1990 <= one <= 2100)
    return Terms(sums, frozenset(one.day for one in dates), hours)


@dataclass(frozen=True, slots=True)
class _Standing:
    item: ShownItem
    matter: Matter
    terms: Terms


@dataclass(frozen=True, slots=True)
class _New:
    """``around``: with what was said just before, ``says_change``: whether it tells of a change."""

    matter: Matter
    terms: Terms
    around: Matter
    named: Terms
    says_change: bool
    day: date


def replaced(
    reading: Reading, shown: Sequence[ShownItem], decided: Sequence[FoundDecision], names: frozenset[str]
) -> tuple[dict[int, str], frozenset[int]]:
    """By index of a new decision the ref that it supersedes; and indices of those that only repeat one."""
    standing = [_standing(item, names) for item in shown if item.status == "open"]
    if not standing:
        return {}, frozenset()
    scale = Weights(old.matter for old in standing)
    replaces: dict[int, str] = {}
    again: set[int] = set()
    for index, one in enumerate(decided):
        new = _new(reading, one, names)
        if any(_repeats(new, old, scale) for old in standing):
            again.add(index)
            continue
        scored = [(_score(new, old, standing, scale), n) for n, old in enumerate(standing)]
        score, best = max(scored)
        ref = standing[best].item.ref
        if score >= SUPERSEDED and ref not in replaces.values():
            replaces[index] = ref
    return replaces, frozenset(again)


def _standing(item: ShownItem, names: frozenset[str]) -> _Standing:
    text = f"{item.text}\n{item.quote}\n{item.said}"
    language, day = language_of(item.quote, "en"), item.said_at.date()
    terms = fixed_by(f"{item.text}\n{item.quote}", language, day)
    return _Standing(item, matter_of(text, names=names), terms)


def _new(reading: Reading, one: FoundDecision, names: frozenset[str]) -> _New:
    lines = sorted({one.sentence.line, *one.lines})
    own = "\n".join(reading.lines[line].message.text[:600] for line in lines)
    near = range(max(0, lines[0] - NEAR), lines[0])
    around = "\n".join([*(reading.lines[line].message.text[:600] for line in near), own])
    told = one.sentence.text if one.before is None else f"{one.before.text}\n{one.sentence.text}"
    language = one.sentence.language
    terms = fixed_by(told, language, one.day)
    return _New(
        matter_of(own, names=names),
        terms,
        matter_of(around, names=names),
        fixed_by(own, language, one.day),
        in_any("offline", "closing", "changed").search(own) is not None,
        one.day,
    )


def _repeats(new: _New, old: _Standing, scale: Weights) -> bool:
    return (
        scale.alike(new.matter.roots, old.matter.roots) >= SAME_DECISION
        and scale.shared(new.matter.roots, old.matter.roots) >= SAME_SUBJECT
        and not new.terms.differ_from(old.terms, new.day)
    )


def _is_next_price(new: Terms, old: Terms) -> bool:
    """Whether each fixes one sum, the new one another and not far off."""
    if len(new.sums) != 1 or len(old.sums) != 1 or new.sums == old.sums:
        return False
    return 1 / NEAR_PRICE <= max(new.sums) / max(old.sums) <= NEAR_PRICE


def _score(new: _New, old: _Standing, standing: Sequence[_Standing], scale: Weights) -> float:
    prices = [one for one in standing if _is_next_price(new.terms, one.terms)]
    is_price = prices == [old]
    is_told = is_price or new.says_change or scale.alike(new.matter.roots, old.matter.roots) >= ALIKE
    if not is_told or not new.terms.differ_from(old.terms, new.day):
        return 0.0
    rivals = [one for one in standing if one is not old and new.terms.differ_from(one.terms, new.day)]
    return (
        SHARED_WEIGHT * scale.shared(new.around.roots, old.matter.roots)
        + CHANGED_WEIGHT * new.says_change
        + NAMED_WEIGHT * new.named.name(old.terms)
        + ALONE_WEIGHT * (not rivals)
        + PRICE_WEIGHT * is_price
    )
