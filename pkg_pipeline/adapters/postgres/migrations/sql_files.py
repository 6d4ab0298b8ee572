"""The SQL of a revision, in a file beside it."""

from __future__ import annotations

from pathlib import Path

from alembic import op


def run(path: Path) -> None:
    """Several statements at once, which is possible only without parameters."""
    op.get_bind().exec_driver_sql(path.read_text(encoding="utf-8"))
