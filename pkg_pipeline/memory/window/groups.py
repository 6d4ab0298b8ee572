"""What one window is put together on: messages with their sizes, in groups that stay together (L6). Pure."""

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


CountMany = Callable[[Sequence[str]], list[int]]
PICTURE_TOKENS = 1_600
"""About what the largest picture takes that a service does not scale down first."""

State = Literal["out", "over", "short", "whole"]
"""What became of a group: not shown, beyond the most messages, cut short, word for word."""


@dataclass(slots=True)
class SizedMessage:
    """One message that may be shown: as it is, and cut short, with the tokens of both."""

    message: WindowMessage
    short: Condensed
    tokens: int
    short_tokens: int
    was_changed: bool


@dataclass(slots=True)
class Group:
    """Messages that stay together. ``state`` is what became of them; ``is_recent``: among the last ones (L5)."""

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
    """What one window is put together on."""

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
        """The summary: the running one, else the last folds'."""
        return self.history.running or BETWEEN_SUMMARIES.join(self.history.summaries)

    def head(self, room: int) -> Head:
        """Tier 1 within ``room``."""
        if not self.stands and not self.history.recalled and not self.history.topics:
            return Head()
        return fitting_head(self.stands, self.history.recalled, self.history.topics, room=room, count=self.count)

    def whole_head_tokens(self) -> int:
        text = head_text(self.stands, self.history.recalled, self.history.topics)
        return self.count(text) if text else 0


def group_messages(draft: WindowDraft) -> None:
    """The groups in order, without what cannot be sent and what is beyond the most messages (T2, W1)."""
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
        if history > draft.rules.most_messages:
            group.state = "over"


def _pieces(
    draft: WindowDraft, messages: Sequence[WindowMessage | None], changed: frozenset[int]
) -> list[SizedMessage | None]:
    """All counted at once, as they are and cut short."""
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
        if short_tokens >= tokens:  # nothing is won by cutting
            short, short_tokens = Condensed(message.text, message.parts, ()), tokens
        found.append(SizedMessage(message, short, tokens, short_tokens, at in changed))
    return found


def tokens_of(said: Iterable[tuple[str, Sequence[Part] | None]], count_many: CountMany) -> list[int]:
    """Tokens of messages, each its text and its blocks: every word of them, and so much for each picture."""
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
    """Tokens of what has to stand before an answer that would come first, where the form asks for it."""
    is_needed = draft.rules.opening and chosen and chosen[0].pieces[0].message.role == "assistant"
    return draft.count(draft.rules.opening) if is_needed else 0
