"""Content blocks of a message in Anthropic's form: validation, plain text, tool calls and results.

Blocks of other types (images, documents) are kept unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

Part = dict[str, Any]

THINKING: Final = frozenset({"thinking", "redacted_thinking"})
_NEEDED: Final[Mapping[str, tuple[tuple[str, type], ...]]] = {
    "text": (("text", str),),
    "thinking": (("thinking", str),),
    "redacted_thinking": (("data", str),),
    "tool_use": (("id", str), ("name", str), ("input", dict)),
    "tool_result": (("tool_use_id", str),),
}


MOST_INLINE_CHARS: Final = 2_000
"""A longer string in a block of another type is data (base64)."""


class WrongPart(ValueError):
    """A block is malformed; the message says which and why."""


def checked_parts(parts: Sequence[Any]) -> list[Part]:
    """The blocks of a message. ``WrongPart`` with the number of the first malformed one."""
    found: list[Part] = []
    for number, part in enumerate(parts):
        if not isinstance(part, dict):
            raise WrongPart(f"parts[{number}] is not an object")
        block = cast("Part", part)
        kind = block.get("type")
        if not isinstance(kind, str) or not kind:
            raise WrongPart(f"parts[{number}] has no type")
        for name, wanted in _NEEDED.get(kind, ()):
            value = block.get(name)
            if not isinstance(value, wanted) or (name in ("id", "tool_use_id", "name") and not value):
                raise WrongPart(f"parts[{number}] is a {kind} without {name}")
        if kind == "tool_result" and not _is_result(block.get("content")):
            raise WrongPart(f"parts[{number}] is a tool_result whose content is neither a text nor blocks")
        found.append(block)
    return found


def _is_result(content: object) -> bool:
    if content is None or isinstance(content, str):
        return True
    if not isinstance(content, list):
        return False
    blocks = cast("list[Any]", content)
    return all(isinstance(one, dict) and isinstance(cast("Part", one).get("type"), str) for one in blocks)


def text_of(parts: Iterable[Mapping[str, Any]]) -> str:
    """Text and tool results, one a line; without thinking and tool calls."""
    said: list[str] = []
    for part in parts:
        if part.get("type") == "text":
            said.append(str(part["text"]))
        elif part.get("type") == "tool_result":
            said.append(result_text(part))
    return "\n".join(one for one in said if one)


def result_text(part: Mapping[str, Any]) -> str:
    content = part.get("content")
    if isinstance(content, str):
        return content
    blocks: list[Mapping[str, Any]] = content or []
    return "\n".join(str(one["text"]) for one in blocks if one.get("type") == "text" and "text" in one)


def prompt_text(text: str, parts: Iterable[Mapping[str, Any]] | None) -> str:
    """The words of a message in a prompt, for counting tokens: all blocks."""
    if parts is None:
        return text
    said: list[str] = []
    for part in parts:
        match part.get("type"):
            case "text":
                said.append(str(part["text"]))
            case "thinking":
                said.append(str(part["thinking"]))
            case "tool_use":
                said.append(f"{part['name']} {json.dumps(part['input'], ensure_ascii=False)}")
            case "tool_result":
                said.append(result_text(part))
            case _:
                said.append(json.dumps(_without_data(part), ensure_ascii=False, default=str))
    return "\n".join(said)


def _without_data(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_data(one) for name, one in cast("Part", value).items()}
    if isinstance(value, list):
        return [_without_data(one) for one in cast("list[Any]", value)]
    return f"<{len(value)}>" if isinstance(value, str) and len(value) > MOST_INLINE_CHARS else value


def call_ids(parts: Iterable[Mapping[str, Any]] | None) -> tuple[str, ...]:
    return tuple(str(part["id"]) for part in parts or () if part.get("type") == "tool_use")


def result_ids(parts: Iterable[Mapping[str, Any]] | None) -> tuple[str, ...]:
    return tuple(str(part["tool_use_id"]) for part in parts or () if part.get("type") == "tool_result")
