"""Records between the sessions stage and its stores, and their JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from pkg_pipeline.memory.hashing import chat_key, message_key
from pkg_pipeline.memory.records import ChatKind, Rejected
from pkg_pipeline.memory.session.records import Policy, SessionMessage, SessionState, Strategy
from pkg_pipeline.memory.text.cleaning import clean_name
from pkg_pipeline.memory.text.timestamps import iso
from pkg_pipeline.stages.ingest.records import EntityRow, IngestCounts, MessageRow, Own

MessageTimes = Mapping[str, tuple[datetime, bool]]
"""External id → (sent_at, whether its time zone was assumed)."""

DueAt = Callable[[SessionState, str, datetime], datetime | None]
"""(state, source of its chat, now) → when the policy is evaluated next: a time, or None for with the next message."""


class SessionUnknown(Exception):
    """There is no such chat, or the text is no id or key."""


@dataclass(frozen=True, slots=True)
class SessionChat:
    id: UUID
    source: str
    external_id: str
    kind: ChatKind = "thread"

    @property
    def key(self) -> str:
        return chat_key(self.source, self.external_id)


@dataclass(frozen=True, slots=True)
class SessionStart:
    chat: SessionChat
    policy: Policy
    strategy: Strategy
    now: datetime


@dataclass(frozen=True, slots=True)
class Newcomers:
    """Stored before messages: chat, session, senders. ``names``: entity → (latest name, time of its message)."""

    start: SessionStart
    entities: Sequence[EntityRow]
    names: Mapping[UUID, tuple[datetime, str]]


@dataclass(frozen=True, slots=True)
class Appended:
    """The result of a batch: the session's state and when its policy is evaluated next.

    ``version`` of the session's row changes with every write. ``new_ids`` are the newly stored messages, None: all.
    """

    counts: IngestCounts
    state: SessionState
    next_due_at: datetime | None
    version: int
    new_ids: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class AppendBatch:
    """Messages of one chat in order of arrival. ``newcomers`` None: chat, session and senders are stored.

    ``last`` is this process's last append: if nobody else wrote since, it saves a query. ``untimed`` are ids of
    messages without a time; stored ones keep theirs. ``own``: of each row.
    """

    chat: SessionChat
    rows: Sequence[MessageRow]
    own: Sequence[Own]
    now: datetime
    newcomers: Newcomers | None = None
    last: Appended | None = None
    untimed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class SessionRow:
    state: SessionState
    source: str
    external_id: str
    title: str | None
    next_due_at: datetime | None
    folds: int
    running_token_count: int
    attempts: int
    retry_at: datetime | None
    last_error: str | None


@dataclass(frozen=True, slots=True)
class FoldSource:
    """T6: a message covered by a fold. ``is_archived``: its text comes from the archive."""

    message: SessionMessage
    is_archived: bool
    is_deleted: bool


# ── JSON ──────────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class AppendReport:
    """The result of an append and the session's state after it; ``replaced_characters`` could not be stored."""

    chat: SessionChat
    rejected: list[Rejected] = field(default_factory=list[Rejected])
    counts: IngestCounts = field(default_factory=IngestCounts)
    replaced_characters: int = 0
    state: SessionState | None = None
    next_due_at: datetime | None = None

    def to_json(self) -> dict[str, Any]:
        """``session`` is the key; ``next_due_at``: when the policy is evaluated next unless a message comes in."""
        return {
            "session": self.chat.key,
            "id": str(self.chat.id),
            **asdict(self.counts),
            "rejected": [{"where": one.where, "reason": one.reason} for one in self.rejected],
            "rejected_count": len(self.rejected),
            "replaced_characters": self.replaced_characters,
            "counters": None if self.state is None else _counters_json(self.state),
            "next_due_at": _moment(self.next_due_at),
        }


def _counters_json(state: SessionState) -> dict[str, int]:
    """H1: the counters the policy uses."""
    return {
        "messages": state.message_count,
        "tokens": state.token_count,
        "messages_since_hwm": state.messages_since_hwm,
        "tokens_since_hwm": state.tokens_since_hwm,
        "messages_since_fold": state.messages_since_fold,
    }


def row_json(row: SessionRow) -> dict[str, Any]:
    """A session as listed. ``folded`` and ``unfolded`` count live messages (W5)."""
    state = row.state
    return {
        "session": chat_key(row.source, row.external_id),
        "id": str(state.id),
        "label": _cleaned(state.label if state.label is not None else row.title),
        "policy": state.policy,
        "strategy": state.strategy,
        "summary_interval": state.summary_interval,
        "messages": state.message_count,
        "tokens": state.token_count,
        "folded": state.last_consolidated,
        "unfolded": state.messages_since_hwm,
        "unfolded_tokens": state.tokens_since_hwm,
        "first_unfolded_at": _moment(state.first_since_at),
        "messages_since_fold": state.messages_since_fold,
        "last_message_at": _moment(state.last_message_at),
        "last_fold_at": _moment(state.last_fold_at),
        "next_due_at": _moment(row.next_due_at),
        "hwm": state.hwm_message_id,
        "event": state.event,
        "pending": state.is_pending,
        "folds": row.folds,
        "dirty_folds": state.dirty_folds,
        "summary_tokens": row.running_token_count,
        "attempts": row.attempts,
        "retry_at": _moment(row.retry_at),
        "last_error": row.last_error,
    }


def message_json(message: SessionMessage, chat: SessionChat) -> dict[str, Any]:
    return {
        "id": message.id,
        "key": message_key(chat.source, chat.external_id, message.external_id),
        "role": message.role,
        "sender": _cleaned(message.sender_name),
        "self": message.is_self,
        "sent_at": iso(message.sent_at),
        "text": message.text,
        "parts": None if message.parts is None else list(message.parts),
        "tokens": message.token_count,
        "folded": message.is_folded,
    }


def source_json(one: FoldSource, chat: SessionChat) -> dict[str, Any]:
    """T6: a message covered by a fold."""
    return {**message_json(one.message, chat), "archived": one.is_archived, "deleted": one.is_deleted}


def _moment(at: datetime | None) -> str | None:
    return None if at is None else iso(at)


def _cleaned(name: str | None) -> str | None:
    return None if name is None else clean_name(name)
