"""Messages of a window with their sizes, in groups that stay together (L6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, cast

from pkg_pipeline.memory.message.blocks import THINKING, Part, call_ids, prompt_text, result_ids, result_text
from pkg_pipeline.memory.message.turns import groups, live_turn
from pkg_pipeline.memory.window.records import (
    Budget,
    WindowHistory,
    WindowLeftOut,
    WindowMessage,
    WindowReason,
    WindowRules,
)
from pkg_pipeline.memory.window.summary_message import BETWEEN_SUMMARIES, Head, fitting_head, head_text

TRUNCATED: Final = "... (truncated)"

Change = Literal["thinking removed", "tool result cut"]


@dataclass(frozen=True, slots=True)
class Condensed:
    """A shortened message and its ``changes``, empty if unchanged."""

    text: str
    parts: tuple[Part, ...] | None
    changes: tuple[Change, ...]


def condensed(role: str | None, text: str, parts: Iterable[Part] | None, *, tool_max: int) -> Condensed:
    """The short form of a message; ``tool_max``: characters of a tool result."""
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
    """At most ``most`` characters, with a mark if cut."""
    return text if len(text) <= most else text[:most].rstrip() + TRUNCATED


def _cut_result(part: Part, most: int) -> Part:
    """Cuts a result's text and removes images and documents; the same object if unchanged."""
    words = result_text(part)
    content = part.get("content")
    blocks = cast("list[Part]", content) if isinstance(content, list) else []
    if others := sorted({str(block["type"]) for block in blocks if block["type"] != "text"}):
        words = "\n".join(filter(None, (words, *(f"[{kind}]" for kind in others))))
        return {**part, "content": cut(words, most)}
    return part if len(words) <= most else {**part, "content": cut(words, most)}


@dataclass(frozen=True, slots=True)
class Paired:
    """Messages in their places, None if empty; ``changed``: places that lost a block."""

    messages: tuple[WindowMessage | None, ...]
    changed: frozenset[int]
    left_out: tuple[WindowLeftOut, ...]


def paired(messages: Sequence[WindowMessage]) -> Paired:
    """Messages without unpaired tool calls and results, except pending calls."""
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
    if message.parts is None:
        return bool(message.text.strip())
    return any(part.get("type") != "text" or str(part["text"]).strip() for part in message.parts)


def _orphans(messages: Sequence[WindowMessage]) -> dict[int, dict[int, tuple[str, WindowReason]]]:
    """Place of the message → place of the block → the call's id and what it lacks."""
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
                if message.role != "assistant":  # only assistants call tools
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
    start = len(messages)
    while start and (call_ids(messages[start - 1].parts) or result_ids(messages[start - 1].parts)):
        start -= 1
    return start


def _without(message: WindowMessage, places: frozenset[int]) -> WindowMessage:
    parts: Iterable[Part] = message.parts or ()
    return replace(message, parts=tuple(part for at, part in enumerate(parts) if at not in places), tokens=None)


CountMany = Callable[[Sequence[str]], list[int]]
PICTURE_TOKENS = 1_600
"""Tokens of the largest image that is not scaled down."""

State = Literal["out", "over", "short", "whole"]
"""A group's state: not shown, beyond the limit, shortened, in full."""


@dataclass(slots=True)
class SizedMessage:
    """One message in full and shortened, with the tokens of both."""

    message: WindowMessage
    short: Condensed
    tokens: int
    short_tokens: int
    was_changed: bool


@dataclass(slots=True)
class Group:
    """Messages that stay together; ``is_recent``: among the last ones (L5)."""

    pieces: list[SizedMessage]
    is_live: bool
    is_folded: bool
    is_recent: bool = False
    state: State = "out"

    @property
    def tokens(self) -> int:
        return sum(piece.tokens for piece in self.pieces)

    @property
    def short_tokens(self) -> int:
        return sum(piece.short_tokens for piece in self.pieces)


