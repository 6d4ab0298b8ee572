"""Message batches. Going back forgets what is on its way: its results are read no more."""

from pathlib import Path

from alembic import op

revision = "0029"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # several statements at once are possible only without parameters
    op.get_bind().exec_driver_sql(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.get_bind().exec_driver_sql("DROP TABLE llm_batch_subjects, llm_batch_items, llm_batches")
