"""Fewer and smaller indexes of chunks: of codes one, covering and unique, in place of two. Going back makes the former
ones anew.
"""

from pathlib import Path

from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def _run(path: Path) -> None:
    # several statements at once are possible only without parameters
    op.get_bind().exec_driver_sql(path.read_text(encoding="utf-8"))


def upgrade() -> None:
    _run(HERE.with_suffix(".sql"))


def downgrade() -> None:
    _run(HERE.with_name("0033_back.sql"))
