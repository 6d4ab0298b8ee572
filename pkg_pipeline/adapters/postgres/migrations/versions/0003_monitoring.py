"""Figures by day for monitoring, and the indexes by which due partitions are found. Going back loses counts only."""

from pathlib import Path

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TAKEN_BACK = """
DROP INDEX summary_items_unfinished, summary_attempts_failed, dirty_partitions_key, dirty_partitions_due;
CREATE INDEX dirty_partitions_key ON dirty_partitions (asset, partition_key);
CREATE INDEX dirty_partitions_due ON dirty_partitions (asset, due_at);
DROP FUNCTION mark_days, mark_both_days, mark_days_of_interactions, mark_days_of_both_interactions, mark_days_of_chat,
    mark_hours CASCADE;
DROP FUNCTION count_days, count_ledger;
DROP TABLE day_statistics, day_statistics_marks, ledger_statistics, ledger_statistics_marks;
"""


def upgrade() -> None:
    # several statements at once are possible only without parameters
    op.get_bind().exec_driver_sql(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.get_bind().exec_driver_sql(TAKEN_BACK)
