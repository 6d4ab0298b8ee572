"""Tables of the ledger, budget, leases, partitions, receipts and daily figures."""

from __future__ import annotations

from sqlalchemy import ARRAY, REAL, BigInteger, Boolean, Date, Double, Identity, Integer, Numeric, Text, Uuid
from sqlalchemy.dialects.postgresql import JSONB

from pkg_pipeline.adapters.postgres.schema.parts import MOMENT, TEXTS, USD, col, index, table, to, view

LLM_CALLS = table(
    "llm_calls",
    "The ledger, one row a call of a model.",
    col("id", Uuid, "of the call", default="gen_random_uuid()"),
    col("request_hash", Text, "of all that was asked: an answer is taken again for the same"),
    col("task", Text, "what for"),
    col("model", Text, "who was asked"),
    col("prompt_version", Text, "of the prompt"),
    col("lane", Text, "live or backfill"),
    col("outcome", Text, "ok, or what went wrong"),
    col("error", Text, "in words", null=True),
    col("request_id", Text, "by which the service knows the call", null=True),
    col("run_id", Text, "the run that it was made in", null=True),
    col("input_tokens", Integer, "as the service counts them"),
    col("output_tokens", Integer, "likewise"),
    col("counted_tokens", Integer, "the input as we count it, where the service told its own count", null=True),
    col("cache_read_tokens", Integer, "input read from the service's cache", default="0"),
    col("cache_write_tokens", Integer, "input written to it", default="0"),
    col("is_usage_estimated", Boolean, "nobody told: the most that it can have been", default="false"),
    col("cost_usd", USD, "by the model's price"),
    col("duration_seconds", REAL, "until the answer"),
    col("reply", Text, "the answer, kept to be taken again", null=True),
    col("created_at", MOMENT, "when it was answered", default="clock_timestamp()"),
    col("backfill_id", Uuid, "the backfill that it was made for", null=True),
    index("llm_calls_backfill", "backfill_id", where="backfill_id IS NOT NULL"),
    index("llm_calls_counted", "model, created_at", where="counted_tokens > 0 AND NOT is_usage_estimated"),
    index("llm_calls_replay", "request_hash", where="outcome = 'ok'"),
    index("llm_calls_time", "created_at"),
    asset="interaction_summaries",
    fresh_by="created_at",
)

LLM_CALL_SUBJECTS = table(
    "llm_call_subjects",
    "What a call was about.",
    col("call_id", Uuid, "the call", to("llm_calls", "CASCADE")),
    col("subject_kind", Text, "interaction, profile, session, question, brief"),
    col("subject_id", Uuid, "which of them"),
    index("llm_call_subjects_call", "call_id"),
    key="subject_kind subject_id call_id",
)

BUDGETS = table(
    "budgets",
    "Calls and money taken of one local day, lane and task.",
    col("day", Date, "the local day"),
    col("lane", Text, "whose money", one_of="live backfill"),
    col("task", Text, "what for"),
    col("calls", Integer, "made and under way", default="0"),
    col("reserved_usd", USD, "for calls under way", default="0"),
    col("spent_usd", USD, "on those that were made", default="0"),
    key="day lane task",
    asset="interaction_summaries",
)

BUDGET_RESERVATIONS = table(
    "budget_reservations",
    "Money taken for a call that is under way, until its cost is in the ledger.",
    col("id", Uuid, "the ledger row's too, where nobody comes back to settle it", default="gen_random_uuid()"),
    col("day", Date, "the local day"),
    col("lane", Text, "whose money"),
    col("task", Text, "whose budget pays"),
    col("asked_task", Text, "what was asked: that task or a part of it"),
    col("usd", USD, "the most it can cost"),
    col("subject_kind", Text, "what it is about"),
    col("subject_id", Uuid, "which of them"),
    col("request_hash", Text, "of all that is asked"),
    col("model", Text, "who is asked"),
    col("prompt_version", Text, "of the prompt"),
    col("run_id", Text, "the run that it is made in", null=True),
    col("backfill_id", Uuid, "the backfill that it is made for", null=True),
    col("taken_at", MOMENT, "when", default="clock_timestamp()"),
    col("expires_at", MOMENT, "after that the asker is taken for dead"),
    index("budget_reservations_expiry", "lane, expires_at"),
)

