"""Which standing decision a new one repeats, and which it supersedes: the same matter on other terms (B16)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path

import numpy as np

from pkg_pipeline.memory.items.records import ShownItem
from pkg_pipeline.memory.records import Language
from pkg_pipeline.memory.text.language_data import in_any, table
from pkg_pipeline.offline.dates import find_dates
from pkg_pipeline.offline.found import FoundDecision
from pkg_pipeline.offline.judging import chance_of
from pkg_pipeline.offline.line_context import Floats
from pkg_pipeline.offline.line_head import Embed
from pkg_pipeline.offline.matters import Matter, Weights, matter_of, sums_of
from pkg_pipeline.offline.phrases import mark
from pkg_pipeline.offline.reading import Reading, language_of
from pkg_pipeline.stages.ports import Vectors

SAME_DECISION = 0.75
SAME_SUBJECT = 0.7
SUPERSEDED = 0.7
"""From this probability on a decision takes the place of another: of whole accounts left out 60 of 77 are right."""
LASTING = timedelta(days=200)
"""Of labelled decisions that another replaces 99 of 100 are no older."""
EASIER = 0.25
"""So much less is asked where each fixes one sum and no other standing one is near."""
NEAR = 3
"""Lines before a decision that may say what it is about."""
LEAST_SUM = 20
COMPARABLE = 2.5
"""A sum takes another's place if neither is so many times the other."""
MOST_CHARS = 600
NO_RIVAL = 0.2
DECIMALS = 3
"""Features are rounded, so that machines agree."""
NEAR_PRICE = 4 / 3
"""A single sum is the next price of what had a single sum within this."""
NEAR_NUMBER = 2
"""A number takes another's place if neither is more than so many times the other."""
WEIGHTS_FILE = Path(__file__).with_name("superseding.json")

_DIGITS = re.compile(r"(?<!\d)\d{1,6}(?!\d)")
_WEEKDAY_ZH = re.compile("(?:周|星期|礼拜)([一二三四五六日天])")
_CLOCK = re.compile(r"(?<!\d)\d{1,2}[:：]\d\d(?!\d)")


@cache
def weights() -> Mapping[str, float]:
    """Weights of the features of a pair in log-odds; ``python -m training.superseding`` makes them."""
    return json.loads(WEIGHTS_FILE.read_text("utf-8"))


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

    @property
    def is_empty(self) -> bool:
        return not (self.sums or self.days or self.hours)

    def are_of(self, other: Terms) -> bool:
        """Whether both fix the same kind of thing."""
        kinds = ((self.sums, other.sums), (self.days, other.days), (self.hours, other.hours))
        return any(one and two for one, two in kinds)


def fixed_by(text: str, language: Language, today: date) -> Terms:
    """The sums, days and hours of a text, each number once."""
    dates = find_dates(text, language, today)
    for one in reversed(dates):
        text = f"{text[: one.start]} {text[one.end :]}"
    hours = frozenset(map(_hour, (m.group() for m in _CLOCK.finditer(text))))
    rest = _CLOCK.sub(" ", text)
    hours |= frozenset(_hour(m.group()) for m in mark("clock").finditer(rest))
    rest = mark("clock").sub(" ", rest)
    sums = frozenset(one for one in sums_of(rest) if one >= LEAST_SUM and not 1990 <= one <= 2100)
    return Terms(sums, frozenset(one.day for one in dates), hours)


def _numbers(text: str) -> frozenset[int]:
    return frozenset(int(m.group()) for m in _DIGITS.finditer(text) if int(m.group()) > 1)


def _other_number(new: frozenset[int], old: frozenset[int]) -> bool:
    """Whether a number is another than before, and not far off: "18 then" - "21"."""
    return any(1 / NEAR_NUMBER <= one / was <= NEAR_NUMBER for one in new - old for was in old)


def _weekdays(text: str, language: Language) -> frozenset[int]:
    """Days of the week, of every week too: "on Thursdays", "周四"."""
    known: Mapping[str, int] = table("offline", language, "dates")["weekdays"]
    said = _WEEKDAY_ZH.findall(text) if language == "zh" else re.findall(r"[^\W\d_]+", text.lower())
    return frozenset(
        number
        for word in said
        for stem, number in known.items()
        if word == stem or (word.startswith(stem) and (len(stem) > 3 or "day" in word))
    )


