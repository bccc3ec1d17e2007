"""How players stand, by game and number of seats; matches that were over before are not rated."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "ratings",
        sa.Column("variant", sa.String, primary_key=True),
        sa.Column("seats", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("player", sa.LargeBinary, primary_key=True),
        sa.Column("tag", sa.String, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("mean", sa.Double, nullable=False),
        sa.Column("deviation", sa.Double, nullable=False),
        sa.Column("points", sa.Integer, nullable=False),
        sa.Column("matches", sa.Integer, nullable=False),
        sa.Column("won", sa.Integer, nullable=False),
    )
    op.create_index("ix_ratings_tag", "ratings", ["tag"])
    op.create_index("ix_ratings_board", "ratings", ["variant", "seats", "points"])
