"""Connections and tables as shown to the host, and to nobody else: with names, addresses and whole codes.

Invariant: no row has anything of anybody's cards, keys or tokens.
"""

from collections.abc import Iterator

import trio

from truc_server.admin.requests import MOST_ROWS, Answer
from truc_server.lobby.lobby import Lobby
from truc_server.net.listeners import Net
from truc_server.net.peer import Peer
from truc_server.tables.table import Table
from truc_server.timing.clock import now_ms


def page(found: Iterator[Answer]) -> Answer:
    """Return an answer with as many rows as it may have, and how many were left out."""
    rows: list[Answer] = []
    left_out = 0
    for row in found:
        if len(rows) < MOST_ROWS:
            rows.append(row)
        else:
            left_out += 1
    return {"rows": rows, "left_out": left_out}


def connections(net: Net, text: str) -> Iterator[Answer]:
    """Return a row for each connection, the oldest first; with `text` only those that have it."""
    for peer in sorted(net.everybody(), key=lambda peer: peer.number):
        row = _connection(peer)
        if _has(text, row["name"], row["tag"], row["address"]):
            yield row


def _connection(peer: Peer) -> Answer:
    player = peer.player
    return {
        "connection": peer.number,
        "name": None if player is None else player.name,
        "tag": None if player is None else player.tag,
        "kind": None if player is None else str(player.kind),
        "address": peer.address,
        "since_ms": now_ms() - int((trio.current_time() - peer.since) * 1000),
        "tables": sorted(peer.tables),
    }


def tables(lobby: Lobby, text: str) -> Iterator[Answer]:
    """Return a row for each table, in the order of codes; with `text` only those that have it."""
    for table in sorted(lobby.tables(), key=lambda table: table.code):
        row = _table(table)
        names = [seat["name"] for seat in _seats(table)]
        if _has(text, row["table"], row["state"], row["variant"], *names):
            yield row


def _table(table: Table) -> Answer:
    made, game = table.made, table.game
    return {
        "table": table.code,
        "private": made.private,
        "state": table.state,
        "variant": made.chosen.variant.name,
        "seats": _seats(table),
        "watchers": table.audience.watching,
        "since_ms": made.created_ms,
        "match": None if table.match is None else table.match.hex(),
        "records": None if game is None else game.ledger.k,
        "hands": None if game is None else game.ledger.deal_index,
    }


def _seats(table: Table) -> list[Answer]:
    return [
        {
            "seat": seat,
            "name": None if seated is None else seated.player.name,
            "tag": None if seated is None else seated.player.tag,
            "online": seat in table.audience.online,
        }
        for seat, seated in enumerate(table.seats)
    ]


def _has(text: str, *words: object) -> bool:
    return not text or any(text.lower() in str(word).lower() for word in words if word is not None)
