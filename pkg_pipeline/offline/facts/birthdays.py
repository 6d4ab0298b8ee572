"""Birthdays: a word for them beside one day, whose by who is named there; wishes on the day itself (P13)."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import Final

from pkg_pipeline.memory.text.name_forms import is_also_a_word
from pkg_pipeline.offline.dates import FoundDate, find_dates
from pkg_pipeline.offline.facts.found import FoundFact
from pkg_pipeline.offline.facts.whose import UNSAID, Whose, antecedent, asked_before, by_name, marked, role_in
from pkg_pipeline.offline.facts.words import any_cue, cue, says
from pkg_pipeline.offline.reading import MAX_MESSAGE_CHARS, Line, Reading, Sentence
from pkg_pipeline.offline.weighing import is_question

TOLD: Final = 0.93
WISHED: Final = 0.91
ANSWERED: Final = 0.93
BARE_WORDS: Final = 9
SPOKEN_OF: Final = 6
"""Messages within which a day without its month is of the same month."""
TAG_WORDS: Final = 4
LOOSE: Final = ("in_days", "weekday", "span")
_CLOCK: Final = re.compile(r"\d ?(?:am|pm)\b|\d[:.]\d\d|\bat \d|\bв \d|[\d一二三四五六七八九十]点", re.IGNORECASE)
"""A time of day: what is told is a party."""
_HOUR: Final = re.compile(r"\b\d{1,2}[.:]\d\d ?[ap]m\b", re.IGNORECASE)
"""An hour that looks like a day ("born 3.12am")."""
_APART: Final = re.compile(r"[,;.!?，。；！？]|(?<=[\u4e00-\u9fff])\s+(?=[\u4e00-\u9fff])")
"""Between clauses."""
_CLAUSES: Final = re.compile(r", |，|(?<=[\u4e00-\u9fff])\s+(?=[\u4e00-\u9fff])")
_NAME_FIRST: Final = re.compile(r"\W*(?P<who>[A-ZА-ЯЁ][a-zа-яё]{2,})\b")
_LUNAR: Final = re.compile("[农農阴陰旧舊][历曆]|lunar", re.IGNORECASE)
"""A day of another calendar is another day each year."""
_BORN: Final = re.compile(r"\bborn\b|родил|出生", re.IGNORECASE)
_BEGINS: Final = re.compile(r"\W*\d")
"""A day that stands in a sentence of its own ("mum's 70th. 14 Nov")."""
_WHO: Final = re.compile(r"(?:^|[.!?,] |\b(?:and|that|и|что) )(?P<who>[A-ZА-ЯЁ][a-zа-яё]{2,})(?:['’]s)? ?$")
"""A name that no list has, right before what tells of an age."""
_IN_A_LIST: Final = re.compile(
    r"\W*(?P<who>[A-ZА-ЯЁ][\w'’-]+(?: [A-ZА-ЯЁ][\w'’-]+){0,2}|[\u4e00-\u9fff]{2,4}?)"
    r"(?:[\s,:，：—–-]|\b(?:born|dob|on|родил(?:ся|ась)|д\.?р\.?)\b|生日|出生)+"
)
"""A name before a day, with nothing else between them than a word for birth."""
_YEAR: Final = re.compile(r"\W{0,3}(?:of |в )?(?P<year>(?:19|20)\d\d)\b")
_YEAR_BEFORE: Final = re.compile(r"(?P<year>(?:19|20)\d\d)\W?年?$")


def birthdays_in(line: Line, reading: Reading) -> Iterator[FoundFact]:
    for sentence in line.sentences:
        if is_question(_without_tag(any_cue("reminds").sub("", any_cue("asks_back").sub("", sentence.text)))):
            continue
        ways = (_listed, _told, _wished, _answered)
        found = next((fact for way in ways if (fact := way(sentence, line, reading)) is not None), None)
        if found is not None:
            yield found


def _without_tag(text: str) -> str:
    """A sentence without the short question behind its last comma ("60 on 20 March, are you coming?")."""
    *parts, tag = _CLAUSES.split(text)
    told = text[: len(text) - len(tag)].rstrip(" ,，") if parts else ""
    is_told = any(map(str.isdigit, told)) and len(tag.split()) <= TAG_WORDS and not any(map(str.isdigit, tag))
    return told if is_told else text


def _listed(sentence: Sentence, line: Line, reading: Reading) -> FoundFact | None:
    """A name and a day with its year where days of birth were asked for: a row of a list, a form that is filled in."""
    text = sentence.text
    asked = reading.lines[max(0, line.index - SPOKEN_OF) : line.index]
    days = [one for one in find_dates(text, line.language, line.day) if not one.is_deadline]
    name = _name_before(text[: days[0].start], line) if days else None
    if name is None or not any(says("asks_birthday", one.message.text) for one in asked):
        return None
    value, whose = _value(days[0], text), by_name(name, reading, line.language)
    is_called = whose.person is None or whose.person.name.startswith(name)
    return _fact(value, whose, ANSWERED, sentence, line) if len(value) > len("mm-dd") and is_called else None


def _name_before(lead: str, line: Line) -> str | None:
    found = _IN_A_LIST.fullmatch(lead)
    return None if found is None or cue(line.language, "no_name").match(found["who"]) else found["who"]


def _told(sentence: Sentence, line: Line, reading: Reading) -> FoundFact | None:
    text = sentence.text
    said = cue(line.language, "birthday").search(text)
    after = next((one for one in line.sentences if one.place == sentence.place + 1), None)
    whole = sentence
    if said is not None and after is not None and not find_dates(text, line.language, line.day):
        text = f"{text} {after.text}" if _BEGINS.match(after.text) else text
        whole = replace(sentence, text=text)
    text = _HOUR.sub(lambda hour: " " * len(hour.group()), text)
    whole = replace(whole, text=text)
    is_feast = cue(line.language, "feast").search(text) is not None and not any_cue("on_the_day").search(text)
    if said is None or is_feast or cue(line.language, "wished").match(text):
        return None
    day = None if _LUNAR.search(text) else _only_day(whole, line, reading, said.span())
    if day is None or cue(line.language, "unreal").search(_APART.split(text[: said.start()])[-1]):
        return None
    whose = _nearest(text, said.span(), line, reading)
    if whose.way == "own" and _BORN.match(text.strip()) and (child := _just_named(sentence, line)) is not None:
        whose = by_name(child, reading, line.language)  # "Ivy arrived!! born on 7 May"
    if whose.person is None and (whose.name is None or role_in(f"the {whose.name}", line.language)):
        return None
    if whose.way == "own" and day.kind in LOOSE and _BORN.search(text):
        return None  # nobody who writes was born yesterday
    return _fact(_value(day, text), whose, TOLD, sentence, line)


def _just_named(sentence: Sentence, line: Line) -> str | None:
    """The name with which the sentence before begins."""
    before = next((one for one in line.sentences if one.place == sentence.place - 1), None)
    named = _NAME_FIRST.match(before.text) if before is not None else None
    return None if named is None or cue(line.language, "no_name").match(named["who"]) else named["who"]


def _only_day(
    sentence: Sentence, line: Line, reading: Reading, said: tuple[int, int] | None = None
) -> FoundDate | None:
    """The only day that a sentence names exactly, or the only one in the clause of the word ``said`` for a birthday;
    without its month it is of the month named before it, there or just before.
    """
    dates = _of_months(find_dates(sentence.text, line.language, line.day))
    found = [_in_its_month(one, line, reading) for one in dates]
    vague = cue(line.language, "vague_day")
    around = [_APART.split(sentence.text[max(0, one.start - 8) : one.start])[-1] + " " for one in found]
    around = [near + sentence.text[one.start : one.end] for near, one in zip(around, found, strict=True)]
    exact = [one for one, near in zip(found, around, strict=True) if not vague.search(near) and not one.is_deadline]
    if any(one.kind not in LOOSE for one in exact):
        exact = found = [one for one in exact if one.kind not in LOOSE]
    if any(one.kind in LOOSE for one in exact) and _CLOCK.search(sentence.text):
        return None
    if said is not None and len({one.day for one in exact}) > 1:
        gaps = [sentence.text[min(one.end, said[1]) : max(one.start, said[0])] for one in exact]
        exact = found = [one for one, gap in zip(exact, gaps, strict=True) if not _APART.search(gap)]
    return exact[0] if len({one.day for one in exact}) == 1 and len(exact) == len(found) else None


def _of_months(found: Sequence[FoundDate]) -> list[FoundDate]:
    """Days with the month that is named before them ("in June, the 21st")."""
    kept: list[FoundDate] = []
    for one in found:
        if one.kind == "year_end":
            continue  # "this year"
        if kept and kept[-1].kind == "named_month" and one.kind == "day_of_month":
            month = kept.pop()
            last = monthrange(month.day.year, month.day.month)[1]
            day = month.day.replace(day=min(one.day.day, last))
            one = replace(one, day=day, start=month.start, kind="day_and_month")
        kept.append(one)
    return kept


def _in_its_month(found: FoundDate, line: Line, reading: Reading) -> FoundDate:
    if found.kind != "day_of_month":
        return found
    for before in reversed(reading.lines[max(0, line.index - SPOKEN_OF) : line.index]):
        for one in find_dates(before.message.text[:MAX_MESSAGE_CHARS], before.language, before.day):
            if one.kind == "day_and_month" and one.day.day == found.day.day:
                return replace(found, day=one.day)
    return found


def _nearest(text: str, said: tuple[int, int], line: Line, reading: Reading) -> Whose:
    """Who is named last before the word for a birthday, else first after it, else who speaks."""
    marks = marked(text, line, reading)
    stranger = _WHO.search(text[: said[0]])
    if stranger is not None and not marks and not is_also_a_word(stranger["who"].casefold()):
        return by_name(stranger["who"], reading, line.language)
    before = [mark for mark in marks if mark.place <= said[1]]
    after = [mark for mark in marks if mark.place > said[1]]
    chosen = before[-1].whose if before else after[0].whose if after else Whose("own", line.speaker)
    if chosen.way == "theirs":
        named = [mark.whose for mark in before if mark.whose.way == "named"]
        return named[-1] if named else antecedent(line, "", reading)
    return chosen


def _wished(sentence: Sentence, line: Line, reading: Reading) -> FoundFact | None:
    """A wish is said on the day, to whom it is said."""
    text = sentence.text
    said = any_cue("wished").match(text)
    if said is None or cue(line.language, "wished_other").search(line.message.text):
        return None
    named = [mark.whose for mark in marked(text, line, reading) if mark.whose.way == "named"]
    if any(who.person is None for who in named):
        return None
    others = reading.others_than(line.speaker)
    person = named[0].person if named else others[0] if len(others) == 1 else None
    if person is None or person == line.speaker:
        return None
    return _fact(f"{line.day:%m-%d}", Whose("yours", person), WISHED, sentence, line)


def _answered(sentence: Sentence, line: Line, reading: Reading) -> FoundFact | None:
    if len(line.sentences) > 2 or sentence.words > BARE_WORDS:
        return None
    if any(says("birthday", one.text) and not is_question(one.text) for one in line.sentences):
        return None  # the other day is of something else
    day = _only_day(sentence, line, reading)
    whose = asked_before("birthday", line, reading) if day is not None else UNSAID
    if day is None or (whose.person is None and whose.name is None):
        return None
    if whose.person == line.speaker and _name_before(sentence.text[: day.start], line) is not None:
        return None
    return _fact(_value(day, sentence.text), whose, ANSWERED, sentence, line, back=3)


def _value(found: FoundDate, text: str) -> str:
    """The day, with the year of birth where one is said."""
    after, before = _YEAR.match(text[found.end :]), _YEAR_BEFORE.search(text[: found.start])
    inside = re.search(r"(?:19|20)\d\d", text[found.start : found.end])
    year = after["year"] if after else before["year"] if before else inside.group() if inside else None
    told: date = found.day
    return f"{told:%m-%d}" if year is None else f"{year}-{told:%m-%d}"


def _fact(value: str, whose: Whose, sure: float, sentence: Sentence, line: Line, *, back: int = 0) -> FoundFact:
    back = 3 if whose.way == "theirs" else back
    lines = tuple(range(max(0, line.index - back), line.index + 1))
    return FoundFact("birthday", value, whose.person, sure, sentence, lines, whose.name)
