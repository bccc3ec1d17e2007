"""Who has played and who may read it afterwards, chat, ignored players, members and invites."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from truc_protocol.bodies import SeatTaken, Sub
from truc_protocol.checks import CheckError
from truc_protocol.codec import dec, enc
from truc_protocol.records import Record, parse, tag_of

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_MAX_SETUP = 65_536
_RECORDS = sa.table(
    "records", sa.column("mid"), sa.column("signer"), sa.column("body", sa.LargeBinary), sa.column("sig")
)
_SUB = enc([tag_of(Sub)])[1:]  # what the body of a sub record holds from the second byte on
_MATCHES = sa.table("matches", sa.column("mid"), sa.column("setup"))


def upgrade() -> None:
    """Add the tables, and fill in what the matches stored before tell of their players."""
    op.add_column("matches", sa.Column("readers", sa.String, nullable=False, server_default="seats"))
    players = op.create_table(
        "match_players",
        sa.Column("mid", sa.LargeBinary, primary_key=True),
        sa.Column("seat", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("player", sa.LargeBinary, primary_key=True),
        sa.Column("kind", sa.String, nullable=False),
    )
    op.create_index("ix_match_players_player", "match_players", ["player"])
    _create_company()
    _create_access()
    _fill_in(players)


def _create_company() -> None:
    op.create_table(
        "chat",
        sa.Column("table_code", sa.String, primary_key=True),
        sa.Column("n", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("player", sa.LargeBinary, nullable=False),
        sa.Column("tag", sa.String, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("seat", sa.Integer),
        sa.Column("text", sa.String, nullable=False),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_chat_player", "chat", ["player"])
    op.create_table(
        "ignored",
        sa.Column("player", sa.LargeBinary, primary_key=True),
        sa.Column("tag", sa.String, primary_key=True),
    )


def _create_access() -> None:
    op.create_table(
        "members",
        sa.Column("fingerprint", sa.String, primary_key=True),
        sa.Column("since_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "invites",
        sa.Column("code_hash", sa.LargeBinary, primary_key=True),
        sa.Column("uses", sa.Integer, nullable=False),
        sa.Column("until_ms", sa.BigInteger, nullable=False),
    )


def _fill_in(players: sa.Table) -> None:
    """Fill in players with a key from setups and sub records, and guests of matches that are being played."""
    connection = op.get_bind()
    seated = connection.execute(
        sa.text(
            "SELECT tables.match_id, seats.seat, seats.player, seats.kind FROM tables"
            " JOIN seats ON seats.table_code = tables.code JOIN matches ON matches.mid = tables.match_id"
            " WHERE tables.state = 'playing'"
        )
    )
    found = {(bytes(mid), seat, bytes(player)): str(kind) for mid, seat, player, kind in seated}
    for mid, setup in connection.execute(sa.select(_MATCHES.c.mid, _MATCHES.c.setup)):
        records = [Record._make(record) for record in dec(bytes(setup), _MAX_SETUP)]
        found |= {(bytes(mid), seat, player): "key" for seat, player in _keys(records)}
    for mid, signer, body, signature in connection.execute(_substitutes()):
        taken = _keys([Record(signer, bytes(body), bytes(signature))])
        found |= {(bytes(mid), seat, player): "key" for seat, player in taken}
    rows = [
        {"mid": mid, "seat": seat, "player": player, "kind": kind}
        for (mid, seat, player), kind in sorted(found.items())
    ]
    if rows:
        op.bulk_insert(players, rows)


def _substitutes() -> sa.Select[tuple[Any, ...]]:
    begins = sa.func.substr(_RECORDS.c.body, 2, len(_SUB), type_=sa.LargeBinary) == _SUB
    return sa.select(_RECORDS.c.mid, _RECORDS.c.signer, _RECORDS.c.body, _RECORDS.c.sig).where(begins)


def _keys(records: list[Record]) -> list[tuple[int, bytes]]:
    bodies = []
    for record in records:
        try:
            bodies.append(parse(record))
        except CheckError:  # no longer readable, and of no use to anybody
            continue
    return [(body.seat, body.pk) for body in bodies if isinstance(body, SeatTaken | Sub)]
