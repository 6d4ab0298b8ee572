"""The tables of record for live sessions, their folds, topics and served windows."""

from __future__ import annotations

from sqlalchemy import (
    REAL,
    BigInteger,
    Boolean,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from pkg_pipeline.adapters.postgres.schema.parts import METADATA, MOMENT, SCHEMA, TEXTS, USD, columns_of, refers_to

NUMBERS = ARRAY(BigInteger)


def _of_a_session() -> ForeignKeyConstraint:
    return refers_to("session_id", "conversation_sessions", "CASCADE")


CONVERSATION_SESSIONS = Table(
    "conversation_sessions",
    METADATA,
    *columns_of(Uuid, "id"),
    *columns_of(Text, "label", null=True),
    *columns_of(Text, "policy strategy"),
    *columns_of(Integer, "summary_interval", null=True),
    *columns_of(BigInteger, "hwm_message_id last_message_id", default="0"),
    *columns_of(BigInteger, "message_count token_count messages_since_hwm tokens_since_hwm", default="0"),
    *columns_of(MOMENT, "first_since_at last_message_at", null=True),
    *columns_of(BigInteger, "messages_since_fold messages_since_look", default="0"),
    *columns_of(MOMENT, "last_fold_at", null=True),
    *columns_of(Text, "event", null=True),
    *columns_of(BigInteger, "folding_to_id", null=True),
    *columns_of(Text, "folding_trigger", null=True),
    *columns_of(Boolean, "is_pending", default="false"),
    *columns_of(Integer, "dirty_folds", default="0"),
    *columns_of(MOMENT, "next_due_at", null=True),
    *columns_of(Integer, "attempts", default="0"),
    *columns_of(MOMENT, "retry_at", null=True),
    *columns_of(Text, "last_error", null=True),
    *columns_of(Text, "running_summary", default="''"),
    *columns_of(Integer, "running_token_count", default="0"),
    *columns_of(Uuid, "running_fold_id", null=True),
    *columns_of(MOMENT, "created_at updated_at", default="clock_timestamp()"),
    PrimaryKeyConstraint("id"),
    ForeignKeyConstraint(["id"], [f"{SCHEMA}.chats.id"], ondelete="CASCADE"),
    Index("conversation_sessions_due", "next_due_at", postgresql_where=text("next_due_at IS NOT NULL")),
    Index("conversation_sessions_active", text("last_message_at DESC NULLS LAST"), "id"),
)

SESSION_SUMMARIES = Table(
    "session_summaries",
    METADATA,
    *columns_of(Uuid, "id session_id"),
    *columns_of(Uuid, "parent_summary_id", null=True),
    *columns_of(BigInteger, "from_message_id to_message_id"),
    *columns_of(MOMENT, "from_at to_at"),
    *columns_of(Text, "status"),
    *columns_of(Text, "dirty_reason", null=True),
    *columns_of(Text, "trigger input_hash prompt_version model_version language summary"),
    *columns_of(JSONB, "facts decisions open_questions", default="'[]'"),
    *columns_of(TEXTS, "topics", default="'{}'"),
    *columns_of(NUMBERS, "message_ids"),
    *columns_of(NUMBERS, "noise_ids", default="'{}'"),
    *columns_of(Integer, "message_count source_token_count summary_token_count"),
    *columns_of(JSONB, "quarantined", default="'[]'"),
    *columns_of(USD, "cost_usd"),
    *columns_of(REAL, "generation_seconds"),
    *columns_of(MOMENT, "generated_at", default="clock_timestamp()"),
    PrimaryKeyConstraint("id"),
    _of_a_session(),
    refers_to("parent_summary_id", "session_summaries", "SET NULL"),
    Index(
        "session_summaries_window",
        "session_id",
        "from_message_id",
        "to_message_id",
        "input_hash",
        unique=True,
        postgresql_where=text("status <> 'superseded'"),
    ),
    Index(
        "session_summaries_range",
        "session_id",
        text("to_message_id DESC"),
        postgresql_where=text("status <> 'superseded'"),
    ),
    Index("session_summaries_time", "session_id", "to_at"),
    Index("session_summaries_dirty", "session_id", postgresql_where=text("status = 'dirty'")),
    Index(
        "session_summaries_parent",
        "parent_summary_id",
        postgresql_where=text("parent_summary_id IS NOT NULL"),
    ),
)

MEMORY_TOPICS = Table(
    "memory_topics",
    METADATA,
    *columns_of(Uuid, "session_id"),
    *columns_of(Text, "topic"),
    *columns_of(Integer, "mention_count"),
    *columns_of(MOMENT, "last_seen_at"),
    PrimaryKeyConstraint("session_id", "topic"),
    _of_a_session(),
    Index("memory_topics_rank", "session_id", text("mention_count DESC"), text("last_seen_at DESC")),
)

SERVED_WINDOWS = Table(
    "served_windows",
    METADATA,
    *columns_of(Uuid, "id session_id"),
    *columns_of(Text, "strategy"),
    *columns_of(Text, "model", null=True),
    *columns_of(Integer, "prompt_tokens"),
    *columns_of(BigInteger, "hypothetical_tokens"),
    *columns_of(JSONB, "budget tiers"),
    *columns_of(JSONB, "left_out", default="'[]'"),
    *columns_of(Integer, "reported_prompt_tokens completion_tokens", null=True),
    *columns_of(USD, "cost_usd", null=True),
    *columns_of(MOMENT, "served_at", default="clock_timestamp()"),
    PrimaryKeyConstraint("id"),
    _of_a_session(),
    Index("served_windows_session", "session_id", text("served_at DESC")),
    Index(
        "served_windows_reported",
        "model",
        text("served_at DESC"),
        postgresql_where=text("reported_prompt_tokens IS NOT NULL"),
    ),
)
