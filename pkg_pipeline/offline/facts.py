"""Facts about participants: phones, e-mail addresses, birthdays, positions, addresses … with a confidence (P13).

Only what somebody says of themselves, or a contact that stands in the text. Confidence is that of the pattern;
whether a fact becomes known is decided elsewhere (B2).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pkg_pipeline.memory.records import Language, Person
from pkg_pipeline.offline.dates import find_dates
from pkg_pipeline.offline.phrases import phrases
from pkg_pipeline.offline.reading import Line, Reading, Sentence

MOST_FACTS = 30
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.)+[a-zA-Z]{2,24}(?![\w@])")
_HANDLE = re.compile(
    r"(?:telegram|telega|tg|телеграм\w*|телега|тг|ник|instagram|insta|skype)\W{0,3}(?P<value>@[A-Za-z][\w.]{3,31})",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d[\d\s().-]{5,}\d")
_OWN = re.compile(r"\b(?:my|me|i'?m|мой|моя|мне|меня|у меня)\b|我的|我", re.IGNORECASE)
_REGIONS: dict[Language, tuple[str, ...]] = {"ru": ("RU",), "zh": ("CN",), "en": ("US", "GB")}
EMAIL_CONFIDENCE, PHONE_CONFIDENCE, HANDLE_CONFIDENCE = 0.9, 0.85, 0.7
STRANGER_DISCOUNT = 0.25
"""A contact that nobody claims as their own may be anybody's."""


@dataclass(frozen=True, slots=True)
class FoundFact:
    """``about`` is None where the text does not say whose it is."""

    kind: str
    value: str
    about: Person | None
    confidence: float
    sentence: Sentence


def _phones(text: str, language: Language) -> list[str]:
    if not _DIGITS.search(text):
        return []
    import phonenumbers

    for region in _REGIONS[language]:
        found = [
            match.raw_string
            for match in phonenumbers.PhoneNumberMatcher(text, region, leniency=phonenumbers.Leniency.VALID)
        ]
        if found:
            return found
    return []


def _in_sentence(sentence: Sentence, line: Line) -> list[FoundFact]:
    text, person = sentence.text, line.speaker
    own = _OWN.search(text) is not None
    about, discount = (person, 0.0) if own else (None, STRANGER_DISCOUNT)
    found = [FoundFact("email", m.group(), about, EMAIL_CONFIDENCE - discount, sentence) for m in _EMAIL.finditer(text)]
    found += [
        FoundFact("phone", number, about, PHONE_CONFIDENCE - discount, sentence)
        for number in _phones(text, sentence.language)
    ]
    found += [
        FoundFact("handle", m["value"], about, HANDLE_CONFIDENCE - discount, sentence) for m in _HANDLE.finditer(text)
    ]
    for kind, pattern, sure in phrases(sentence.language).facts:
        for m in pattern.finditer(text):
            value = m["value"].strip(" ,.;:!—-，。")
            if not value or (kind == "birthday" and not find_dates(value, sentence.language, line.day)):
                continue
            found.append(FoundFact(kind, value[:300], person, sure, sentence))
    return found


def find_facts(reading: Reading) -> list[FoundFact]:
    """Facts in the order in which they were said, each value once, questions left out."""
    kept: dict[tuple[str, str], FoundFact] = {}
    for line in reading.lines:
        if line.is_data:
            continue
        for sentence in line.sentences:
            for fact in _in_sentence(sentence, line):
                kept.setdefault((fact.kind, fact.value.casefold()), fact)
                if len(kept) >= MOST_FACTS:
                    return list(kept.values())
    return list(kept.values())
