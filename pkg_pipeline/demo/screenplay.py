"""Reading the hand-written conversations: plain text in, frozen records with relative times out.

A file holds one or more chats. A chat is a header (``chat:``, ``language:``, ``me:``, ``cast:``), then days
(``-412d``, or ``-412d work`` for a day that moves off the weekend, with ``topic=LABEL`` behind it),
then lines::

    09:14 Anna [photo; #label; ^other; late]: text, its further lines indented by two spaces
      ~edited +2h: the text after the edit
    09:20 Anna ! pin_message message_id=^label

Dates inside texts are placeholders of ``wording``. How a line looks in an export belongs in ``telegram_form``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import cast

from pkg_pipeline.memory.records import Language

_DAY = re.compile(r"(?P<days>-\d+)d(?P<words>( work| topic=\w+)*)")
_LINE = re.compile(r"(?P<clock>\d\d:\d\d) (?P<who>[^\s\[:!]+)(?: \[(?P<flags>[^\]]*)\])?:(?: (?P<text>.*))?")
_SERVICE = re.compile(r"(?P<clock>\d\d:\d\d) (?P<who>[^\s\[:!]+) ! (?P<action>\w+)(?: (?P<fields>.*))?")
_EDIT = re.compile(r"  ~edited \+(?P<count>\d+)(?P<unit>[mhd]): (?P<text>.*)")
_UNITS = {"m": "minutes", "h": "hours", "d": "days"}


class ScreenplayError(ValueError):
    """A conversation file breaks the format; names file and line."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """One of the cast; ``name`` None: a deleted account."""

    external_id: str
    name: str | None
    is_self: bool = False


@dataclass(frozen=True, slots=True)
class Edit:
    """A later text, and how long after sending."""

    after: timedelta
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """One message or service entry; ``day`` relative to the demo's, ``clock`` local ``HH:MM``.

    ``flags``: words in brackets; ``label``, ``reply_to``: lines of the same chat; ``action``, ``fields``: service
    entries.
    """

    day: int
    clock: str
    who: str
    text: str = ""
    is_work: bool = False
    flags: tuple[str, ...] = ()
    label: str | None = None
    reply_to: str | None = None
    topic: str | None = None
    edit: Edit | None = None
    action: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict[str, str])

    def has(self, flag: str) -> bool:
        return flag in self.flags


@dataclass(frozen=True, slots=True)
class Chat:
    """One conversation; ``title`` None: deleted account or no name."""

    kind: str
    external_id: str
    title: str | None
    language: Language
    cast: Mapping[str, Speaker]
    lines: tuple[Line, ...]
    phone: str | None = None
    category: str | None = None


def read(text: str, *, owner: Speaker, name: str = "screenplay") -> list[Chat]:
    """The chats of one file; ``owner`` is ``me:``. ``ScreenplayError``."""
    chats: list[Chat] = []
    rows = list(enumerate(text.splitlines(), start=1))
    starts = [index for index, (_, row) in enumerate(rows) if row.startswith("chat:")]
    if not starts:
        raise ScreenplayError(f"{name}: no chat: header")
    for start, end in zip(starts, [*starts[1:], len(rows)], strict=True):
        chats.append(_read_chat(rows[start:end], owner=owner, name=name))
    return chats


def _read_chat(rows: list[tuple[int, str]], *, owner: Speaker, name: str) -> Chat:
    header: dict[str, str] = {}
    cast_by_tag: dict[str, Speaker] = {}
    body = 0
    for body, (number, row) in enumerate(rows):  # noqa: B007 (the index is where the days begin)
        if not row or row.startswith("-"):
            break
        key, _, value = row.partition(": ")
        if key == "cast":
            tag, speaker = _speaker(value)
            cast_by_tag[tag] = speaker
        elif key == "me":
            cast_by_tag[value] = owner
        elif key in {"chat", "language", "phone", "category"}:
            header[key] = value
        else:
            raise ScreenplayError(f"{name} line {number}: unknown header {key!r}")
    identity, _, title = header["chat"].partition(" | ")
    kind, _, external_id = identity.rpartition(" ")
    lines = tuple(_lines(rows[body:], name=name))
    strangers = sorted({line.who for line in lines} - cast_by_tag.keys())
    if strangers:
        raise ScreenplayError(f"{name}: {title} has speakers outside its cast: {', '.join(strangers)}")
    return Chat(
        kind=kind,
        external_id=external_id,
        title=None if title == "null" else title,
        language=cast(Language, header["language"]),
        cast=cast_by_tag,
        lines=lines,
        phone=header.get("phone"),
        category=header.get("category"),
    )


def _speaker(value: str) -> tuple[str, Speaker]:
    tag, _, rest = value.partition(" = ")
    external_id, name, *marks = rest.split(" | ")
    return tag, Speaker(external_id, None if name == "null" else name, is_self="self" in marks)


def _lines(rows: list[tuple[int, str]], *, name: str) -> list[Line]:
    day: re.Match[str] | None = None
    found: list[Line] = []
    is_open = False
    for number, row in rows:
        where = f"{name} line {number}"
        if row.startswith("  "):
            if not is_open:
                raise ScreenplayError(f"{where}: nothing to continue")
            found[-1] = _continued(found[-1], row)
            continue
        heading = _DAY.fullmatch(row)
        is_open = bool(row) and heading is None
        day = heading or day
        if is_open and day is None:
            raise ScreenplayError(f"{where}: a line before the first day")
        if is_open and day is not None:
            found.append(_placed(_line(row, where=where), day))
    return found


def _continued(line: Line, row: str) -> Line:
    if match := _EDIT.fullmatch(row):
        after = timedelta(**{_UNITS[match["unit"]]: int(match["count"])})
        return replace(line, edit=Edit(after, match["text"]))
    return replace(line, text=f"{line.text}\n{row[2:]}")


def _placed(line: Line, day: re.Match[str]) -> Line:
    words = day["words"].split()
    topic = next((word.removeprefix("topic=") for word in words if word.startswith("topic=")), None)
    return replace(line, day=int(day["days"]), is_work="work" in words, topic=topic)


def _line(row: str, *, where: str) -> Line:
    if match := _SERVICE.fullmatch(row):
        words = shlex.split(match["fields"] or "")
        label = next((word[2:-1] for word in words if word.startswith("[#")), None)
        fields = dict(word.split("=", 1) for word in words if not word.startswith("[#"))
        return Line(0, match["clock"], match["who"], action=match["action"], fields=fields, label=label)
    if match := _LINE.fullmatch(row):
        flags = [word.strip() for word in (match["flags"] or "").split(";") if word.strip()]
        return Line(
            day=0,
            clock=match["clock"],
            who=match["who"],
            text=match["text"] or "",
            flags=tuple(flag for flag in flags if flag[0] not in "#^"),
            label=next((flag[1:] for flag in flags if flag.startswith("#")), None),
            reply_to=next((flag[1:] for flag in flags if flag.startswith("^")), None),
        )
    raise ScreenplayError(f"{where}: neither a day nor a line: {row!r}")
