"""Tables of live sessions: state, folds, topics, served windows."""

from __future__ import annotations

from sqlalchemy import REAL, BigInteger, Boolean, Integer, Text, Uuid
from sqlalchemy.dialects.postgresql import JSONB

from pkg_pipeline.adapters.postgres.schema.parts import MOMENT, NUMBERS, TEXTS, USD, check, col, index, table, to, view

STANDS = "status <> 'superseded'"
"""Folds that count."""

CONVERSATION_SESSIONS = table(
    "conversation_sessions",
    "A chat that is followed while it runs; its id is the chat's.",
    col("id", Uuid, "of the chat", to("chats", "CASCADE")),
    col("label", Text, "what its owner calls it", null=True),
    col("policy", Text, "when it is folded", one_of="hysteresis sliding interval thread_size"),
    col("strategy", Text, "what a window of it holds", one_of="rolling retrieval hybrid"),
    col("summary_interval", Integer, "of this session; none: the setting", check("summary_interval > 0"), null=True),
    col("hwm_message_id", BigInteger, "high-water mark: the last message that a fold covers", default="0"),
    col("last_message_id", BigInteger, "the last message counted", default="0"),
    col("message_count", BigInteger, "live messages, service entries not among them", default="0"),
    col("token_count", BigInteger, "theirs: what the whole history would take in a prompt", default="0"),
    col("messages_since_hwm", BigInteger, "that no fold covers", default="0"),
    col("tokens_since_hwm", BigInteger, "theirs", default="0"),
    col("first_since_at", MOMENT, "when the first of them was said", null=True),
    col("last_message_at", MOMENT, "when the last message was said", null=True),
    col("messages_since_fold", BigInteger, "arrived after the last fold was made", default="0"),
    col("messages_since_look", BigInteger, "arrived after the last look at the drift of topics", default="0"),
    col("last_fold_at", MOMENT, "by the memory's clock", null=True),
    col("event", Text, "asks for a fold at once", null=True, one_of="manual scheduled handoff tool_done"),
    col("folding_to_id", BigInteger, "a decided fold that takes several steps goes on up to here", null=True),
    col("folding_trigger", Text, "why that one was decided", null=True),
    col("is_pending", Boolean, "something came while a fold was running: one more look", default="false"),
    col("dirty_folds", Integer, "folds over messages that were edited or deleted since", default="0"),
    col("next_due_at", MOMENT, "when the policy is asked next, by the memory's clock", null=True),
    col("attempts", Integer, "failed ones in a row", default="0"),
    col("retry_at", MOMENT, "by the database's clock", null=True),
    col("last_error", Text, "what went wrong last", null=True),
    col("running_summary", Text, "of all folds, kept below a limit", default="''"),
    col("running_token_count", Integer, "of the running summary", default="0"),
    col("running_fold_id", Uuid, "the last fold that is in it", null=True),
    col("created_at", MOMENT, "when it was made", default="clock_timestamp()"),
    col("updated_at", MOMENT, "when it last changed", default="clock_timestamp()"),
    index("conversation_sessions_due", "next_due_at", where="next_due_at IS NOT NULL"),
    index("conversation_sessions_active", "last_message_at DESC NULLS LAST, id"),
    postgresql_with={"fillfactor": "70"},
)

SESSION_STATES = view(
    "session_states",
    CONVERSATION_SESSIONS,
    "id policy strategy summary_interval hwm_message_id last_message_id message_count token_count messages_since_hwm"
    " tokens_since_hwm first_since_at last_message_at messages_since_fold messages_since_look last_fold_at event"
    " folding_to_id folding_trigger is_pending dirty_folds label",
)

