"""Interaction summaries: their gate, updates and merging, items carried from one version to the next."""
