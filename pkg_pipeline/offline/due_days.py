"""The day by which a duty of a chat is due, and the line that names it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from pkg_pipeline.memory.gate.polarity import polarity
from pkg_pipeline.memory.text.language_data import in_any
from pkg_pipeline.offline.answers import burst_after
from pkg_pipeline.offline.dates import EXACT, PARTS_OF_DAY, FoundDate, before_event, due_among
from pkg_pipeline.offline.day_choice import day_of_event
from pkg_pipeline.offline.duties import TAKEN, Cue, Duty
from pkg_pipeline.offline.reading import Line, Reading, Sentence
from pkg_pipeline.offline.told_days import days_told

ANSWER_CHARS = 60
SHORT_WORDS = 6
BARE_DAY_WORDS = 5
"""A line of so many words with a day answers when."""
SPACELESS = 2
"""Chinese has so many words where other languages have one."""
ANSWER_AFTER = 2
THEN_REACH = 6
EVENT_REACH = 12
"""Lines before a duty that may name the day that "by then" means, or on which what is brought is needed."""
MOVED_REACH = 4
"""Lines after a day is named in which it may be refused and another one named."""


@dataclass(frozen=True, slots=True)
class Place:
    """A text that may name the day of a duty; ``role``: what it is to the duty."""

    text: str
    line: Line
    role: Literal["promise", "answer", "request", "beside"] = "beside"


@dataclass(frozen=True, slots=True)
class DueDay:
    """``line``: of the message that names the day."""

    day: date
    line: int


def due_of(reading: Reading, duty: Duty, before: Sentence | None) -> DueDay | None:
    """The last promise's day, else the answer's, the request's, that of what stands beside, or of what it is for.

    ``before``: what a bare promise answers.
    """
    named = named_with(reading, duty, before)
    if named is not None:
        return named
    event = day_of_event(reading, duty, _only_day(reading, duty.cues))
    return None if event is None else DueDay(event.day, event.line)


def named_with(reading: Reading, duty: Duty, before: Sentence | None) -> DueDay | None:
    """The day that the words of a duty name."""
    moved = _ahead_of_event(reading, duty) or _moved(reading, duty)
    if moved is not None:
        return moved
    first = next(_days(reading, _places(reading, duty, before)), None)
    if first is None:
        return None
    place, day = first
    if place.role in ("promise", "answer"):
        requests = (cue for cue in duty.cues if not cue.is_promise and cue.line.index != place.line.index)
        asked, wanted = next(_days(reading, (one for cue in requests for one in _of_cue(cue))), first)
        if wanted is not day and _says_again(place, day, wanted):
            return DueDay(wanted.day, asked.line.index)
    return DueDay(day.expected if place.role == "beside" else day.day, place.line.index)


def _days(reading: Reading, places: Iterable[Place]) -> Iterator[tuple[Place, FoundDate]]:
    """Places that name a day, with it."""
    for one in places:
        found = days_told(reading, one.line, one.text)
        day = due_among(found, one.text, one.line.language, one.line.day, is_own=one.role != "beside")
        if day is not None:
            yield one, day


def _says_again(place: Place, day: FoundDate, wanted: FoundDate) -> bool:
    """Whether an answer means the day asked for: "the 12th" - "in the morning"; "next Wednesday" - "by Wednesday then";
    "by the 31st" - "reading it tonight"; "by the 20th" - "I'll ask tomorrow".
    """
    if day.kind in PARTS_OF_DAY:
        return wanted.kind in EXACT
    if day.kind == "weekday" and wanted.day - day.day == timedelta(weeks=1):
        return True
    if not wanted.is_deadline or day.is_deadline or wanted.day < day.day:
        return False
    return (place.role == "answer" and day.day == place.line.day) or _any_text("step", place.text)


def _ahead_of_event(reading: Reading, duty: Duty) -> DueDay | None:
    """So long before the day named with it or before: "the 14th at 6" - "I'll send the questions a week before"."""
    for cue in reversed(duty.cues):
        told = before_event(cue.sentence.text, cue.line.language)
        if told is None:
            continue
        span, rest = told
        own = (Place(rest, cue.line), *_earlier(reading, cue.line.index, EVENT_REACH, cue))
        days = ((day.begins, one.line) for one in own for day in days_told(reading, one.line, one.text))
        day, line = next(((day, line) for day, line in days if day - span >= cue.line.day), (None, cue.line))
        if day is not None:
            return DueDay(day - span, line.index)
    return None


def _moved(reading: Reading, duty: Duty) -> DueDay | None:
    """The last day of those said instead: "by May. no, by April"; "on Thursday" - "I can't. Saturday?" - "Saturday"."""
    own = [cue for cue in duty.cues if days_told(reading, cue.line, cue.sentence.text)]
    if not own:
        return None
    line, cue = own[-1].line, own[-1]
    for one in line.sentences[cue.sentence.place + 1 : cue.sentence.place + 2]:
        found = days_told(reading, line, one.text) if _any_text("instead", one.text) else ()
        day = due_among(found, one.text, one.language, line.day)
        if day is not None:
            return DueDay(day.day, line.index)
    later = [one for one in reading.lines[line.index + 1 : line.index + 1 + MOVED_REACH] if not one.is_data]
    said = {found.day for found in days_told(reading, line, cue.sentence.text)}
    cannot = in_any("offline", "dates", "cannot")
    refusals = (
        (at, cannot.search(one.message.text)) for at, one in enumerate(later[:2]) if not _takes(reading, one, said)
    )
    at, refused = next(((at, found) for at, found in refusals if found), (0, None))
    if refused is None:
        return None
    then = [(refused.string[refused.end() :], later[at]), *((one.message.text, one) for one in later[at + 1 :])]
    days = [
        (found.day, one.index)
        for text, one in then
        for found in days_told(reading, one, text)
        if found.kind in EXACT and found.day >= line.day
    ]
    return DueDay(*days[-1]) if days else None


def _takes(reading: Reading, line: Line, days: Collection[date]) -> bool:
    """Whether a clause that refuses nothing names one of the days: "the 2nd then, after that I can't"."""
    clauses = in_any("offline", "dates", "clause").split(line.message.text)
    cannot = in_any("offline", "dates", "cannot")
    told = (one for one in clauses if one and cannot.search(one) is None)
    return any(found.day in days for one in told for found in days_told(reading, line, one))


def _places(reading: Reading, duty: Duty, before: Sentence | None) -> Iterator[Place]:
    cues = sorted(duty.cues, key=lambda cue: (not cue.is_promise, -cue.line.index))
    for cue in cues:
        if cue.is_promise:
            yield from _of_cue(cue)
    if duty.answer is not None and duty.request is not None and duty.answer.kind in TAKEN | {"other", "asked"}:
        burst = burst_after(reading, duty.request.line)
        yield from (Place(one.message.text, one, "answer") for one in burst if len(one.message.text) <= ANSWER_CHARS)
    for cue in cues:
        if not cue.is_promise:
            yield from _of_cue(cue)
    for cue in cues:
        near = (one for one in cue.line.sentences if abs(one.place - cue.sentence.place) == 1 and not _denies(one))
        yield from (Place(one.text, cue.line) for one in near if one.words <= SHORT_WORDS or not cue.is_promise)
    if before is not None:
        yield Place(before.text, reading.lines[before.line])
    yield from _around(reading, cues)


def _denies(sentence: Sentence) -> bool:
    """Whether a sentence says what is not so until a day: "no cards until March. bring cash"."""
    return polarity(sentence.text).denies


def _around(reading: Reading, cues: list[Cue]) -> Iterator[Place]:
    """What the talk says of the day elsewhere: "when?" - "friday", "by then", the day of the party it is for."""
    first, last = min(cue.line.index for cue in cues), max(cue.line.index for cue in cues)
    if _any(cues, "then"):
        yield from _earlier(reading, first, THEN_REACH, cues[0])
    for one in reading.lines[first + 1 : last + 1 + ANSWER_AFTER]:
        asked = reading.lines[one.index - 1].message.text
        if _is_bare_day(one) and in_any("offline", "dates", "when").search(asked):
            yield Place(one.message.text, one)


def _only_day(reading: Reading, cues: list[Cue]) -> date | None:
    """The only day named before who brings, makes or fetches something, or does it for or before something."""
    if not (_any(cues, "at_event") or _any(cues, "anchor")):
        return None
    named = [
        found
        for place in _earlier(reading, min(cue.line.index for cue in cues), EVENT_REACH, cues[0])
        for found in days_told(reading, place.line, place.text)
        if found.day >= place.line.day and not found.kind.startswith("part_of")
    ]
    days = {one.expected for one in named}
    return days.pop() if len(days) == 1 and all(one.kind in EXACT for one in named) else None


def _any(cues: list[Cue], words: str) -> bool:
    return any(_any_text(words, cue.sentence.text) for cue in cues)


def _any_text(words: str, text: str) -> bool:
    return in_any("offline", "dates", words).search(text) is not None


def _earlier(reading: Reading, first: int, reach: int, cue: Cue) -> Iterator[Place]:
    """What was said before, the last first."""
    own = (one for one in reversed(cue.line.sentences) if one.place < cue.sentence.place)
    yield from (Place(one.text, cue.line) for one in own)
    lines = (one for one in reversed(reading.lines[max(0, first - reach) : first]) if not one.is_data)
    yield from (Place(one.message.text, one) for one in lines)


def _is_bare_day(line: Line) -> bool:
    most = BARE_DAY_WORDS * (SPACELESS if line.language == "zh" else 1)
    return not line.is_data and sum(one.words for one in line.sentences) <= most


def _of_cue(cue: Cue) -> Iterator[Place]:
    """The clause that takes or hands out the duty ("the party is saturday, book a table today, he pays by friday"),
    that with what follows it, the whole sentence.
    """
    text = cue.sentence.text
    said = next((m for signal in cue.weighed.signals[:1] if (m := signal.pattern.search(text))), None)
    at = said.start() if said is not None else 0
    ends = list(in_any("offline", "dates", "clause").finditer(text))
    start = max((m.end() for m in ends if m.end() <= at + 1), default=0)
    end = min((m.start() for m in ends if m.start() > at), default=len(text))
    for piece in (text[start:end], text[start:], text):
        yield Place(piece, cue.line, "promise" if cue.is_promise else "request")
