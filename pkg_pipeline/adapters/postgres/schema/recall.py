"""Tables of chunks, their words and their vectors."""

from __future__ import annotations

from pgvector.sqlalchemy import BIT, HALFVEC, SPARSEVEC
from sqlalchemy import (
    ARRAY,
    DDL,
    REAL,
    BigInteger,
    Boolean,
    Identity,
    Integer,
    SmallInteger,
    Text,
    UniqueConstraint,
    Uuid,
    event,
)

from pkg_pipeline.adapters.postgres.schema.parts import MOMENT, NUMBERS, TEXTS, check, col, index, table, to
from pkg_pipeline.memory.recall.vector_codes import CODE_BITS

EMBEDDING_SPACES = table(
    "embedding_spaces",
    "The space of vectors of one model.",
    col("id", SmallInteger, "its short name", Identity(always=True)),
    col("model", Text, "offline:NAME or openai:NAME"),
    col(
        "dimensions",
        Integer,
        "unknown until the first vector, for a service",
        check("dimensions BETWEEN 1 AND 4000"),
        null=True,
    ),
    col("state", Text, "one is searched", one_of="building active retired"),
    col("created_at", MOMENT, "when it was begun", default="clock_timestamp()"),
    col("activated_at", MOMENT, "when it became the one that is searched", null=True),
    UniqueConstraint("model"),
    index("embedding_spaces_active", "(true)", unique=True, where="state = 'active'"),
)

MEMORY_CHUNKS = table(
    "memory_chunks",
    "A piece of text with all it is found by: words with weights, people, chat, time, topics.",
    col("id", Uuid, "hash of scope, message ids and content"),
    col("no", BigInteger, "its short name in the tables of vectors", Identity(always=True)),
    col("source", Text, "what it is", one_of="message tool_result summary decision action_item fact session_fold"),
    col("chat_id", Uuid, "its chat"),
    col("interaction_id", Uuid, "its interaction", null=True),
    col("subject_id", Uuid, "the summary, item, fact or fold it says; none for messages", null=True),
    col("sender_entity_id", Uuid, "who wrote the message", null=True),
    col("at", MOMENT, "event time"),
    col("scopes", ARRAY(Uuid), "the entities it belongs to and its chat"),
    col("message_ids", NUMBERS, "what it rests on; a summary's are those of its row"),
    col("start_char", Integer, "the passage of a long message; none: all of it", null=True),
    col("end_char", Integer, "its end", null=True),
    col("passage", SmallInteger, "which passage of the message it is, from 0", default="0"),
    col("passages", SmallInteger, "how many the message has", default="1"),
    col("importance", REAL, "of the message, 0 to 1", default="0"),
    col("is_withheld", Boolean, "rests on a message deleted at its source (P29)", default="false"),
    col("topics", TEXTS, "of its interaction or fold", default="'{}'"),
    col("content", Text, "of what was derived; a message's words stay in one place only", null=True),
    col("content_hash", Text, "of the words it stands for"),
    col("index_hash", Text, "of the words it is found by: its own and those around it"),
    col("terms", ARRAY(Integer), "numbers of the words it is found by"),
    col("lexical", SPARSEVEC, "the same with their BM25 weights in this text"),
    col("updated_at", MOMENT, "when it last changed", default="clock_timestamp()"),
    UniqueConstraint("no"),
    index("memory_chunks_interaction", "interaction_id"),
    index("memory_chunks_subject", "subject_id", where="subject_id IS NOT NULL"),
    index("memory_chunks_chat", "chat_id"),
    index("memory_chunks_messages", "(message_ids[1])"),
    index("memory_chunks_words", "terms, scopes", postgresql_using="gin"),
)

CHUNK_EMBEDDINGS = table(
    "chunk_embeddings",
    "The vector of a chunk in the space of a model.",
    col("chunk_no", BigInteger, "the chunk", to("memory_chunks", "CASCADE", column="no")),
    col("space_id", SmallInteger, "the space", to("embedding_spaces")),
    col("scopes", ARRAY(Uuid), "copies, so that an index of one big scope can be kept"),
    col("at", MOMENT, "likewise"),
    col("index_hash", Text, "of the words that the vector was made from"),
    col("embedding", HALFVEC, "unit length; indexed per model and big scope on a cast"),
    key="chunk_no space_id",
)

CHUNK_CODES = table(
    "chunk_codes",
    "The sign bits of rotated vectors: a first look at a scope.",
    col("space_id", SmallInteger, "the space"),
    col("scope", Uuid, "an entity, a chat, or zero for all"),
    col("chunk_no", BigInteger, "the chunk"),
    col("at", MOMENT, "event time, as of its vector"),
    col("code", BIT(CODE_BITS), "one bit a rotated dimension"),
    index("chunk_codes_scan", "space_id, scope, at, chunk_no", include="code", unique=True),
    key="",
)

for _table, _column in ((CHUNK_EMBEDDINGS, "embedding"), (CHUNK_CODES, "code")):
    event.listen(_table, "after_create", DDL(f"ALTER TABLE %(fullname)s ALTER {_column} SET STORAGE MAIN"))

CHUNK_SCOPES = table(
    "chunk_scopes",
    "How many codes a scope has, and whether it has an index of its own.",
    col("space_id", SmallInteger, "the space", to("embedding_spaces")),
    col("scope", Uuid, "an entity, a chat, or zero for all"),
    col("chunks", BigInteger, "codes in it", default="0"),
    col("index_name", Text, "of its own index", null=True),
    index("chunk_scopes_big", "space_id, chunks DESC"),
    key="space_id scope",
)

CHUNK_TERMS = table(
    "chunk_terms",
    "Document frequencies: in how many chunks a word is.",
    col("term", Integer, "number of the word; 0 counts all chunks"),
    col("chunks", BigInteger, "with the word"),
    key="term",
    postgresql_with={"fillfactor": "80"},
)

SPEAKER_TERMS = table(
    "speaker_terms",
    "By which words of a question somebody is meant (numbers, no words).",
    col("term", Integer, "number of the word"),
    col("entity_id", Uuid, "who is meant", to("entities", "CASCADE")),
    index("speaker_terms_entity", "entity_id"),
    key="term entity_id",
)

CHUNK_STATES = table(
    "chunk_states",
    "From what the chunks of an interaction were made, for the words and for each space.",
    col("interaction_id", Uuid, "the interaction"),
    col("space_id", SmallInteger, "0: the words alone"),
    col("input_hash", Text, "of all that went in"),
    col("chunks", Integer, "that were made"),
    col("refused", Integer, "texts that the embedder would not take", default="0"),
    col("built_at", MOMENT, "when", default="clock_timestamp()"),
    key="interaction_id space_id",
)
