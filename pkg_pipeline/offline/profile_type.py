"""What somebody is to the owner of the memory (P21), by what their conversations speak of. Counting only.

Every summary has one vote for each kind of signal, so that one long contract does not outvote fifty dinners. Who pays
whom decides between client and vendor: the doer of a buying or selling verb is the name before it, the speaker in front
of a colon, or the owner of an open item.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from pkg_pipeline.memory.profile.records import ProfileInput, RelationshipType
from pkg_pipeline.memory.records import Language, Person
from pkg_pipeline.memory.text.language_data import pattern, table
from pkg_pipeline.memory.text.name_forms import inflections

ENOUGH = 0.3
"""A weight below this says too little: such people are acquaintances."""
SAME_ORGANISATION = 1.5
SAID_IN_FACTS = 1.5
NAMED_AS_FAMILY = 3.0
INFORMAL_TONE = 0.4
FORMAL_TONE = 0.2
TRADE_WITHOUT_DIRECTION = 0.5
"""Of the weight of trade where nobody's side of it is known: the share that counts for either side."""

_CLAUSE = re.compile(r"[.!?;。！？；\n]+")
_INFORMAL = frozenset(("informal", "positive"))


Patterns = Mapping[str, re.Pattern[str]]


@dataclass(slots=True)
class Votes:
    """Shares of the summaries, 0–1, that speak of each thing; ``buying`` and ``selling`` count what the other does."""

    trade: float = 0.0
    work: float = 0.0
    partnership: float = 0.0
    personal: float = 0.0
    family: float = 0.0
    informal: float = 0.0
    formal: float = 0.0
    buying: int = 0
    selling: int = 0


@cache
def _patterns(language: Language) -> Patterns:
    return {name: pattern(text) for name, text in table("offline", language, "profile")["patterns"].items()}


def relationship_type(source: ProfileInput) -> RelationshipType:
    """The type with the greatest weight; ``acquaintance`` where none has enough."""
    heard = _patterns(source.language)
    votes = _votes(source, heard)
    facts = "\n".join(source.facts)
    is_client, is_vendor = heard["is_client"].search(facts) is not None, heard["is_vendor"].search(facts) is not None
    direction = votes.buying - votes.selling
    by_client = 1.0 if direction > 0 else TRADE_WITHOUT_DIRECTION if direction == 0 else 0.0
    mine = source.self_person.organization if source.self_person is not None else None
    shares_organisation = bool(mine) and mine == source.entity.organization
    is_kin = heard["family_name"].search(source.entity.name.strip()) is not None
    weights: dict[RelationshipType, float] = {
        "client": votes.trade * by_client + SAID_IN_FACTS * is_client,
        "vendor": votes.trade * (1.0 - by_client) + SAID_IN_FACTS * is_vendor,
        "partner": 1.6 * votes.partnership,
        "colleague": votes.work
        + FORMAL_TONE * votes.formal * (votes.work > 0)
        + SAME_ORGANISATION * shares_organisation,
        "friend": votes.personal + INFORMAL_TONE * votes.informal * (votes.personal > 0),
        "other": 1.3 * votes.family * (votes.family >= 0.5) + NAMED_AS_FAMILY * is_kin,
    }
    best = max(weights, key=lambda one: weights[one])  # the first of equals, in this order
    return best if weights[best] >= ENOUGH else "acquaintance"


def _votes(source: ProfileInput, heard: Patterns) -> Votes:
    votes = Votes()
    them, me = _named(source.entity), _named(source.self_person)
    share = 1.0 / max(1, len(source.summaries))
    for summary in source.summaries:
        text = "\n".join((summary.text, *summary.decisions))
        votes.trade += share * (heard["trade"].search(text) is not None)
        votes.work += share * (heard["work"].search(text) is not None)
        votes.partnership += share * (heard["partnership"].search(text) is not None)
        votes.personal += share * (heard["personal"].search(text) is not None)
        votes.family += share * (heard["family"].search(text) is not None)
        votes.informal += share * (summary.tone in _INFORMAL)
        votes.formal += share * (summary.tone == "formal")
        for clause in _CLAUSE.split(text):
            _hear(clause, heard, them, me, votes)
    for item in source.aggregate.open_action_items:
        if item.owner != "both":
            _count(item.description, heard, votes, is_them=item.owner == "them")
    return votes


def _hear(clause: str, heard: Patterns, them: re.Pattern[str] | None, me: re.Pattern[str] | None, votes: Votes) -> None:
    """Whose side a clause shows: that of the name which stands last before the verb."""
    for verbs, is_buying in ((heard["buys"], True), (heard["sells"], False)):
        for match in verbs.finditer(clause):
            before = clause[: match.start()]
            near_them, near_me = _last(them, before), _last(me, before)
            if near_them != near_me:
                _side(votes, is_buying=is_buying, is_them=near_them > near_me)


def _count(text: str, heard: Patterns, votes: Votes, *, is_them: bool) -> None:
    if heard["buys"].search(text):
        _side(votes, is_buying=True, is_them=is_them)
    elif heard["sells"].search(text):
        _side(votes, is_buying=False, is_them=is_them)


def _side(votes: Votes, *, is_buying: bool, is_them: bool) -> None:
    """What I buy, they sell."""
    if is_buying == is_them:
        votes.buying += 1
    else:
        votes.selling += 1


def _last(pattern: re.Pattern[str] | None, text: str) -> int:
    found = -1
    if pattern is not None:
        for match in pattern.finditer(text):
            found = match.end()
    return found


def _named(person: Person | None) -> re.Pattern[str] | None:
    """How a person is named as the doer: the whole name or a part of it, in any case."""
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
