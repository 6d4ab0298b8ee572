"""Fencing of content in prompts as data (B15): one JSON object or array a line between two marker lines.

JSON escapes line ends; the marker depends on a hash of the texts, and ``<<<`` is always escaped.
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
_OPENING = re.compile(r"^<<<(?P<name>[A-Z]+) (?P<marker>[0-9a-f]{8})>>>$")


def marker(seed: str) -> str:
    """The marker of one prompt's fences; ``seed``: the hash of the fenced texts."""
    return hashlib.sha256(f"fence\0{seed}".encode("utf-8", "replace")).hexdigest()[:MARKER_HEX_DIGITS]


def encode(record: Mapping[str, Any] | Sequence[Any]) -> str:
    """One record as one line of readable JSON; invisible characters and line ends are escaped."""
    line = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
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
    """The fenced records of a prompt by block name. ``ValueError``: no end of a block, or a line without JSON."""
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
    record = json.loads(line)
    if not isinstance(record, dict | list):
        raise ValueError("a fenced line is no JSON object or array")
    return record  # pyright: ignore[reportUnknownVariableType]
