"""The tables of record for profiles, the archive and backfills. Those of the memory itself are in ``tables``."""

from __future__ import annotations

from sqlalchemy import (
    REAL,
    BigInteger,
    Boolean,
    Date,
    Index,
    Integer,
    Numeric,
    PrimaryKeyConstraint,
    Table,
    Text,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from pkg_pipeline.adapters.postgres.schema.parts import METADATA, MOMENT, USD, columns_of, refers_to

ENTITY_RELATIONSHIP_PROFILES = Table(
    "entity_relationship_profiles",
    METADATA,
    *columns_of(Uuid, "entity_id"),
    *columns_of(Date, "week"),
    *columns_of(Uuid, "id"),
    *columns_of(MOMENT, "as_of covers_until"),
    *columns_of(Text, "status", default="'completed'"),
    *columns_of(Text, "dirty_reason", null=True),
    *columns_of(Text, "input_hash prompt_version model_version"),
    *columns_of(Integer, "schema_version", default="1"),
    *columns_of(Text, "language relationship_type frequency"),
    *columns_of(REAL, "mean_gap_days", null=True),
    *columns_of(Text, "summary"),
    *columns_of(Text, "timeline", default="''"),
    *columns_of(MOMENT, "first_interaction_at last_interaction_at"),
    *columns_of(MOMENT, "last_meaningful_contact_at", null=True),
    *columns_of(Integer, "total_interactions"),
    *columns_of(BigInteger, "total_messages"),
    *columns_of(Integer, "summarized_interactions"),
    *columns_of(Numeric(5, 4), "coverage"),
    *columns_of(JSONB, "top_topics milestones key_decisions open_action_items quarantined", default="'[]'"),
    *columns_of(Boolean, "is_carried_over", default="false"),
    *columns_of(Integer, "source_token_count summary_token_count"),
    *columns_of(USD, "cost_usd"),
    *columns_of(REAL, "generation_seconds"),
    *columns_of(MOMENT, "generated_at", default="clock_timestamp()"),
    PrimaryKeyConstraint("entity_id", "week"),
    refers_to("entity_id", "entities", "CASCADE"),
    Index("entity_relationship_profiles_id", "id", unique=True),
    Index("entity_relationship_profiles_week", "week", "entity_id"),
)

PROFILE_ATTEMPTS = Table(
    "profile_attempts",
    METADATA,
    *columns_of(Uuid, "entity_id"),
    *columns_of(Date, "week"),
    *columns_of(Text, "input_hash prompt_version model_version"),
    *columns_of(Integer, "attempts"),
    *columns_of(Integer, "deferrals", default="0"),
    *columns_of(Text, "state"),
    *columns_of(MOMENT, "retry_at", null=True),
    *columns_of(Text, "last_error"),
    *columns_of(MOMENT, "updated_at", default="clock_timestamp()"),
    PrimaryKeyConstraint("entity_id", "week"),
    refers_to("entity_id", "entities", "CASCADE"),
)

ARCHIVED_MESSAGES = Table(
    "archived_messages",
    METADATA,
    *columns_of(Date, "month"),
    *columns_of(BigInteger, "message_id"),
    *columns_of(Uuid, "chat_id interaction_id"),
    *columns_of(Text, "external_id"),
    *columns_of(MOMENT, "sent_at"),
    *columns_of(Text, "content content_hash"),
    *columns_of(JSONB, "parts", null=True),
    *columns_of(MOMENT, "archived_at", default="clock_timestamp()"),
    PrimaryKeyConstraint("month", "message_id"),
    Index("archived_messages_chat", "chat_id", "sent_at"),
    Index("archived_messages_interaction", "interaction_id"),
    postgresql_partition_by="RANGE (month)",
)

ARCHIVE_MONTHS = Table(
    "archive_months",
    METADATA,
    *columns_of(Date, "month"),
    *columns_of(Text, "state"),
    *columns_of(BigInteger, "message_count content_bytes", default="0"),
    *columns_of(MOMENT, "dropped_at", null=True),
    PrimaryKeyConstraint("month"),
)

ARCHIVE_HOLDS = Table(
    "archive_holds",
    METADATA,
    *columns_of(Uuid, "interaction_id"),
    *columns_of(MOMENT, "held_until"),
    PrimaryKeyConstraint("interaction_id"),
)

BACKFILLS = Table(
    "backfills",
    METADATA,
    *columns_of(Uuid, "id", default="gen_random_uuid()"),
    *columns_of(Text, "asset"),
    *columns_of(Text, "state", default="'requested'"),
    *columns_of(JSONB, "request forecast"),
    *columns_of(Text, "requested_by"),
    *columns_of(MOMENT, "requested_at", default="clock_timestamp()"),
    *columns_of(MOMENT, "finished_at resume_at", null=True),
    *columns_of(Text, "waits_for", null=True),
    PrimaryKeyConstraint("id"),
    Index("backfills_open", "requested_at", postgresql_where=text("state IN ('requested', 'running')")),
)

BACKFILL_INTERACTIONS = Table(
    "backfill_interactions",
    METADATA,
    *columns_of(Uuid, "backfill_id interaction_id"),
    *columns_of(Date, "day"),
    *columns_of(MOMENT, "done_at", null=True),
    PrimaryKeyConstraint("backfill_id", "interaction_id"),
    refers_to("backfill_id", "backfills", "CASCADE"),
    Index("backfill_interactions_interaction", "interaction_id"),
    Index("backfill_interactions_left", "backfill_id", "day", postgresql_where=text("done_at IS NULL")),
)
