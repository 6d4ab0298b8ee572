"""What each table and column means, told to whoever reads the database: ``env`` writes it after every revision.

Going back leaves the comments.
"""

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass


def downgrade() -> None:
    pass
