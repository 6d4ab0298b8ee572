"""What lapsed is told sooner. Going back, as before: nothing is stored of it."""

from pathlib import Path

from pkg_pipeline.adapters.postgres.migrations.sql_files import run

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run(HERE.with_suffix(".sql"))


def downgrade() -> None:
    run(HERE.with_name("0017_back.sql"))
