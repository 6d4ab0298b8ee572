"""Rules that many statements share, as views and functions. Going back takes them away; no row changes."""

from pathlib import Path

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

TAKEN_BACK = """
DROP FUNCTION remove_copies, take_leases, archive_ready, is_folded, is_near, is_stale, is_unsummarised, is_of_age,
    text_bytes, message_number, next_month, month_key, day_key;
DROP VIEW session_states, held_leases, standing_folds, live_texts, live_messages, live_summaries,
    eligible_chats;
"""


def upgrade() -> None:
    # several statements at once are possible only without parameters
    op.get_bind().exec_driver_sql(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.get_bind().exec_driver_sql(TAKEN_BACK)
