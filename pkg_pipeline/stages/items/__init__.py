"""Readings of conversations, and the items that follow from them (B16, B17)."""
