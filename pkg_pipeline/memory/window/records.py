"""Records of session windows; tokens by the configured tokenizer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pkg_pipeline.memory.records import MessageRole

Part = dict[str, Any]
WindowTier = Literal["summary", "condensed", "recent"]
WINDOW_TIERS: tuple[WindowTier, ...] = ("summary", "condensed", "recent")
"""L5, in prompt order."""

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
"""Why something is not shown in full. ``raw_history_limit``, ``context_size``: too many (T2, W1); ``withheld``: rests
on a deleted message (P29).
"""


@dataclass(frozen=True, slots=True)
class Budget:
    """L4: a prompt's budget. ``available``: for messages, in local tokens: window less margin, answer and system
    prompt, divided by the calibration (B12).
    """

    window: int
    margin: int
    output: int
    system: int
    available: int
    calibration: float = 1.0


@dataclass(frozen=True, slots=True)
class WindowMessage:
    """A candidate message; ``key`` names it in receipts.

    ``parts``: content blocks, None for plain ``text``. ``role`` None: shown as the user's, with the sender's name
    (``rendering.prepared``). ``tokens``: of its ``prompt_text``, counted if None.
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
    """What a window is made from. ``messages`` oldest first: all unfolded ones (T2) and the newest before them.

    ``running``: running summary (L3), else the last fold ``summaries``, oldest first. ``topics`` by mentions,
    ``recalled`` best first. ``is_whole``: no earlier messages exist.
    """

    messages: tuple[WindowMessage, ...]
    summaries: tuple[str, ...] = ()
    running: str = ""
    topics: tuple[str, ...] = ()
    recalled: tuple[str, ...] = ()
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class WindowRules:
    """L5, L6. ``most_messages``: history messages before the live turn, ``limit_reason`` its name. By the sliding
    window's ``context_size`` (W1) of all; else only folded ones beyond it are left out, since nothing stands for the
    others (T2).

    ``opening``: put before a first assistant message where the form asks for a user's (Anthropic).
    """

    shares: tuple[int, int, int] = (10, 35, 55)
    full_recent_count: int = 10
    condensed_tool_max: int = 200
    most_messages: int = 100
    limit_reason: WindowReason = "raw_history_limit"
    opening: str = ""

    @property
    def limits_unfolded(self) -> bool:
        return self.limit_reason == "context_size"


@dataclass(frozen=True, slots=True)
class Shown:
    """One message as served; ``key`` None in tier ``summary``. ``is_changed``: not verbatim (L6)."""

    key: str | None
    role: MessageRole
    text: str
    parts: tuple[Part, ...] | None
    tier: WindowTier
    tokens: int
    is_changed: bool = False


@dataclass(frozen=True, slots=True)
class WindowLeftOut:
    """A message's key or call id not shown in full; None: a count."""

    kind: LeftOutKind
    id: str | None
    reason: WindowReason
    count: int = 1


@dataclass(frozen=True, slots=True)
class ShownTier:
    """One tier: tokens and message keys in order."""

    tier: WindowTier
    tokens: int
    messages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """The messages of a prompt; ``tokens`` is their sum, at most ``budget.available``.

    ``summary``: text of tier 1 or "". ``has_summary``, ``summaries``, ``recalled``, ``topics``: what and how many are
    in it. ``is_changed``: something is left out or not verbatim.
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
    """The unanswered user turn does not fit the budget and may not be cut (L4)."""

    def __init__(self, *, tokens: int, available: int) -> None:
        super().__init__(
            f"the live turn takes {tokens:,} tokens, and the budget has {max(available, 0):,} for messages"
        )
        self.tokens = tokens
        self.available = available
