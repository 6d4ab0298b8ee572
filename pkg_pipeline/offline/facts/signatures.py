"""Signatures of letters (P13)."""

from __future__ import annotations

from typing import Final

from pkg_pipeline.memory.gate.naming import name_keys
from pkg_pipeline.memory.gate.people import find_person
from pkg_pipeline.memory.records import Person
from pkg_pipeline.offline.facts.words import any_cue
from pkg_pipeline.offline.reading import Line

SIGNED_LINES: Final = 6
"""Lines at the end of a letter in which contacts are the sender's."""
NAME_WORDS: Final = 4


def is_signed(line: Line, start: int) -> bool:
    """Whether a place is in the signature of a letter: after its closing words, or under the sender's name."""
    rows = line.message.text[:start].split("\n")
    if len(rows) < 3:
        return False
    return any(any_cue("signature").match(row) or is_name_of(row, line.speaker) for row in rows[-SIGNED_LINES:])


def is_name_of(row: str, person: Person) -> bool:
    """Whether a row is only somebody's name, also where they are listed by their first name and their firm."""
    name = row.strip(" ,.—-")
    if not name or len(name.split()) > NAME_WORDS:
        return False
    first, listed = name.split()[0], person.name.split()[0]
    is_first = len(name.split()) > 1 and first.istitle() and bool(name_keys(first) & name_keys(listed))
    return is_first or find_person(name, (person,)) is not None
