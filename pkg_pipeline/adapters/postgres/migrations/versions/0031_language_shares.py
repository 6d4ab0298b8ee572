"""What tells the language of an interaction, so that one that goes on is not read again. Going back forgets it."""

from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE interactions ADD COLUMN language_shares bigint[]")


def downgrade() -> None:
    op.execute("ALTER TABLE interactions DROP COLUMN language_shares")
