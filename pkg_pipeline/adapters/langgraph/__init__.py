"""Threads of LangGraph's Postgres savers: read, converted, pruned. Needs the extra."""
