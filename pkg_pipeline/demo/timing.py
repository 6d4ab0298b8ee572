"""Real times of a chat's lines, given the demo's now."""

from __future__ import annotations

import zlib
from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from pkg_pipeline.demo.screenplay import Chat, Line
from pkg_pipeline.demo.wording import fill

_SATURDAY, _SUNDAY = 5, 6


@dataclass(frozen=True, slots=True)
class Said:
    """A line with its times (aware, in the account's zone) and dates filled in."""

    line: Line
    sent_at: datetime
    text: str
    edited_at: datetime | None = None
    edited_text: str | None = None

    def text_at(self, moment: datetime) -> str:
        if self.edited_at is not None and self.edited_text is not None and self.edited_at <= moment:
            return self.edited_text
        return self.text


def said(chat: Chat, *, now: datetime, zone: ZoneInfo) -> list[Said]:
    """All lines of ``chat`` in order of time.

    Work days on a weekend move to Friday or Monday; lines of one minute are spread over it deterministically.
    ``ValueError``: lines not in order of time, or in the future.
    """
    today = now.astimezone(zone).date()
    crowd = Counter((line.day, line.clock) for line in chat.lines)
    placed: Counter[tuple[int, str]] = Counter()
    result: list[Said] = []
    for line in chat.lines:
        minute = (line.day, line.clock)
        step = 60 // crowd[minute]
        second = placed[minute] * step + zlib.crc32(line.text.encode()) % step
        placed[minute] += 1
        result.append(_say(line, chat=chat, second=second, today=today, zone=zone))
    _check(result, chat=chat, now=now)
    return result


def _say(line: Line, *, chat: Chat, second: int, today: date, zone: ZoneInfo) -> Said:
    nominal = today + timedelta(days=line.day)
    spoken = _off_the_weekend(nominal) if line.is_work else nominal
    sent_at = datetime.combine(spoken, time.fromisoformat(line.clock), tzinfo=zone) + timedelta(seconds=second)

    def filled(text: str) -> str:
        return fill(text, nominal=nominal, spoken=spoken, today=today, language=chat.language)

    if line.edit is None:
        return Said(line, sent_at, filled(line.text))
    return Said(line, sent_at, filled(line.text), sent_at + line.edit.after, filled(line.edit.text))


def _off_the_weekend(day: date) -> date:
    return day + timedelta(days={_SATURDAY: -1, _SUNDAY: 1}.get(day.weekday(), 0))


def _check(lines: list[Said], *, chat: Chat, now: datetime) -> None:
    for before, after in pairwise(lines):
        if before.sent_at >= after.sent_at:
            raise ValueError(f"{chat.title}: day {after.line.day} {after.line.clock} is not after what precedes it")
    for one in lines:
        if max(one.sent_at, one.edited_at or one.sent_at) >= now:
            raise ValueError(f"{chat.title}: day {one.line.day} {one.line.clock} is in the future")
