"""Threads of LangGraph agents, as its Postgres savers keep them: read, converted, pruned. Needs the extra."""
