"""The person card (B19): who somebody is to me, how often and in which language we talk, since when; how to reach them.

What is not known is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Final, get_args

from pkg_pipeline.memory.context.records import BlockRules, Card, ContextEntity, ContextRows, KnownFact
from pkg_pipeline.memory.profile.frequency import frequency_of
from pkg_pipeline.memory.profile.records import RelationshipType
from pkg_pipeline.memory.profile.relationship import UNKNOWN, guess
from pkg_pipeline.memory.text.lines import one_line
from pkg_pipeline.memory.text.marks import named
from pkg_pipeline.memory.text.normalise import comparable
from pkg_pipeline.memory.text.phrases import Phrases, clock, source_name

KINDS: Final[Mapping[str, int]] = {
    "position": 0,
    "title": 0,
    "role": 0,
    "organization": 1,
    "organisation": 1,
    "company": 1,
    "employer": 1,
    "phone": 2,
    "email": 3,
    "birthday": 4,
    "family": 5,
}
"""Last words of the fact types that stand on the card, with their place."""

SAID_BY_A_PERSON: Final = "relationship"
"""A confirmed fact of this type names the relationship: nothing that was guessed holds against it."""


def card_of(rows: ContextRows, rules: BlockRules) -> Card | None:
    """The card as of the context's moment; None for who is no other person: me, an organisation, a channel or bot."""
    entity = rows.entity
    if entity.is_self or entity.type != "person" or entity.is_mass:
        return None
    placed = (fact for fact in rows.told_facts if place_of(fact) is not None)
    facts = sorted(placed, key=lambda fact: place_of(fact) or 0)
    return Card(
        relationship=_relationship(rows, rules),
        frequency=frequency_of(_days(entity, rules), rules.today),
        organization=entity.organization,
        languages=entity.languages,
        facts=tuple(facts),
        messages=entity.messages,
        first_contact=entity.first_contact,
        last_contact=entity.last_contact,
    )


def place_of(fact: KnownFact) -> int | None:
    """Where on the card a fact stands; None: elsewhere, as of somebody whom this person only tells of."""
    if fact.about is not None:
        return None
    return KINDS.get(fact.fact_type.casefold().replace("-", "_").replace(" ", "_").rsplit("_", 1)[-1])


def head(rows: ContextRows, rules: BlockRules, words: Phrases) -> list[str]:
    """The block's first two lines: the name; who it is, how often and since when we talk, the last contact."""
    moment = rules.as_of.astimezone(rules.zone)
    parts = [*about(rows, rules, words), words.as_of.format(date=words.day(moment.date()), time=clock(moment))]
    return [f"# {named(rows.entity.name) or words.unknown}\n", f"- {' · '.join(parts)}\n"]


def about(rows: ContextRows, rules: BlockRules, words: Phrases) -> list[str]:
    """Who it is, how often and since when we talk, the last contact."""
    entity, card = rows.entity, rows.card
    parts = [] if card is None else _about(card, words)
    if entity.organization and not (card and _names(card.facts, entity.organization)):
        parts.append(words.organization.format(name=one_line(entity.organization)))
    if entity.sources:
        names = words.comma.join(dict.fromkeys(source_name(source) for source in entity.sources))
        spoken = words.comma.join(words.language(one) for one in entity.languages)
        parts.append(" ".join(filter(None, (spoken, words.via.format(sources=names)))))
    return parts + _contact(entity, rules, words)


def _about(card: Card, words: Phrases) -> list[str]:
    """Relationship and frequency, where they are known."""
    known = [] if card.relationship == "unknown" else [words.relationship_type(card.relationship)]
    return known if card.frequency is None else [*known, words.frequency(card.frequency)]


def _contact(entity: ContextEntity, rules: BlockRules, words: Phrases) -> list[str]:
    def day(moment: datetime) -> date:
        return moment.astimezone(rules.zone).date()

    if not entity.last_contact:
        return [words.no_contact]
    last = day(entity.last_contact)
    parts = [words.last_contact.format(date=words.day(last), ago=words.ago(last, rules.today))]
    if entity.messages:
        count = words.number(entity.messages)
        since = words.day(day(entity.first_contact)) if entity.first_contact else None
        form = words.messages_since if since else words.messages_only
        parts.insert(0, form.format(count=count, date=since))
    return parts


def _days(entity: ContextEntity, rules: BlockRules) -> list[date]:
    """Days of contact; the last one counts messages of talks that are still cut."""
    days = {day for day in entity.contact_days if day <= rules.today}
    if entity.last_contact:
        days.add(min(entity.last_contact.astimezone(rules.zone).date(), rules.today))
    return sorted(days)


def _relationship(rows: ContextRows, rules: BlockRules) -> RelationshipType:
    """A person's own word, else the profile's, which heard more, else what the newest words tell."""
    said = [fact.value.strip().casefold() for fact in rows.facts if fact.fact_type == SAID_BY_A_PERSON]
    known = [kind for kind in get_args(RelationshipType) if kind in said]
    if known:
        return known[0]
    if rows.profile is not None:
        return rows.profile.relationship_type
    return UNKNOWN if rows.signals is None else guess(rows.signals, rules.zone).type


def _names(facts: tuple[KnownFact, ...], organization: str) -> bool:
    """Whether one of the card's facts says where they work already."""
    return any(comparable(organization) in comparable(fact.value) for fact in facts)
