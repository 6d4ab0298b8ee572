"""All tables of schema ``pkg`` as SQLAlchemy Core, from which comments, docs/tables.md, dbt's sources and the read
statements are generated. A test compares them with a migrated database. Views and functions are in the migrations.
"""

from __future__ import annotations

from pkg_pipeline.adapters.postgres.schema import batches, conversations, items, recall, sessions, summaries, work
from pkg_pipeline.adapters.postgres.schema.parts import METADATA, SCHEMA

# registers every table
__all__ = ["METADATA", "SCHEMA", "batches", "conversations", "items", "recall", "sessions", "summaries", "work"]
