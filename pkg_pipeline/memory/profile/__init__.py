"""Relationship profiles (P20–P23): weeks, frequency of contact, topics, prompt input, answer validation."""
