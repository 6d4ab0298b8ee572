"""Fewer and smaller indexes of chunks: of codes one, covering and unique, in place of two. Going back makes the former
ones anew.
"""

from pathlib import Path

from pkg_pipeline.adapters.postgres.migrations.sql_files import run

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run(HERE.with_suffix(".sql"))


def downgrade() -> None:
    run(HERE.with_name("0033_back.sql"))
