"""Whether a question asks for a time, and the events it refers to ("before the vacation")."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pkg_pipeline.memory.languages import COMMON, LANGUAGES, table
from pkg_pipeline.memory.periods.words import expression

Direction = Literal["before", "after", "during"]
MOST_EVENT_WORDS: Final = 6
_MOST_EVENT_LETTERS = 120
_MOST_HAN_LETTERS = 14


@dataclass(frozen=True, slots=True)
class EventRelation:
    """The answer lies before, after or during ``event``, at ``question[text_start:text_end]``."""

    direction: Direction
    event: str
    text_start: int
    text_end: int


def asks_for_a_time(text: str) -> bool:
    """Whether the question asks for a time; "What did I eat when I was in Rome" does not."""
    return any(
        expression(language, "events", "asks").search(text)
        or any(_is_asked(text, m, language) for m in expression(language, "events", "asks_opening").finditer(text))
        for language in LANGUAGES
    )


def _is_asked(text: str, m: re.Match[str], language: str) -> bool:
    is_clause = expression(language, "events", "clause").match(text, m.end()) is not None
    if "asks_behind" not in table(language, "periods")["events"]:
        return not is_clause
    before = text[max(0, m.start() - 24) : m.start()]
    if before.rstrip().endswith(","):
        return expression(language, "events", "asks_behind").search(before) is not None
    return not is_clause or bool(before.strip())


def find_relations(text: str, taken: Sequence[tuple[int, int]]) -> tuple[EventRelation, ...]:
    """The events after "before", "во время" or ahead of 之后, in order; ``taken``: spans of periods."""
    places = sorted(taken)
    starts = [start for start, _ in places]
    found: list[EventRelation | None] = []
    for language in LANGUAGES:
        after, before = expression(language, "events", "named_after"), expression(language, "events", "named_before")
        found += [_after_word(text, m, places, starts, language) for m in after.finditer(text)]
        found += [_before_word(text, m, places, starts, language) for m in before.finditer(text)]
    found += _when_clauses(text)
    return tuple(sorted(filter(None, found), key=lambda relation: relation.text_start))


def _inside(places: list[tuple[int, int]], starts: list[int], at: int) -> bool:
    index = bisect_right(starts, at)
    return index > 0 and places[index - 1][1] > at


def _after_word(
    text: str, m: re.Match[str], places: list[tuple[int, int]], starts: list[int], language: str
) -> EventRelation | None:
    direction = m.lastgroup
    word = m.group().lower().split()[0]
    if direction not in ("before", "after", "during") or _inside(places, starts, m.start()):
        return None
    if word in ("до", "раньше") and expression(language, "events", "way").search(
        text[max(0, m.start() - 32) : m.start()]
    ):
        return None
    if (
        word == "since"
        and not text[: m.start()][-40:].strip()
        and expression(language, "events", "clause").match(" " + text[m.end() : m.end() + 200])
    ):
        return None  # "since I like tea, …" is causal
    stop = m.end() + _MOST_EVENT_LETTERS
    index = bisect_right(starts, m.end())
    if index < len(starts):
        stop = min(stop, starts[index])
    relation = _event(text, direction, m.end(), stop)
    if (
        relation is not None
        and word == "перед"
        and expression(language, "events", "in_front_of").match(relation.event.split()[0])
    ):
        return None
    return relation


def _event(text: str, direction: Direction, start: int, stop: int) -> EventRelation | None:
    window = text[start:stop]
    cut = expression(COMMON, "events", "cuts").search(window)
    words = list(re.finditer(r"\S+", window[: cut.start()] if cut else window))[:MOST_EVENT_WORDS]
    if not words or expression(COMMON, "events", "no_event").match(words[0].group()):
        return None
    first, last = words[0].start(), words[-1].end()
    return EventRelation(direction, window[first:last], start + first, start + last)


def _before_word(
    text: str, m: re.Match[str], places: list[tuple[int, int]], starts: list[int], language: str
) -> EventRelation | None:
    direction = m.lastgroup
    if direction not in ("before", "after", "during") or _inside(places, starts, m.start()):
        return None
    start = max(0, m.start() - _MOST_HAN_LETTERS)
    index = bisect_right(starts, m.start())
    if index:
        start = max(start, places[index - 1][1])
    for cut in ("cut", "head", "head"):
        if head := expression(language, "events", cut).match(text[start : m.start()]):
            start += head.end()
    event = text[start : m.start()]
    if expression(language, "events", "no_event").fullmatch(event) or event.endswith(("什么", "那", "有")):
        return None
    return EventRelation(direction, event, start, m.start())


def _when_clauses(text: str) -> list[EventRelation]:
    """During "… when I was in Rome", unless the question asks for the time itself."""
    if asks_for_a_time(text):
        return []
    clauses = (m for one in LANGUAGES for m in expression(one, "events", "subordinate").finditer(text))
    return [found for m in clauses if (found := _event(text, "during", m.end(), m.end() + _MOST_EVENT_LETTERS))]
