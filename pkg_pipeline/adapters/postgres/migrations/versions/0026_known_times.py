"""Since when the memory knows what it knows, by its own clock. Going back, only the time of import is told."""

from pathlib import Path

from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

PROFILES = "CREATE OR REPLACE VIEW current_relationship_profiles", "CREATE OR REPLACE VIEW memory_chunk_texts"
"""First words of the view in the revision that made it, and of the one after it."""
TAKEN_BACK = """
DROP VIEW current_relationship_profiles;
DROP FUNCTION summaries_as_of, items_as_of, facts_as_of, participants_known;
DROP FUNCTION edited_since, talk_edited_since, reworded_between;
DROP TRIGGER interaction_summaries_known_to ON interaction_summaries;
DROP FUNCTION keep_known_to;
ALTER TABLE messages ALTER COLUMN imported_at SET DEFAULT clock_timestamp(), DROP COLUMN reworded_at;
ALTER TABLE message_revisions DROP COLUMN known_from;
ALTER TABLE interaction_summaries DROP COLUMN known_from, DROP COLUMN known_to;
ALTER TABLE interaction_readings DROP COLUMN known_from, DROP COLUMN remade_at;
ALTER TABLE entity_relationship_profiles DROP COLUMN known_from, DROP COLUMN remade_at;
ALTER TABLE items DROP COLUMN known_from;
ALTER TABLE item_states DROP COLUMN known_from;
ALTER TABLE entity_facts ALTER COLUMN known_from SET DEFAULT clock_timestamp();
DROP FUNCTION known_now;
"""


def upgrade() -> None:
    # several statements at once are possible only without parameters
    op.get_bind().exec_driver_sql(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.get_bind().exec_driver_sql(TAKEN_BACK)
    for name, first, last in (("0019_edited_since.sql", "", None), ("0007_deletions.sql", *PROFILES)):
        before = Path(__file__).with_name(name).read_text(encoding="utf-8")
        op.get_bind().exec_driver_sql(before[before.index(first) : None if last is None else before.index(last)])
    op.get_bind().exec_driver_sql(
        "COMMENT ON VIEW current_relationship_profiles IS 'The newest profile of each person.'"
    )
