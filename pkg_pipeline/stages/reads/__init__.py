"""Reads for people and agents: contexts, entities, lists."""
