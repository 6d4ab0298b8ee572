"""Deletions that follow from comparing exports. Going back, what was found so is deleted like what a source said."""

from pathlib import Path

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

TAKEN_BACK = """
DROP TABLE chat_exports;
ALTER TABLE messages DROP COLUMN is_missing;
"""


def upgrade() -> None:
    # several statements at once are possible only without parameters
    op.get_bind().exec_driver_sql(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.get_bind().exec_driver_sql(TAKEN_BACK)
