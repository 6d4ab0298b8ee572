"""What travels of a live session: its state, its messages, a decision to fold, what a fold says. Data only: no rule.

All times are timezone-aware. ``*_tokens`` are counts by the configured tokenizer.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pkg_pipeline.memory.records import DecisionItem, FactCandidate, MessageKind, MessageRole

Policy = Literal["hysteresis", "sliding", "interval", "thread_size"]
Strategy = Literal["rolling", "retrieval", "hybrid"]
SessionEvent = Literal["manual", "scheduled", "handoff", "tool_done"]
FoldTrigger = Literal[
    "tokens",
    "turns",
    "time",
    "topic_shift",
    "manual",
    "scheduled",
    "handoff",
    "tool_done",
    "window",
    "hard_limit",
    "cooldown",
    "interval",
    "thread_size",
]
"""H9: why a fold was made."""


@dataclass(frozen=True, slots=True)
class SessionState:
    """The counters of a session (H1, H16): one row, whatever is stored. Numbers count live messages.

    ``hwm_message_id`` is the last message that a fold covers, 0 for none. ``messages_since_fold`` arrived after the
    last fold was made, ``messages_since_look`` after the last look at the drift of topics. ``folding_to_id`` is up to
    where a decided fold goes on that takes several steps. ``is_pending``: something came during a fold (W4).
    """

    id: UUID
    policy: Policy
    strategy: Strategy
    summary_interval: int | None = None
    hwm_message_id: int = 0
    last_message_id: int = 0
    message_count: int = 0
    token_count: int = 0
    messages_since_hwm: int = 0
    tokens_since_hwm: int = 0
    first_since_at: datetime | None = None
    last_message_at: datetime | None = None
    messages_since_fold: int = 0
    messages_since_look: int = 0
    last_fold_at: datetime | None = None
    event: SessionEvent | None = None
    folding_to_id: int | None = None
    folding_trigger: FoldTrigger | None = None
    is_pending: bool = False
    dirty_folds: int = 0
    label: str | None = None

    @property
    def last_consolidated(self) -> int:
        """W5: how many live messages folds cover."""
        return self.message_count - self.messages_since_hwm


@dataclass(frozen=True, slots=True)
class FoldDecision:
    """What a policy says of a state, always with its reason.

    ``is_fold``: fold now, with ``trigger``, all but the newest ``keep_tail`` messages, as far as turns are complete.
    ``needs_drift``: ask again with the drift of topics. ``due_at``: without a new message the answer can become another
    at that moment, ``None`` never.
    """

    is_fold: bool
    reason: str
    trigger: FoldTrigger | None = None
    keep_tail: int = 0
    needs_drift: bool = False
    due_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SessionMessage:
    """One message of a session, in order of ``id``, which is that of arrival.

    ``parts`` are content blocks in the form of ``message_parts``, None where the message is plain ``text``.
    ``token_count`` is that of all its parts. ``is_folded``: a fold covers it.
    """

    id: int
    external_id: str
    sent_at: datetime
    text: str
    role: MessageRole | None = None
    kind: MessageKind = "message"
    parts: tuple[dict[str, Any], ...] | None = None
    sender_entity_id: UUID | None = None
    sender_name: str = ""
    is_self: bool = False
    is_outgoing: bool = False
    content_hash: str = ""
    token_count: int = 0
    importance_score: float = 0.0
    importance_reason: str | None = None
    is_folded: bool = False


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """T7: something asked that nobody answered. ``quote`` is verbatim from one of ``message_ids`` (external ids)."""

    id: UUID
    text: str
    quote: str
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoldContent:
    """T7 after the gate: what stands for a stretch of messages. ``topics`` are short names of what it is about."""

    summary: str
    facts: tuple[FactCandidate, ...]
    decisions: tuple[DecisionItem, ...]
    open_questions: tuple[OpenQuestion, ...]
    topics: tuple[str, ...]
