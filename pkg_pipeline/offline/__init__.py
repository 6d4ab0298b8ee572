"""The offline summariser (B1): extractive, deterministic, without key, network or model file. No storage, no prompt."""
