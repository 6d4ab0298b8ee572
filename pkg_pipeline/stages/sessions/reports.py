"""How sessions answer: the report of an append, states, rows and messages in the shapes of the API. No decision."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pkg_pipeline.memory.hashing import chat_key as key_of_chat
from pkg_pipeline.memory.hashing import message_key
from pkg_pipeline.memory.records import Rejected
from pkg_pipeline.memory.session.records import SessionMessage, SessionState
from pkg_pipeline.memory.text.cleaning import clean_name
from pkg_pipeline.memory.text.moments import iso
from pkg_pipeline.stages.ingest.stores import IngestCounts
from pkg_pipeline.stages.sessions.stores import FoldSource, SessionChat, SessionRow


@dataclass(slots=True)
class AppendReport:
    """What an append did. ``state`` is the session's after it; ``replaced_characters`` could not be stored."""

    chat: SessionChat
    rejected: list[Rejected] = field(default_factory=list[Rejected])
    counts: IngestCounts = field(default_factory=IngestCounts)
    replaced_characters: int = 0
    state: SessionState | None = None
    next_due_at: datetime | None = None

    @property
    def chat_key(self) -> str:
        return chat_key(self.chat)

    def to_json(self) -> dict[str, Any]:
        """``session`` is the key; ``next_due_at`` when the policy is asked next, unless something else comes in."""
        return {
            "session": self.chat_key,
            "id": str(self.chat.id),
            "new": self.counts.new,
            "updated": self.counts.updated,
            "unchanged": self.counts.unchanged,
            "deleted": self.counts.deleted,
            "rejected": [{"where": one.where, "reason": one.reason} for one in self.rejected],
            "rejected_count": len(self.rejected),
            "replaced_characters": self.replaced_characters,
            "counters": None if self.state is None else counters_json(self.state),
            "next_due_at": _moment(self.next_due_at),
        }


def chat_key(chat: SessionChat) -> str:
    """``source:external-id``."""
    return key_of_chat(chat.source, chat.external_id)


def counters_json(state: SessionState) -> dict[str, int]:
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
        "session": key_of_chat(row.source, row.external_id),
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
