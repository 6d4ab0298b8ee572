"""What a person decided about facts. Going back forgets it: facts stand as the next reading says."""

from pathlib import Path

from alembic import op

revision = "0023"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # several statements at once are possible only without parameters
    op.get_bind().exec_driver_sql(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.get_bind().exec_driver_sql("""
DELETE FROM entity_facts WHERE decided_by = 'person' AND interaction_id IS NULL;
UPDATE entity_facts SET value = read_value WHERE read_value IS NOT NULL;
ALTER TABLE entity_facts DROP COLUMN read_value, DROP COLUMN decided_by;
DROP TABLE fact_verdicts;
DROP FUNCTION rests_on_deleted;
""")
