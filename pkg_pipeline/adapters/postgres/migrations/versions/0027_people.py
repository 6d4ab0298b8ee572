"""One person, several accounts. Going back forgets who is who: each account is a person again."""

from pathlib import Path

from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

TEXTS, PROFILES, PIECES = (
    f"CREATE OR REPLACE VIEW {name}"
    for name in ("message_texts", "current_relationship_profiles", "memory_chunk_texts")
)
TAKEN_BACK = """
-- what was made of joined accounts is made anew of each
INSERT INTO dirty_partitions (asset, partition_key, reason, from_at, to_at)
SELECT 'interactions', m.chat_id::text, 'people apart again', min(m.sent_at), max(m.sent_at) FROM messages m
WHERE m.chat_id IN (
    SELECT c.chat_id FROM chat_members c JOIN entities e ON e.id = c.entity_id WHERE e.merged_into IS NOT NULL)
GROUP BY m.chat_id;
UPDATE entities SET name = own_name WHERE own_name IS NOT NULL;
CREATE OR REPLACE VIEW live_messages AS
SELECT m.id, m.chat_id, m.sender_entity_id, m.interaction_id, {columns}
FROM messages m WHERE m.kind = 'message' AND m.deleted_at IS NULL;
DROP FUNCTION person_of, accounts_of, names_of;
DROP TABLE entity_aliases, entity_verdicts;
ALTER TABLE entities DROP COLUMN merged_into, DROP COLUMN own_name, DROP COLUMN chosen_name;
"""


def upgrade() -> None:
    # several statements at once are possible only without parameters
    op.get_bind().exec_driver_sql(_sql("0027_people.sql"))


def downgrade() -> None:
    before = _sql("0007_deletions.sql")
    op.get_bind().exec_driver_sql(TEXTS + before.partition(TEXTS)[2].partition(PROFILES)[0])
    op.get_bind().exec_driver_sql(PROFILES + before.partition(PROFILES)[2].partition(PIECES)[0])
    columns = _sql("0027_people.sql").partition("CREATE OR REPLACE VIEW live_messages")[2]
    columns = columns.partition("m.interaction_id,")[2].partition("FROM messages")[0]
    op.get_bind().exec_driver_sql(TAKEN_BACK.format(columns=columns))


def _sql(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
