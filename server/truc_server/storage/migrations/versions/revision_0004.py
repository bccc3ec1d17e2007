"""Who is shut out or muted by command, when guests were last seen, and terms that wait for signatures."""

import time

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables and the column; guests known before count as seen now."""
    op.create_table(
        "sanctions",
        sa.Column("subject", sa.String, primary_key=True),
        sa.Column("kind", sa.String, primary_key=True),
        sa.Column("since_ms", sa.BigInteger, nullable=False),
        sa.Column("until_ms", sa.BigInteger),
    )
    op.create_table(
        "terms",
        sa.Column("table_code", sa.String, primary_key=True),
        sa.Column("signer", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("th", sa.LargeBinary, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("sig", sa.LargeBinary, nullable=False),
    )
    now_ms = time.time_ns() // 1_000_000
    op.add_column("guests", sa.Column("seen_ms", sa.BigInteger, nullable=False, server_default=str(now_ms)))
