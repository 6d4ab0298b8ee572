"""What the memory served and gets back is known again. Going back forgets which messages repeat it."""

from pathlib import Path

from alembic import op

revision = "0025"
down_revision = "0023"
branch_labels = None
depends_on = None

PIECES = "CREATE OR REPLACE VIEW memory_chunk_texts"
TAKEN_BACK = """
CREATE OR REPLACE VIEW live_texts AS SELECT * FROM message_texts WHERE kind = 'message' AND deleted_at IS NULL;
COMMENT ON VIEW live_texts IS 'live_messages with their words, wherever those are kept.';
DROP FUNCTION own_words;
DROP TABLE message_echoes, served_lines;
"""


def upgrade() -> None:
    # several statements at once are possible only without parameters
    op.get_bind().exec_driver_sql(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    before = Path(__file__).with_name("0007_deletions.sql").read_text(encoding="utf-8")
    op.get_bind().exec_driver_sql(PIECES + before.partition(PIECES)[2])
    op.get_bind().exec_driver_sql(TAKEN_BACK)
