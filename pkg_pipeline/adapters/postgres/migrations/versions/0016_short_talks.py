"""The fewest tokens of a conversation that is summarised. Going back, all with enough messages are."""

from pathlib import Path

from pkg_pipeline.adapters.postgres.migrations.sql_files import run

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run(HERE.with_suffix(".sql"))


def downgrade() -> None:
    run(HERE.with_name("0016_back.sql"))
