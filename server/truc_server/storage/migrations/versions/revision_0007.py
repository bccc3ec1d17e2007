"""Nodes that share a database: who holds a lease, every epoch that was claimed, and under which each record was written."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add them; records already stored count as written in epoch 0. The lease of a table is now that of its owner."""
    op.create_table(
        "nodes",
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("number", sa.Integer, unique=True),
        sa.Column("claimed", sa.BigInteger, nullable=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("lease_until_ms", sa.BigInteger),
        sa.Column("public", sa.String, nullable=False),
        sa.Column("inner", sa.String, nullable=False),
        sa.Column("version", sa.String, nullable=False),
        sa.Column("draining", sa.Boolean, nullable=False),
        sa.Column("started_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "claims",
        sa.Column("epoch", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("node", sa.String, nullable=False),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
    )
    op.add_column("records", sa.Column("epoch", sa.BigInteger, nullable=False, server_default="0"))
    op.drop_column("tables", "lease_until_ms")
