"""Relationship type (P21) by counted signals.

Every summary has one vote per kind of signal. Client or vendor: the doer of a buying or selling verb is the name before
it, the speaker, or an open item's owner.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache

from pkg_pipeline.memory.profile.records import ProfileInput, RelationshipType
from pkg_pipeline.memory.records import Language, Person
from pkg_pipeline.memory.text.language_data import pattern, table
from pkg_pipeline.memory.text.name_forms import inflections

ENOUGH = 0.3
"""Lower weights give ``acquaintance``."""
SAME_ORGANISATION = 1.5
SAID_IN_FACTS = 1.5
NAMED_AS_FAMILY = 3.0
INFORMAL_TONE = 0.4
FORMAL_TONE = 0.2
TRADE_WITHOUT_DIRECTION = 0.5
"""Share of trade's weight for each side where the side is unknown."""

_CLAUSE = re.compile(r"[.!?;。！？；\n]+")
_INFORMAL = frozenset(("informal", "positive"))

Patterns = Mapping[str, re.Pattern[str]]


@cache
def _patterns(language: Language) -> Patterns:
    return {name: pattern(text) for name, text in table("offline", language, "profile")["patterns"].items()}


def relationship_type(source: ProfileInput) -> RelationshipType:
    """The type with the greatest weight; ``acquaintance`` if none has enough."""
    heard, facts = _patterns(source.language), "\n".join(source.facts)
    votes, direction = _votes(source, heard), _direction(source, heard)
    by_client = 1.0 if direction > 0 else TRADE_WITHOUT_DIRECTION if direction == 0 else 0.0
    is_client, is_vendor = heard["is_client"].search(facts) is not None, heard["is_vendor"].search(facts) is not None
    mine = source.self_person.organization if source.self_person is not None else None
    shares_organisation = bool(mine) and mine == source.entity.organization
    is_kin = heard["family_name"].search(source.entity.name.strip()) is not None
    manner, warmth = votes["formal"] * (votes["work"] > 0), votes["informal"] * (votes["personal"] > 0)
    weights: dict[RelationshipType, float] = {
        "client": votes["trade"] * by_client + SAID_IN_FACTS * is_client,
        "vendor": votes["trade"] * (1.0 - by_client) + SAID_IN_FACTS * is_vendor,
        "partner": 1.6 * votes["partnership"],
        "colleague": votes["work"] + FORMAL_TONE * manner + SAME_ORGANISATION * shares_organisation,
        "friend": votes["personal"] + INFORMAL_TONE * warmth,
        "other": 1.3 * votes["family"] * (votes["family"] >= 0.5) + NAMED_AS_FAMILY * is_kin,
    }
    best = max(weights, key=lambda one: weights[one])  # the first of equals
    return best if weights[best] >= ENOUGH else "acquaintance"


def _votes(source: ProfileInput, heard: Patterns) -> Mapping[str, float]:
    """Shares of the summaries, 0–1, with each signal or tone."""
    votes: dict[str, float] = defaultdict(float)
    share = 1.0 / max(1, len(source.summaries))
    for summary in source.summaries:
        text = "\n".join((summary.text, *summary.decisions))
        for name in ("trade", "work", "partnership", "personal", "family"):
            votes[name] += share * (heard[name].search(text) is not None)
        votes["informal"] += share * (summary.tone in _INFORMAL)
        votes["formal"] += share * (summary.tone == "formal")
    return votes


def _direction(source: ProfileInput, heard: Patterns) -> int:
    """The other's purchases less sales, counting mine the other way.

    By the last name before the verb in a clause; of an open item, its owner.
    """
    them, me = _named(source.entity), _named(source.self_person)
    direction = 0
    texts = ("\n".join((summary.text, *summary.decisions)) for summary in source.summaries)
    for clause in (clause for text in texts for clause in _CLAUSE.split(text)):
        for verbs, sign in ((heard["buys"], 1), (heard["sells"], -1)):
            for match in verbs.finditer(clause):
                before = clause[: match.start()]
                near_them, near_me = _last(them, before), _last(me, before)
                direction += sign * ((near_them > near_me) - (near_them < near_me))
    for item in source.aggregate.open_action_items:
        if item.owner in ("self", "them"):
            sign = 1 if heard["buys"].search(item.description) else -1 if heard["sells"].search(item.description) else 0
            direction += sign if item.owner == "them" else -sign
    return direction


def _last(names: re.Pattern[str] | None, text: str) -> int:
    return max((match.end() for match in names.finditer(text)), default=-1) if names is not None else -1


def _named(person: Person | None) -> re.Pattern[str] | None:
    if person is None:
        return None
    parts = [part for part in re.split(r"[\s,.()]+", person.name) if len(part) > 1]
    forms: list[str] = []
    for part in parts:
        if re.fullmatch(r"[\u4e00-\u9fff]{2,4}", part):
            forms += [part, *([part[1:]] if len(part) == 3 else [])]
        else:
            forms += [
                rf"(?<!\w){re.escape(form)}(?!\w)" for form in (part, *inflections(part.casefold().replace("ё", "е")))
            ]
    return re.compile("|".join(forms), re.IGNORECASE) if forms else None
