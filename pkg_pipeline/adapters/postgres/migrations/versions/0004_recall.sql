-- Chunks, their terms and their vectors: what recall searches.

CREATE TABLE embedding_spaces (
    id smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    model text NOT NULL UNIQUE,                  -- offline:NAME or openai:NAME
    dimensions integer CHECK (dimensions BETWEEN 1 AND 4000),   -- unknown until the first vector, for a service
    state text NOT NULL CHECK (state IN ('building', 'active', 'retired')),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    activated_at timestamptz
);
CREATE UNIQUE INDEX embedding_spaces_active ON embedding_spaces ((true)) WHERE state = 'active';

CREATE TABLE memory_chunks (
    id uuid PRIMARY KEY,                         -- hash of scope, message ids and content
    no bigint GENERATED ALWAYS AS IDENTITY UNIQUE,   -- its short name in the tables of vectors
    source text NOT NULL CHECK (source IN
        ('message', 'tool_result', 'summary', 'decision', 'action_item', 'fact', 'session_fold')),
    chat_id uuid NOT NULL,
    interaction_id uuid,
    subject_id uuid,                             -- the summary, item, fact or fold it says; none for messages
    sender_entity_id uuid,
    at timestamptz NOT NULL,                     -- event time
    scopes uuid[] NOT NULL,                      -- the entities it belongs to and its chat
    message_ids bigint[] NOT NULL,               -- what it rests on; a summary's are those of its row
    start_char integer,                          -- the passage of a long message; none: all of it
    end_char integer,
    passage smallint NOT NULL DEFAULT 0,
    passages smallint NOT NULL DEFAULT 1,
    importance real NOT NULL DEFAULT 0,
    is_withheld boolean NOT NULL DEFAULT false,  -- rests on a message deleted at its source (P29)
    topics text[] NOT NULL DEFAULT '{}',
    content text,                                -- of what was derived; a message's words stay in one place only
    content_hash text NOT NULL,                  -- of the words it stands for
    index_hash text NOT NULL,                    -- of the words it is found by: its own and those around it
    terms integer[] NOT NULL,                    -- numbers of the words it is found by
    lexical sparsevec NOT NULL,                  -- the same with their BM25 weights in this text
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX memory_chunks_interaction ON memory_chunks (interaction_id);
CREATE INDEX memory_chunks_subject ON memory_chunks (subject_id) WHERE subject_id IS NOT NULL;
CREATE INDEX memory_chunks_chat ON memory_chunks (chat_id, at);
CREATE INDEX memory_chunks_messages ON memory_chunks USING gin (message_ids);
CREATE INDEX memory_chunks_words ON memory_chunks USING gin (terms, scopes);
CREATE INDEX memory_chunks_topics ON memory_chunks USING gin (topics);

CREATE TABLE chunk_embeddings (
    chunk_no bigint NOT NULL REFERENCES memory_chunks (no) ON DELETE CASCADE,
    space_id smallint NOT NULL REFERENCES embedding_spaces,
    scopes uuid[] NOT NULL,                      -- copies, so that an index of one big scope can be kept
    at timestamptz NOT NULL,
    index_hash text NOT NULL,                    -- of the words that the vector was made from
    embedding halfvec NOT NULL,                  -- unit length; indexed per model and big scope on a cast
    PRIMARY KEY (chunk_no, space_id)
);
ALTER TABLE chunk_embeddings ALTER embedding SET STORAGE MAIN;

CREATE TABLE chunk_codes (                       -- the sign bits of rotated vectors: a first look at a scope
    space_id smallint NOT NULL REFERENCES embedding_spaces,
    scope uuid NOT NULL,                         -- an entity, a chat, or zero for all
    chunk_no bigint NOT NULL,
    at timestamptz NOT NULL,
    code bit(1024) NOT NULL,
    PRIMARY KEY (space_id, scope, chunk_no)
);
ALTER TABLE chunk_codes ALTER code SET STORAGE MAIN;
CREATE INDEX chunk_codes_scan ON chunk_codes (space_id, scope, at) INCLUDE (chunk_no, code);   -- a scope, or a time of it

CREATE TABLE chunk_scopes (                      -- how many codes a scope has, and whether it has an index of its own
    space_id smallint NOT NULL REFERENCES embedding_spaces,
    scope uuid NOT NULL,
    chunks bigint NOT NULL DEFAULT 0,
    index_name text,
    PRIMARY KEY (space_id, scope)
);
CREATE INDEX chunk_scopes_big ON chunk_scopes (space_id, chunks DESC);

CREATE TABLE chunk_terms (                       -- document frequencies; term 0 counts all chunks
    term integer PRIMARY KEY,
    chunks bigint NOT NULL
) WITH (fillfactor = 80);

CREATE TABLE speaker_terms (                     -- by which words of a question somebody is meant
    term integer NOT NULL,
    entity_id uuid NOT NULL REFERENCES entities ON DELETE CASCADE,
    PRIMARY KEY (term, entity_id)
);
CREATE INDEX speaker_terms_entity ON speaker_terms (entity_id);

CREATE TABLE chunk_states (                      -- from what the chunks of an interaction were made, per space
    interaction_id uuid NOT NULL,
    space_id smallint NOT NULL,                  -- 0: the words alone
    input_hash text NOT NULL,
    chunks integer NOT NULL,
    refused integer NOT NULL DEFAULT 0,          -- texts that the embedder would not take
    built_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (interaction_id, space_id)
);

CREATE VIEW memory_chunk_texts AS
SELECT c.id, c.source, c.chat_id, c.interaction_id, c.subject_id, c.at, c.topics, c.message_ids,
       coalesce(c.content, substr(m.content, coalesce(c.start_char, 0) + 1,
                                  coalesce(c.end_char, length(m.content)) - coalesce(c.start_char, 0))) AS content
FROM memory_chunks c LEFT JOIN message_texts m ON c.content IS NULL AND m.id = c.message_ids[1];

-- whatever is there already waits for its chunks
INSERT INTO dirty_partitions (asset, partition_key, reason)
SELECT DISTINCT 'memory_chunks', to_char(day, 'YYYY-MM-DD'), 'not searchable yet' FROM interactions;
