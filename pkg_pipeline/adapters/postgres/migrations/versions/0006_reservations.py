"""Calls under way, one row each: what a process that was killed may have spent. Going back forgets those under way."""

from pathlib import Path

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

TAKEN_BACK = """
DROP VIEW unanswered_calls;
DROP TABLE budget_reservations;
"""


def upgrade() -> None:
    # several statements at once are possible only without parameters
    op.get_bind().exec_driver_sql(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.get_bind().exec_driver_sql(TAKEN_BACK)
