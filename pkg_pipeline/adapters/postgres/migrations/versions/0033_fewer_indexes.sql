-- A code's time is that of its vector, by which it is found: one index serves and keeps it single.
CREATE UNIQUE INDEX chunk_codes_once ON chunk_codes (space_id, scope, at, chunk_no) INCLUDE (code);
ALTER TABLE chunk_codes DROP CONSTRAINT chunk_codes_pkey, DROP CONSTRAINT chunk_codes_space_id_fkey;
DROP INDEX chunk_codes_scan;
ALTER INDEX chunk_codes_once RENAME TO chunk_codes_scan;

-- nothing looks for topics alone, for a chat's chunks of a time, or for what rests on a second message
DROP INDEX memory_chunks_topics, memory_chunks_chat, memory_chunks_messages;
CREATE INDEX memory_chunks_chat ON memory_chunks (chat_id);
CREATE INDEX memory_chunks_messages ON memory_chunks ((message_ids[1]));
