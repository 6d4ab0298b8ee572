"""The store of relationship profiles."""
