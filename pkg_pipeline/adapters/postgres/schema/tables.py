"""The tables of the schema ``pkg`` as SQLAlchemy Core: the shape of record, which a test holds against the migrations.

Columns, types, keys and indexes are here. Which values a text column takes, fill factors and what a column means stand
in the migrations; statements stand beside the stores, the tables of the work itself in ``work_tables``, profiles,
archive and backfills in ``process_tables``, figures in ``monitoring_tables``, chunks and vectors in ``recall_tables``,
live sessions in ``session_tables``.
"""

from __future__ import annotations

from sqlalchemy import (
    REAL,
    BigInteger,
    Boolean,
    Column,
    Date,
    Identity,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from pkg_pipeline.adapters.postgres.schema import (
    monitoring_tables,
    process_tables,
    recall_tables,
    session_tables,
    work_tables,
)
from pkg_pipeline.adapters.postgres.schema.parts import (
    METADATA,
    MOMENT,
    RATIO,
    SCHEMA,
    TEXTS,
    USD,
    columns_of,
    refers_to,
)

# whoever compares needs every table registered
__all__ = [
    "METADATA",
    "SCHEMA",
    "monitoring_tables",
    "process_tables",
    "recall_tables",
    "session_tables",
    "work_tables",
]

ORGANIZATIONS = Table(
    "organizations",
    METADATA,
    *columns_of(Uuid, "id"),
    *columns_of(Text, "name"),
    PrimaryKeyConstraint("id"),
)

ENTITIES = Table(
    "entities",
    METADATA,
    *columns_of(Uuid, "id"),
    *columns_of(Text, "type", default="'person'"),
    *columns_of(Text, "name"),
    *columns_of(MOMENT, "name_at"),
    *columns_of(Boolean, "is_self", default="false"),
    *columns_of(Uuid, "organization_id", null=True),
    PrimaryKeyConstraint("id"),
    refers_to("organization_id", "organizations"),
    Index("entities_name", text("lower(name)")),
)

ENTITY_IDENTITIES = Table(
    "entity_identities",
    METADATA,
    *columns_of(Text, "source external_id"),
    *columns_of(Uuid, "entity_id"),
    PrimaryKeyConstraint("source", "external_id"),
    refers_to("entity_id", "entities"),
    Index("entity_identities_entity", "entity_id"),
)

ENTITY_FACTS = Table(
    "entity_facts",
    METADATA,
    *columns_of(Uuid, "id entity_id"),
    *columns_of(Text, "fact_type value"),
    *columns_of(REAL, "confidence"),
    *columns_of(Text, "status"),
    *columns_of(MOMENT, "valid_from valid_to", null=True),
    *columns_of(MOMENT, "known_from", default="clock_timestamp()"),
    *columns_of(MOMENT, "known_to", null=True),
    *columns_of(Uuid, "interaction_id", null=True),
    *columns_of(Text, "quote"),
    *columns_of(TEXTS, "message_ids"),
    PrimaryKeyConstraint("id"),
    refers_to("entity_id", "entities"),
    Index(
        "entity_facts_current",
        "entity_id",
        "fact_type",
        postgresql_where=text("status = 'confirmed' AND valid_to IS NULL"),
    ),
    Index("entity_facts_interaction", "interaction_id"),
    Index(
        "entity_facts_interval",
        "entity_id",
        text("valid_from DESC"),
        postgresql_where=text("status = 'confirmed'"),
    ),
)

CHATS = Table(
    "chats",
    METADATA,
    *columns_of(Uuid, "id"),
    *columns_of(Text, "source external_id kind"),
    *columns_of(Text, "category", null=True),
    *columns_of(Text, "category_source", default="'export'"),
    *columns_of(Text, "title", null=True),
    *columns_of(MOMENT, "title_at"),
    *columns_of(JSONB, "metadata", default="'{}'"),
    *columns_of(MOMENT, "metadata_at", default="'0001-01-01 00:00:00+00'"),
    PrimaryKeyConstraint("id"),
    UniqueConstraint("source", "external_id"),
)

CHAT_MEMBERS = Table(
    "chat_members",
    METADATA,
    *columns_of(Uuid, "chat_id entity_id"),
    PrimaryKeyConstraint("chat_id", "entity_id"),
    refers_to("chat_id", "chats"),
    refers_to("entity_id", "entities"),
    Index("chat_members_entity", "entity_id", "chat_id"),
)

IMPORT_BATCHES = Table(
    "import_batches",
    METADATA,
    *columns_of(Uuid, "id"),
    *columns_of(Text, "file"),
    *columns_of(Text, "content_sha256", null=True),
    *columns_of(Text, "format status"),
    *columns_of(MOMENT, "started_at", default="clock_timestamp()"),
    *columns_of(MOMENT, "finished_at", null=True),
    *columns_of(JSONB, "counts", default="'{}'"),
    *columns_of(JSONB, "rejected", default="'[]'"),
    PrimaryKeyConstraint("id"),
)

MESSAGES = Table(
    "messages",
    METADATA,
    Column("id", BigInteger, Identity(always=False)),
    *columns_of(Uuid, "chat_id"),
    *columns_of(Uuid, "sender_entity_id interaction_id", null=True),
    *columns_of(MOMENT, "sent_at"),
    *columns_of(MOMENT, "imported_at", default="clock_timestamp()"),
    *columns_of(MOMENT, "exported_at"),
    *columns_of(MOMENT, "edited_at deleted_at archived_at", null=True),
    *columns_of(Integer, "token_count"),
    *columns_of(REAL, "importance_score"),
    *columns_of(Boolean, "is_outgoing"),
    *columns_of(Boolean, "is_archived is_time_assumed is_blanked is_missing", default="false"),
    *columns_of(Text, "kind", default="'message'"),
    *columns_of(Text, "role importance_reason", null=True),
    *columns_of(Text, "external_id content content_hash"),
    *columns_of(Text, "reply_to topic forwarded_from", null=True),
    *columns_of(JSONB, "parts metadata", null=True),
    *columns_of(Date, "archived_month", null=True),
    PrimaryKeyConstraint("id"),
    refers_to("chat_id", "chats"),
    Index("messages_chat_order", "chat_id", "id"),
    Index("messages_chat_time", "chat_id", "sent_at", "id"),
    Index("messages_deleted", "chat_id", "external_id", postgresql_where=text("deleted_at IS NOT NULL")),
    Index("messages_unblanked", "deleted_at", postgresql_where=text("deleted_at IS NOT NULL AND NOT is_blanked")),
    Index("messages_key", "chat_id", "external_id", unique=True),
)

MESSAGE_REVISIONS = Table(
    "message_revisions",
    METADATA,
    *columns_of(BigInteger, "message_id"),
    *columns_of(Text, "content_hash"),
    *columns_of(MOMENT, "edited_at"),
    *columns_of(Boolean, "is_deleted"),
    *columns_of(Text, "content"),
    PrimaryKeyConstraint("message_id", "content_hash", "is_deleted", "edited_at"),
    refers_to("message_id", "messages", "CASCADE"),
)

MESSAGE_ENTITIES = Table(
    "message_entities",
    METADATA,
    *columns_of(Uuid, "entity_id"),
    *columns_of(BigInteger, "message_id"),
    *columns_of(Uuid, "interaction_id"),
    *columns_of(MOMENT, "sent_at"),
    PrimaryKeyConstraint("entity_id", "message_id"),
    refers_to("entity_id", "entities"),
    refers_to("message_id", "messages", "CASCADE"),
    Index("message_entities_interaction", "interaction_id"),
    Index("message_entities_message", "message_id"),
    Index("message_entities_time", "entity_id", text("sent_at DESC"), text("message_id DESC")),
)

INTERACTIONS = Table(
    "interactions",
    METADATA,
    *columns_of(Uuid, "id chat_id"),
    *columns_of(Date, "day"),
    *columns_of(MOMENT, "started_at ended_at"),
    *columns_of(Text, "status"),
    *columns_of(Integer, "message_count"),
    *columns_of(BigInteger, "token_count"),
    *columns_of(Text, "language first_external_id input_hash"),
    *columns_of(Integer, "important_count", default="0"),
    PrimaryKeyConstraint("id"),
    refers_to("chat_id", "chats"),
    Index("interactions_active", "ended_at", postgresql_where=text("status = 'active'")),
    Index("interactions_chat_time", "chat_id", "started_at"),
    Index("interactions_day", "day", "ended_at"),
)

INTERACTION_PARTICIPANTS = Table(
    "interaction_participants",
    METADATA,
    *columns_of(Uuid, "interaction_id entity_id"),
    *columns_of(Text, "role"),
    *columns_of(Integer, "message_count"),
    *columns_of(BigInteger, "token_count"),
    *columns_of(MOMENT, "started_at ended_at"),
    PrimaryKeyConstraint("interaction_id", "entity_id"),
    refers_to("entity_id", "entities"),
    refers_to("interaction_id", "interactions", "CASCADE"),
    Index("interaction_participants_ended", "entity_id", text("ended_at DESC"), "interaction_id"),
    Index(
        "interaction_participants_started",
        "entity_id",
        "started_at",
        postgresql_include=["message_count", "token_count"],
    ),
)

ENTITY_DAYS = Table(
    "entity_days",
    METADATA,
    *columns_of(Uuid, "entity_id"),
    *columns_of(Date, "day"),
    *columns_of(BigInteger, "message_count token_count messages_total tokens_total"),
    PrimaryKeyConstraint("entity_id", "day"),
    refers_to("entity_id", "entities", "CASCADE"),
)

INTERACTION_SUMMARIES = Table(
    "interaction_summaries",
    METADATA,
    *columns_of(Uuid, "id interaction_id"),
    *columns_of(Uuid, "parent_summary_id", null=True),
    *columns_of(Text, "status"),
    *columns_of(Text, "dirty_reason", null=True),
    *columns_of(Text, "input_hash prompt_version model_version language summary"),
    *columns_of(JSONB, "key_points", default="'[]'"),
    *columns_of(Text, "tone", null=True),
    *columns_of(JSONB, "decisions action_items extracted_facts important_messages quarantined", default="'[]'"),
    *columns_of(TEXTS, "message_ids"),
    *columns_of(Integer, "message_count source_token_count summary_token_count"),
    *columns_of(RATIO, "compression_ratio"),
    *columns_of(USD, "cost_usd"),
    *columns_of(REAL, "generation_seconds"),
    *columns_of(Integer, "revision_count schema_version window_count", default="1"),
    *columns_of(Text, "method", default="'whole'"),
    *columns_of(MOMENT, "generated_at", default="clock_timestamp()"),
    *columns_of(MOMENT, "updated_at", null=True),
    PrimaryKeyConstraint("id"),
    refers_to("parent_summary_id", "interaction_summaries", "SET NULL"),
    Index("interaction_summaries_interaction", "interaction_id"),
    Index(
        "interaction_summaries_live",
        "interaction_id",
        unique=True,
        postgresql_where=text("status IN ('completed', 'dirty')"),
    ),
    Index(
        "interaction_summaries_versions",
        "prompt_version",
        "model_version",
        "schema_version",
        postgresql_where=text("status IN ('completed', 'dirty')"),
    ),
)

SUMMARY_ITEMS = Table(
    "summary_items",
    METADATA,
    *columns_of(Uuid, "item_id entity_id interaction_id summary_id"),
    *columns_of(Text, "kind"),
    *columns_of(MOMENT, "at"),
    *columns_of(Date, "decided_on", null=True),
    *columns_of(Text, "importance owner", null=True),
    *columns_of(Uuid, "owner_entity_id", null=True),
    *columns_of(Text, "status", null=True),
    *columns_of(Date, "due_date closed_at", null=True),
    *columns_of(Boolean, "is_withheld", default="false"),
    *columns_of(Text, "description quote"),
    *columns_of(TEXTS, "message_ids"),
    PrimaryKeyConstraint("entity_id", "item_id"),
    refers_to("entity_id", "entities"),
    refers_to("summary_id", "interaction_summaries", "CASCADE"),
    Index(
        "summary_items_closed",
        "entity_id",
        text("closed_at DESC"),
        postgresql_where=text("kind = 'action_item' AND status = 'closed'"),
    ),
    Index(
        "summary_items_decisions",
        "entity_id",
        "importance",
        text("at DESC"),
        postgresql_where=text("kind = 'decision'"),
    ),
    Index("summary_items_interaction", "interaction_id"),
    Index(
        "summary_items_open",
        "entity_id",
        "due_date",
        text("at DESC"),
        postgresql_where=text("kind = 'action_item' AND status = 'open'"),
    ),
    Index("summary_items_summary", "summary_id"),
    Index(
        "summary_items_unfinished",
        "interaction_id",
        "item_id",
        postgresql_where=text("kind = 'action_item' AND status = 'open' AND NOT is_withheld"),
    ),
)
