"""Reads a question's periods, whether it asks for a time, and the events it refers to.

Without a year the latest occurrence is meant. "Since" ends at the moment of asking, "before" begins at ``EARLIEST``,
"after" something in the future covers a year; "ago" has a tolerance (``days.AGO_TOLERANCE``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.languages import COMMON
from pkg_pipeline.memory.languages.scripts import HAN
from pkg_pipeline.memory.periods.days import Now, Span, between, in_year, part_of, read_days
from pkg_pipeline.memory.periods.events import EventRelation, asks_for_a_time, find_relations
from pkg_pipeline.memory.periods.words import (
    MAYBE_A_NAME,
    STRONG,
    Op,
    expression,
    operators,
    prefix,
    rows_by_script,
    suffix,
)

EARLIEST: Final = datetime(1950, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(2100, 1, 1, tzinfo=UTC)
_PREFIX_LETTERS: Final = 48
_JOINT_LETTERS: Final = 24
_BEFORE_A_MONTH: Final = frozenset({"in", "since", "after", "before", "by"})


@dataclass(frozen=True, slots=True)
class Period:
    """A period [start, end) in UTC, named by ``question[text_start:text_end]``."""

    start: datetime
    end: datetime
    text_start: int
    text_end: int


@dataclass(frozen=True, slots=True)
class QuestionTime:
    """The times in a question; ``rest`` is the question without its periods' words."""

    periods: tuple[Period, ...]
    asks_when: bool
    relations: tuple[EventRelation, ...]
    rest: str


@dataclass(frozen=True, slots=True)
class _Mention:
    start: int
    words_start: int
    stop: int
    span: Span
    weak: int
    op: Op | None = None
    is_of_event: bool = False


def read_time(question: str, *, asked_at: datetime, zone: ZoneInfo) -> QuestionTime:
    """The periods, the wish for a time and the events of a question.

    ``asked_at`` is aware (else ``ValueError``); ``zone`` is the asker's.
    """
    if asked_at.tzinfo is None:
        raise ValueError("asked_at must be aware")
    now = Now(asked_at.astimezone(UTC), zone)
    mentions = _ranged(question, [_with_prefix(question, found) for found in _mentions(question, now)])
    periods: list[Period] = []
    places: list[tuple[int, int]] = []
    for mention in mentions:
        if mention.weak <= STRONG and (found := _periods(question, mention, now)):
            periods += found
            if not mention.is_of_event:
                places.append((found[0].text_start, found[0].text_end))
    return QuestionTime(
        periods=tuple(periods),
        asks_when=asks_for_a_time(question),
        relations=find_relations(question, places),
        rest=_without(question, places),
    )


def _mentions(text: str, now: Now) -> list[_Mention]:
    taken = bytearray(len(text))
    found: list[_Mention] = []
    for script, rows in rows_by_script():
        if not script.search(text):
            continue
        for row in rows:
            for m in row.pattern.finditer(text):
                if taken.find(1, m.start(), m.end()) != -1 or _is_numbered(text, m):
                    continue
                taken[m.start() : m.end()] = b"\x01" * (m.end() - m.start())  # 31 April is not April either
                try:
                    span = read_days(row.kind, now, m.groupdict())
                except (ValueError, OverflowError):
                    continue
                found.append(_Mention(m.start(), m.start(), m.end(), span, row.weak))
    return sorted(found, key=lambda mention: mention.start)


def _is_numbered(text: str, m: re.Match[str]) -> bool:
    return (
        m.group()[0].isdecimal()
        and expression(COMMON, "numbered").search(text[max(0, m.start() - 24) : m.start()]) is not None
    )


