"""Facts of people in a talk and of others told of there: contacts, birthdays, jobs, family, tastes (P13).

Confirmation is elsewhere (B2).
"""

from __future__ import annotations

from pkg_pipeline.offline.facts.birthdays import birthdays_in
from pkg_pipeline.offline.facts.cards import card_facts
from pkg_pipeline.offline.facts.contact_facts import contact_facts
from pkg_pipeline.offline.facts.contacts import countries_of
from pkg_pipeline.offline.facts.found import FoundFact as FoundFact
from pkg_pipeline.offline.facts.plain_characters import as_written, plain_reading
from pkg_pipeline.offline.facts.told import answers_in, told_in
from pkg_pipeline.offline.reading import MAX_MESSAGE_CHARS, Reading

MOST_FACTS = 40


def find_facts(reading: Reading) -> list[FoundFact]:
    """The first ``MOST_FACTS`` in order, each value of somebody once."""
    plain = plain_reading(reading)
    found = _found_in(plain)
    return found if plain is reading else [as_written(fact, reading) for fact in found]


def _found_in(reading: Reading) -> list[FoundFact]:
    countries = countries_of([line.message.text[:MAX_MESSAGE_CHARS] for line in reading.lines if not line.is_data])
    kept: dict[tuple[str, str, object], FoundFact] = {}
    for line in reading.lines:
        if line.is_data:
            continue
        contacts = list(contact_facts(line, reading, countries))
        found = [*contacts, *card_facts(line, contacts), *birthdays_in(line, reading)]
        found += [*told_in(line, reading), *answers_in(line, reading)]
        for fact in found:
            key = (fact.kind, fact.value.casefold(), fact.about or fact.name)
            if key not in kept or (fact.confidence > kept[key].confidence and not fact.is_ended):
                kept[key] = fact
        if len(kept) >= MOST_FACTS:
            break
    known = {(kind, value) for kind, value, whose in kept if whose is not None}
    found = [fact for (kind, value, whose), fact in kept.items() if whose is not None or (kind, value) not in known]
    return found[:MOST_FACTS]
