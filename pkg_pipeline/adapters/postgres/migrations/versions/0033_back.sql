DROP INDEX memory_chunks_chat, memory_chunks_messages;
CREATE INDEX memory_chunks_chat ON memory_chunks (chat_id, at);
CREATE INDEX memory_chunks_messages ON memory_chunks USING gin (message_ids);
CREATE INDEX memory_chunks_topics ON memory_chunks USING gin (topics);

ALTER TABLE chunk_codes ADD PRIMARY KEY (space_id, scope, chunk_no);
ALTER TABLE chunk_codes ADD FOREIGN KEY (space_id) REFERENCES embedding_spaces;
DROP INDEX chunk_codes_scan;
CREATE INDEX chunk_codes_scan ON chunk_codes (space_id, scope, at) INCLUDE (chunk_no, code);
