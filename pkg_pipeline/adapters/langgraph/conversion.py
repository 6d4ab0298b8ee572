"""LangChain messages ↔ ours: roles, content blocks (``memory.message.blocks``), tool calls and results. Unknown blocks
are kept as JSON.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, ToolMessage

from pkg_pipeline.memory.message.blocks import THINKING, Part, text_of
from pkg_pipeline.memory.records import MessageRole
from pkg_pipeline.memory.window.records import Shown

_ROLES: Mapping[str, MessageRole] = {
    "human": "user",
    "user": "user",
    "ai": "assistant",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}
_CALLS = frozenset({"tool_use", "tool_call", "function_call", "server_tool_use", "server_tool_call"})
_REASONING = THINKING | {"reasoning", "reasoning_content"}


def role_of(message: BaseMessage) -> MessageRole:
    """Unknown roles are a person's."""
    kind = message.role if isinstance(message, ChatMessage) else message.type
    return _ROLES.get(kind.removesuffix("MessageChunk").lower(), "user")


def parts_of(message: BaseMessage) -> tuple[Part, ...] | None:
    """None for plain text."""
    if isinstance(message, ToolMessage):
        return (_result(message),)
    calls = _calls(message) if isinstance(message, AIMessage) else []
    thought = message.additional_kwargs.get("reasoning_content")
    if isinstance(message.content, str) and not calls and not isinstance(thought, str):
        return None
    parts: list[Part] = []
    if isinstance(thought, str) and thought:
        parts.append({"type": "thinking", "thinking": thought})
    known = {call["id"] for call in calls}
    for block in _blocks(message.content):
        if block.get("type") in _CALLS:
            if block.get("id") in known or block.get("call_id") in known:
                continue  # repeated in tool_calls
            parts.append(_call(block, len(parts)))
        else:
            parts += _part(block)
    return (*parts, *calls)


def text_in(message: BaseMessage, parts: Iterable[Part] | None) -> str:
    """The text without thinking and calls."""
    return str(message.content) if parts is None else text_of(parts)


def id_of(message: BaseMessage, seen: dict[str, int]) -> tuple[str, bool]:
    """The message's id and True, else one derived from its content and False."""
    if message.id:
        return str(message.id), True
    words = f"{message.type}\0{_json(message.content)}\0{_json(getattr(message, 'tool_calls', None))}"
    digest = hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    seen[digest] = seen.get(digest, 0) + 1
    return f"without-id-{digest}-{seen[digest]}", False


def shortened(message: BaseMessage, shown: Shown) -> BaseMessage:
    """The message shortened for a window (L6); other fields stay."""
    if isinstance(message, ToolMessage):
        result = next((part for part in shown.parts or () if part["type"] == "tool_result"), None)
        content = shown.text if result is None else result.get("content", "")
        return message.model_copy(update={"content": content})
    kept = {str(part["id"]) for part in shown.parts or () if part["type"] == "tool_use"}
    changes: dict[str, Any] = {}
    has_thinking = any(part["type"] in THINKING for part in shown.parts or ())
    if isinstance(message.content, list):
        changes["content"] = [
            block for block in message.content if _stays(block, kept=kept, has_thinking=has_thinking)
        ] or shown.text
    if isinstance(message, AIMessage):
        changes["tool_calls"] = [call for call in message.tool_calls if str(call.get("id")) in kept]
        changes["invalid_tool_calls"] = [call for call in message.invalid_tool_calls if str(call.get("id")) in kept]
    if not has_thinking or "tool_calls" in message.additional_kwargs:
        changes["additional_kwargs"] = {
            name: value
            for name, value in message.additional_kwargs.items()
            if name != "tool_calls" and (has_thinking or name not in ("reasoning_content", "reasoning"))
        }
    return message.model_copy(update=changes)


def _stays(block: Any, *, kept: set[str], has_thinking: bool) -> bool:
    if not isinstance(block, dict):
        return True
    kind = cast("Part", block).get("type")
    if kind in _REASONING:
        return has_thinking
    if kind in _CALLS:
        return str(block.get("id")) in kept or str(block.get("call_id")) in kept
    return True


# ── blocks ───────────────────────────────────────────────────────────────────────────────────


def _blocks(content: str | Sequence[str | Mapping[str, Any]]) -> list[Part]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [{"type": "text", "text": block} if isinstance(block, str) else dict(block) for block in content]


def _part(block: Part) -> list[Part]:
    """One block as ours; nothing for an empty one."""
    kind = block.get("type")
    if kind == "text" or (kind is None and isinstance(block.get("text"), str)):
        return [{"type": "text", "text": str(block.get("text") or "")}]
    if kind == "thinking" and isinstance(block.get("thinking"), str):
        return [_plain(block)]
    if kind in _REASONING and kind != "redacted_thinking":
        return [{"type": "thinking", "thinking": words}] if (words := _reasoned(block)) else []
    if not isinstance(kind, str) or not kind:
        return [{"type": "other", "value": _plain(block)}]
    if kind in ("tool_result", "redacted_thinking", "tool_use") and not _is_ours(block):
        return [{"type": "other", "value": _plain(block)}]
    return [_plain(block)]


def _is_ours(block: Part) -> bool:
    needed = {"tool_result": "tool_use_id", "redacted_thinking": "data"}.get(block["type"], "id")
    return isinstance(block.get(needed), str) and bool(block[needed])


def _reasoned(block: Part) -> str:
    for name in ("reasoning", "thinking", "reasoning_content", "text"):
        value = block.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, dict) and isinstance(value.get("text"), str):
            return value["text"]
    summary = block.get("summary")
    said = [str(one.get("text", "")) for one in summary if isinstance(one, dict)] if isinstance(summary, list) else []
    return "\n".join(one for one in said if one)


def _calls(message: AIMessage) -> list[Part]:
    valid = [_call(dict(call), at) for at, call in enumerate(message.tool_calls)]
    return valid + [_call(dict(call), len(valid) + at) for at, call in enumerate(message.invalid_tool_calls)]


def _call(call: Part, at: int) -> Part:
    given = next((call[name] for name in ("args", "input", "arguments") if call.get(name) is not None), {})
    asked = _plain(given) if isinstance(given, dict) else {"raw": str(given)}
    key = call.get("id") or call.get("call_id") or f"call-{at}"
    return {"type": "tool_use", "id": str(key), "name": str(call.get("name") or "unknown"), "input": asked}


def _result(message: ToolMessage) -> Part:
    content: str | list[Part]
    if isinstance(message.content, str):
        content = message.content
    else:
        content = [one for block in _blocks(message.content) for one in _part(block)]
    part: Part = {"type": "tool_result", "tool_use_id": str(message.tool_call_id) or "unknown", "content": content}
    if message.status == "error":
        part["is_error"] = True
    return part


def _plain(value: Any) -> Any:
    """As JSON types."""
    return json.loads(_json(value))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str, skipkeys=True, allow_nan=True)
