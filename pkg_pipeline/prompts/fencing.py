"""Fencing: how words of a conversation enter a prompt as data (B15), and how they are found in it again.

Here is the shape only: one JSON object a line between two marker lines. What a prompt says about it is in that
prompt's file. A text cannot leave its line (JSON escapes the line ends) nor close the fence (its marker hangs on a
hash of all the texts, and three angle brackets never stand unescaped between the lines).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

MARKER_HEX_DIGITS = 24

_ESCAPED = re.compile(
    "<<<|>>>|["
    "\u007f-\u009f"  # C1 controls, NEL among them
    "\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff"  # line ends, direction marks, invisibles
    "\ud800-\udfff"  # lone surrogates: no UTF-8, no request
    "\U000e0000-\U000e007f"  # tag characters: text that a model reads and a person does not see
    "]"
)
_OPENING = re.compile(r"^<<<(?P<name>[A-Z]+) (?P<marker>[0-9a-f]{24})>>>$")


def marker(seed: str) -> str:
    """What the fences of one prompt are recognised by. ``seed`` is the hash of the texts inside them."""
    return hashlib.sha256(f"fence\0{seed}".encode("utf-8", "replace")).hexdigest()[:MARKER_HEX_DIGITS]


def encode(record: Mapping[str, Any]) -> str:
    """One record as one line of JSON in readable letters; what is invisible or could end a line is escaped."""
    line = json.dumps(record, ensure_ascii=False, separators=(", ", ": "))
    return _ESCAPED.sub(lambda match: "".join(_escape(character) for character in match.group()), line)


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def fence(name: str, lines: Iterable[str], *, seed: str) -> str:
    """``lines`` between the opening and closing line of the block ``name`` (capital letters)."""
    mark = marker(seed)
    return "\n".join((f"<<<{name} {mark}>>>", *lines, f"<<<END {mark}>>>"))


def read(prompt: str) -> dict[str, list[dict[str, Any]]]:
    """The fenced records of a prompt by block name, for doubles and tests that play the model's part.

    Raises ``ValueError`` for a block without an end or a line that is no JSON object.
    """
    blocks: dict[str, list[dict[str, Any]]] = {}
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


def _record(line: str) -> dict[str, Any]:
    record = json.loads(line[line.index("{") :])
    if not isinstance(record, dict):
        raise ValueError("a fenced line is no JSON object")
    return cast("dict[str, Any]", record)
