"""The first schema: tables, seats, guests, secrets, matches, records and who owns them."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create everything."""
    _create_lobby()
    _create_matches()


def _create_lobby() -> None:
    ownership = op.create_table(
        "ownership",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
    )
    op.bulk_insert(ownership, [{"id": 0, "epoch": 0}])
    op.create_table(
        "tables",
        sa.Column("code", sa.String, primary_key=True),
        sa.Column("variant", sa.String, nullable=False),
        sa.Column("options", sa.JSON, nullable=False),
        sa.Column("seats", sa.Integer, nullable=False),
        sa.Column("private", sa.Boolean, nullable=False),
        sa.Column("creator", sa.LargeBinary, nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("match_id", sa.LargeBinary),
        sa.Column("owner", sa.String, nullable=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("lease_until_ms", sa.BigInteger),
    )
    op.create_table(
        "seats",
        sa.Column("table_code", sa.String, primary_key=True),
        sa.Column("seat", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("player", sa.LargeBinary, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("ready", sa.Boolean, nullable=False),
        sa.Column("x", sa.LargeBinary),
    )
    op.create_table(
        "guests",
        sa.Column("id", sa.LargeBinary, primary_key=True),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("token_hash", sa.LargeBinary, nullable=False, unique=True),
    )


def _create_matches() -> None:
    op.create_table(
        "secrets",
        sa.Column("th", sa.LargeBinary, primary_key=True),
        sa.Column("sealed", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "matches",
        sa.Column("mid", sa.LargeBinary, primary_key=True),
        sa.Column("table_code", sa.String, nullable=False),
        sa.Column("document", sa.LargeBinary, nullable=False),
        sa.Column("setup", sa.LargeBinary, nullable=False),
        sa.Column("th", sa.LargeBinary, nullable=False, unique=True),
        sa.Column("seats", sa.Integer, nullable=False),
        sa.Column("reason", sa.String),
        sa.Column("ended_ms", sa.BigInteger),
    )
    op.create_index("ix_matches_ended_ms", "matches", ["ended_ms"])
    op.create_table(
        "records",
        sa.Column("mid", sa.LargeBinary, primary_key=True),
        sa.Column("k", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("signer", sa.Integer, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("sig", sa.LargeBinary, nullable=False),
        sa.Column("means", sa.LargeBinary, nullable=False),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("clocks", sa.LargeBinary, nullable=False),
    )
