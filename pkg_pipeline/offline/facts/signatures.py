"""Signatures of letters (P13)."""

from __future__ import annotations

from typing import Final

from pkg_pipeline.memory.gate.people import find_person
from pkg_pipeline.offline.facts.words import any_cue
from pkg_pipeline.offline.reading import Line

SIGNED_LINES: Final = 6
"""Lines at the end of a letter in which contacts are the sender's."""


def is_signed(line: Line, start: int) -> bool:
    """Whether a place is in the signature of a letter: after its closing words, or under the sender's name."""
    rows = line.message.text[:start].split("\n")
    if len(rows) < 3:
        return False
    for row in rows[-SIGNED_LINES:]:
        if any_cue("signature").match(row) or (
            row.strip() and len(row.split()) <= 4 and find_person(row.strip(" ,.—-"), (line.speaker,)) is not None
        ):
            return True
    return False
