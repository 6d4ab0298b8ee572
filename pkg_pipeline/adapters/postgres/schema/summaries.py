"""Tables of summaries, profiles, archive, backfills."""

from __future__ import annotations

from sqlalchemy import REAL, BigInteger, Boolean, Date, Integer, Numeric, Text, Uuid
from sqlalchemy.dialects.postgresql import JSONB

from pkg_pipeline.adapters.postgres.schema.parts import (
    KNOWN_NOW,
    MOMENT,
    RATIO,
    TEXTS,
    USD,
    check,
    col,
    index,
    table,
    to,
    view,
)

LIVE = "status IN ('completed', 'dirty')"
"""The served summary."""

INTERACTION_SUMMARIES = table(
    "interaction_summaries",
    "What was said; one live row an interaction, the ones before it superseded.",
    col("id", Uuid, "of this version"),
    col("interaction_id", Uuid, "what it tells of"),
    col("parent_summary_id", Uuid, "the version before", to("interaction_summaries", "SET NULL"), null=True),
    col("status", Text, "its state", one_of="candidate completed dirty superseded quarantined"),
    col("dirty_reason", Text, "what happened to a message that it covers", null=True, one_of="edited deleted"),
    col("input_hash", Text, "of what the interaction said when it was made"),
    col("prompt_version", Text, "of the prompt that made it"),
    col("model_version", Text, "of the model that made it"),
    col("language", Text, "that it is written in"),
    col("summary", Text, "the text"),
    col("key_points", JSONB, "list of texts", default="'[]'"),
    col("tone", Text, "of the conversation", null=True, one_of="positive neutral negative formal informal"),
    col("important_messages", JSONB, "messages worth reading again", default="'[]'"),
    col("quarantined", JSONB, "what the gate took out, with reasons", default="'[]'"),
    col("message_ids", TEXTS, "external ids of the messages it was made from"),
    col("message_count", Integer, "of these"),
    col("source_token_count", Integer, "of their words"),
    col("summary_token_count", Integer, "of its own"),
    col("compression_ratio", RATIO, "the former by the latter"),
    col("cost_usd", USD, "of all its calls"),
    col("generation_seconds", REAL, "that making it took"),
    col("revision_count", Integer, "which version it is, from 1", default="1"),
    col("schema_version", Integer, "of the answer's form", default="1"),
    col("window_count", Integer, "parts that it was made from", default="1"),
    col("method", Text, "how it was made", default="'whole'", one_of="whole windows update"),
    col("generated_at", MOMENT, "when it was made", default="clock_timestamp()"),
    col("updated_at", MOMENT, "when its state last changed", null=True),
    col("known_from", MOMENT, "since when the memory has it, by its own clock", default=KNOWN_NOW),
    col("known_to", MOMENT, "when it was superseded, by the memory's clock", null=True),
    index("interaction_summaries_interaction", "interaction_id"),
    index("interaction_summaries_live", "interaction_id", unique=True, where=LIVE),
    index("interaction_summaries_versions", "prompt_version, model_version, schema_version", where=LIVE),
    asset="interaction_summaries",
    fresh_by="generated_at",
)

LIVE_SUMMARIES = view(
    "live_summaries",
    INTERACTION_SUMMARIES,
    " ".join(one.name for one in INTERACTION_SUMMARIES.c if not one.name.startswith("known_")),
)

SUMMARY_ATTEMPTS = table(
    "summary_attempts",
    "Why an interaction has no summary yet.",
    col("interaction_id", Uuid, "the interaction"),
    col("input_hash", Text, "of what was tried: attempts at anything else do not count"),
    col("prompt_version", Text, "that it was tried with"),
    col("model_version", Text, "that it was tried with"),
    col("attempts", Integer, "that counted"),
    col("deferrals", Integer, "transport and quota trouble since the last attempt that counted", default="0"),
    col("state", Text, "tried again, or given up", one_of="waiting failed"),
    col("retry_at", MOMENT, "by the database's clock", null=True),
    col("last_error", Text, "what went wrong last"),
    col("updated_at", MOMENT, "of the last attempt", default="clock_timestamp()"),
    index("summary_attempts_failed", "updated_at, interaction_id", where="state = 'failed'"),
    key="interaction_id",
    asset="interaction_summaries",
)

