"""What was due lapses three weeks after its day, not two. Going back, as before: nothing is stored of it."""

from pathlib import Path

from pkg_pipeline.adapters.postgres.migrations.sql_files import run

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run(HERE.with_suffix(".sql"))


def downgrade() -> None:
    run(HERE.with_name("0017_lapsed.sql"))
