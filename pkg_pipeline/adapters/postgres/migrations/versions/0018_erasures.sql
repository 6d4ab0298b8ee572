-- What was forgotten on request (B3): a receipt without content, and salted hashes that keep a later import from bringing it back.

CREATE TABLE erasures (
    id uuid PRIMARY KEY,
    kind text NOT NULL CHECK (kind IN ('entity', 'chat', 'session', 'message', 'range')),
    state text NOT NULL CHECK (state IN ('running', 'done')),
    plan jsonb,                                  -- ids still to be erased; none once it is done
    counts jsonb NOT NULL,                       -- rows erased, by what they were
    digest text NOT NULL,                        -- sha256 over the sorted hashes of the messages erased
    requested_by text NOT NULL,
    requested_at timestamptz NOT NULL,           -- by the memory's clock
    finished_at timestamptz
);

CREATE TABLE tombstones (
    hash text NOT NULL,                          -- HMAC-SHA256 of what it keeps out, keyed with the memory's salt
    erasure_id uuid NOT NULL REFERENCES erasures (id) ON DELETE CASCADE,
    kind text NOT NULL CHECK (kind IN ('person', 'chat', 'message', 'range')),
    chat_hash text,                              -- of the chat of a message or range, and of a chat itself
    from_at timestamptz,                         -- of a range: messages sent from then on
    to_at timestamptz,                           -- of a range: up to then
    PRIMARY KEY (hash, erasure_id)
);
CREATE INDEX tombstones_chat ON tombstones (chat_hash);

INSERT INTO installation (key, value) VALUES ('erasure_salt', replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''));
