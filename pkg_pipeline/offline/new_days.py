"""A new day for what is open: "no ladder yesterday?" - "this weekend, definitely"; "is the 29th all right?" - "yes"."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from pkg_pipeline.memory.text.language_data import in_any
from pkg_pipeline.offline.answers import answer_to
from pkg_pipeline.offline.dates import PARTS_OF_DAY
from pkg_pipeline.offline.evidence import Heard
from pkg_pipeline.offline.judging import RENEWED, Judged
from pkg_pipeline.offline.matters import Open
from pkg_pipeline.offline.reading import Line, Reading
from pkg_pipeline.offline.told_days import days_told
from pkg_pipeline.offline.weighing import is_question

MOST_CHARS = 80
TAKEN = frozenset({"promised", "consented", "accepted"})


def new_days(reading: Reading, items: Sequence[Open], talk: Sequence[Heard]) -> dict[int, Judged]:
    """The last message by which the owner of an item gives it a new day, where one item alone was spoken of."""
    found: dict[int, Judged] = {}
    for said in talk:
        day = _day_given(reading, said.line)
        if day is None:
            continue
        meant = [place for place, item in enumerate(items) if _may_move(item, said, day) and is_asked_of(item, said)]
        if len(meant) == 1:
            found[meant[0]] = Judged(meant[0], said, RENEWED)
    return found


def is_asked_of(item: Open, said: Heard) -> bool:
    """Whether another spoke of the item just before: "and the poster?" - "the artist is at it, on saturday"."""
    others = (one.matter.things for one in said.before if one.line.speaker != said.line.speaker)
    return any(things & (item.matter.things | item.things_around) for things in others)


def _may_move(item: Open, said: Heard, day: date) -> bool:
    """Whether a later day may be the item's: its owner's, of nothing else ("the estimate by the 9th")."""
    is_later = item.owner == said.line.speaker.entity_id and item.due is not None and item.due < day
    return is_later and (not said.matter.things or bool(said.matter.things & item.matter.things))


def _day_given(reading: Reading, line: Line) -> date | None:
    """The day to come that a short line vows, or asks for and is granted."""
    text = line.message.text
    if line.is_data or line.message.attachments or len(text) > MOST_CHARS:
        return None
    ahead = [one.day for one in days_told(reading, line, text) if one.day >= line.day and one.kind not in PARTS_OF_DAY]
    if len(ahead) != 1:
        return None
    if is_question(text):
        answer = answer_to(reading, line)
        return ahead[0] if answer is not None and answer.kind in TAKEN else None
    return ahead[0] if in_any("offline", "dates", "vow").search(text) else None
