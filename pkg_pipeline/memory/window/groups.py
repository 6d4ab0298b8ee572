"""What one window is put together on: messages with their sizes, in groups that stay together (L6). Pure.

Here: counting, grouping, what cannot be sent, what is beyond the most messages. Who gets in is decided in ``window``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from pkg_pipeline.memory.message.blocks import Part, prompt_text
from pkg_pipeline.memory.message.turns import groups, live_turn
from pkg_pipeline.memory.window.condensing import Condensed, condensed
from pkg_pipeline.memory.window.records import Budget, WindowHistory, WindowLeftOut, WindowMessage, WindowRules
from pkg_pipeline.memory.window.summary_message import BETWEEN_SUMMARIES, Head, fitting_head, head_text
from pkg_pipeline.memory.window.tool_pairs import paired

CountMany = Callable[[Sequence[str]], list[int]]
PICTURE_TOKENS = 1_600
"""About what the largest picture takes that a service does not scale down first."""

State = Literal["out", "over", "short", "whole"]
"""What became of a group: not shown, beyond the most messages, cut short, word for word."""


@dataclass(slots=True)
class Piece:
    """One message that may be shown: as it is, and cut short, with the tokens of both."""

    message: WindowMessage
    short: Condensed
    tokens: int
    short_tokens: int
    was_changed: bool


@dataclass(slots=True)
class Group:
    """Messages that stay together. ``state`` is what became of them; ``is_recent``: among the last ones (L5)."""

    pieces: list[Piece]
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
class Desk:
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


def lay_out(desk: Desk) -> None:
    """The groups in order, without what cannot be sent and what is beyond the most messages (T2, W1)."""
    messages = desk.history.messages
    pairs = paired(messages)
    desk.left_out += pairs.left_out
    live_at = live_turn(messages)
    pieces = _pieces(desk, pairs.messages, pairs.changed)
    for start, end in groups(messages):
        kept = [piece for piece in pieces[start:end] if piece is not None]
        if kept:
            is_folded = all(message.is_folded for message in messages[start:end])
            desk.groups.append(Group(kept, is_live=end > live_at, is_folded=is_folded))
    shown = history = 0
    for group in reversed(desk.groups):
        shown += len(group.pieces)
        history += 0 if group.is_live else len(group.pieces)
        group.is_recent = group.is_live or shown <= desk.rules.full_recent_count
        if history > desk.rules.most_messages:
            group.state = "over"


def _pieces(desk: Desk, messages: Sequence[WindowMessage | None], changed: frozenset[int]) -> list[Piece | None]:
    """All counted at once, as they are and cut short."""
    most = desk.rules.condensed_tool_max
    shorts = [None if one is None else condensed(one.role, one.text, one.parts, tool_max=most) for one in messages]
    said: list[tuple[str, Sequence[Part] | None]] = []
    for message, short in zip(messages, shorts, strict=True):
        if message is not None and message.tokens is None:
            said.append((message.text, message.parts))
        if short is not None and short.changes:
            said.append((short.text, short.parts))
    counts = iter(tokens_of(said, desk.count_many))
    found: list[Piece | None] = []
    for at, (message, short) in enumerate(zip(messages, shorts, strict=True)):
        if message is None or short is None:
            found.append(None)
            continue
        tokens = next(counts) if message.tokens is None else message.tokens
        short_tokens = next(counts) if short.changes else tokens
        if short_tokens >= tokens:  # nothing is won by cutting
            short, short_tokens = Condensed(message.text, message.parts, ()), tokens
        found.append(Piece(message, short, tokens, short_tokens, at in changed))
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


def opening_tokens(desk: Desk, chosen: Sequence[Group]) -> int:
    """Tokens of what has to stand before an answer that would come first, where the form asks for it."""
    is_needed = desk.rules.opening and chosen and chosen[0].pieces[0].message.role == "assistant"
    return desk.count(desk.rules.opening) if is_needed else 0
