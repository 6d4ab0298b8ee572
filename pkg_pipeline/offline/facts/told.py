"""Facts told in words: addresses, jobs, employers, family, tastes (P13)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import dropwhile, pairwise, takewhile
from typing import Final

from pkg_pipeline.memory.gate.naming import names_in
from pkg_pipeline.memory.languages import entries
from pkg_pipeline.memory.text.name_forms import inflections
from pkg_pipeline.offline.facts.capitals import with_names
from pkg_pipeline.offline.facts.cases import is_possessor, plain_kin
from pkg_pipeline.offline.facts.contact_facts import own_words
from pkg_pipeline.offline.facts.found import FactKind, FoundFact
from pkg_pipeline.offline.facts.whose import UNSAID, Whose, antecedent, asked_before, by_name, last_marked, marked
from pkg_pipeline.offline.facts.words import Telling, any_cue, cue, says, tellings
from pkg_pipeline.offline.reading import MAX_MESSAGE_CHARS, Line, Reading, Sentence
from pkg_pipeline.offline.weighing import is_question

ANSWERED: Final[dict[FactKind, float]] = {"address": 0.92, "organization": 0.9, "position": 0.9}
ANSWER_WORDS: Final[dict[FactKind, int]] = {"address": 16, "organization": 6, "position": 6}
MOST_DIGITS: Final = 9
"""Of an address; more are a number to call or to pay to."""
UNSURE: Final = 0.05
"""Off for what is told of somebody who is not named there."""
LONGEST: Final = 90
"""Characters of a value."""
NEWS: Final = 0.9
_AT_WORK: Final = re.compile(r"$|[.,;!…)]| (?:at|for|with|in|from|в|во|на|по|с)\b")
_CLAUSE: Final = re.compile(r"[,;:.!—–，。；！]\s*|(?<=[\u4e00-\u9fff])\s+(?=[\u4e00-\u9fff])")
_NOT: Final = re.compile(r"(?:\b(?:не|not)|n['’]t)\s*$|[没不]$")
_QUOTES: Final = re.compile(r'["“”]')
_SUM: Final = re.compile(r"\d ?(?:元|块|€|₽|руб|p\b|£|%)|[$£€] ?\d")
_EDGES: Final = ' ,.;:!—–-，。；！、«»"“”()（）'


def told_in(line: Line, reading: Reading) -> Iterator[FoundFact]:
    """What the sentences of a message tell, questions and what is only imagined left out."""
    own = own_words(line.message.text[:MAX_MESSAGE_CHARS])
    for sentence in line.sentences:
        if sentence.text not in own or any_cue("code").search(sentence.text) or says("vocative", sentence.text):
            continue
        is_asked = is_question(sentence.text)
        named = replace(sentence, text=with_names(sentence.text, reading))
        for telling in tellings(sentence.language):
            if is_asked and not telling.is_given:
                continue
            for m in telling.pattern.finditer(named.text):
                if (fact := _fact(telling, m, named, line, reading)) is not None:
                    yield replace(fact, sentence=sentence)


def _fact(telling: Telling, m: re.Match[str], sentence: Sentence, line: Line, reading: Reading) -> FoundFact | None:
    text = sentence.text
    begins = max((cut.end() for cut in _CLAUSE.finditer(text, 0, m.start() + 1) if cut.end() <= m.start()), default=0)
    if not (telling.is_ended or telling.is_given) and cue(sentence.language, "unreal").search(text[begins : m.end()]):
        return None
    before = text[: m.start()]
    if cue(sentence.language, "imagined").search(before) or len(_QUOTES.findall(before)) % 2:
        return None
    value = None if not telling.is_ended and _NOT.search(before) else _value(telling, m)
    if value is None or (telling.kind == "organization" and is_place(value)):
        return None
    whose = _whose(telling, m, text[begins : m.start()], sentence, line, reading)
    if whose.person is None and whose.name is None:
        return None
    lines = range(max(0, line.index - 3), line.index + 1) if whose.way == "theirs" else (line.index,)
    return FoundFact(
        telling.kind,
        value,
        whose.person,
        telling.confidence - (UNSURE if whose.way == "theirs" and not _is_named_there(whose, line, telling) else 0.0),
        sentence,
        tuple(i for i in lines if not reading.lines[i].is_data),
        whose.name,
        telling.is_ended,
    )


def _is_named_there(whose: Whose, line: Line, telling: Telling) -> bool:
    """Whether who "he" or "she" is stands in the same message; for a taste that is not enough."""
    name = whose.name or (whose.person.name if whose.person else "")
    said = line.message.text.casefold().replace("ё", "е")
    return telling.kind != "preference" and name.split()[0].casefold().replace("ё", "е")[:3] in said


def _value(telling: Telling, m: re.Match[str]) -> str | None:
    groups = m.groupdict()
    value = (groups.get("value") or groups.get("value2") or "").strip(_EDGES)
    kin = (groups.get("relation") or groups.get("relation2") or "").lower()
    value = value if re.search(r"[)）]", value) else re.split(r"[(（]", value)[0].strip(_EDGES)
    if not value or len(value) > LONGEST:
        return None
    if kin and is_possessor(kin, value):
        return None
    value = (
        re.sub(r"^(?:во?|на) (?=[А-ЯЁа-яё«\"])", "", value) if telling.kind in ("address", "organization") else value
    )
    told = telling.form.format(kin=kin, value=value)
    told = plain_kin(told) if telling.kind == "family" and not telling.is_introduction else told
    age = re.search(r"\d{1,2}", groups.get("age") or "")
    return f"{told}, {age.group()}" if age else told


def _whose(telling: Telling, m: re.Match[str], lead: str, sentence: Sentence, line: Line, reading: Reading) -> Whose:
    groups = m.groupdict()
    if telling.is_introduction and groups.get("me"):
        found = by_name(groups["me"], reading, line.language)
        return Whose("own", line.speaker) if found.person in (None, line.speaker) else UNSAID
    if telling.kind == "address" and (received := cue(line.language, "recipient").search(line.message.text)):
        return by_name(received["who"], reading, line.language)
    if kin := groups.get("kin"):
        return Whose("named", None, kin.lower())
    if groups.get("who"):
        return _named(groups["who"], m.start("who"), sentence, reading)
    if groups.get("he"):
        return antecedent(line, _said_before(sentence, m.start("he"), line), reading, groups["he"])
    if groups.get("you"):
        person = reading.addressee(line)
        return UNSAID if person is None else Whose("yours", person)
    if cue(sentence.language, "third_verb").search(m.group()):
        found = last_marked(lead, line, reading)
        before = _said_before(sentence, m.start(), line)
        return found if found.way == "named" else antecedent(line, before, reading)
    if telling.kind != "family" and not any_cue("mine").search(m.group()):
        found = last_marked(lead, line, reading)
        if found.way in ("named", "theirs"):
            return found
    return Whose("own", line.speaker)


def _said_before(sentence: Sentence, place: int, line: Line) -> str:
    """What a message says before a place of one of its sentences."""
    text = line.message.text
    return text[: max(0, text.casefold().find(sentence.text.casefold()))] + sentence.text[:place]


def _named(word: str, start: int, sentence: Sentence, reading: Reading) -> Whose:
    """Somebody named, if the word is a name there."""
    language = sentence.language
    if cue(language, "no_name").match(word):
        return UNSAID
    kin = re.fullmatch(cue(language, "kin_alone").pattern, word, re.IGNORECASE)
    if kin:
        return Whose("named", None, word.lower())
    people = reading.source.participants
    end = start + len(word)
    if language == "zh" or any(one.start < end and start < one.end for one in names_in(sentence.text, people)):
        return by_name(word, reading, language)
    return UNSAID


def answers_in(line: Line, reading: Reading) -> Iterator[FoundFact]:
    """Short answers to a question for an address, an employer, a job."""
    if len(line.sentences) != 1 or is_question(line.sentences[0].text):
        return
    [sentence] = line.sentences
    for kind, sure in ANSWERED.items():
        if sentence.words > ANSWER_WORDS[kind] or any_cue("no_answer").match(sentence.text):
            continue
        whose = asked_before(kind, line, reading) if _is_next(f"asks_{kind}", line, reading) else UNSAID
        digits = sum(map(str.isdigit, sentence.text))
        is_address = kind != "address" or 0 < digits <= MOST_DIGITS
        if not is_address or (whose.person is None and whose.name is None):
            continue
        value = cue(sentence.language, "lead_of_answer").sub("", sentence.text).strip(_EDGES)
        if value and not _SUM.search(value):
            lines = tuple(range(max(0, line.index - 3), line.index + 1))
            yield FoundFact(kind, value[:LONGEST], whose.person, sure, sentence, lines, whose.name)


def _is_next(asks: str, line: Line, reading: Reading) -> bool:
    """Whether who asks was the last other one to write before a line; later it is answered already."""
    before = list(reversed(reading.lines[: line.index]))
    others = list(dropwhile(lambda one: one.speaker == line.speaker, before))
    asking = takewhile(lambda one: one.speaker != line.speaker, others)
    return any(says(asks, one.message.text) or says("asks_back", one.message.text) for one in asking)


def news_in(line: Line, reading: Reading) -> Iterator[FoundFact]:
    """The trade that stands alone right behind the news of a job: "got a job!! barista at Kettle"."""
    for before, sentence in pairwise(line.sentences):
        m = cue(sentence.language, "job_piece").match(sentence.text)
        if m is None or is_question(before.text) or not says("job_news", before.text):
            continue
        rest = sentence.text[m.end() :]
        named = any(mark.whose.way in ("named", "theirs") for mark in marked(before.text, line, reading))
        if not named and _AT_WORK.match(rest) and not cue(sentence.language, "unreal").search(before.text):
            yield FoundFact("position", m.group(), line.speaker, NEWS, sentence, (line.index,))


def is_place(value: str) -> bool:
    return value.casefold().replace("ё", "е") in _places()


@cache
def _places() -> frozenset[str]:
    names = {word for _, rows in entries("people", "places") for row in rows for word in row.split()}
    return frozenset(form for name in names for form in inflections(name))
