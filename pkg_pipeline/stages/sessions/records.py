"""What passes between the sessions' stage and its stores, and the JSON shapes that are made of it."""

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
from pkg_pipeline.stages.ingest.records import EntityRow, IngestCounts, MessageRow

MessageTimes = Mapping[str, tuple[datetime, bool]]
"""By external id when a message was sent, and whether that is a wall time whose zone was assumed."""

DueAt = Callable[[SessionState, str, datetime], datetime | None]
"""(state, source of its chat, now) → when the policy is asked next: now, later, or None for with the next message."""


class SessionUnknown(Exception):
    """There is no such chat, or what is given is no name of one; the message is one line."""


@dataclass(frozen=True, slots=True)
class SessionChat:
    """The chat that a session is."""

    id: UUID
    source: str
    external_id: str
    kind: ChatKind = "thread"

    @property
    def key(self) -> str:
        """``source:external-id``."""
        return chat_key(self.source, self.external_id)


@dataclass(frozen=True, slots=True)
class SessionStart:
    """What a session is given when it is made; ``now`` is the memory's clock."""

    chat: SessionChat
    policy: Policy
    strategy: Strategy
    now: datetime


@dataclass(frozen=True, slots=True)
class Newcomers:
    """What has to be stored before messages are: the chat, its session, senders that this process has not seen in it.

    ``names`` maps an entity to its name and the time of the latest message that carried it.
    """

    start: SessionStart
    entities: Sequence[EntityRow]
    names: Mapping[UUID, tuple[datetime, str]]


@dataclass(frozen=True, slots=True)
class Appended:
    """What became of a batch, the session's state after it, and when its policy is asked next.

    ``version`` is that of the session's row, another one after every change. ``new_ids`` are those of the messages
    that were not there before, None: of all.
    """

    counts: IngestCounts
    state: SessionState
    next_due_at: datetime | None
    version: int
    new_ids: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class AppendBatch:
    """Messages of one chat in their order of arrival. ``newcomers`` None: chat, session and senders are known.

    ``last`` is the result of this process's last append: where nobody else wrote since, it saves a query. ``untimed``
    are ids of messages without a time of their own: a stored one keeps its time.
    """

    chat: SessionChat
    rows: Sequence[MessageRow]
    now: datetime
    newcomers: Newcomers | None = None
    last: Appended | None = None
    untimed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session in a list: its state and what else is known of it."""

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
    """T6: a message that a fold covers. ``is_archived``: its text comes from the archive."""

    message: SessionMessage
    is_archived: bool
    is_deleted: bool


# ── JSON ──────────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class AppendReport:
    """What an append did. ``state`` is the session's after it; ``replaced_characters`` could not be stored."""

    chat: SessionChat
    rejected: list[Rejected] = field(default_factory=list[Rejected])
    counts: IngestCounts = field(default_factory=IngestCounts)
    replaced_characters: int = 0
    state: SessionState | None = None
    next_due_at: datetime | None = None

    def to_json(self) -> dict[str, Any]:
        """``session`` is the key; ``next_due_at`` when the policy is asked next, unless something else comes in."""
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
    """H1: what the policy goes by."""
    return {
        "messages": state.message_count,
        "tokens": state.token_count,
        "messages_since_hwm": state.messages_since_hwm,
        "tokens_since_hwm": state.tokens_since_hwm,
        "messages_since_fold": state.messages_since_fold,
    }


def row_json(row: SessionRow) -> dict[str, Any]:
    """A session in a list. ``folded`` and ``unfolded`` count its live messages (W5)."""
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
    """One message of a session."""
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
    """T6: a message under a fold."""
    return {**message_json(one.message, chat), "archived": one.is_archived, "deleted": one.is_deleted}


def _moment(at: datetime | None) -> str | None:
    return None if at is None else iso(at)


def _cleaned(name: str | None) -> str | None:
    return None if name is None else clean_name(name)
