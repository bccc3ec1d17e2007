"""Nodes that share a database: who holds a lease, every epoch claimed and used, and what nodes tell each other."""

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
    op.create_table(
        "node_keys",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("at_rest", sa.LargeBinary, nullable=False),
        sa.Column("identity", sa.LargeBinary, nullable=False),
        sa.Column("serial", sa.Integer, nullable=False),
    )
    op.create_table(
        "orders",
        sa.Column("node", sa.String, primary_key=True),
        sa.Column("code", sa.String, primary_key=True),
        sa.Column("to", sa.String, nullable=False),
    )
    op.add_column("records", sa.Column("epoch", sa.BigInteger, nullable=False, server_default="0"))
    op.drop_column("tables", "lease_until_ms")
    op.add_column("tables", sa.Column("unasked", sa.Integer))
    _add_bulletins()


def _add_bulletins() -> None:
    op.create_table(
        "bulletins",
        sa.Column("node", sa.String, primary_key=True),
        sa.Column("claimed", sa.BigInteger, nullable=False),
        sa.Column("n", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "board",
        sa.Column("code", sa.String, primary_key=True),
        sa.Column("node", sa.String, nullable=False),
        *_numbered(),
        sa.Column("reason", sa.String),
        sa.Column("notice", sa.LargeBinary),
        sa.Column("rest", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "online",
        sa.Column("node", sa.String, primary_key=True),
        sa.Column("player", sa.LargeBinary, primary_key=True),
        *_numbered(),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("is_house", sa.Boolean, nullable=False),
        sa.Column("is_here", sa.Boolean, nullable=False),
    )
    op.create_table(
        "crowds",
        sa.Column("node", sa.String, primary_key=True),
        sa.Column("network", sa.String, primary_key=True),
        *_numbered(),
        sa.Column("connections", sa.Integer, nullable=False),
        sa.Column("came", sa.BigInteger, nullable=False),
        sa.Column("failed", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "said",
        sa.Column("node", sa.String, primary_key=True),
        sa.Column("serial", sa.BigInteger, primary_key=True, autoincrement=False),
        *_numbered(),
        sa.Column("what", sa.String, nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("player", sa.LargeBinary, nullable=False),
        sa.Column("tag", sa.String, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("text", sa.String, nullable=False),
    )
    for table in ("board", "online", "crowds", "said"):
        op.create_index(f"ix_{table}_news", table, ["node", "n"])
    op.create_index("ix_online_player", "online", ["player"])
    op.create_index("ix_seats_player", "seats", ["player"])  # a login asks at which tables a player sits


def _numbered() -> tuple["sa.Column[int]", "sa.Column[int]"]:
    return sa.Column("n", sa.BigInteger, nullable=False), sa.Column("at_ms", sa.BigInteger, nullable=False)
