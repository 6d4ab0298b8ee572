"""Which tool calls of a history have their results (L6). Pure.

A result without its call, and a call without a result that nobody works on, must not be sent: no model takes them. They
go out of their message, with a reason; a message of which nothing is left goes too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pkg_pipeline.memory.message.blocks import Part, call_ids, result_ids
from pkg_pipeline.memory.window.records import WindowLeftOut, WindowMessage, WindowReason


@dataclass(frozen=True, slots=True)
class Paired:
    """The messages in their places, None where nothing is left to send; ``changed`` are places that lost a block."""

    messages: tuple[WindowMessage | None, ...]
    changed: frozenset[int]
    left_out: tuple[WindowLeftOut, ...]


def paired(messages: Sequence[WindowMessage]) -> Paired:
    """Every message with only such tool calls and results as have each other, and calls that are being worked on."""
    orphans = _orphans(messages)
    kept: list[WindowMessage | None] = []
    left_out: list[WindowLeftOut] = []
    for at, message in enumerate(messages):
        mine = orphans.get(at, {})
        left_out += [WindowLeftOut("tool_call", key, reason) for key, reason in mine.values()]
        rest = message if not mine else _without(message, frozenset(mine))
        if not says_something(rest):
            reason: WindowReason = next(iter(mine.values()))[1] if mine else "empty"
            left_out.append(WindowLeftOut("message", message.key, reason))
            rest = None
        kept.append(rest)
    return Paired(tuple(kept), frozenset(orphans), tuple(left_out))


def says_something(message: WindowMessage) -> bool:
    """Whether there is anything to send: no model takes an empty message."""
    if message.parts is None:
        return bool(message.text.strip())
    return any(part.get("type") != "text" or str(part["text"]).strip() for part in message.parts)


def _orphans(messages: Sequence[WindowMessage]) -> dict[int, dict[int, tuple[str, WindowReason]]]:
    """By place of the message: place of the block → the call's id and what it lacks."""
    found: dict[int, dict[int, tuple[str, WindowReason]]] = {}
    waiting: dict[str, tuple[int, int]] = {}
    lost: list[tuple[str, tuple[int, int]]] = []
    for at, message in enumerate(messages):
        for place, part in enumerate(message.parts or ()):
            if part.get("type") == "tool_use":
                key = str(part["id"])
                if key in waiting:
                    lost.append((key, waiting[key]))
                waiting[key] = (at, place)
                if message.role != "assistant":  # nobody else can call a tool
                    lost.append((key, waiting.pop(key)))
            elif part.get("type") == "tool_result":
                key = str(part["tool_use_id"])
                caller = waiting.get(key)
                if caller is None or caller[0] == at or message.role == "assistant":
                    found.setdefault(at, {})[place] = (key, "result without call")
                else:
                    del waiting[key]
    live_from = _worked_on(messages)
    lost += [(key, where) for key, where in waiting.items() if where[0] < live_from]
    for key, (at, place) in lost:
        found.setdefault(at, {})[place] = (key, "call without result")
    return found


def _worked_on(messages: Sequence[WindowMessage]) -> int:
    """From where on a call may still wait for its result: nothing but calls and results comes after it."""
    start = len(messages)
    while start and (call_ids(messages[start - 1].parts) or result_ids(messages[start - 1].parts)):
        start -= 1
    return start


def _without(message: WindowMessage, places: frozenset[int]) -> WindowMessage:
    parts: Iterable[Part] = message.parts or ()
    return replace(message, parts=tuple(part for at, part in enumerate(parts) if at not in places), tokens=None)
