"""Facts of people known by name only, and what ends or takes the place of another. Going back drops such rows."""

from pathlib import Path

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

TAKEN_BACK = """
DELETE FROM entity_facts WHERE entity_id IS NULL OR is_ended;
DROP INDEX entity_facts_of_others;
ALTER TABLE entity_facts ALTER COLUMN entity_id SET NOT NULL, DROP COLUMN about_name, DROP COLUMN told_by,
    DROP COLUMN is_ended, DROP COLUMN replaces;
"""


def upgrade() -> None:
    # several statements at once are possible only without parameters
    op.get_bind().exec_driver_sql(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.get_bind().exec_driver_sql(TAKEN_BACK)
