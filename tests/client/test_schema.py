"""Files of older clients: opened, brought up to date at once, and nothing of them forgotten."""

import sqlite3
from contextlib import closing

import pytest
from client.playing import come_back_to_proof, leave_at_turn

from truc_client import HomeError
from truc_client.home.store import AcceptedPlace, HeldChain, HomeStore, Joined, Slot, Statement
from truc_protocol.crypto.keys import box_key

TH, TN, SERVER, MID, HEAD, ROOT, SECRET = (bytes([value]) * 32 for value in range(1, 8))
STATEMENT = Statement(b"body", b"\x07" * 64)
BOTH = """
    CREATE TABLE servers (server TEXT PRIMARY KEY, first BLOB NOT NULL, present BLOB NOT NULL, serial INTEGER NOT NULL);
    CREATE TABLE tokens (server BLOB PRIMARY KEY, token TEXT NOT NULL);
    CREATE TABLE statements (
        match BLOB NOT NULL, what TEXT NOT NULL, number INTEGER NOT NULL, attempt INTEGER NOT NULL,
        body BLOB NOT NULL, sig BLOB NOT NULL, refusal BLOB,
        PRIMARY KEY (match, what, number, attempt));
"""
"""The tables that versions 1 and 2 had alike."""
VERSION_1 = f"""{BOTH}
    CREATE TABLE matches (
        th BLOB PRIMARY KEY, tn BLOB NOT NULL UNIQUE, server BLOB NOT NULL, code TEXT NOT NULL, seat INTEGER NOT NULL,
        root BLOB, secret BLOB, mid BLOB UNIQUE, k INTEGER, head BLOB, counter INTEGER NOT NULL DEFAULT -1);
    PRAGMA user_version = 1;
"""
VERSION_2 = f"""{BOTH}
    CREATE TABLE matches (
        th BLOB PRIMARY KEY, tn BLOB NOT NULL UNIQUE, server BLOB NOT NULL, code TEXT NOT NULL, seat INTEGER NOT NULL,
        mid BLOB UNIQUE, k INTEGER, head BLOB);
    CREATE TABLE chains (
        match BLOB NOT NULL, x BLOB NOT NULL, first INTEGER NOT NULL, root BLOB NOT NULL, secret BLOB NOT NULL,
        after_loss INTEGER NOT NULL, counter INTEGER NOT NULL DEFAULT -1,
        PRIMARY KEY (match, x));
    PRAGMA user_version = 2;
"""