def _with_prefix(text: str, mention: _Mention) -> _Mention:
    """With its preposition and "end of"; the right preposition makes an unsure mention sure."""
    before = text[max(0, mention.start - _PREFIX_LETTERS) : mention.start]
    last = before.rstrip()[-1:]
    m = prefix(last).search(before)
    if m is None:
        return mention
    said = m.groupdict()
    op = operators()[" ".join(said["op"].lower().split())] if said["op"] else None
    weak = mention.weak
    at_a_place = (said["op"] or "").lower() in ("on", "at")  # "at 2021 Main Street", "on May Street"
    name_allowed = op in _BEFORE_A_MONTH and not said.get("the") and not at_a_place
    at_a_place = at_a_place and text[mention.start : mention.stop].isdecimal()
    if said.get("part") or (op not in (None, "pair") and not at_a_place and (weak < MAYBE_A_NAME or name_allowed)):
        weak = STRONG
    if text[mention.stop : mention.stop + 2] in ("'s", "’s"):
        if op in ("before", "after", "since"):  # "before last summer's trip" is before the trip
            return replace(mention, weak=weak, is_of_event=True)
        mention = replace(mention, stop=mention.stop + 2)
    if not (op or said.get("part")):
        return replace(mention, weak=weak)
    span = part_of(mention.span, said.get("part"))
    return replace(mention, start=mention.start - len(before) + m.start(), span=span, weak=weak, op=op)


def _ranged(text: str, mentions: list[_Mention]) -> list[_Mention]:
    joined: list[_Mention] = []
    for mention in mentions:
        last = joined[-1] if joined else None
        pair = _pair(text, last, mention) if last else None
        if pair is not None:
            joined[-1] = pair
        elif last and last.op == "in" and expression(COMMON, "and").fullmatch(text[last.stop : mention.words_start]):
            joined.append(replace(mention, weak=STRONG))  # "in March and May" says "in" once
        else:
            joined.append(mention)
    return joined


def _pair(text: str, a: _Mention, b: _Mention) -> _Mention | None:
    joint = (
        expression(COMMON, "join").match(text[a.stop : b.words_start])
        if b.words_start - a.stop <= _JOINT_LETTERS
        else None
    )
    if joint is None or a.span.closed:
        return None
    tail = re.match(r"之间|期间|间", text[b.stop : b.stop + 2])
    if (joint["both"] and not (a.op == "pair" or tail)) or (joint["opened"] and a.op not in ("pair", "since")):
        return None
    span = between(a.span, b.span)
    return span and _Mention(a.start, a.words_start, b.stop + (tail.end() if tail else 0), span, STRONG)


def _periods(text: str, mention: _Mention, now: Now) -> list[Period]:
    op, span, stop = mention.op, mention.span, mention.stop
    owned = False
    if m := suffix(text, stop):
        said = m.groupdict()
        span, stop = part_of(span, said["part"]), m.end()
        said_op = next((name for name in ("before", "after", "since") if said[name]), None)
        op, owned = (operators()[said_op], True) if said_op else (op, owned)
    if span.closed and not owned and op not in ("before", "after", "by"):
        op = None
    try:
        spans = [span]
        if span.twin and (earlier := in_year(span, span.first.year - 1)):
            spans.insert(0, earlier)
        ends = [(now.moment(one.first), now.moment(one.end)) for one in spans]
        if op in ("since", "after", "before", "by"):
            ends = [_opened(op, ends[0][0], ends[-1][1], now)]
    except (ValueError, OverflowError):
        return []
    return [Period(start, end, mention.start, stop) for start, end in ends if EARLIEST <= start < end <= LATEST]


def _opened(op: Op, start: datetime, end: datetime, now: Now) -> tuple[datetime, datetime]:
    if op in ("before", "by"):
        return EARLIEST, start if op == "before" else end
    since = start if op == "since" else end
    return since, now.at if since < now.at else since + timedelta(days=366)


def _without(text: str, places: list[tuple[int, int]]) -> str:
    if not places:
        return text
    kept: list[str] = []
    last = 0
    for start, stop in sorted(set(places)):
        kept.append(text[last:start])
        last = max(last, stop)
    rest = " ".join(" ".join([*kept, text[last:]]).split())
    rest = re.sub(r" (?=[?!.,;:？！。，])", "", rest)
    return re.sub(rf"(?<=[{HAN}]) (?=[{HAN}])", "", rest).strip(" ,，;:")
