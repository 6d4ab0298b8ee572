"""Which messages were edited since their conversation was read. Going back, nobody knows."""

from pathlib import Path

from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # several statements at once are possible only without parameters
    op.get_bind().exec_driver_sql(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.get_bind().exec_driver_sql(
        "DROP FUNCTION item_is_stale, awaits_reading; ALTER TABLE messages DROP COLUMN awaits_reading"
    )
