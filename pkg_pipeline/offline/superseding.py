"""Which standing decision a new one repeats, and which it supersedes: the same matter on other terms (B16)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from pathlib import Path
from uuid import UUID

import numpy as np

from pkg_pipeline.memory.items.records import ShownItem
from pkg_pipeline.memory.records import Language
from pkg_pipeline.memory.text.language_data import in_any, pattern, table
from pkg_pipeline.offline.agreed_terms import (
    Terms,
    adds_up,
    days_apart,
    fixed_by,
    is_next_price,
    numbers_of,
    other_number,
    times_apart,
    weekdays_of,
)
from pkg_pipeline.offline.chat_decisions import THRESHOLD
from pkg_pipeline.offline.found import FoundDecision
from pkg_pipeline.offline.heads import chance_of
from pkg_pipeline.offline.line_context import Floats, Trees
from pkg_pipeline.offline.line_head import Embed
from pkg_pipeline.offline.matters import Matter, Weights, matter_of
from pkg_pipeline.offline.phrases import mark
from pkg_pipeline.offline.reading import Reading, language_of
from pkg_pipeline.stages.ports import Vectors

SAME_DECISION = 0.75
SAME_SUBJECT = 0.7
SUPERSEDED = 0.7
"""From this probability on a decision takes the place of another."""
SURER = 0.8
"""The same of what is too unlikely to be told as a decision otherwise."""
ADDS_UP = 2.0
"""Log-odds that few pairs speak of: the new sum is the old one with what is added."""
NEAR = 3
"""Lines before a decision that may say what it is about."""
MOST_CHARS = 600
NO_RIVAL = 0.2
NO_DAYS = -500
DECIMALS = 3
"""Features are rounded, so that machines agree."""
LANGUAGES: tuple[Language, ...] = ("en", "ru", "zh")
LETTERS = {"zh": 2}
"""So many letters in a row are compared, elsewhere four."""
TREES_FILE = Path(__file__).with_name("superseding.npz")

_NO_LETTER = re.compile(r"[\d\s]")


@cache
def trees() -> Trees:
    """Boosted trees over the features of a pair; ``python -m training.superseding`` makes them."""
    with np.load(TREES_FILE) as found:
        return Trees.kept(found)


@dataclass(frozen=True, slots=True)
class _Standing:
    """``wide``: what all its messages name."""

    item: ShownItem
    matter: Matter
    terms: Terms
    wide: Terms
    numbers: frozenset[int]
    weekdays: frozenset[int]
    letters: frozenset[str]
    is_again: bool


@dataclass(frozen=True, slots=True)
class _New:
    """``around``: with what was said just before, ``told``: its words, ``before``: those before it, ``near``: both;
    ``named``, ``wide``: what is named in its messages, and in these with those before.
    """

    matter: Matter
    terms: Terms
    around: Matter
    named: Terms
    wide: Terms
    sentence: str
    told: str
    before: str
    near: str
    day: date
    sent_at: datetime
    sure: float
    is_agreed: bool
    is_first: bool
    numbers: frozenset[int]
    weekdays: frozenset[int]
    letters: frozenset[str]
    language: Language
    people: frozenset[UUID]


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
        chances = chances_of(pairs)
        best = max(range(len(pairs)), key=chances.__getitem__)
        least = SUPERSEDED if decided[index].probability >= THRESHOLD else SURER
        if chances[best] >= max(least, taken.get(refs[best], (0.0, -1))[0]):
            taken[refs[best]] = chances[best], index
    return {index: ref for ref, (_, index) in taken.items()}, frozenset(again)


def chances_of(pairs: Sequence[Mapping[str, float]]) -> list[float]:
    """How probably the new decision of each pair takes the place of the old one."""
    rows = np.array([[*features.values()] for features in pairs])
    added = ADDS_UP * np.array([features["adds up"] for features in pairs])
    return [chance_of(log_odds) for log_odds in (trees().log_odds(rows)[:, 0] + added).tolist()]


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
    return _Standing(
        item,
        matter_of(text, names=names),
        fixed_by(f"{item.text}\n{item.quote}", language, day),
        fixed_by(text, language, day),
        numbers_of(text),
        weekdays_of(text, language),
        _letters(item.said, language),
        _returns(item.said, language),
    )


def _new(reading: Reading, one: FoundDecision, names: frozenset[str]) -> _New:
    lines = sorted({one.sentence.line, *one.lines})
    own = "\n".join(reading.lines[line].message.text[:MOST_CHARS] for line in lines)
    before = [reading.lines[line].message.text[:MOST_CHARS] for line in range(max(0, lines[0] - NEAR), lines[0])]
    near = "\n".join([*before, own])
    told = one.sentence.text if one.before is None else f"{one.before.text}\n{one.sentence.text}"
    language = one.sentence.language
    return _New(
        matter_of(own, names=names),
        fixed_by(told, language, one.day),
        matter_of(near, names=names),
        fixed_by(own, language, one.day),
        fixed_by(near, language, one.day),
        one.sentence.text,
        own,
        "\n".join(before),
        near,
        one.day,
        reading.lines[lines[0]].message.sent_at,
        math.log(max(one.probability, 0.01) / max(1 - one.probability, 0.01)),
        bool(one.agreed_by),
        lines[0] <= NEAR,
        numbers_of(own),
        weekdays_of(own, language),
        _letters(near, language),
        language,
        frozenset(person.entity_id for person in reading.source.others),
    )


def _letters(text: str, language: Language) -> frozenset[str]:
    """Letters in a row, whatever the ending of a word."""
    size, text = LETTERS.get(language, 4), text.lower()
    rows = (text[i : i + size] for i in range(len(text) - size + 1))
    return frozenset(row for row in rows if not _NO_LETTER.search(row))


def _returns(text: str, language: Language) -> bool:
    """Whether something is so again and again."""
    return pattern(table("offline", language, "dates")["patterns"]["again"]).search(text) is not None


def _repeats(new: _New, old: _Standing, scale: Weights) -> bool:
    return (
        scale.alike(new.matter.roots, old.matter.roots) >= SAME_DECISION
        and scale.shared(new.matter.roots, old.matter.roots) >= SAME_SUBJECT
        and not new.terms.differ_from(old.terms, new.day)
    )


def _features(new: _New, standing: Sequence[_Standing], scale: Weights, embed: Embed) -> list[dict[str, float]]:
    """Of a new decision with each in force: its words, what both fix, whom they concern, what they are about and how
    near they are in meaning.
    """
    said_of_new = _told(new)
    newest = max(one.item.said_at for one in standing)
    told, near = _unit(embed([new.told, new.near]))
    quotes, said = (
        _unit(embed(texts)) for texts in ([o.item.quote for o in standing], [o.item.said for o in standing])
    )
    alike, before = np.maximum(quotes @ told, said @ told), said @ near
    prices = [is_next_price(new.terms, one.terms) for one in standing]
    differ = [new.terms.differ_from(one.terms, new.day) for one in standing]
    found: list[dict[str, float]] = []
    for i, old in enumerate(standing):
        rest = np.delete(alike, i)
        one = {
            **said_of_new,
            **_of_terms(new, old),
            "next price": prices[i] and sum(prices) == 1,
            "alone": sum(differ) == differ[i],
            "shared around": scale.shared(new.around.roots, old.matter.roots),
            "shared": scale.shared(new.matter.roots, old.matter.roots),
            "alike": scale.alike(new.matter.roots, old.matter.roots),
            "letters": len(new.letters & old.letters) / math.sqrt(max(1, len(new.letters) * len(old.letters))),
            "near": float(alike[i]),
            "nearest": bool(alike[i] >= alike.max()),
            "nearer": float(alike[i] - (rest.max() if len(rest) else NO_RIVAL)),
            "near before": float(said[i] @ near),
            "nearest before": bool(before[i] >= before.max()),
            "many": math.log(len(standing)),
            "age": math.log1p(max(0.0, (new.sent_at - old.item.said_at).total_seconds() / 86_400)),
            "newest": old.item.said_at == newest,
            "returns before": old.is_again,
            "long before": math.log1p(len(old.item.said)),
            "same people": new.people == frozenset(old.item.person_ids),
            "others too": not new.people.issuperset(old.item.person_ids),
        }
        found.append({name: round(float(value), DECIMALS) for name, value in one.items()})
    return found


def _told(new: _New) -> dict[str, float]:
    """What a new decision says whatever it may take the place of."""
    compared = in_any("offline", "closing", "compared")
    says = {
        f"{of} {name}": in_any("offline", "closing", name).search(text) is not None
        for name in ("changed", "prevented", "unchanged", "postponed")
        for of, text in (("says", new.told), ("near", new.near))
    }
    return {
        **says,
        "compares": len(compared.findall(new.told)),
        "compared before": len(compared.findall(new.before)),
        "from then": mark("from_then").search(new.told) is not None,
        "from then near": mark("from_then").search(new.near) is not None,
        "returns": _returns(new.told, new.language),
        "no terms": new.terms.is_empty,
        "sure": new.sure,
        "agreed": new.is_agreed,
        "first": new.is_first,
        "long": math.log1p(len(new.told)),
        "long sentence": math.log1p(len(new.sentence)),
        "in a group": len(new.people) > 1,
        "language": LANGUAGES.index(new.language),
    }


def _of_terms(new: _New, old: _Standing) -> dict[str, float]:
    """What both fix: in the words that state it, and in all their messages with those before."""
    terms, was = new.terms, old.terms
    return {
        "names old": new.named.name(was),
        "differ": new.named.differ_from(was, new.day),
        "sums differ": bool(terms.sums and was.sums) and not terms.sums & was.sums,
        "hours differ": bool(terms.hours and was.hours) and not terms.hours & was.hours,
        "day moved": bool(terms.days - was.days and was.days) and max(was.days) >= new.day,
        "same kind": terms.are_of(was),
        "is over": bool(was.days) and max(was.days) < new.day,
        "no terms before": was.is_empty,
        "differ wide": new.wide.differ_from(old.wide, new.day),
        "names old wide": new.wide.name(old.wide),
        "sums differ wide": bool(new.wide.sums - old.wide.sums and old.wide.sums),
        "hours differ wide": bool(new.wide.hours - old.wide.hours and old.wide.hours),
        "day moved wide": bool(new.wide.days - old.wide.days and old.wide.days) and max(old.wide.days) >= new.day,
        "is over wide": bool(old.wide.days) and max(old.wide.days) < new.day,
        "same kind wide": new.wide.are_of(old.wide),
        "other number": other_number(new.numbers, old.numbers),
        "number again": bool(new.numbers & old.numbers),
        "only again": bool(new.numbers & old.numbers) and not new.numbers - old.numbers,
        "other weekday": bool(new.weekdays - old.weekdays and old.weekdays),
        "weekday again": bool(new.weekdays & old.weekdays),
        "hour again": bool(new.named.hours & old.wide.hours),
        "adds up": adds_up(new.named, new.wide, old.wide),
        "sums apart": times_apart(new.named.sums, old.wide.sums),
        "numbers apart": times_apart(new.numbers, old.numbers),
        "days apart": days_apart(new.named.days, old.wide.days),
        "days left": max(((day - new.day).days for day in old.wide.days), default=NO_DAYS),
    }


def _unit(vectors: Vectors) -> Floats:
    given = np.asarray(vectors, dtype=np.float64)
    return given / np.maximum(np.linalg.norm(given, axis=1, keepdims=True), 1e-9)
