"""A message as a prompt of one form says it, before counting.

Messages without a role become user text under the sender's name, further lines indented; mark-like user lines are
escaped. System messages (Anthropic) and unpaired tool results become marked user text. Thinking is kept if signed and
not for OpenAI; unsupported blocks are named.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final, Literal, cast

from pkg_pipeline.memory.message.blocks import Part
from pkg_pipeline.memory.records import MessageRole
from pkg_pipeline.memory.text.marks import OWNER, continued, named, unmarked
from pkg_pipeline.memory.window.records import WindowMessage

Form = Literal["anthropic", "openai", "langchain"]

OPENING: Final = "[The conversation goes on.]"
"""Precedes a first assistant message where the form asks for a user's."""

_MEDIA: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def prepared(message: WindowMessage, form: Form) -> WindowMessage:
    """The message in ``form``, with a role; the same object if unchanged."""
    parts = None if message.parts is None else tuple(_blocks(message, form))
    text, marked = message.text, _mark(message, parts, form)
    if message.role in {None, "user", "tool"}:
        text, parts = _told(text, message.role), None if parts is None else tuple(_told_parts(parts, message.role))
    role = message.role or "user"
    if (role == "system" and form == "anthropic") or (role == "tool" and not _has_results(parts)):
        role = "user"
    if not marked and role == message.role and text == message.text and _is_same(parts, message.parts):
        return message
    if parts is None:
        return replace(message, role=role, text=marked + text, tokens=None)
    if marked:
        parts = ({"type": "text", "text": marked.rstrip()}, *parts)
    return replace(message, role=role, parts=parts, tokens=None)


def _is_same(parts: tuple[Part, ...] | None, given: tuple[Part, ...] | None) -> bool:
    if parts is None or given is None:
        return parts is given
    return len(parts) == len(given) and all(mine is theirs for mine, theirs in zip(parts, given, strict=True))


def _mark(message: WindowMessage, parts: tuple[Part, ...] | None, form: Form) -> str:
    if message.role is None:
        name = named(message.sender_name)
        if message.is_self:
            return f"{name} ({OWNER}): " if name else f"{OWNER}: "
        return f"{name}: " if name else ""
    if message.role == "system" and form == "anthropic":
        return "[System] "
    if message.role == "tool" and not _has_results(parts):
        name = named(message.sender_name).replace("]", ")")
        return "[Tool] " if name.casefold() in {"", '"tool"'} else f"[Tool: {name}] "
    return ""


def _told(text: str, role: MessageRole | None) -> str:
    return continued(unmarked(text)) if role is None else unmarked(text)


def _told_parts(parts: Iterable[Part], role: MessageRole | None) -> Iterable[Part]:
    for part in parts:
        told = _told(str(part["text"]), role) if part.get("type") == "text" else None
        yield part if told is None or told == part["text"] else {**part, "text": told}


def _has_results(parts: Iterable[Part] | None) -> bool:
    return any(part.get("type") == "tool_result" for part in parts or ())


def _blocks(message: WindowMessage, form: Form) -> Iterable[Part]:
    for part in message.parts or ():
        match part.get("type"):
            case "text":
                if str(part["text"]).strip():
                    yield _only(part, "type", "text")
            case "thinking":
                if form != "openai" and message.role == "assistant" and part.get("signature"):
                    yield _only(part, "type", "thinking", "signature")
            case "redacted_thinking":
                if form != "openai" and message.role == "assistant":
                    yield _only(part, "type", "data")
            case "tool_use":
                yield _only(part, "type", "id", "name", "input")
            case "tool_result":
                yield _result(part, form)
            case "image" if message.role != "assistant" and _is_picture(part):
                yield _only(part, "type", "source")
            case kind:
                yield {"type": "text", "text": f"[{kind}]"}


def _only(part: Part, *names: str) -> Part:
    return part if len(part) == len(names) else {name: part[name] for name in names}


def _result(part: Part, form: Form) -> Part:
    """Texts and images; one text where the form allows no images in results."""
    content = part.get("content")
    shown: str | list[Part]
    if isinstance(content, list):
        blocks = cast("list[Part]", content)
        shown = [_shown_in_result(block, form) for block in blocks]
        if all(block["type"] == "text" for block in shown):
            shown = "\n".join(str(block["text"]) for block in shown)
    else:
        shown = "" if content is None else str(content)
    found: Part = {"type": "tool_result", "tool_use_id": part["tool_use_id"], "content": shown}
    if part.get("is_error") is True:
        found["is_error"] = True
    return part if found == part else found


def _shown_in_result(block: Part, form: Form) -> Part:
    if block["type"] == "text":
        return {"type": "text", "text": str(block.get("text") or "")}
    if form == "anthropic" and block["type"] == "image" and _is_picture(block):
        return _only(block, "type", "source")
    return {"type": "text", "text": f"[{block['type']}]"}


def _is_picture(part: Part) -> bool:
    source: Any = part.get("source")
    if not isinstance(source, dict):
        return False
    given = cast("dict[str, Any]", source)
    if given.get("type") == "url":
        return set(given) == {"type", "url"} and isinstance(given["url"], str)
    is_whole = set(given) == {"type", "media_type", "data"} and isinstance(given["data"], str)
    return given.get("type") == "base64" and is_whole and given["media_type"] in _MEDIA
