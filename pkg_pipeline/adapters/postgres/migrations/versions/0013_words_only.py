"""Summaries without items. Going back brings empty columns and an empty table: summaries made anew fill them."""

from pathlib import Path

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # several statements at once are possible only without parameters
    op.get_bind().exec_driver_sql(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.get_bind().exec_driver_sql(Path(__file__).with_name("0013_back.sql").read_text(encoding="utf-8"))
