"""What a session's window is made of and what it becomes. Data only, tokens by the configured tokenizer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pkg_pipeline.memory.records import MessageRole

Part = dict[str, Any]
WindowTier = Literal["summary", "condensed", "recent"]
WINDOW_TIERS: tuple[WindowTier, ...] = ("summary", "condensed", "recent")
"""L5, in the order in which they stand in a prompt."""

LeftOutKind = Literal["message", "tool_call", "summary", "recalled", "topics"]
WindowReason = Literal[
    "budget",
    "shortened",
    "thinking removed",
    "tool result cut",
    "raw_history_limit",
    "context_size",
    "call without result",
    "result without call",
    "empty",
    "withheld",
]
"""Why something is not in a window, or not in full. ``raw_history_limit``, ``context_size``: too many (T2, W1);
``withheld``: it rests on a deleted message (P29)."""


@dataclass(frozen=True, slots=True)
class Budget:
    """L4: what a prompt may take. ``available`` is for messages, by the local count: what is left of the window after
    margin, answer and system prompt, divided by how much more the model counts than this tokenizer (B12).
    """

    window: int
    margin: int
    output: int
    system: int
    available: int
    calibration: float = 1.0


@dataclass(frozen=True, slots=True)
class WindowMessage:
    """One message that a window may hold. ``key`` names it in receipts.

    ``parts`` are content blocks in the form of ``message.blocks``, None for plain ``text``. A message without ``role``
    is one of people talking: it is shown as the user's; ``rendering.prepared`` puts the name of who wrote it before
    it. ``tokens`` are those of its ``prompt_text`` where the caller knows them exactly, else it is counted.
    """

    key: str
    role: MessageRole | None
    text: str
    parts: tuple[Part, ...] | None = None
    sender_name: str = ""
    is_self: bool = False
    is_folded: bool = False
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class WindowHistory:
    """What a window is made from. ``messages`` oldest first: all that no fold covers (T2), and the newest before them.

    ``running`` is the running summary (L3); where there is none, or it may not be served, the last ``summaries`` of
    folds stand in for it, oldest first. ``topics`` are the most mentioned ones first, ``recalled`` the best pieces of
    what was recalled first. ``is_whole``: there was never a message before these, so that the summary is needed only
    where some of them do not fit.
    """

    messages: tuple[WindowMessage, ...]
    summaries: tuple[str, ...] = ()
    running: str = ""
    topics: tuple[str, ...] = ()
    recalled: tuple[str, ...] = ()
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class WindowRules:
    """L5, L6. ``most_messages`` is the most history messages before the live turn (T2, W1), ``limit_reason`` its name.

    ``opening``: what a prompt begins with whose first message would be the assistant's, where its form asks for a
    user's (Anthropic); empty where that may be.
    """

    shares: tuple[int, int, int] = (10, 35, 55)
    full_recent_count: int = 10
    condensed_tool_max: int = 200
    most_messages: int = 100
    limit_reason: WindowReason = "raw_history_limit"
    opening: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """One message of the window as it is served. ``key`` is None for what the memory says itself (tier ``summary``).

    ``is_changed``: it is not word for word what was said (L6: without thinking, tool results cut, a block without its
    counterpart left out).
    """

    key: str | None
    role: MessageRole
    text: str
    parts: tuple[Part, ...] | None
    tier: WindowTier
    tokens: int
    is_changed: bool = False


@dataclass(frozen=True, slots=True)
class WindowLeftOut:
    """Something known and not shown, or not in full. ``id``: a message's key or a call's; None: it only counts."""

    kind: LeftOutKind
    id: str | None
    reason: WindowReason
    count: int = 1


@dataclass(frozen=True, slots=True)
class ShownTier:
    """One tier: its tokens and the keys of its messages, in order."""

    tier: WindowTier
    tokens: int
    messages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """The messages of a prompt, in order. ``tokens`` is the sum of theirs, never above ``budget.available``.

    ``summary`` is the text of tier 1, "" where there is none. ``has_summary``: the summary is in it, of fold summaries
    the newest ``summaries``; ``recalled`` and ``topics``: so many of them, the first ones. ``is_changed``: some message
    is left out or not word for word.
    """

    messages: tuple[Shown, ...]
    tiers: tuple[ShownTier, ...]
    tokens: int
    budget: Budget
    left_out: tuple[WindowLeftOut, ...] = ()
    summary: str = ""
    has_summary: bool = False
    summaries: int = 0
    recalled: int = 0
    topics: int = 0
    is_changed: bool = False


class LiveTurnTooLong(ValueError):
    """The user's turn that is waiting for its answer does not fit the budget; nothing of it may be left out (L4)."""

    def __init__(self, *, tokens: int, available: int) -> None:
        super().__init__(
            f"the live turn takes {tokens:,} tokens, and the budget has {max(available, 0):,} for messages"
        )
        self.tokens = tokens
        self.available = available
