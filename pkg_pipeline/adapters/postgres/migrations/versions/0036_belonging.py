"""To which interaction a message belongs follows from its time, so its row is not written again when a chat is cut.
Going back writes it into the rows.
"""

from pathlib import Path

from pkg_pipeline.adapters.postgres.migrations.sql_files import run

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run(HERE.with_suffix(".sql"))


def downgrade() -> None:
    run(HERE.with_name("0036_back.sql"))
