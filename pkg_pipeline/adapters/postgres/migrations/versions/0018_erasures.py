"""Receipts of what was forgotten, and what keeps it out. Going back drops both: a later import brings it in again."""

from pathlib import Path

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

TAKEN_BACK = """
DROP TABLE tombstones, erasures;
DELETE FROM installation WHERE key = 'erasure_salt';
"""


def upgrade() -> None:
    # several statements at once are possible only without parameters
    op.get_bind().exec_driver_sql(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.get_bind().exec_driver_sql(TAKEN_BACK)
