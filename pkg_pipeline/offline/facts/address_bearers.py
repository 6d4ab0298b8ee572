"""Whose an address is that is known by its shape (P13)."""

from __future__ import annotations

import re
from typing import Final

from pkg_pipeline.offline.facts.cases import called_kin
from pkg_pipeline.offline.facts.signatures import is_signed
from pkg_pipeline.offline.facts.whose import UNSAID, Whose, asked_before, by_name, last_marked
from pkg_pipeline.offline.facts.words import any_cue, cue, says
from pkg_pipeline.offline.reading import Line, Reading

_ENDED: Final = re.compile(r"[.!?]\s|[。！？]|\n")


PLACE_BEFORE: Final = 12
"""Messages within which somebody was asked for a place to eat, to stay or to see."""


def is_of_a_place(line: Line, reading: Reading) -> bool:
    """Whether who writes tells of places that are asked for: what they give of one is not theirs."""
    if any_cue("mine").search(line.message.text):
        return False
    before = reading.lines[max(0, line.index - PLACE_BEFORE) : line.index]
    return any(one.speaker != line.speaker and says("asks_place", one.message.text) for one in before)


def of_address(span: tuple[int, int, int, int], line: Line, reading: Reading) -> Whose:
    """By who receives there, whose it is called, whose was asked for, who is named before it; else its sender's.

    Names behind an address and trades beside it say nothing: a courier, a door, a shop next to it.
    """
    text = line.message.text
    before, start, end, _ = span
    lead, tail = text[before:start], text[end:]
    if is_signed(line, start) or any_cue("closes").search(lead):
        return Whose("signed", line.speaker)
    received = cue(line.language, "received_by").search(tail) or cue(line.language, "recipient").search(text)
    if received is not None and (named := by_name(received["who"], reading, line.language)).person is None:
        return Whose("labelled", None, named.name)
    near = _ENDED.split(lead)[-1]
    if (of := cue(line.language, "address_of").search(near)) is not None:
        kin = next(filter(None, of.groups()))
        return Whose("labelled", None, called_kin(kin, line.language))
    asked = asked_before("address", line, reading)
    if asked.person in (None, line.speaker) and is_of_a_place(line, reading):
        return UNSAID
    if asked.way != "unsaid":
        is_of_another = asked.name is not None and not any(map(str.isupper, asked.name))
        return asked if is_of_another else asked._replace(way="asked")
    found = last_marked(near, line, reading, "address")
    if found.way != "unsaid":
        return found if found.person or found.name else UNSAID
    return Whose("sent", line.speaker)
