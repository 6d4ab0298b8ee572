"""Interactions → published summaries; backfills."""
