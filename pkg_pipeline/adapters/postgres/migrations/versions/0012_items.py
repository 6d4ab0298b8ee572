"""Readings and items. Going back takes them away, a person's decisions among them; readings are made anew."""

from pathlib import Path

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

TAKEN_BACK = """
DROP FUNCTION item_status;
DROP TABLE item_verdicts, item_states, item_people, items, reading_attempts, interaction_readings;
DROP FUNCTION copy_item, copy_to_people;
"""


def upgrade() -> None:
    # several statements at once are possible only without parameters
    op.get_bind().exec_driver_sql(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.get_bind().exec_driver_sql(TAKEN_BACK)
