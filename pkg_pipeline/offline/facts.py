"""Extracts facts about participants (phones, e-mail, birthdays, positions …) with a confidence (P13).

Only what people say of themselves, or contacts in the text; confirmation is elsewhere (B2).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from pkg_pipeline.memory.records import Language, Person
from pkg_pipeline.memory.text.language_data import table
from pkg_pipeline.offline.dates import find_dates
from pkg_pipeline.offline.phrases import mark, phrases
from pkg_pipeline.offline.reading import Line, Reading, Sentence

MOST_FACTS = 30
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.)+[a-zA-Z]{2,24}(?![\w@])")
_DIGITS = re.compile(r"\d[\d\s().-]{5,}\d")
EMAIL_CONFIDENCE, PHONE_CONFIDENCE, HANDLE_CONFIDENCE = 0.9, 0.85, 0.7
STRANGER_DISCOUNT = 0.25
"""Factor on the confidence of an unclaimed contact."""


@cache
def _handle() -> re.Pattern[str]:
    return re.compile(rf"(?:{mark('messenger').pattern})\W{{0,3}}(?P<value>@[A-Za-z][\w.]{{3,31}})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FoundFact:
    """``about`` None: unknown."""

    kind: str
    value: str
    about: Person | None
    confidence: float
    sentence: Sentence


def _phones(text: str, language: Language) -> list[str]:
    if not _DIGITS.search(text):
        return []
    import phonenumbers

    valid = phonenumbers.Leniency.VALID
    for region in table("offline", language, "phrases")["phone_regions"]:
        if found := [m.raw_string for m in phonenumbers.PhoneNumberMatcher(text, region, leniency=valid)]:
            return found
    return []


def _in_sentence(sentence: Sentence, line: Line) -> list[FoundFact]:
    text = sentence.text
    about, discount = (line.speaker, 0.0) if mark("own").search(text) else (None, STRANGER_DISCOUNT)
    contacts = [("email", m.group(), EMAIL_CONFIDENCE) for m in _EMAIL.finditer(text)]
    contacts += [("phone", number, PHONE_CONFIDENCE) for number in _phones(text, sentence.language)]
    contacts += [("handle", m["value"], HANDLE_CONFIDENCE) for m in _handle().finditer(text)]
    found = [FoundFact(kind, value, about, sure - discount, sentence) for kind, value, sure in contacts]
    for kind, told, sure in phrases(sentence.language).facts:
        for m in told.finditer(text):
            value = m["value"].strip(" ,.;:!—-，。")
            if value and (kind != "birthday" or find_dates(value, sentence.language, line.day)):
                found.append(FoundFact(kind, value[:300], line.speaker, sure, sentence))
    return found


def find_facts(reading: Reading) -> list[FoundFact]:
    """The first ``MOST_FACTS`` in order, each value once."""
    kept: dict[tuple[str, str], FoundFact] = {}
    for line, sentence in reading.heard:
        for fact in _in_sentence(sentence, line):
            kept.setdefault((fact.kind, fact.value.casefold()), fact)
        if len(kept) >= MOST_FACTS:
            break
    return list(kept.values())[:MOST_FACTS]
