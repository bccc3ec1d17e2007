"""Since when each player has had a seat in a match, so that their matches are found in that order."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; for matches already stored the first record tells when they began."""
    op.add_column("match_players", sa.Column("since_ms", sa.BigInteger, nullable=False, server_default="0"))
    op.execute(
        "UPDATE match_players SET since_ms = coalesce("
        "(SELECT at_ms FROM records WHERE records.mid = match_players.mid AND records.k = 0), 0)"
    )
    op.drop_index("ix_match_players_player", "match_players")
    op.create_index("ix_match_players_since", "match_players", ["player", "since_ms", "mid"])
