"""The memory from messages to summaries, with its ledger, budget and work tables."""

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TABLES = (
    "context_receipts, partition_states, dirty_partitions, leases, budgets, llm_call_subjects, llm_calls,"
    " summary_attempts, summary_items, interaction_summaries, entity_days, interaction_participants, interactions,"
    " message_entities, message_revisions, messages, import_batches, chat_members, chats, entity_facts,"
    " entity_identities, entities, organizations, installation"
)


def upgrade() -> None:
    # several statements at once are possible only without parameters
    op.get_bind().exec_driver_sql(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.get_bind().exec_driver_sql(f"DROP TABLE {TABLES}")
    op.get_bind().exec_driver_sql("DROP SEQUENCE lease_tokens")
