"""Tables keep the rule document of their game: a variant file may change or go while its table stands."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the document, and fill it in where a match of the table has it."""
    op.add_column("tables", sa.Column("document", sa.LargeBinary))
    op.execute(
        "UPDATE tables SET document = (SELECT document FROM matches WHERE matches.mid = tables.match_id)"
    )
