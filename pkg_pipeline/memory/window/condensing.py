"""How an older message is cut short (L6): thinking goes, results of tools are cut; what people said stays whole. Pure.

Which messages are cut is not decided here, nor that calls stay with their results.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, cast

from pkg_pipeline.memory.message.blocks import THINKING, Part, result_text

TRUNCATED: Final = "... (truncated)"

Change = Literal["thinking removed", "tool result cut"]


@dataclass(frozen=True, slots=True)
class Condensed:
    """What is left of a message, and what was done to it; ``changes`` is empty where nothing had to be."""

    text: str
    parts: tuple[Part, ...] | None
    changes: tuple[Change, ...]


def condensed(role: str | None, text: str, parts: Iterable[Part] | None, *, tool_max: int) -> Condensed:
    """The short form of a message. ``tool_max`` is the most characters of a tool's result."""
    if parts is None:
        short = cut(text, tool_max) if role == "tool" else text
        return Condensed(short, None, () if short == text else ("tool result cut",))
    kept: list[Part] = []
    changes: dict[Change, None] = {}
    for part in parts:
        if part.get("type") in THINKING:
            changes["thinking removed"] = None
            continue
        short_part = _cut_result(part, tool_max) if part.get("type") == "tool_result" else part
        if short_part is not part:
            changes["tool result cut"] = None
        kept.append(short_part)
    return Condensed(text, tuple(kept), tuple(changes))


def cut(text: str, most: int) -> str:
    """At most ``most`` characters, and a mark where there were more."""
    return text if len(text) <= most else text[:most].rstrip() + TRUNCATED


def _cut_result(part: Part, most: int) -> Part:
    """The block itself where nothing has to be cut. Pictures and documents in a result go, its words are cut."""
    words = result_text(part)
    content = part.get("content")
    blocks = cast("list[Part]", content) if isinstance(content, list) else []
    if others := sorted({str(block["type"]) for block in blocks if block["type"] != "text"}):
        words = "\n".join(filter(None, (words, *(f"[{kind}]" for kind in others))))
        return {**part, "content": cut(words, most)}
    return part if len(words) <= most else {**part, "content": cut(words, most)}
