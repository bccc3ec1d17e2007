"""The database's tables, as the newest migration leaves them.

Portable SQLAlchemy Core only. A column's key is the field of the write that fills it, so that rows and writes
need no mapping. A change to this file adds a revision under migrations/versions and raises REVISION.
"""

from typing import Final

from sqlalchemy import Boolean, Column, Index, MetaData, Table

from truc_server.storage.column_types import (
    JSON,
    BigInteger,
    Double,
    Integer,
    LargeBinary,
    String,
    name_columns,
)

REVISION: Final = "0008"
OLDEST: Final = "0001"

metadata = MetaData()

# One row: the newest epoch. Whoever claims tables draws the next one first, so that claims happen one after
# the other.
ownership = Table(
    "ownership",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("epoch", BigInteger, nullable=False),
)

# Who may write, one row for each: `claimed` is the epoch it came under, `epoch` the newest under which it
# took tables. A lease without an end is that of a server alone on its database; `number` is the share of the
# codes of tables that a node draws from.
nodes = Table(
    "nodes",
    metadata,
    Column("name", String, primary_key=True),
    Column("number", Integer, unique=True),
    Column("claimed", BigInteger, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("lease_until_ms", BigInteger),
    Column("public", String, nullable=False),
    Column("inner", String, nullable=False),
    Column("version", String, nullable=False),
    Column("draining", Boolean, nullable=False),
    Column("started_ms", BigInteger, nullable=False),
)

# One row: what nodes know each other's keys by (`NodeKeys`); `serial` is how often the identity key was
# changed.
node_keys = Table(
    "node_keys",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("at_rest", LargeBinary, nullable=False),
    Column("identity", LargeBinary, nullable=False),
    Column("serial", Integer, nullable=False),
)

# What the host wants of a node and has told another (`NodeOrder`), until the node reads it.
orders = Table(
    "orders",
    metadata,
    Column("node", String, primary_key=True),
    Column("code", String, primary_key=True),
    Column("to", String, nullable=False),
)

# Which node drew each epoch. With the epoch of each record it shows that no two have written in one.
claims = Table(
    "claims",
    metadata,
    Column("epoch", BigInteger, primary_key=True, autoincrement=False),
    Column("node", String, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
)

# What nodes tell each other, none of it for good: each numbers what it tells, from 1 after each claim, and
# whoever reads takes what comes after the number they know. What is over stays for a while, so that everybody
# learns of it.
bulletins = Table(
    "bulletins",
    metadata,
    Column("node", String, primary_key=True),
    Column("claimed", BigInteger, nullable=False),
    Column("n", BigInteger, nullable=False),
)

# Every table as its owner has last told: `notice` is what everybody may see, absent for private ones;
# `reason` is set when it is gone; `rest` is what only the nodes know.
board = Table(
    "board",
    metadata,
    Column("code", String, primary_key=True),
    Column("node", String, nullable=False),
    Column("n", BigInteger, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("reason", String),
    Column("notice", LargeBinary),
    Column("rest", LargeBinary, nullable=False),
    Index("ix_board_news", "node", "n"),
)

# Who is connected to each node.
online = Table(
    "online",
    metadata,
    Column("node", String, primary_key=True),
    Column("player", LargeBinary, primary_key=True),
    Column("n", BigInteger, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("kind", String, nullable=False),
    Column("name", String, nullable=False),
    Column("is_house", Boolean, nullable=False),
    Column("is_here", Boolean, nullable=False),
    Index("ix_online_news", "node", "n"),
    Index("ix_online_player", "player"),
)

# How many connections of each network a node has, and how many came and how many logins failed so far.
crowds = Table(
    "crowds",
    metadata,
    Column("node", String, primary_key=True),
    Column("network", String, primary_key=True),
    Column("n", BigInteger, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("connections", Integer, nullable=False),
    Column("came", BigInteger, nullable=False),
    Column("failed", BigInteger, nullable=False),
    Index("ix_crowds_news", "node", "n"),
)

# What was said or done once: lines of the lobby's chat, and what is about a player wherever they are.
said = Table(
    "said",
    metadata,
    Column("node", String, primary_key=True),
    Column("serial", BigInteger, primary_key=True, autoincrement=False),
    Column("n", BigInteger, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("what", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("player", LargeBinary, nullable=False),
    Column("tag", String, nullable=False),
    Column("name", String, nullable=False),
    Column("text", String, nullable=False),
    Index("ix_said_news", "node", "n"),
)

# `owner` is the name of a node; `epoch` is that of the newest claim of the table.
tables = Table(
    "tables",
    metadata,
    Column("code", String, primary_key=True),
    Column("variant", String, nullable=False),
    Column("options", JSON, nullable=False),
    Column("seats", Integer, nullable=False),
    Column("private", Boolean, nullable=False),
    Column("creator", LargeBinary, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("document", LargeBinary),
    Column("state", String, nullable=False),
    Column("match_id", LargeBinary, key="match"),
    Column("owner", String, nullable=False),
    Column("epoch", BigInteger, nullable=False),
)

seats = Table(
    "seats",
    metadata,
    Column("table_code", String, key="table", primary_key=True),
    Column("seat", Integer, primary_key=True, autoincrement=False),
    Column("kind", String, nullable=False),
    Column("player", LargeBinary, nullable=False),
    Column("name", String, nullable=False),
    Column("ready", Boolean, nullable=False),
    Column("x", LargeBinary),
    Index("ix_seats_player", "player"),  # each login asks for a player's seats, at whichever node
)

guests = Table(
    "guests",
    metadata,
    Column("id", LargeBinary, primary_key=True),
    Column("name", String, nullable=False),
    Column("token_hash", LargeBinary, nullable=False, unique=True),
    Column("seen_ms", BigInteger, nullable=False),
)

secrets = Table(
    "secrets",
    metadata,
    Column("th", LargeBinary, primary_key=True),
    Column("sealed", LargeBinary, nullable=False),
)

# While a match is being set up: the table record (signer 0), and those of the seats that have joined.
terms = Table(
    "terms",
    metadata,
    Column("table_code", String, key="table", primary_key=True),
    Column("signer", Integer, primary_key=True, autoincrement=False),
    Column("th", LargeBinary, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("sig", LargeBinary, nullable=False),
)

# A match outlives its table, so table_code is no foreign key.
matches = Table(
    "matches",
    metadata,
    Column("mid", LargeBinary, primary_key=True),
    Column("table_code", String, key="table", nullable=False),
    Column("document", LargeBinary, nullable=False),
    Column("setup", LargeBinary, nullable=False),
    Column("th", LargeBinary, nullable=False, unique=True),
    Column("seats", Integer, nullable=False),
    Column("reason", String),
    Column("ended_ms", BigInteger, index=True),
    Column("readers", String, nullable=False, server_default="seats"),
)

# The list of players outlives the seats: a substitute has another row for the same match and seat.
match_players = Table(
    "match_players",
    metadata,
    Column("mid", LargeBinary, primary_key=True),
    Column("seat", Integer, primary_key=True, autoincrement=False),
    Column("player", LargeBinary, primary_key=True),
    Column("kind", String, nullable=False),
    Column("since_ms", BigInteger, nullable=False),
    # A page of a player's matches is read in this order, without a look at the rest.
    Index("ix_match_players_since", "player", "since_ms", "mid"),
)

chat = Table(
    "chat",
    metadata,
    Column("table_code", String, key="table", primary_key=True),
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("player", LargeBinary, nullable=False, index=True),
    Column("tag", String, nullable=False),
    Column("name", String, nullable=False),
    Column("seat", Integer),
    Column("text", String, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
)

ignored = Table(
    "ignored",
    metadata,
    Column("player", LargeBinary, primary_key=True),
    Column("tag", String, primary_key=True),
)

# Rated players have a key: `player` is that key, and `tag` its fingerprint.
ratings = Table(
    "ratings",
    metadata,
    Column("variant", String, primary_key=True),
    Column("seats", Integer, primary_key=True, autoincrement=False),
    Column("player", LargeBinary, primary_key=True),
    Column("tag", String, nullable=False, index=True),
    Column("name", String, nullable=False),
    Column("mean", Double, nullable=False),
    Column("deviation", Double, nullable=False),
    Column("points", Integer, nullable=False),
    Column("matches", Integer, nullable=False),
    Column("won", Integer, nullable=False),
    Index("ix_ratings_board", "variant", "seats", "points"),
)

members = Table(
    "members",
    metadata,
    Column("fingerprint", String, primary_key=True),
    Column("since_ms", BigInteger, nullable=False),
)

sanctions = Table(
    "sanctions",
    metadata,
    Column("subject", String, primary_key=True),
    Column("kind", String, primary_key=True),
    Column("since_ms", BigInteger, nullable=False),
    Column("until_ms", BigInteger),
)

invites = Table(
    "invites",
    metadata,
    Column("code_hash", LargeBinary, primary_key=True),
    Column("uses", Integer, nullable=False),
    Column("until_ms", BigInteger, nullable=False),
)

# With SQLite's rowid, although the key is then stored twice: records of many tables land on the same few
# pages, and a commit of 100 of them costs less than half of what it would without.
records = Table(
    "records",
    metadata,
    Column("mid", LargeBinary, primary_key=True),
    Column("k", Integer, primary_key=True, autoincrement=False),
    Column("signer", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("sig", LargeBinary, nullable=False),
    Column("means", LargeBinary, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("clocks", LargeBinary, nullable=False),
    Column("epoch", BigInteger, nullable=False, server_default="0"),
)

# What seats have asked for between two records, each before the record at `k`: with the records it says for
# whom the next call is held back, and how many wishes came to nothing.
wishes = Table(
    "wishes",
    metadata,
    Column("mid", LargeBinary, primary_key=True),
    Column("k", Integer, primary_key=True, autoincrement=False),
    Column("seat", Integer, primary_key=True, autoincrement=False),
)

name_columns(metadata)
