"""Tables of message batches: what was sent together and is not answered yet. No words of a conversation."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Date, Integer, Text, Uuid

from pkg_pipeline.adapters.postgres.schema.parts import MOMENT, TEXTS, col, index, table, to

LLM_BATCHES = table(
    "llm_batches",
    "Questions that were sent to a model's service together, for half the price and answers within a day.",
    col("id", Uuid, "of the batch", default="gen_random_uuid()"),
    col("service_id", Text, "by which the service knows it; empty until that is on record", null=True),
    col("foreign_ids", TEXTS, "batches of others with the same key that were taken for it", default="'{}'"),
    col("state", Text, "how far it is", one_of="submitting sent read done dropped", default="'submitting'"),
    col("backfill_id", Uuid, "the backfill that it was made for", null=True),
    col("redo_stale", Boolean, "whether it makes stale summaries anew"),
    col("run_id", Text, "the run that sent it", null=True),
    col("questions", Integer, "in it", default="0"),
    col("created_at", MOMENT, "when it was put on record, before it was sent", default="clock_timestamp()"),
    col("read_at", MOMENT, "when its results were read", null=True),
    index("llm_batches_open", "created_at", where="state NOT IN ('done', 'dropped')"),
    index("llm_batches_backfill", "backfill_id", where="backfill_id IS NOT NULL"),
)

LLM_BATCH_ITEMS = table(
    "llm_batch_items",
    "One question of a batch.",
    col("id", Uuid, "of the question, of its reservation and of its row in the ledger"),
    col("batch_id", Uuid, "the batch", to("llm_batches", "CASCADE")),
    col("request_hash", Text, "of all that was asked"),
    col("task", Text, "what for"),
    col("model", Text, "who was asked"),
    col("prompt_version", Text, "of the prompt"),
    col("prompt_tokens", Integer, "as counted here"),
    col("room", Integer, "tokens that the answer may have"),
    col("day", Date, "the local day whose budget pays"),
    col("is_forgotten", Boolean, "its result is dropped", default="false"),
    col("outcome", Text, "ok, or what the service told instead; empty until it is read", null=True),
    col("error", Text, "in words, none of them the service's", null=True),
    col("worked_at", MOMENT, "when the result was made use of", null=True),
    index("llm_batch_items_batch", "batch_id"),
)

LLM_BATCH_SUBJECTS = table(
    "llm_batch_subjects",
    "What a question of a batch is about, in the order in which it was asked.",
    col("item_id", Uuid, "the question", to("llm_batch_items", "CASCADE")),
    col("position", Integer, "from 1"),
    col("subject_kind", Text, "interaction"),
    col("subject_id", Uuid, "which of them"),
    col("token", BigInteger, "of the lease that keeps others away until the batch has ended"),
    index("llm_batch_subjects_subject", "subject_kind, subject_id"),
    key="item_id position",
)
