"""What seats have asked for between two records: time for a new chain before the next call."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the wishes; who had asked in matches under way is not known, so every seat that may have counts as asking."""
    op.create_table(
        "wishes",
        sa.Column("mid", sa.LargeBinary, primary_key=True),
        sa.Column("k", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("seat", sa.Integer, primary_key=True, autoincrement=False),
    )
    op.execute(
        "INSERT INTO wishes (mid, k, seat) SELECT matches.mid, "
        "(SELECT coalesce(max(k) + 1, 0) FROM records WHERE records.mid = matches.mid), seats.seat "
        "FROM matches JOIN tables ON tables.match_id = matches.mid "
        "JOIN seats ON seats.table_code = tables.code "
        "WHERE matches.ended_ms IS NULL AND seats.kind = 'key'"
    )
    op.drop_column("tables", "unasked")
