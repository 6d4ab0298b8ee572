"""Readings and items. Going back takes them away, a person's decisions among them; readings are made anew."""

from pathlib import Path

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

TAKEN_BACK = """
DROP FUNCTION item_status, count_days;
DROP TABLE item_verdicts, item_states, item_people, items, reading_attempts, interaction_readings;
DROP FUNCTION copy_item, copy_to_people;
ALTER TABLE day_statistics ADD COLUMN open_action_items integer NOT NULL DEFAULT 0;
"""


def counted_before() -> str:
    """The figures of a day as they were defined first."""
    first = Path(__file__).with_name("0003_monitoring.sql").read_text(encoding="utf-8")
    return first[first.index("CREATE FUNCTION count_days") :].partition("$$;")[0] + "$$;"


def upgrade() -> None:
    # several statements at once are possible only without parameters
    op.get_bind().exec_driver_sql(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.get_bind().exec_driver_sql(TAKEN_BACK + counted_before())