LEASES = table(
    "leases",
    "Who works on what, until when.",
    col("kind", Text, "summary, profile, session"),
    col("subject_id", Uuid, "which of them"),
    col("token", BigInteger, "fencing: only the newest holder's result is taken"),
    col("holder", Text, "who works on it"),
    col("expires_at", MOMENT, "after that anybody may take it"),
    key="kind subject_id",
)

HELD_LEASES = view("held_leases", LEASES)

DIRTY_PARTITIONS = table(
    "dirty_partitions",
    "What changed and is to be looked at.",
    col("id", BigInteger, "the version of a mark", Identity(always=True)),
    col("asset", Text, "that is to be made anew"),
    col("partition_key", Text, "its partition: a day, week or month, or a chat"),
    col("reason", Text, "what happened"),
    col("due_at", MOMENT, "by the memory's clock", default="'-infinity'"),
    col("from_at", MOMENT, "from where of a chat", null=True),
    col("to_at", MOMENT, "up to where", null=True),
    col("marked_at", MOMENT, "when", default="clock_timestamp()"),
    index("dirty_partitions_due", "asset, partition_key, due_at"),
    index("dirty_partitions_key", "asset, partition_key, id"),
)

PARTITION_STATES = table(
    "partition_states",
    "What the last attempt at a partition left over.",
    col("asset", Text, "the asset"),
    col("partition_key", Text, "its partition"),
    col("processed_version", BigInteger, "marks up to this one are done"),
    col("attempts", Integer, "that left something, in a row", default="0"),
    col("pending", Integer, "rows that were left", default="0"),
    col("due_at", MOMENT, "by the memory's clock: when what is too young now can be done", null=True),
    col("resume_at", MOMENT, "by the database's clock: when what was put off can go on", null=True),
    col("attempted_at", MOMENT, "when it was tried last", default="clock_timestamp()"),
    index("partition_states_due", "asset, due_at", where="pending > 0"),
    key="asset partition_key",
)

UNREPORTED_WORK = table(
    "unreported_work",
    "An import that happened outside of Dagster's runs, until a run shows it among its own.",
    col("id", BigInteger, "in the order of happening", Identity(always=True)),
    col("asset", Text, "whose materialisation it is"),
    col("counts", JSONB, 'the asset\'s numbers: {"rows": 12, …}'),
    col("done_at", MOMENT, "when", default="clock_timestamp()"),
    index("unreported_work_asset", "asset, id"),
)

PAST_VERSIONS = table(
    "past_versions",
    "What a row was until it was written over or deleted, for what is asked of then.",
    col("no", BigInteger, "in the order of writing", Identity(always=False)),
    col("kind", Text, "of which table", one_of="item fact summary profile reading chat entity"),
    col("subject_id", Uuid, "the id of the row"),
    col("known_from", MOMENT, "since when it was so, by the memory's clock"),
    col("known_to", MOMENT, "until when, likewise"),
    col("written_at", MOMENT, "when it was written over, by the database's clock", default="clock_timestamp()"),
    col("chats", ARRAY(Uuid), "where what it rests on was said", default="'{}'"),
    col("message_ids", TEXTS, "external ids of the messages that it rests on", default="'{}'"),
    col("people", ARRAY(Uuid), "whom it concerns", default="'{}'"),
    col("was", JSONB, "the row, of an item with its states; none: it was not kept", null=True),
    index("past_versions_chats", "chats", postgresql_using="gin"),
    index("past_versions_people", "people", postgresql_using="gin"),
    index("past_versions_subject", "kind, subject_id, known_to"),
    index("past_versions_time", "kind, known_to"),
    key="no",
)

CONTEXT_RECEIPTS = table(
    "context_receipts",
    "What a served context drew on: ids and tokens, no text.",
    col("id", Uuid, "of the receipt"),
    col("entity_id", Uuid, "whom the context was about"),
    col("request", JSONB, "what was asked"),
    col("tiers", JSONB, "ids and tokens only, never text"),
    col("left_out", JSONB, "what was not served, with reasons"),
    col("tokens", Integer, "that the context took"),
    col("hypothetical_tokens", BigInteger, "without compression"),
    col("served_at", MOMENT, "when", default="clock_timestamp()"),
    index("context_receipts_entity", "entity_id"),
    index("context_receipts_served", "served_at", include="tokens hypothetical_tokens"),
    asset="messages",
)

