"""A window's messages in Anthropic's, OpenAI's and LangChain's formats (L4); results directly follow their call."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pkg_pipeline.memory.message.blocks import Part, result_text
from pkg_pipeline.memory.window.records import Shown
from pkg_pipeline.memory.window.rendering import Form

_NO_ID_CHARACTER = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(slots=True)
class _Entry:
    role: str
    key: str | None
    blocks: list[Part]
    results: list[tuple[str | None, Part]] = field(default_factory=list[tuple[str | None, Part]])


def in_form(messages: Sequence[Shown], form: Form) -> list[dict[str, Any]]:
    entries = _entries(messages)
    match form:
        case "anthropic":
            return _anthropic(entries)
        case "openai":
            return [one for entry in entries for one in _openai(entry)]
        case "langchain":
            return [one for entry in entries for one in _langchain(entry)]


def _entries(messages: Sequence[Shown]) -> list[_Entry]:
    entries: list[_Entry] = []
    callers: dict[str, _Entry] = {}
    for message in messages:
        parts = ({"type": "text", "text": message.text},) if message.parts is None else message.parts
        entry = _Entry(message.role, message.key, [])
        is_single = sum(part["type"] == "tool_result" for part in parts) == 1
        for part in parts:
            if part["type"] == "tool_result":
                caller = callers.pop(str(part["tool_use_id"]), None)
                if caller is not None:
                    caller.results.append((message.key if is_single else None, part))
                continue
            entry.blocks.append(part)
            if part["type"] == "tool_use":
                callers[str(part["id"])] = entry
        entries.append(entry)
    return [entry for entry in entries if entry.blocks]


def _anthropic(entries: Sequence[_Entry]) -> list[dict[str, Any]]:
    """Merges neighbours of one role, so that results come first in the user's message."""
    merged: list[tuple[str, list[Part]]] = []

    def add(role: str, blocks: list[Part]) -> None:
        if merged and merged[-1][0] == role:
            merged[-1][1].extend(blocks)
        elif blocks:
            merged.append((role, list(blocks)))

    for entry in entries:
        add("assistant" if entry.role == "assistant" else "user", [_with_plain_ids(block) for block in entry.blocks])
        add("user", [_with_plain_ids(result) for _, result in entry.results])
    return [{"role": role, "content": _plain(blocks)} for role, blocks in merged]


def _with_plain_ids(part: Part) -> Part:
    name = {"tool_use": "id", "tool_result": "tool_use_id"}.get(part["type"])
    if name is None or not _NO_ID_CHARACTER.search(str(part[name])):
        return part
    return {**part, name: _NO_ID_CHARACTER.sub("_", str(part[name]))}


def _plain(blocks: list[Part]) -> str | list[Part]:
    return str(blocks[0]["text"]) if len(blocks) == 1 and blocks[0]["type"] == "text" else blocks


def _openai(entry: _Entry) -> list[dict[str, Any]]:
    message: dict[str, Any] = {"role": entry.role if entry.role in ("assistant", "system") else "user"}
    if message["role"] == "user" and any(block["type"] == "image" for block in entry.blocks):
        message["content"] = [_openai_part(block) for block in entry.blocks]
    else:
        message["content"] = _words(entry.blocks)
    if calls := [block for block in entry.blocks if block["type"] == "tool_use"]:
        message["content"] = message["content"] or None
        message["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["input"], ensure_ascii=False)},
            }
            for call in calls
        ]
    results = [
        {"role": "tool", "tool_call_id": result["tool_use_id"], "content": result_text(result)}
        for _, result in entry.results
    ]
    return [message, *results]


def _openai_part(block: Part) -> Part:
    if block["type"] != "image":
        return {"type": "text", "text": str(block["text"])}
    source = block["source"]
    url = source["url"] if source["type"] == "url" else f"data:{source['media_type']};base64,{source['data']}"
    return {"type": "image_url", "image_url": {"url": url}}


def _words(blocks: Sequence[Part]) -> str:
    return "\n".join(str(block["text"]) for block in blocks if block["type"] == "text")


_LANGCHAIN_TYPES = {"user": "human", "assistant": "ai", "system": "system"}


def _langchain(entry: _Entry) -> list[dict[str, Any]]:
    message: dict[str, Any] = {"type": _LANGCHAIN_TYPES.get(entry.role, "human"), "content": _langchain_content(entry)}
    if entry.key is not None:
        message["id"] = entry.key
    if calls := [block for block in entry.blocks if block["type"] == "tool_use"]:
        message["tool_calls"] = [
            {"name": call["name"], "args": call["input"], "id": call["id"], "type": "tool_call"} for call in calls
        ]
    results: list[dict[str, Any]] = []
    for key, result in entry.results:
        one: dict[str, Any] = {
            "type": "tool",
            "content": result_text(result),
            "tool_call_id": result["tool_use_id"],
        }
        results.append(one if key is None else {**one, "id": key})
    return [message, *results]


def _langchain_content(entry: _Entry) -> str | list[Part]:
    said = [block for block in entry.blocks if block["type"] != "tool_use"]
    if all(block["type"] == "text" for block in said):
        return _words(said)
    return [_openai_part(block) if block["type"] == "image" else block for block in said]
