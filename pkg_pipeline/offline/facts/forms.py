"""Contact cards and filled-in forms: rows that each say what they hold, under somebody's name (P13)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from pkg_pipeline.memory.gate.fact_values import day_of
from pkg_pipeline.offline.dates import find_dates
from pkg_pipeline.offline.facts.contact_facts import own_words
from pkg_pipeline.offline.facts.contacts import contacts_in
from pkg_pipeline.offline.facts.found import FactKind, FoundFact, sentence_at
from pkg_pipeline.offline.facts.whose import Whose, by_name, role_in
from pkg_pipeline.offline.facts.words import any_cue, cue
from pkg_pipeline.offline.reading import MAX_MESSAGE_CHARS, Line, Reading

SURE: Final = 0.95
LEAST_ROWS: Final = 2
LONGEST: Final = 90
_CONTACTS: Final[tuple[FactKind, ...]] = ("phone", "email")
_WORDS: Final[tuple[FactKind, ...]] = ("position", "organization", "address")
_ROW: Final = r"^[ \t•·*-]*(?:{key})(?:;[\w=;,]*)?[ \t]*[:：][ \t]*(?P<value>\S.*?)[ \t]*$"
"""A row, also of a vCard, whose keys carry their parameters."""
_PLAIN_DAY: Final = re.compile(r"((?:19|20)\d\d)-?(\d\d)-?(\d\d)")


class _Row(NamedTuple):
    start: int
    value: str


def form_facts(line: Line, reading: Reading, countries: Sequence[str]) -> list[FoundFact]:
    """What a message in the form of a card tells; nothing where it has no such form."""
    text = own_words(line.message.text[:MAX_MESSAGE_CHARS])
    names = _rows("name", text)
    kinds: tuple[FactKind, ...] = (*_CONTACTS, *_WORDS, "birthday")
    found: dict[FactKind, list[_Row]] = {kind: rows for kind in kinds if (rows := _rows(kind, text))}
    if len(names) != 1 or sum(map(len, found.values())) < LEAST_ROWS:
        return []
    whose = by_name(_unfolded(names[0].value, " "), reading, line.language)
    lead = text[: min([names[0].start, *(row.start for rows in found.values() for row in rows)])]
    told = [
        *_valued(found, line, countries),
        *(() if "position" in found else _announced(lead, line)),
    ]
    return [fact for kind, value, start in told if (fact := _fact(kind, value, start, whose, line)) is not None]


def _rows(kind: str, text: str) -> list[_Row]:
    pattern = re.compile(_ROW.format(key=any_cue(f"card_{kind}").pattern), re.IGNORECASE | re.MULTILINE)
    return [_Row(m.start("value"), m["value"]) for m in pattern.finditer(text)]


def _valued(
    found: dict[FactKind, list[_Row]], line: Line, countries: Sequence[str]
) -> Iterator[tuple[FactKind, str, int]]:
    for kind, rows in found.items():
        for row in rows:
            if kind in _CONTACTS:
                for one in contacts_in(row.value, line.language, countries):
                    if one.kind == kind:
                        yield kind, one.value, row.start
            elif kind == "birthday":
                if (day := _day(row.value, line)) is not None:
                    yield kind, day, row.start
            elif len(row.value) <= LONGEST:
                yield kind, _unfolded(row.value, ", "), row.start


def _announced(lead: str, line: Line) -> Iterator[tuple[FactKind, str, int]]:
    """What whoever sends the card calls its owner: "the contact of our bookkeeper"."""
    if (role := role_in(lead, line.language)) is not None:
        yield "position", role, 0


def _unfolded(value: str, by: str) -> str:
    """The parts of a value of a vCard in one."""
    return by.join(filter(None, (part.strip() for part in re.split(r"\\?[;,]", value)))) if ";" in value else value


def _day(value: str, line: Line) -> str | None:
    if m := _PLAIN_DAY.fullmatch(value):
        told = "-".join(m.groups())
    else:
        days = find_dates(value, line.language, line.day)
        if len(days) != 1:
            return None
        year = re.search(r"(?:19|20)\d\d", value)
        told = f"{days[0].day:%m-%d}" if year is None else f"{year.group()}-{days[0].day:%m-%d}"
    return told if day_of(told) is not None else None


def _fact(kind: FactKind, value: str, start: int, whose: Whose, line: Line) -> FoundFact | None:
    sentence = sentence_at(line, start)
    if sentence is None or (whose.person is None and whose.name is None):
        return None
    if whose.name is not None and cue(line.language, "no_name").match(whose.name):
        return None
    return FoundFact(kind, value, whose.person, SURE, sentence, (line.index,), whose.name)