def write_version_1(path, *rows: tuple, statements: tuple[tuple, ...] = ()) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(VERSION_1)
        database.executemany("INSERT INTO matches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        database.executemany("INSERT INTO statements VALUES (?, ?, ?, ?, ?, ?, ?)", statements)


@pytest.fixture
def store_of_version_2(tmp_path):
    """Return the store of a file of version 2 that holds a match with a chain."""
    with closing(sqlite3.connect(tmp_path / "state.sqlite")) as database, database:
        database.executescript(VERSION_2)
        row = (TH, TN, SERVER, "TABLE", 1, MID, 7, HEAD)
        database.execute("INSERT INTO matches VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        database.execute("INSERT INTO chains VALUES (?, ?, 3, ?, ?, 1, 40)", (TH, HEAD, ROOT, SECRET))
    with closing(HomeStore(tmp_path / "state.sqlite")) as store:
        yield store


@pytest.fixture
def store(tmp_path):
    """Return the store of a file of version 1 that holds a match and what was signed in it."""
    row = (TH, TN, SERVER, "TABLE", 1, ROOT, SECRET, MID, 7, HEAD, 40)
    signed = (MID, "act", 7, 0, *STATEMENT, None)
    write_version_1(tmp_path / "state.sqlite", row, statements=(signed,))
    with closing(HomeStore(tmp_path / "state.sqlite")) as store:
        yield store


def test_chain_and_place_of_a_running_match_and_what_was_signed_are_kept(store) -> None:
    assert store.chains(TH) == (HeldChain(box_key(SECRET).public, 0, ROOT, SECRET, counter=40),)
    joined = store.playing(MID)
    assert (joined.th, joined.tn, joined.seat, joined.k, joined.head) == (TH, TN, 1, 7, HEAD)
    assert store.statement(MID, Slot("act", 7)) == STATEMENT


def test_nonce_of_a_match_that_has_ended_is_kept_without_a_chain(tmp_path) -> None:
    write_version_1(tmp_path / "state.sqlite", (TH, TN, SERVER, "TABLE", 1, None, None, MID, 7, HEAD, 40))
    with closing(HomeStore(tmp_path / "state.sqlite")) as store:
        assert (store.joined_with(SERVER, TN).th, store.chains(TH)) == (TH, ())


def test_match_and_chain_of_version_2_are_kept(store_of_version_2) -> None:
    joined = store_of_version_2.playing(MID)
    assert joined == Joined(TH, TN, SERVER, "TABLE", 1, MID, 7, HEAD)
    assert store_of_version_2.chains(TH) == (HeldChain(HEAD, 3, ROOT, SECRET, after_loss=True, counter=40),)


def test_nonce_kept_by_version_2_does_not_bind_another_server(store_of_version_2) -> None:
    other = Joined(HEAD, TN, MID, "OTHER", 0)
    store_of_version_2.join(other, HeldChain(HEAD, 0, ROOT, SECRET), STATEMENT)
    assert store_of_version_2.joined_with(MID, TN) == other


@pytest.mark.parametrize("version", ["store", "store_of_version_2"])
def test_older_file_can_note_what_was_stopped(request, version) -> None:
    older = request.getfixturevalue(version)
    older.stop(MID, "C33")
    assert older.stopped(MID) == "C33"


def test_file_is_brought_up_to_date_once(store, tmp_path) -> None:
    store.keep_place(MID, AcceptedPlace(8, HEAD, box_key(SECRET).public, 41))
    with closing(HomeStore(tmp_path / "state.sqlite")) as again:
        assert [chain.counter for chain in again.chains(TH)] == [41]


def test_file_whose_change_was_cut_short_stays_as_it_was(tmp_path, monkeypatch) -> None:
    def power_cut(secret: bytes) -> None:
        raise InterruptedError

    path = tmp_path / "state.sqlite"
    write_version_1(path, (TH, TN, SERVER, "TABLE", 1, ROOT, SECRET, MID, 7, HEAD, 40))
    monkeypatch.setattr("truc_client.home.store.box_key", power_cut)
    with pytest.raises(HomeError):
        HomeStore(path)
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT root FROM matches").fetchone() == (ROOT,)


def test_file_that_is_no_store_of_this_client_is_closed_again(tmp_path, monkeypatch) -> None:
    opened = []

    def refuse(database: sqlite3.Connection) -> None:
        opened.append(database)
        raise sqlite3.DatabaseError("file is not a database")

    monkeypatch.setattr("truc_client.home.store.bring_up_to_date", refuse)
    with pytest.raises(HomeError):
        HomeStore(tmp_path / "state.sqlite")
    (database,) = opened
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        database.execute("SELECT 1")


def age(path) -> None:
    """Rewrite a file as version 1 would have it."""
    query = (
        "SELECT th, tn, server, code, seat, root, secret, mid, k, head, counter"
        " FROM matches LEFT JOIN chains ON chains.match = matches.th"
    )
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute(query).fetchall()
        statements = database.execute("SELECT * FROM statements").fetchall()
        pins = database.execute("SELECT server, first, present, serial FROM servers").fetchall()
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()
    write_version_1(path, *rows, statements=tuple(statements))
    with closing(sqlite3.connect(path)) as database, database:
        database.executemany("INSERT INTO servers VALUES (?, ?, ?, ?)", pins)


async def test_running_match_of_an_older_client_goes_on_to_a_proven_end(server, player) -> None:
    await leave_at_turn(server, player)
    age(player.home.state)
    await come_back_to_proof(server, player)