def _hour(text: str) -> str:
    """One hour in one form: "at 17" and "17:00"."""
    digits = re.search(r"\d+(?:[:.：]\d\d)?", text)
    if digits is None:
        return text.lower()
    return digits.group().replace(".", ":").replace("：", ":").removesuffix(":00")


@dataclass(frozen=True, slots=True)
class _Standing:
    """``wide``: what all its messages name."""

    item: ShownItem
    matter: Matter
    terms: Terms
    wide: Terms
    numbers: frozenset[int]
    weekdays: frozenset[int]


@dataclass(frozen=True, slots=True)
class _New:
    """``around``: with what was said just before, ``told``: its words, ``near``: these with those before; ``named``,
    ``wide``: what is named in its messages, and in these with those before.
    """

    matter: Matter
    terms: Terms
    around: Matter
    named: Terms
    wide: Terms
    told: str
    near: str
    day: date
    sent_at: datetime
    sure: float
    is_agreed: bool
    is_first: bool
    numbers: frozenset[int]
    weekdays: frozenset[int]


def replaced(
    reading: Reading, shown: Sequence[ShownItem], decided: Sequence[FoundDecision], names: frozenset[str], embed: Embed
) -> tuple[dict[int, str], frozenset[int]]:
    """By index of a new decision the ref that it supersedes; and indices of those that only repeat one."""
    refs, again = [item.ref for item in shown if item.status == "open"], set[int]()
    taken: dict[str, tuple[float, int]] = {}
    for index, pairs in enumerate(pairs_of(reading, shown, decided, names, embed)):
        if pairs is None:
            again.add(index)
            continue
        score, best = max((_chance(one) if may_replace(one) else 0.0, n) for n, one in enumerate(pairs))
        least = SUPERSEDED - EASIER if pairs[best]["next price"] else SUPERSEDED
        if score >= max(least, taken.get(refs[best], (0.0, -1))[0]):
            taken[refs[best]] = score, index
    return {index: ref for ref, (_, index) in taken.items()}, frozenset(again)


def may_replace(features: Mapping[str, float]) -> bool:
    """Whether both fix the same kind of thing in their own words, or the new one speaks of a change: a true decision
    that another hides is worse than two that stand side by side. What was settled long before (``LASTING``) is another
    deal.
    """
    return bool(features["same kind"] or features["says changed"]) and features["age"] <= math.log1p(LASTING.days)


def _chance(features: Mapping[str, float]) -> float:
    by = weights()
    return chance_of(by.get("bias", 0.0) + sum(by.get(name, 0.0) * value for name, value in features.items()))


def pairs_of(
    reading: Reading, shown: Sequence[ShownItem], decided: Sequence[FoundDecision], names: frozenset[str], embed: Embed
) -> list[list[dict[str, float]] | None]:
    """Of each new decision its features with each that is in force, in their order; None where it only repeats one."""
    standing = [_standing(item, names) for item in shown if item.status == "open"]
    if not standing:
        return []
    scale = Weights(old.matter for old in standing)
    found: list[list[dict[str, float]] | None] = []
    for one in decided:
        new = _new(reading, one, names)
        is_again = any(_repeats(new, old, scale) for old in standing)
        found.append(None if is_again else _features(new, standing, scale, embed))
    return found


def _standing(item: ShownItem, names: frozenset[str]) -> _Standing:
    text = f"{item.text}\n{item.quote}\n{item.said}"
    language, day = language_of(item.quote, "en"), item.said_at.date()
    terms = fixed_by(f"{item.text}\n{item.quote}", language, day)
    wide, numbers, weekdays = fixed_by(text, language, day), _numbers(text), _weekdays(text, language)
    return _Standing(item, matter_of(text, names=names), terms, wide, numbers, weekdays)