SESSION_SUMMARIES = table(
    "session_summaries",
    "A fold: what stands for the messages of (high-water mark, cutoff].",
    col("id", Uuid, "of the fold"),
    col("session_id", Uuid, "the session", to("conversation_sessions", "CASCADE")),
    col("parent_summary_id", Uuid, "the version before", to("session_summaries", "SET NULL"), null=True),
    col("from_message_id", BigInteger, "the first message that it covers"),
    col("to_message_id", BigInteger, "the last one"),
    col("from_at", MOMENT, "event time of the first"),
    col("to_at", MOMENT, "event time of the last"),
    col("status", Text, "its state", one_of="completed dirty superseded"),
    col("dirty_reason", Text, "what happened to a message that it covers", null=True, one_of="edited deleted"),
    col(
        "trigger",
        Text,
        "why it was made",
        one_of="tokens turns time topic_shift manual scheduled handoff tool_done window hard_limit cooldown interval"
        " thread_size",
    ),
    col("input_hash", Text, "sha256 over (id, content_hash) of what it covers"),
    col("prompt_version", Text, "of the prompt that made it"),
    col("model_version", Text, "of the model that made it"),
    col("language", Text, "that it is written in"),
    col("summary", Text, "the text"),
    col("facts", JSONB, "[{id, fact_type, value, about, confidence, quote, message_ids}]", default="'[]'"),
    col("decisions", JSONB, "[{id, description, date, importance, quote, message_ids}]", default="'[]'"),
    col("open_questions", JSONB, "[{id, text, quote, message_ids}]", default="'[]'"),
    col("topics", TEXTS, "what it is about", default="'{}'"),
    col("message_ids", NUMBERS, "all that it covers, noise and service entries among them"),
    col("noise_ids", NUMBERS, "those of them that no model was shown", default="'{}'"),
    col("message_count", Integer, "messages that it covers"),
    col("source_token_count", Integer, "of their words"),
    col("summary_token_count", Integer, "of its own"),
    col("quarantined", JSONB, "what the gate took out, with reasons", default="'[]'"),
    col("cost_usd", USD, "of all its calls"),
    col("generation_seconds", REAL, "that making it took"),
    col("generated_at", MOMENT, "when it was made", default="clock_timestamp()"),
    check("from_message_id <= to_message_id"),
    index(
        "session_summaries_window",
        "session_id, from_message_id, to_message_id, input_hash",
        unique=True,
        where=STANDS,
    ),
    index("session_summaries_range", "session_id, to_message_id DESC", where=STANDS),
    index("session_summaries_time", "session_id, to_at"),
    index("session_summaries_dirty", "session_id", where="status = 'dirty'"),
    index("session_summaries_parent", "parent_summary_id", where="parent_summary_id IS NOT NULL"),
)

STANDING_FOLDS = view("standing_folds", SESSION_SUMMARIES)

MEMORY_TOPICS = table(
    "memory_topics",
    "What a session is about, over its folds.",
    col("session_id", Uuid, "the session", to("conversation_sessions", "CASCADE")),
    col("topic", Text, "in a few words"),
    col("mention_count", Integer, "folds that name it"),
    col("last_seen_at", MOMENT, "when it was last talked about"),
    index("memory_topics_rank", "session_id, mention_count DESC, last_seen_at DESC"),
    key="session_id topic",
)

SERVED_WINDOWS = table(
    "served_windows",
    "What a prompt took, would have taken, left out, and what the model then reported; no text.",
    col("id", Uuid, "of the window"),
    col("session_id", Uuid, "the session", to("conversation_sessions", "CASCADE")),
    col("strategy", Text, "what it held"),
    col("model", Text, "for which it was made, where the caller said so", null=True),
    col("prompt_tokens", Integer, "that it took"),
    col("hypothetical_tokens", BigInteger, "without compression"),
    col("budget", JSONB, "what was allowed"),
    col("tiers", JSONB, "per tier: tokens and ids"),
    col("left_out", JSONB, "what did not fit, with reasons", default="'[]'"),
    col("reported_prompt_tokens", Integer, "by the model's own count, where it is known", null=True),
    col("completion_tokens", Integer, "likewise", null=True),
    col("cost_usd", USD, "as told, or by the model's price", null=True),
    col("served_at", MOMENT, "when", default="clock_timestamp()"),
    index("served_windows_session", "session_id, served_at DESC"),
    index("served_windows_served", "served_at", include="prompt_tokens hypothetical_tokens"),
    index("served_windows_reported", "model, served_at DESC", where="reported_prompt_tokens IS NOT NULL"),
    asset="session_summaries",
)
