"""What the read of a session's window needs from storage, as Protocols it owns, and the records that pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from pkg_pipeline.memory.session.records import Policy, Strategy
from pkg_pipeline.memory.window.records import WindowMessage


@dataclass(frozen=True, slots=True)
class WindowQuery:
    """What is read of a session. Every number bounds what is looked at, whatever is stored.

    ``history_limit``: the newest messages that no fold covers; ``recent_limit``: the newest at all. ``model`` asks for
    its calibration (B12).
    """

    session_id: UUID
    history_limit: int
    recent_limit: int
    fold_limit: int
    topic_limit: int
    model: str | None = None


@dataclass(frozen=True, slots=True)
class FoldSummary:
    """One fold that may be served; ``is_stale``: something that it covers was edited since (P29)."""

    id: UUID
    text: str
    is_stale: bool


@dataclass(frozen=True, slots=True)
class WindowRows:
    """One snapshot of a session. ``messages`` and ``folds`` are oldest first, ``topics`` the most mentioned first.

    ``running`` is "" where there is none, and where ``is_withheld``: it rests on a deleted message (H15).
    ``calibration`` is the model's reported tokens for one counted here, at the median (B12); None: nothing reported.
    ``has_failed``: the last fold was not made (L10). ``folded_tokens`` are of the messages that folds cover.
    """

    chat_key: str
    policy: Policy
    strategy: Strategy
    hwm_message_id: int
    message_count: int
    token_count: int
    messages_since_hwm: int
    messages: tuple[WindowMessage, ...]
    folds: tuple[FoldSummary, ...]
    running: str
    is_withheld: bool
    topics: tuple[str, ...]
    calibration: float | None
    has_failed: bool = False
    folded_tokens: int = 0
    dirty_folds: int = 0


@dataclass(frozen=True, slots=True)
class Topic:
    """What a session is about (L7): how many folds name it, and when it was last spoken of."""

    topic: str
    mention_count: int
    last_seen_at: datetime


@dataclass(frozen=True, slots=True)
class ServedWindow:
    """What was served, without a word of it (T3): ids and tokens."""

    id: UUID
    session_id: UUID
    strategy: Strategy
    model: str | None
    prompt_tokens: int
    hypothetical_tokens: int
    budget: Mapping[str, Any]
    tiers: Sequence[Mapping[str, Any]]
    left_out: Sequence[Mapping[str, Any]]


class WindowSink(Protocol):
    def put(self, receipt: ServedWindow) -> None:
        """Keep it, at once or soon. Never fails a read: one that cannot be kept is counted as lost."""
        ...


@dataclass(frozen=True, slots=True)
class Question:
    """What is recalled for a window: within the session, at ``now``. ``folded`` is another wherever the folded part is:
    its end, its live messages and its tokens, and how many of its folds are dirty.
    """

    session_id: UUID
    query: str
    now: datetime
    folded: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece that was recalled. ``message_ids`` are keys; ``subject_id``: the fold it was made of."""

    id: UUID
    text: str
    message_ids: tuple[str, ...]
    subject_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Recalled:
    """The pieces, best first, and why they are less than they could be."""

    pieces: tuple[Piece, ...]
    warnings: tuple[str, ...] = ()


Recaller = Callable[[Question], Recalled]
"""Recall within a session. What it raises is a warning of the window, never its end (L10)."""