def _new(reading: Reading, one: FoundDecision, names: frozenset[str]) -> _New:
    lines = sorted({one.sentence.line, *one.lines})
    own = "\n".join(reading.lines[line].message.text[:MOST_CHARS] for line in lines)
    before = (reading.lines[line].message.text[:MOST_CHARS] for line in range(max(0, lines[0] - NEAR), lines[0]))
    near = "\n".join([*before, own])
    told = one.sentence.text if one.before is None else f"{one.before.text}\n{one.sentence.text}"
    language = one.sentence.language
    return _New(
        matter_of(own, names=names),
        fixed_by(told, language, one.day),
        matter_of(near, names=names),
        fixed_by(own, language, one.day),
        fixed_by(near, language, one.day),
        own,
        near,
        one.day,
        reading.lines[lines[0]].message.sent_at,
        math.log(max(one.probability, 0.01) / max(1 - one.probability, 0.01)),
        bool(one.agreed_by),
        lines[0] <= NEAR,
        _numbers(own),
        _weekdays(own, language),
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


def _features(new: _New, standing: Sequence[_Standing], scale: Weights, embed: Embed) -> list[dict[str, float]]:
    """Of a new decision with each in force: words of change, terms, what both are about and how near in meaning."""
    says = {
        f"{of} {name}": in_any("offline", "closing", name).search(text) is not None
        for name in ("changed", "prevented", "unchanged", "postponed")
        for of, text in (("says", new.told), ("near", new.near))
    }
    newest = max(one.item.said_at for one in standing)
    told, near = _unit(embed([new.told, new.near]))
    quotes, said = (
        _unit(embed(texts)) for texts in ([o.item.quote for o in standing], [o.item.said for o in standing])
    )
    alike, before = np.maximum(quotes @ told, said @ told), said @ near
    prices = [_is_next_price(new.terms, one.terms) for one in standing]
    differ = [new.terms.differ_from(one.terms, new.day) for one in standing]
    found: list[dict[str, float]] = []
    for i, old in enumerate(standing):
        terms, was, rest = new.terms, old.terms, np.delete(alike, i)
        one = {
            "shared around": scale.shared(new.around.roots, old.matter.roots),
            "shared": scale.shared(new.matter.roots, old.matter.roots),
            "alike": scale.alike(new.matter.roots, old.matter.roots),
            **says,
            "names old": new.named.name(was),
            "differ": new.named.differ_from(was, new.day),
            "sums differ": bool(terms.sums and was.sums) and not terms.sums & was.sums,
            "hours differ": bool(terms.hours and was.hours) and not terms.hours & was.hours,
            "day moved": bool(terms.days - was.days and was.days) and max(was.days) >= new.day,
            "same kind": terms.are_of(was),
            "is over": bool(was.days) and max(was.days) < new.day,
            "no terms": terms.is_empty,
            "no terms before": was.is_empty,
            "next price": prices[i] and sum(prices) == 1,
            "alone": sum(differ) == differ[i],
            "near": float(alike[i]),
            "nearest": bool(alike[i] >= alike.max()),
            "nearer": float(alike[i] - (rest.max() if len(rest) else NO_RIVAL)),
            "near before": float(said[i] @ near),
            "nearest before": bool(before[i] >= before.max()),
            "many": math.log(len(standing)),
            "differ wide": new.wide.differ_from(old.wide, new.day),
            "names old wide": new.wide.name(old.wide),
            "sums differ wide": bool(new.wide.sums - old.wide.sums and old.wide.sums),
            "hours differ wide": bool(new.wide.hours - old.wide.hours and old.wide.hours),
            "day moved wide": bool(new.wide.days - old.wide.days and old.wide.days) and max(old.wide.days) >= new.day,
            "is over wide": bool(old.wide.days) and max(old.wide.days) < new.day,
            "same kind wide": new.wide.are_of(old.wide),
            "sure": new.sure,
            "agreed": new.is_agreed,
            "first": new.is_first,
            "age": math.log1p(max(0.0, (new.sent_at - old.item.said_at).total_seconds() / 86_400)),
            "other number": _other_number(new.numbers, old.numbers),
            "number again": bool(new.numbers & old.numbers),
            "only again": bool(new.numbers & old.numbers) and not new.numbers - old.numbers,
            "other weekday": bool(new.weekdays - old.weekdays and old.weekdays),
            "newest": old.item.said_at == newest,
        }
        found.append({name: round(float(value), DECIMALS) for name, value in one.items()})
    return found


def _unit(vectors: Vectors) -> Floats:
    given = np.asarray(vectors, dtype=np.float64)
    return given / np.maximum(np.linalg.norm(given, axis=1, keepdims=True), 1e-9)