ENTITY_RELATIONSHIP_PROFILES = table(
    "entity_relationship_profiles",
    "What a relationship was like as of the end of a week, one row a person and week.",
    col("entity_id", Uuid, "the person", to("entities", "CASCADE")),
    col("week", Date, "partition: the Sunday on which the week begins, by the local calendar"),
    col("id", Uuid, "of the row"),
    col("as_of", MOMENT, "the week's end"),
    col("covers_until", MOMENT, "summaries of interactions that ended by then went in (P22)"),
    col("status", Text, "dirty: something under it changed", default="'completed'", one_of="completed dirty"),
    col("dirty_reason", Text, "what happened to a message under it", null=True, one_of="edited deleted"),
    col("input_hash", Text, "of all that it was made from"),
    col("prompt_version", Text, "of the prompt that worded it"),
    col("model_version", Text, "of the model that worded it"),
    col("schema_version", Integer, "of the answer's form", default="1"),
    col("language", Text, "that it is written in", one_of="en ru zh"),
    col(
        "relationship_type",
        Text,
        "what the person is to me",
        one_of="client partner colleague friend acquaintance vendor other family boss landlord tenant doctor teacher"
        " neighbour unknown",
    ),
    col(
        "frequency",
        Text,
        "how often we talk",
        one_of="daily several_weekly weekly biweekly monthly quarterly rare ceased",
    ),
    col("mean_gap_days", REAL, "between starts of consecutive interactions; none for a single one", null=True),
    col("summary", Text, "the text"),
    col("timeline", Text, "how it came about", default="''"),
    col("first_interaction_at", MOMENT, "start of the first interaction"),
    col("last_interaction_at", MOMENT, "end of the last interaction"),
    col("last_meaningful_contact_at", MOMENT, "of the last one with a decision, an open item or a talk", null=True),
    col("total_interactions", Integer, "by the week's end"),
    col("total_messages", BigInteger, "by the week's end"),
    col("summarized_interactions", Integer, "that went in"),
    col("coverage", Numeric(5, 4), "summarised by total, 0 to 1", check("coverage BETWEEN 0 AND 1")),
    col("top_topics", JSONB, "what was talked about most, with counts", default="'[]'"),
    col("milestones", JSONB, "turning points with their interactions", default="'[]'"),
    col("key_decisions", JSONB, "decisions of high importance", default="'[]'"),
    col("open_action_items", JSONB, "what was open at the week's end", default="'[]'"),
    col("quarantined", JSONB, "what the gate took out, with reasons", default="'[]'"),
    col("is_carried_over", Boolean, "an unchanged input: the words of an earlier week (P23)", default="false"),
    col("source_token_count", Integer, "of what the model was shown"),
    col("summary_token_count", Integer, "of its own"),
    col("cost_usd", USD, "of all its calls"),
    col("generation_seconds", REAL, "that making it took"),
    col("generated_at", MOMENT, "when it was made", default="clock_timestamp()"),
    col("known_from", MOMENT, "since when the memory has it, by its own clock", default=KNOWN_NOW),
    col("remade_at", MOMENT, "when its present words replaced others, by the memory's clock", null=True),
    index("entity_relationship_profiles_id", "id", unique=True),
    index("entity_relationship_profiles_week", "week, entity_id"),
    key="entity_id week",
    asset="entity_relationship_profiles",
)

PROFILE_ATTEMPTS = table(
    "profile_attempts",
    "Why a person of a week has no profile yet, and when it is tried again.",
    col("entity_id", Uuid, "the person", to("entities", "CASCADE")),
    col("week", Date, "the Sunday on which the week begins"),
    col("input_hash", Text, "of what was tried: attempts at anything else do not count"),
    col("prompt_version", Text, "that it was tried with"),
    col("model_version", Text, "that it was tried with"),
    col("attempts", Integer, "that counted"),
    col("deferrals", Integer, "transport and quota trouble since the last attempt that counted", default="0"),
    col("state", Text, "tried again, or given up", one_of="waiting failed"),
    col("retry_at", MOMENT, "by the database's clock", null=True),
    col("last_error", Text, "what went wrong last"),
    col("updated_at", MOMENT, "of the last attempt", default="clock_timestamp()"),
    key="entity_id week",
)

ARCHIVED_MESSAGES = table(
    "archived_messages",
    "The words of an old message; a partition a month.",
    col("month", Date, "first day of the local month in which the interaction started"),
    col("message_id", BigInteger, "the message"),
    col("chat_id", Uuid, "its chat"),
    col("interaction_id", Uuid, "its interaction"),
    col("external_id", Text, "its id at the source"),
    col("sent_at", MOMENT, "when it was said"),
    col("content", Text, "its words"),
    col("content_hash", Text, "of words and parts"),
    col("parts", JSONB, "what it holds besides words", null=True),
    col("archived_at", MOMENT, "when it came here", default="clock_timestamp()"),
    index("archived_messages_chat", "chat_id, sent_at"),
    index("archived_messages_interaction", "interaction_id"),
    key="month message_id",
    postgresql_partition_by="RANGE (month)",
)

ARCHIVE_MONTHS = table(
    "archive_months",
    "What a month of the archive holds.",
    col("month", Date, "its first day"),
    col("state", Text, "whether its words are there", one_of="kept dropped"),
    col("message_count", BigInteger, "messages in it", default="0"),
    col("content_bytes", BigInteger, "of their words", default="0"),
    col("dropped_at", MOMENT, "when retention took it", null=True),
    key="month",
)

ARCHIVE_HOLDS = table(
    "archive_holds",
    "An interaction whose words somebody restored, left alone for a while.",
    col("interaction_id", Uuid, "somebody restored texts of it"),
    col("held_until", MOMENT, "by the memory's clock: not archived again before"),
    key="interaction_id",
)

BACKFILLS = table(
    "backfills",
    "What somebody asked to be made, its forecast, and how far it is.",
    col("id", Uuid, "of the backfill", default="gen_random_uuid()"),
    col("asset", Text, "what is to be made"),
    col("state", Text, "how far it is", default="'requested'", one_of="requested running done cancelled"),
    col("request", JSONB, "age, range, limit, stale, failed, as they were asked for"),
    col("forecast", JSONB, "interactions, tokens, calls and USD told before"),
    col("requested_by", Text, "who asked"),
    col("requested_at", MOMENT, "when", default="clock_timestamp()"),
    col("finished_at", MOMENT, "when it was done or cancelled", null=True),
    col("resume_at", MOMENT, "a cap or the service stopped it: not asked for again before", null=True),
    col("waits_for", Text, "what stopped it", null=True),
    index("backfills_open", "requested_at", where="state IN ('requested', 'running')"),
)

BACKFILL_INTERACTIONS = table(
    "backfill_interactions",
    "An interaction of a backfill.",
    col("backfill_id", Uuid, "the backfill", to("backfills", "CASCADE")),
    col("interaction_id", Uuid, "the interaction"),
    col("day", Date, "of the interaction"),
    col("done_at", MOMENT, "none: still to be done", null=True),
    index("backfill_interactions_interaction", "interaction_id"),
    index("backfill_interactions_left", "backfill_id, day", where="done_at IS NULL"),
    key="backfill_id interaction_id",
)
