"""All tables of the schema ``pkg``, declared once as SQLAlchemy Core: the shape of record.

From here come the comments in the database, the column tables of docs/tables.md, the sources of dbt and the statements
of the reads. A test holds them against a migrated database, both ways. Views and functions stand in the migrations.
"""

from __future__ import annotations

from pkg_pipeline.adapters.postgres.schema import conversations, recall, sessions, summaries, work
from pkg_pipeline.adapters.postgres.schema.parts import METADATA, SCHEMA

# whoever compares or documents needs every table registered
__all__ = ["METADATA", "SCHEMA", "conversations", "recall", "sessions", "summaries", "work"]
