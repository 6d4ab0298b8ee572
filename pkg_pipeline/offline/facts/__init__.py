"""Facts of people in a talk and of others told of there: contacts, birthdays, jobs, family, tastes (P13).

Confirmation is elsewhere (B2).
"""

from __future__ import annotations

from collections.abc import Sequence

from pkg_pipeline.offline.facts.address_bearers import is_of_a_place
from pkg_pipeline.offline.facts.birthdays import birthdays_in
from pkg_pipeline.offline.facts.candidates import WEIGHED, candidates_in
from pkg_pipeline.offline.facts.cards import card_facts
from pkg_pipeline.offline.facts.contact_facts import contact_facts
from pkg_pipeline.offline.facts.contacts import countries_of
from pkg_pipeline.offline.facts.fact_head import weighed
from pkg_pipeline.offline.facts.forms import form_facts
from pkg_pipeline.offline.facts.found import FoundFact as FoundFact
from pkg_pipeline.offline.facts.found import by_its_name
from pkg_pipeline.offline.facts.plain_characters import as_written, plain_reading
from pkg_pipeline.offline.facts.told import answers_in, news_in, told_in
from pkg_pipeline.offline.line_head import Embed
from pkg_pipeline.offline.reading import MAX_MESSAGE_CHARS, Line, Reading

MOST_FACTS = 40
SURE = 0.9
"""From which on an address known by its shape stands for what else its message says of addresses."""


def find_facts(reading: Reading, embed: Embed | None = None) -> list[FoundFact]:
    """The first ``MOST_FACTS`` in order, each value of somebody once. ``embed``: vectors, with which a head judges what
    is told in words; without them the rules alone say it.
    """
    plain = plain_reading(reading)
    found = _found_in(plain, embed)
    return found if plain is reading else [as_written(fact, reading) for fact in found]


def rules_in(reading: Reading) -> list[FoundFact]:
    """What the rules say is told in words, line by line."""
    ways = (told_in, answers_in, news_in)
    return [fact for line in _heard(reading) for way in ways for fact in way(line, reading)]


def _heard(reading: Reading) -> list[Line]:
    return [line for line in reading.lines if not line.is_data]


def _of_line(
    line: Line, reading: Reading, countries: Sequence[str], told: dict[int, list[FoundFact]]
) -> list[FoundFact]:
    contacts = list(contact_facts(line, reading, countries))
    is_placed = any(fact.kind == "address" and fact.confidence >= SURE for fact in contacts)
    is_placed = is_placed or is_of_a_place(line, reading)
    words = [fact for fact in told.get(line.index, ()) if not is_placed or fact.kind != "address" or fact.is_ended]
    return [*contacts, *card_facts(line, contacts), *birthdays_in(line, reading), *words]


def _found_in(reading: Reading, embed: Embed | None) -> list[FoundFact]:
    countries = countries_of([line.message.text[:MAX_MESSAGE_CHARS] for line in _heard(reading)])
    told = rules_in(reading)
    if embed is not None:
        judged = weighed(reading, candidates_in(reading, told), embed)
        told = [*(fact for fact in told if fact.is_ended or fact.kind not in WEIGHED), *judged]
    by_line: dict[int, list[FoundFact]] = {}
    for fact in told:
        by_line.setdefault(fact.sentence.line, []).append(fact)
    kept: dict[tuple[str, str, object], FoundFact] = {}
    for line in _heard(reading):
        said = form_facts(line, reading, countries) or _of_line(line, reading, countries, by_line)
        for fact in map(by_its_name, said):
            key = (fact.kind, fact.value.casefold(), fact.about or fact.name)
            if key not in kept or (fact.confidence > kept[key].confidence and not fact.is_ended):
                kept[key] = fact
        if len(kept) >= MOST_FACTS:
            break
    known = {(kind, value) for kind, value, whose in kept if whose is not None}
    found = [fact for (kind, value, whose), fact in kept.items() if whose is not None or (kind, value) not in known]
    return found[:MOST_FACTS]
