"""Fencing of content in prompts as data (B15): one record a line between two marker lines.

A record is a JSON object or array, a message ``12 A 14:05!: words`` or the heading of a talk
``# 3 Mon 2024-03-14 in email 2 with A B``, which cost half the tokens of JSON. Line ends are escaped in all of them;
the marker depends on a hash of the texts, and ``<<<`` is always escaped.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

MARKER_HEX_DIGITS = 8

_ESCAPED = re.compile(
    "<<<|>>>|["
    "\u007f-\u009f"  # C1 controls, NEL among them
    "\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff"  # line ends, direction marks, invisible characters
    "\ud800-\udfff"  # lone surrogates: not encodable in UTF-8
    "\U000e0000-\U000e007f"  # tag characters: read by models, invisible to people
    "]"
)
_SAID = re.compile(r"(?P<number>\d+) (?P<who>[A-Z]+(?: \d\d:\d\d)?!?)(?:: | (?=\[))")
_HEADING = re.compile(
    r"#(?: (?P<talk>\d+))? (?P<day>\S+ \d{4}-\d\d-\d\d)(?: in (?P<chat>\S+ \d+))?(?: with (?P<who>[A-Z]+(?: [A-Z]+)*))?"
)
_OPENING = re.compile(r"^<<<(?P<name>[A-Z]+) (?P<marker>[0-9a-f]{8})>>>$")


def marker(seed: str) -> str:
    """The marker of one prompt's fences; ``seed``: the hash of the fenced texts."""
    return hashlib.sha256(f"fence\0{seed}".encode("utf-8", "replace")).hexdigest()[:MARKER_HEX_DIGITS]


def encode(record: Mapping[str, Any] | Sequence[Any]) -> str:
    """One record as one line of readable JSON; invisible characters and line ends are escaped."""
    return _visible(json.dumps(record, ensure_ascii=False, separators=(",", ":")))


def said(number: int, who: str, text: str, files: Sequence[str] = ()) -> str:
    """A message as a line. ``who``: a letter, the time where it is told, ``!`` if it looks important."""
    bare = json.dumps(text, ensure_ascii=False)[1:-1].replace('\\"', '"')
    return f"{number} {who}{f' {encode(files)}' if files else ''}: {_visible(bare)}"


def heading(day: str, *, talk: int | None = None, chat: str | None = None, who: Sequence[str] | None = None) -> str:
    """The beginning of a talk, or of its next day without ``talk``. ``chat``: a source and a number."""
    news = ["#", *([] if talk is None else [str(talk)]), day, *([f"in {chat}"] if chat else [])]
    return " ".join([*news, *(["with", *who] if who else [])])


def _visible(line: str) -> str:
    return _ESCAPED.sub(lambda match: "".join(_escape(character) for character in match.group()), line)


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def fence(name: str, lines: Iterable[str], *, seed: str) -> str:
    """``lines`` between the fences of the block ``name`` (capital letters)."""
    mark = marker(seed)
    return "\n".join((f"<<<{name} {mark}>>>", *lines, f"<<<END {mark}>>>"))


def read(prompt: str) -> dict[str, list[Any]]:
    """The fenced records of a prompt by block name; messages as ``[number, who, text, files if any]``, headings as
    objects. ``ValueError``: no end of a block, or a line of no known form.
    """
    blocks: dict[str, list[Any]] = {}
    lines = iter(prompt.split("\n"))
    for line in lines:
        opening = _OPENING.match(line)
        if opening is None:
            continue
        records = blocks.setdefault(opening["name"], [])
        closing = f"<<<END {opening['marker']}>>>"
        for inner in lines:
            if inner == closing:
                break
            records.append(_record(inner))
        else:
            raise ValueError(f"the block {opening['name']} is not closed")
    return blocks


def _record(line: str) -> Any:
    if m := _SAID.match(line):
        files: list[Any] = []
        end = m.end() - len(": ")
        if line[end] != ":":
            files, end = json.JSONDecoder().raw_decode(line, m.end())
        text = line[end + len(": ") :].replace('"', '\\"')
        return [int(m["number"]), m["who"], json.loads(f'"{text}"'), *([files] if files else [])]
    if m := _HEADING.fullmatch(line):
        told = {**m.groupdict(), "talk": m["talk"] and int(m["talk"]), "who": m["who"] and m["who"].split()}
        return {name: value for name, value in told.items() if value is not None}
    record = json.loads(line)
    if not isinstance(record, dict | list):
        raise ValueError("a fenced line has no known form")
    return record  # pyright: ignore[reportUnknownVariableType]
