"""What somebody is to me (B19): a multinomial logistic over the words of both sides, names, facts, groups and hours,
and over what sentence vectors tell where there are any.

Its weights are in ``relationship_weights.toml``, fitted by ``make train``. What it is not sure of stays unknown.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.profile.records import TYPES, RelationshipType, Signals
from pkg_pipeline.memory.profile.role_words import FACT, NAME, Heard, heard

if TYPE_CHECKING:
    from pkg_pipeline.memory.profile.relationship_vectors import Embed

BEGINNING: Final = 8
"""So many messages are how a talk began."""

UNKNOWN: Final[RelationshipType] = "unknown"

SURE, SURE_BY_WORDS, SURE_IN_GROUPS = 0.65, 0.7, 0.93
"""From this probability on a type is said; without vectors; of whom we only meet in groups."""

MOST_MESSAGES: Final = 150
MOST_CHARS: Final = 200
"""So much of the messages is heard: of the newest, and of how the talk began."""

ROLES: Final[Mapping[str, tuple[str, str]]] = {
    "client": ("buyer", "seller"),
    "vendor": ("seller", "buyer"),
    "partner": ("cofounder", "cofounder"),
    "colleague": ("coworker", "coworker"),
    "friend": ("pal", "pal"),
    "family": ("kin", "kin"),
    "boss": ("superior", "subordinate"),
    "landlord": ("owner", "renter"),
    "tenant": ("renter", "owner"),
    "doctor": ("doctor", "patient"),
    "teacher": ("teacher", "learner"),
    "neighbour": ("neighbour", "neighbour"),
}
"""The part of the other and mine."""
_MUTUAL = frozenset(theirs for theirs, mine in ROLES.values() if theirs == mine)

_OFFICE_HOURS = range(9, 18)
_HONORIFIC = re.compile(
    r"^(?:mr|mrs|ms|miss|dr|prof)\b|(?:ович|евич|овна|евна|ична)\b|[\u4e00-\u9fff](?:总|经理|先生|女士|老师|医生)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Guess:
    """``probability`` 0 to 1 of the type; ``unknown`` where none is sure."""

    type: RelationshipType
    probability: float


Features = Mapping[str, float]
Weights = Mapping[str, float]

MOST_COUNTED: Final = 3
"""A phrase counts in so many messages."""


@dataclass(frozen=True, slots=True)
class Hearing:
    """What the signals tell of, before any weight: messages by role and phrase of each side, and of the whole;
    ``vectors``: log-odds by type, where sentence vectors were read.
    """

    theirs: Mapping[Heard, int]
    mine: Mapping[Heard, int]
    name: frozenset[str]
    facts: frozenset[str]
    groups: frozenset[str]
    whole: Features
    vectors: Mapping[RelationshipType, float] = field(default_factory=dict[RelationshipType, float])


def guess(signals: Signals, zone: ZoneInfo, embed: Embed | None = None) -> Guess:
    """The likeliest type if it is sure; ``embed`` costs a millisecond a message and makes it surer."""
    if not signals.said and not signals.facts:
        return Guess(UNKNOWN, 1.0)
    known, told = weights(), hearing(signals, zone)
    if embed is not None and signals.said:
        # a context guesses by words alone: it loads no vectors
        from pkg_pipeline.memory.profile.relationship_vectors import log_odds, pooled

        told = replace(told, vectors=log_odds(pooled(signals, embed)))
    found = probabilities(features(told, known["phrases"]), known["with_vectors" if told.vectors else "weights"])
    best = max(TYPES, key=lambda one: found[one])  # the first of equals
    least = sure(by_words=not told.vectors, is_met_in_groups=signals.is_met_in_groups)
    return Guess(best, found[best]) if found[best] >= least else Guess(UNKNOWN, round(1 - found[best], 2))


def sure(*, by_words: bool, is_met_in_groups: bool) -> float:
    if is_met_in_groups:
        return SURE_IN_GROUPS
    return SURE_BY_WORDS if by_words else SURE


def probabilities(given: Mapping[RelationshipType, Features], of: Weights) -> dict[RelationshipType, float]:
    """Of each type, by its features, rounded to a hundredth."""
    logits = {one: sum(of.get(name, 0.0) * value for name, value in given[one].items()) for one in TYPES}
    most = max(logits.values())
    powers = {one: math.exp(max(logits[one] - most, -50.0)) for one in TYPES}
    whole = sum(powers.values())
    return {one: round(powers[one] / whole, 2) for one in TYPES}


@cache
def weights() -> Mapping[str, Any]:
    """``weights`` in log-odds by the name of the feature, others ``with_vectors``; ``phrases``: what each tells, 1 if
    unknown.
    """
    text = files("pkg_pipeline.memory.profile").joinpath("relationship_weights.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def hearing(signals: Signals, zone: ZoneInfo) -> Hearing:
    mine, theirs = ([one.text for one in signals.said if one.is_self is side] for side in (True, False))
    counted = _counted(theirs), _counted(mine)
    if signals.is_met_in_groups:
        counted = counted[0], _mutual(counted[1])
    return Hearing(
        *counted,
        name=_of_name(signals.name),
        facts=_roles(signals.facts, FACT),
        groups=_roles(signals.groups),
        whole=_whole(signals, counted, zone),
    )


def features(heard: Hearing, phrases: Weights) -> dict[RelationshipType, Features]:
    """By type: how far its words are said (shared weights), and what holds of the whole (weights of each type)."""
    theirs, mine = _strengths(heard.theirs, phrases), _strengths(heard.mine, phrases)
    found: dict[RelationshipType, Features] = {}
    for kind in TYPES:
        their_role, my_role = ROLES.get(kind, ("", ""))
        them, me = theirs.get(their_role, 0.0), mine.get(my_role, 0.0)
        given = {f"{kind} {name}": value for name, value in heard.whole.items()}
        given |= {
            "them": them,
            "me": me,
            f"{kind} said": them + me,
            "both": min(them, me),
            "name": float(their_role in heard.name),
            "fact": float(their_role in heard.facts),
            "group": float(their_role in heard.groups),
            "vectors": heard.vectors.get(kind, 0.0),
        }
        found[kind] = {name: value for name, value in given.items() if value}
    return found


def _whole(signals: Signals, counted: Sequence[Mapping[Heard, int]], zone: ZoneInfo) -> Features:
    """What tells of the relationship whatever is talked about."""
    by_role = Counter[str]()
    for side in counted:
        for (role, _), count in side.items():
            by_role[role] += count
    polite, familiar = by_role["formal"], by_role["informal"]
    local = [one.at.astimezone(zone) for one in signals.said]
    office = sum(at.weekday() < 5 and at.hour in _OFFICE_HOURS for at in local)
    theirs, mine = signals.organizations
    return {
        "bias": 1.0,
        "formal": (polite - familiar) / (polite + familiar + 2),
        "office": (office + 1) / (len(local) + 2) - 0.5,
        "many": math.log1p(len(local)) / math.log1p(MOST_MESSAGES),
        "honorific": float(_HONORIFIC.search(signals.name) is not None),
        "together": float(bool(theirs) and theirs == mine),
        "elsewhere": float(bool(theirs) and bool(mine) and theirs != mine),
        "met": float(signals.is_met_in_groups),
    }


def _strengths(said: Mapping[Heard, int], phrases: Weights) -> dict[str, float]:
    """By role: how much is said of it, growing with the logarithm."""
    summed: dict[str, float] = {}
    for (role, phrase), count in said.items():
        known = phrases.get(f"{role} {phrase}", 1.0)
        summed[role] = summed.get(role, 0.0) + known * min(count, MOST_COUNTED)
    return {role: math.log1p(value) for role, value in summed.items()}


def _counted(texts: Sequence[str]) -> Counter[Heard]:
    """Messages by what they tell of."""
    return Counter(one for text in texts for one in heard(text))


def _mutual(others: Counter[Heard]) -> Counter[Heard]:
    """What others say in a group tells only of what all there are to one another."""
    return Counter({heard: count for heard, count in others.items() if heard[0] in _MUTUAL})


def _of_name(name: str) -> frozenset[str]:
    """The roles that a contact's name tells of; kin only where it begins with the word: a friend's mother is none."""
    plain = name.casefold().replace("ё", "е").lstrip()
    return frozenset(role for role, phrase in heard(name, NAME) if role != "kin" or plain.startswith(phrase))


def _roles(texts: Sequence[str], part: str = "") -> frozenset[str]:
    return frozenset(role for text in texts for role, _ in heard(text, part))
