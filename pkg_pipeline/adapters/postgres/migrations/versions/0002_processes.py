"""Profiles, archive, backfills. Going back puts every archived text where it came from before the archive goes."""

from pathlib import Path

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TAKEN_BACK = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM archive_months WHERE dropped_at IS NOT NULL) THEN
        RAISE EXCEPTION 'months of the archive were dropped; what they held cannot be put back';
    END IF;
END $$;
UPDATE messages m SET content = a.content, parts = a.parts, is_archived = false, archived_at = NULL
FROM archived_messages a WHERE a.month = m.archived_month AND a.message_id = m.id;
DROP VIEW message_texts, current_relationship_profiles;
DROP TABLE backfill_interactions, backfills, archive_holds, archive_months, archived_messages, profile_attempts,
    entity_relationship_profiles;
DROP INDEX entity_facts_interval, llm_calls_backfill;
ALTER TABLE messages DROP COLUMN archived_month;
ALTER TABLE llm_calls DROP COLUMN backfill_id;
ALTER TABLE interaction_summaries DROP COLUMN schema_version, DROP COLUMN method, DROP COLUMN window_count;
ALTER TABLE interactions DROP COLUMN important_count;
"""


def upgrade() -> None:
    # several statements at once are possible only without parameters
    op.get_bind().exec_driver_sql(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.get_bind().exec_driver_sql(TAKEN_BACK)