@dataclass(slots=True)
class WindowDraft:
    history: WindowHistory
    budget: Budget
    rules: WindowRules
    count_many: CountMany
    groups: list[Group]
    left_out: list[WindowLeftOut]

    def count(self, text: str) -> int:
        return self.count_many([text])[0]

    @property
    def stands(self) -> str:
        """The running summary, else the last folds'."""
        return self.history.running or BETWEEN_SUMMARIES.join(self.history.summaries)

    def head(self, room: int) -> Head:
        """Tier 1 within ``room`` tokens."""
        if not self.stands and not self.history.recalled and not self.history.topics:
            return Head()
        return fitting_head(self.stands, self.history.recalled, self.history.topics, room=room, count=self.count)

    def whole_head_tokens(self) -> int:
        text = head_text(self.stands, self.history.recalled, self.history.topics)
        return self.count(text) if text else 0


def group_messages(draft: WindowDraft) -> None:
    """Groups in order, without empty messages and those beyond the limit (T2, W1)."""
    messages = draft.history.messages
    pairs = paired(messages)
    draft.left_out += pairs.left_out
    live_at = live_turn(messages)
    pieces = _pieces(draft, pairs.messages, pairs.changed)
    for start, end in groups(messages):
        kept = [piece for piece in pieces[start:end] if piece is not None]
        if kept:
            is_folded = all(message.is_folded for message in messages[start:end])
            draft.groups.append(Group(kept, is_live=end > live_at, is_folded=is_folded))
    shown = history = 0
    for group in reversed(draft.groups):
        shown += len(group.pieces)
        history += 0 if group.is_live else len(group.pieces)
        group.is_recent = group.is_live or shown <= draft.rules.full_recent_count
        if history > draft.rules.most_messages and (group.is_folded or draft.rules.limits_unfolded):
            group.state = "over"


def _pieces(
    draft: WindowDraft, messages: Sequence[WindowMessage | None], changed: frozenset[int]
) -> list[SizedMessage | None]:
    most = draft.rules.condensed_tool_max
    shorts = [None if one is None else condensed(one.role, one.text, one.parts, tool_max=most) for one in messages]
    said: list[tuple[str, Sequence[Part] | None]] = []
    for message, short in zip(messages, shorts, strict=True):
        if message is not None and message.tokens is None:
            said.append((message.text, message.parts))
        if short is not None and short.changes:
            said.append((short.text, short.parts))
    counts = iter(tokens_of(said, draft.count_many))
    found: list[SizedMessage | None] = []
    for at, (message, short) in enumerate(zip(messages, shorts, strict=True)):
        if message is None or short is None:
            found.append(None)
            continue
        tokens = next(counts) if message.tokens is None else message.tokens
        short_tokens = next(counts) if short.changes else tokens
        if short_tokens >= tokens:  # shortening gains nothing
            short, short_tokens = Condensed(message.text, message.parts, ()), tokens
        found.append(SizedMessage(message, short, tokens, short_tokens, at in changed))
    return found


def tokens_of(said: Iterable[tuple[str, Sequence[Part] | None]], count_many: CountMany) -> list[int]:
    """Tokens of (text, blocks) pairs: all words, and a fixed number per image."""
    texts: list[str] = []
    pictures: list[int] = []
    for text, parts in said:
        shown = None if parts is None else [part for part in parts if part.get("type") != "image"]
        texts.append(prompt_text(text, shown))
        pictures.append(0 if parts is None else sum(map(_pictures, parts)))
    counts = count_many(texts)
    return [tokens + PICTURE_TOKENS * number for tokens, number in zip(counts, pictures, strict=True)]


def _pictures(part: Part) -> int:
    content = part.get("content") if part.get("type") == "tool_result" else None
    blocks: list[Part] = [part] if content is None else cast("list[Part]", content) if isinstance(content, list) else []
    return sum(block.get("type") == "image" for block in blocks)


def size(group: Group) -> int:
    return {"whole": group.tokens, "short": group.short_tokens}.get(group.state, 0)


def taken(chosen: Iterable[Group]) -> int:
    return sum(map(size, chosen))


def opening_tokens(draft: WindowDraft, chosen: Sequence[Group]) -> int:
    """Tokens of the opening before a first answer, where the form requires one."""
    is_needed = draft.rules.opening and chosen and chosen[0].pieces[0].message.role == "assistant"
    return draft.count(draft.rules.opening) if is_needed else 0
