"""The store of interactions, and partitions that need work."""
