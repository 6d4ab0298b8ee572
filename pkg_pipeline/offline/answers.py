"""How people answer what they are asked or offered, and what only sounds like a duty (``asides.toml``)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from pkg_pipeline.memory.records import Language, Person
from pkg_pipeline.memory.text.language_data import pattern, table
from pkg_pipeline.offline.dates import find_dates
from pkg_pipeline.offline.phrases import mark, phrases
from pkg_pipeline.offline.reading import Line, Reading, Sentence, terms_of
from pkg_pipeline.offline.weighing import is_question

REACH = 4
"""Lines of others in which an answer is looked for."""
BURST = 3
"""Lines of one speaker in a row that make one answer."""

BARE_TERMS = 1
"""At most so many content words: a sentence does not say by itself what it speaks of."""
RICH_TERMS = 3
BEFORE = 4
"""Lines before a sentence of few words in which what it answers is looked for."""

NUMBER = re.compile(r"\d{2,}|\d[.,]\d")
COURTESIES = frozenset({"care", "phatic", "thanks", "wish"})

AnswerKind = Literal[
    "promised", "consented", "accepted", "refused", "already", "done", "file", "asked", "thanked", "other"
]


@cache
def _patterns(language: Language) -> dict[str, re.Pattern[str]]:
    return {name: pattern(text) for name, text in table("offline", language, "asides")["patterns"].items()}


def aside(name: str, text: str, language: Language) -> bool:
    """Whether a text holds the named aside of its language, or of English, since people mix them."""
    own = _patterns(language)[name].search(text) is not None
    return own or (language != "en" and name in {"laughter"} and _patterns("en")[name].search(text) is not None)


@lru_cache(maxsize=4096)
def asides(text: str, language: Language) -> frozenset[str]:
    return frozenset(name for name in _patterns(language) if aside(name, text, language))


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """How the next speaker answered; ``line``: the first line that says so, ``text``: all of the burst."""

    kind: AnswerKind
    line: Line
    text: str


def burst_after(reading: Reading, line: Line, by: Person | None = None) -> list[Line]:
    """The lines in a row of the next other speaker (of ``by``, if given) soon after ``line``."""
    found: list[Line] = []
    others = 0
    for later in reading.lines[line.index + 1 :]:
        if later.speaker.entity_id == line.speaker.entity_id:
            if found:
                break
            continue
        if by is not None and later.speaker.entity_id != by.entity_id:
            others += 1
            if found or others > REACH:
                break
            continue
        if found and later.speaker.entity_id != found[0].speaker.entity_id:
            break
        found.append(later)
        if len(found) == BURST:
            break
    return found


def answer_to(reading: Reading, line: Line, by: Person | None = None) -> AnswerLine | None:
    """How ``line`` was answered by the next other speaker, or by ``by``; None without an answer."""
    burst = burst_after(reading, line, by)
    if not burst:
        return None
    text = " ".join(one.message.text for one in burst)
    for one in burst:
        kind = _kind(one)
        if kind not in {"other", "thanked"}:
            return AnswerLine(kind, one, text)
    return AnswerLine(_kind(burst[0]), burst[0], text)


def _kind(line: Line) -> AnswerKind:
    if line.message.attachments:
        return "file"
    if not line.sentences:
        return "other"
    table, first = phrases(line.language), line.sentences[0].text
    whole = " ".join(s.text for s in line.sentences[:2])
    if aside("already", first, line.language):
        return "already"
    if aside("refusal", first, line.language):
        return "refused"
    accepts = aside("acceptance", first, line.language) or table.acceptance.search(first) is not None
    if table.promise.search(whole):
        return "promised"
    if table.consent.search(whole) and not is_question(first):
        return "consented"
    if table.done.search(whole) and not is_question(whole):
        return "done"
    if accepts:
        return "accepted"
    if is_question(line.message.text):
        return "asked"
    return "thanked" if aside("thanks", first, line.language) else "other"


def says_little(sentence: Sentence, line: Line) -> bool:
    """Whether a sentence has one word or none beside what says when: nobody understands it without what it answers."""
    if len(sentence.terms) <= BARE_TERMS:
        return True
    rest = sentence.text
    while found := find_dates(rest, sentence.language, line.day):  # "this week, by Sunday": one hides the other
        rest = f"{rest[: found[-1].start]} {rest[found[-1].end :]}"
    return len(terms_of(rest, sentence.language)) <= BARE_TERMS


def says_what(sentence: Sentence, line: Line) -> bool:
    """Whether a sentence names something that can be fixed: a number, a day, an hour."""
    return (
        NUMBER.search(sentence.text) is not None
        or mark("clock").search(sentence.text) is not None
        or any(found.day >= line.day for found in find_dates(sentence.text, sentence.language, line.day))
    )


def said_before(reading: Reading, line: Line) -> Sentence | None:
    """What a line of few words answers: the richest sentence of the last line of another that says something."""
    for earlier in reversed(reading.lines[max(0, line.index - BEFORE) : line.index]):
        if earlier.speaker.entity_id == line.speaker.entity_id or earlier.is_data:
            continue
        if said := [s for s in earlier.sentences if s.terms and not asides(s.text, s.language) & COURTESIES]:
            return max(said, key=lambda s: (min(len(s.terms), RICH_TERMS), s.place))
    return None
