"""Chunks and their vectors, for recall. Going back loses them; they are made again from what they stand for."""

from pathlib import Path

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

TAKEN_BACK = """
DROP VIEW memory_chunk_texts;
DROP TABLE chunk_states, speaker_terms, chunk_terms, chunk_scopes, chunk_codes, chunk_embeddings, memory_chunks,
    embedding_spaces;
DELETE FROM dirty_partitions WHERE asset = 'memory_chunks';
DELETE FROM partition_states WHERE asset = 'memory_chunks';
"""


def upgrade() -> None:
    # several statements at once are possible only without parameters
    op.get_bind().exec_driver_sql(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.get_bind().exec_driver_sql(TAKEN_BACK)
