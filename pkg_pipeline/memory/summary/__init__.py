"""Summaries of interactions: validation, updates, splitting and merging (P13, P18, P27), item reconciliation (P28)."""
