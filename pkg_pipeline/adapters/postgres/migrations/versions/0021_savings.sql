-- What contexts and windows saved is counted over the last days (T3).

CREATE INDEX context_receipts_served ON context_receipts (served_at) INCLUDE (tokens, hypothetical_tokens);
CREATE INDEX served_windows_served ON served_windows (served_at) INCLUDE (prompt_tokens, hypothetical_tokens);
