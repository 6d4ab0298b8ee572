"""The tables of record for ledger, budget, work and receipts. Those of the memory itself are in ``tables``."""

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
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from pkg_pipeline.adapters.postgres.schema.parts import (
    METADATA,
    MOMENT,
    USD,
    columns_of,
    refers_to,
)

INSTALLATION = Table(
    "installation",
    METADATA,
    *columns_of(Text, "key value"),
    PrimaryKeyConstraint("key"),
)

CHAT_EXPORTS = Table(
    "chat_exports",
    METADATA,
    *columns_of(Uuid, "id chat_id"),
    *columns_of(MOMENT, "evidence_at"),
    *columns_of(BigInteger, "first_number last_number"),
    *columns_of(Text, "owner", null=True),
    *columns_of(Boolean, "is_whole"),
    *columns_of(Text, "verdict", default="'open'"),
    *columns_of(ARRAY(BigInteger), "missing", default="'{}'"),
    PrimaryKeyConstraint("id"),
    refers_to("chat_id", "chats", "CASCADE"),
    Index("chat_exports_chat", "chat_id"),
)

SUMMARY_ATTEMPTS = Table(
    "summary_attempts",
    METADATA,
    *columns_of(Uuid, "interaction_id"),
    *columns_of(Text, "input_hash prompt_version model_version"),
    *columns_of(Integer, "attempts"),
    *columns_of(Integer, "deferrals", default="0"),
    *columns_of(Text, "state"),
    *columns_of(MOMENT, "retry_at", null=True),
    *columns_of(Text, "last_error"),
    *columns_of(MOMENT, "updated_at", default="clock_timestamp()"),
    PrimaryKeyConstraint("interaction_id"),
    Index("summary_attempts_failed", "updated_at", "interaction_id", postgresql_where=text("state = 'failed'")),
)

LLM_CALLS = Table(
    "llm_calls",
    METADATA,
    *columns_of(Uuid, "id", default="gen_random_uuid()"),
    *columns_of(Text, "request_hash task model prompt_version lane outcome"),
    *columns_of(Text, "error request_id run_id", null=True),
    *columns_of(Integer, "input_tokens output_tokens"),
    *columns_of(Integer, "cache_read_tokens cache_write_tokens", default="0"),
    *columns_of(Boolean, "is_usage_estimated", default="false"),
    *columns_of(USD, "cost_usd"),
    *columns_of(REAL, "duration_seconds"),
    *columns_of(Text, "reply", null=True),
    *columns_of(MOMENT, "created_at", default="clock_timestamp()"),
    *columns_of(Uuid, "backfill_id", null=True),
    PrimaryKeyConstraint("id"),
    Index("llm_calls_backfill", "backfill_id", postgresql_where=text("backfill_id IS NOT NULL")),
    Index("llm_calls_replay", "request_hash", postgresql_where=text("outcome = 'ok'")),
    Index("llm_calls_time", "created_at"),
)

LLM_CALL_SUBJECTS = Table(
    "llm_call_subjects",
    METADATA,
    *columns_of(Uuid, "call_id"),
    *columns_of(Text, "subject_kind"),
    *columns_of(Uuid, "subject_id"),
    PrimaryKeyConstraint("subject_kind", "subject_id", "call_id"),
    refers_to("call_id", "llm_calls", "CASCADE"),
    Index("llm_call_subjects_call", "call_id"),
)

BUDGETS = Table(
    "budgets",
    METADATA,
    *columns_of(Date, "day"),
    *columns_of(Text, "lane task"),
    *columns_of(Integer, "calls", default="0"),
    *columns_of(USD, "reserved_usd spent_usd", default="0"),
    PrimaryKeyConstraint("day", "lane", "task"),
)

BUDGET_RESERVATIONS = Table(
    "budget_reservations",
    METADATA,
    *columns_of(Uuid, "id", default="gen_random_uuid()"),
    *columns_of(Date, "day"),
    *columns_of(Text, "lane task asked_task"),
    *columns_of(USD, "usd"),
    *columns_of(Text, "subject_kind"),
    *columns_of(Uuid, "subject_id"),
    *columns_of(Text, "request_hash model prompt_version"),
    *columns_of(Text, "run_id", null=True),
    *columns_of(Uuid, "backfill_id", null=True),
    *columns_of(MOMENT, "taken_at", default="clock_timestamp()"),
    *columns_of(MOMENT, "expires_at"),
    PrimaryKeyConstraint("id"),
    Index("budget_reservations_expiry", "lane", "expires_at"),
)

LEASES = Table(
    "leases",
    METADATA,
    *columns_of(Text, "kind"),
    *columns_of(Uuid, "subject_id"),
    *columns_of(BigInteger, "token"),
    *columns_of(Text, "holder"),
    *columns_of(MOMENT, "expires_at"),
    PrimaryKeyConstraint("kind", "subject_id"),
)

DIRTY_PARTITIONS = Table(
    "dirty_partitions",
    METADATA,
    Column("id", BigInteger, Identity(always=True)),
    *columns_of(Text, "asset partition_key reason"),
    *columns_of(MOMENT, "due_at", default="'-infinity'"),
    *columns_of(MOMENT, "from_at to_at", null=True),
    *columns_of(MOMENT, "marked_at", default="clock_timestamp()"),
    PrimaryKeyConstraint("id"),
    Index("dirty_partitions_due", "asset", "partition_key", "due_at"),
    Index("dirty_partitions_key", "asset", "partition_key", "id"),
)

PARTITION_STATES = Table(
    "partition_states",
    METADATA,
    *columns_of(Text, "asset partition_key"),
    *columns_of(BigInteger, "processed_version"),
    *columns_of(Integer, "attempts pending", default="0"),
    *columns_of(MOMENT, "due_at resume_at", null=True),
    *columns_of(MOMENT, "attempted_at", default="clock_timestamp()"),
    PrimaryKeyConstraint("asset", "partition_key"),
    Index("partition_states_due", "asset", "due_at", postgresql_where=text("pending > 0")),
)

UNREPORTED_WORK = Table(
    "unreported_work",
    METADATA,
    Column("id", BigInteger, Identity(always=True)),
    *columns_of(Text, "asset"),
    *columns_of(JSONB, "counts"),
    *columns_of(MOMENT, "done_at", default="clock_timestamp()"),
    PrimaryKeyConstraint("id"),
    Index("unreported_work_asset", "asset", "id"),
)

CONTEXT_RECEIPTS = Table(
    "context_receipts",
    METADATA,
    *columns_of(Uuid, "id entity_id"),
    *columns_of(JSONB, "request tiers left_out"),
    *columns_of(Integer, "tokens"),
    *columns_of(BigInteger, "hypothetical_tokens"),
    *columns_of(MOMENT, "served_at", default="clock_timestamp()"),
    PrimaryKeyConstraint("id"),
    Index("context_receipts_entity", "entity_id"),
)
