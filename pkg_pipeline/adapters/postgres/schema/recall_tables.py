"""The tables of record for chunks, their terms and their vectors. Those of the memory itself are in ``tables``."""

from __future__ import annotations

from pgvector.sqlalchemy import BIT, HALFVEC, SPARSEVEC
from sqlalchemy import (
    ARRAY,
    REAL,
    BigInteger,
    Boolean,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy import Column as SqlColumn

from pkg_pipeline.adapters.postgres.schema.parts import METADATA, MOMENT, SCHEMA, TEXTS, columns_of, refers_to
from pkg_pipeline.memory.recall.vector_codes import CODE_BITS

EMBEDDING_SPACES = Table(
    "embedding_spaces",
    METADATA,
    SqlColumn("id", SmallInteger, Identity(always=True), nullable=False),
    *columns_of(Text, "model"),
    *columns_of(Integer, "dimensions", null=True),
    *columns_of(Text, "state"),
    *columns_of(MOMENT, "created_at", default="clock_timestamp()"),
    *columns_of(MOMENT, "activated_at", null=True),
    PrimaryKeyConstraint("id"),
    UniqueConstraint("model"),
    Index("embedding_spaces_active", text("(true)"), unique=True, postgresql_where=text("state = 'active'")),
)

MEMORY_CHUNKS = Table(
    "memory_chunks",
    METADATA,
    *columns_of(Uuid, "id"),
    SqlColumn("no", BigInteger, Identity(always=True), nullable=False),
    *columns_of(Text, "source"),
    *columns_of(Uuid, "chat_id"),
    *columns_of(Uuid, "interaction_id subject_id sender_entity_id", null=True),
    *columns_of(MOMENT, "at"),
    *columns_of(ARRAY(Uuid), "scopes"),
    *columns_of(ARRAY(BigInteger), "message_ids"),
    *columns_of(Integer, "start_char end_char", null=True),
    *columns_of(SmallInteger, "passage", default="0"),
    *columns_of(SmallInteger, "passages", default="1"),
    *columns_of(REAL, "importance", default="0"),
    *columns_of(Boolean, "is_withheld", default="false"),
    *columns_of(TEXTS, "topics", default="'{}'"),
    *columns_of(Text, "content", null=True),
    *columns_of(Text, "content_hash index_hash"),
    *columns_of(ARRAY(Integer), "terms"),
    *columns_of(SPARSEVEC, "lexical"),
    *columns_of(MOMENT, "updated_at", default="clock_timestamp()"),
    PrimaryKeyConstraint("id"),
    UniqueConstraint("no"),
    Index("memory_chunks_interaction", "interaction_id"),
    Index("memory_chunks_subject", "subject_id", postgresql_where=text("subject_id IS NOT NULL")),
    Index("memory_chunks_chat", "chat_id", "at"),
    Index("memory_chunks_messages", "message_ids", postgresql_using="gin"),
    Index("memory_chunks_words", "terms", "scopes", postgresql_using="gin"),
    Index("memory_chunks_topics", "topics", postgresql_using="gin"),
)

CHUNK_EMBEDDINGS = Table(
    "chunk_embeddings",
    METADATA,
    *columns_of(BigInteger, "chunk_no"),
    *columns_of(SmallInteger, "space_id"),
    *columns_of(ARRAY(Uuid), "scopes"),
    *columns_of(MOMENT, "at"),
    *columns_of(Text, "index_hash"),
    *columns_of(HALFVEC, "embedding"),
    PrimaryKeyConstraint("chunk_no", "space_id"),
    ForeignKeyConstraint(["chunk_no"], [f"{SCHEMA}.memory_chunks.no"], ondelete="CASCADE"),
    refers_to("space_id", "embedding_spaces"),
)

CHUNK_CODES = Table(
    "chunk_codes",
    METADATA,
    *columns_of(SmallInteger, "space_id"),
    *columns_of(Uuid, "scope"),
    *columns_of(BigInteger, "chunk_no"),
    *columns_of(MOMENT, "at"),
    *columns_of(BIT(CODE_BITS), "code"),
    PrimaryKeyConstraint("space_id", "scope", "chunk_no"),
    refers_to("space_id", "embedding_spaces"),
    Index("chunk_codes_scan", "space_id", "scope", "at", postgresql_include=["chunk_no", "code"]),
)

CHUNK_SCOPES = Table(
    "chunk_scopes",
    METADATA,
    *columns_of(SmallInteger, "space_id"),
    *columns_of(Uuid, "scope"),
    *columns_of(BigInteger, "chunks", default="0"),
    *columns_of(Text, "index_name", null=True),
    PrimaryKeyConstraint("space_id", "scope"),
    refers_to("space_id", "embedding_spaces"),
    Index("chunk_scopes_big", "space_id", text("chunks DESC")),
)

CHUNK_TERMS = Table(
    "chunk_terms",
    METADATA,
    *columns_of(Integer, "term"),
    *columns_of(BigInteger, "chunks"),
    PrimaryKeyConstraint("term"),
)

SPEAKER_TERMS = Table(
    "speaker_terms",
    METADATA,
    *columns_of(Integer, "term"),
    *columns_of(Uuid, "entity_id"),
    PrimaryKeyConstraint("term", "entity_id"),
    refers_to("entity_id", "entities", "CASCADE"),
    Index("speaker_terms_entity", "entity_id"),
)

CHUNK_STATES = Table(
    "chunk_states",
    METADATA,
    *columns_of(Uuid, "interaction_id"),
    *columns_of(SmallInteger, "space_id"),
    *columns_of(Text, "input_hash"),
    *columns_of(Integer, "chunks"),
    *columns_of(Integer, "refused", default="0"),
    *columns_of(MOMENT, "built_at", default="clock_timestamp()"),
    PrimaryKeyConstraint("interaction_id", "space_id"),
)
