"""Relationship profiles: weeks, frequencies, topics, and their gate."""
