"""The tables of the client's database, and the migration of older files.

A file is brought up to date when it is opened, in one transaction: it is either as it was or as it should be. Nothing
that keeps a client honest (nonces, statements, places) is ever dropped on the way.
"""

import sqlite3
from typing import Final

from truc_client.errors import HomeError
from truc_protocol.crypto.keys import box_key
from truc_words import Sentence

VERSION: Final = 4
_MATCHES: Final = """CREATE TABLE matches (
    th BLOB PRIMARY KEY, tn BLOB NOT NULL, server BLOB NOT NULL, code TEXT NOT NULL, seat INTEGER NOT NULL,
    mid BLOB UNIQUE, k INTEGER, head BLOB,
    UNIQUE (server, tn))"""
_STOPPED: Final = "CREATE TABLE stopped (id BLOB PRIMARY KEY, why TEXT NOT NULL)"
_CHAINS: Final = """CREATE TABLE chains (
    match BLOB NOT NULL, x BLOB NOT NULL, first INTEGER NOT NULL, root BLOB NOT NULL, secret BLOB NOT NULL,
    after_loss INTEGER NOT NULL, counter INTEGER NOT NULL DEFAULT -1,
    PRIMARY KEY (match, x))"""
_TABLES: Final = (
    """CREATE TABLE servers (
        server TEXT PRIMARY KEY, first BLOB NOT NULL, present BLOB NOT NULL, serial INTEGER NOT NULL,
        tls INTEGER NOT NULL DEFAULT 0)""",
    "CREATE TABLE tokens (server BLOB PRIMARY KEY, token TEXT NOT NULL)",
    """CREATE TABLE statements (
        match BLOB NOT NULL, what TEXT NOT NULL, number INTEGER NOT NULL, attempt INTEGER NOT NULL,
        body BLOB NOT NULL, sig BLOB NOT NULL, refusal BLOB,
        PRIMARY KEY (match, what, number, attempt))""",
    _MATCHES,
    _CHAINS,
    _STOPPED,
)


def bring_up_to_date(database: sqlite3.Connection) -> None:
    """Make the tables, or change those of an older file; the caller has begun a transaction.

    Raises:
        HomeError: The file was made by a newer client.
    """
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version > VERSION:
        raise HomeError(Sentence("failures.newer_database", version=version))
    if version == 0:
        for statement in _TABLES:
            database.execute(statement)
    if version == 1:
        _give_chains_a_table(database)
    if version in (1, 2):
        _bind_nonces_to_servers(database)
    if version in (1, 2, 3):
        database.execute("ALTER TABLE servers ADD COLUMN tls INTEGER NOT NULL DEFAULT 0")
    database.execute(f"PRAGMA user_version = {VERSION}")


def _give_chains_a_table(database: sqlite3.Connection) -> None:
    """Version 1 had one chain for each match, in the row of the match."""
    database.execute(_CHAINS)
    running = database.execute("SELECT th, root, secret, counter FROM matches WHERE root IS NOT NULL")
    for th, root, secret, counter in running.fetchall():
        values = (th, box_key(secret).public, root, secret, counter)
        database.execute("INSERT INTO chains VALUES (?, ?, 0, ?, ?, 0, ?)", values)


def _bind_nonces_to_servers(database: sqlite3.Connection) -> None:
    """Up to version 2 a nonce was unique across all servers, so that one server could use up another's."""
    database.execute("ALTER TABLE matches RENAME TO matches_before")
    database.execute(_MATCHES)
    database.execute(
        "INSERT INTO matches SELECT th, tn, server, code, seat, mid, k, head FROM matches_before"
    )
    database.execute("DROP TABLE matches_before")
    database.execute(_STOPPED)
