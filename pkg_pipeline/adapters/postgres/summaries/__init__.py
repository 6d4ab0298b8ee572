"""The store of summaries and of backfills."""
