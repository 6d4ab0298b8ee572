"""What derived rows were before they were written over (B11). Going back forgets it."""

from pathlib import Path

from pkg_pipeline.adapters.postgres.migrations.sql_files import run

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run(HERE.with_suffix(".sql"))


def downgrade() -> None:
    run(HERE.with_name("0035_back.sql"))