SERVED_LINES = table(
    "served_lines",
    "Fingerprint of a line, or of its beginning, that was served not long ago; no words.",
    col("print", BigInteger, "hash of its words, odd for a whole line"),
    col("no", BigInteger, "the order in which they were served first: the oldest go", Identity(always=True)),
    index("served_lines_no", "no"),
    key="print",
)

DAY_STATISTICS = table(
    "day_statistics",
    "The figures of one day, as they were counted last.",
    col("day", Date, "the local day on which the interactions began"),
    col("minimum_messages", Integer, "P11, as it was when the day was counted"),
    col("interactions", Integer, "that began on the day"),
    col("eligible", Integer, "P11; summarized + pending + failed"),
    col("summarized", Integer, "with a summary that is up to date"),
    col("pending", Integer, "waiting for one"),
    col("failed", Integer, "given up"),
    col("oldest_pending_at", MOMENT, "end of the oldest pending interaction", null=True),
    col("summaries", Integer, "served ones, whatever their interaction is now"),
    col("generation_seconds", Double, "sum over the served summaries"),
    col("compression_ratios", Numeric, "likewise"),
    col("cost_usd", Numeric, "likewise"),
    col("key_points", BigInteger, "likewise"),
    col("decisions", BigInteger, "items that their conversations decided first, withheld ones not among them"),
    col("versions", JSONB, 'served summaries by "prompt version|model|schema version"', default="'{}'"),
    index("day_statistics_pending", "day", where="pending > 0"),
    key="day",
)

DAY_STATISTICS_MARKS = table(
    "day_statistics_marks",
    "A day whose figures changed since they were counted; triggers leave the marks.",
    col("day", Date, "the local day"),
    col("transaction", BigInteger, "a mark is as visible as the change it stands for"),
    col("marked_at", MOMENT, "start of the transaction: numbers of another server may recur"),
    key="day transaction marked_at",
)

LEDGER_STATISTICS = table(
    "ledger_statistics",
    "One sort of call on one local day, as it was counted last.",
    col("day", Date, "the local day of the calls"),
    col("lane", Text, "live or backfill"),
    col("task", Text, "what for"),
    col("model", Text, "who was asked"),
    col("outcome", Text, "ok, or what went wrong"),
    col("calls", BigInteger, "how many"),
    col("input_tokens", BigInteger, "theirs"),
    col("output_tokens", BigInteger, "theirs"),
    col("cache_read_tokens", BigInteger, "theirs"),
    col("cache_write_tokens", BigInteger, "theirs"),
    col("cost_usd", Numeric, "theirs"),
    col("duration_seconds", Double, "theirs"),
    key="day lane task model outcome",
)

LEDGER_STATISTICS_MARKS = table(
    "ledger_statistics_marks",
    "An hour whose calls changed since they were counted; triggers leave the marks.",
    col("hour", MOMENT, "of the calls; which local days it touches, the reader's time zone says"),
    col("transaction", BigInteger, "a mark is as visible as the change it stands for"),
    col("marked_at", MOMENT, "start of the transaction"),
    key="hour transaction marked_at",
)

ERASURES = table(
    "erasures",
    "A receipt of what was forgotten on request: counts and digests, no content.",
    col("id", Uuid, "of the receipt"),
    col("kind", Text, "what was asked to be forgotten", one_of="entity chat session message range"),
    col("state", Text, "whether all of it is gone", one_of="running done"),
    col("plan", JSONB, "ids still to be erased; none once it is done", null=True),
    col("counts", JSONB, "rows erased, by what they were"),
    col("digest", Text, "sha256 over the sorted hashes of the messages erased"),
    col("requested_by", Text, "who asked"),
    col("requested_at", MOMENT, "by the memory's clock"),
    col("finished_at", MOMENT, "when all of it was gone", null=True),
)

TOMBSTONES = table(
    "tombstones",
    "What a later import may not bring back, as salted hashes.",
    col("hash", Text, "HMAC-SHA256 of what it keeps out, keyed with the memory's salt"),
    col("erasure_id", Uuid, "the receipt", to("erasures", "CASCADE")),
    col("kind", Text, "what it keeps out", one_of="person chat message range"),
    col("chat_hash", Text, "of the chat of a message or range, and of a chat itself", null=True),
    col("from_at", MOMENT, "of a range: messages sent from then on", null=True),
    col("to_at", MOMENT, "of a range: up to then", null=True),
    index("tombstones_chat", "chat_hash"),
    key="hash erasure_id",
)
