"""Live sessions, their folds, topics and served windows. Going back loses them; the messages stay."""

from pathlib import Path

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

TAKEN_BACK = """
DROP TABLE served_windows, memory_topics, session_summaries, conversation_sessions;
DROP INDEX messages_chat_order;
DELETE FROM leases WHERE kind = 'session';
"""


def upgrade() -> None:
    # several statements at once are possible only without parameters
    op.get_bind().exec_driver_sql(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.get_bind().exec_driver_sql(TAKEN_BACK)
