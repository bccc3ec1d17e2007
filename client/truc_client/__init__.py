"""The client library: connect, sit down, play; signing, checking, keeping and coming back go by themselves.

    async with connect("truc://host:7373", Player(open_home(path), "north")) as server:
        table = await server.create("truc-french")
        await table.ready()
        async for happening in table:
            match happening:
                case YourTurn():
                    await table.choose(happening.options[0])
                case MatchEnded():
                    break

What stands in `__all__` is public; everything else may move.
"""

from truc_client.account import NewKey, Player
from truc_client.address import Address, parse_address
from truc_client.connection import Connection, connect
from truc_client.errors import (
    AddressError,
    CheckFailedError,
    ChoiceError,
    ClientError,
    ConnectError,
    HomeError,
    LostError,
    RefusedError,
    ServerKeyError,
    StoppedError,
)
from truc_client.happenings import (
    CardsDealt,
    Choice,
    Happening,
    Interrupted,
    MatchEnded,
    MatchStarted,
    PartnerCards,
    PhraseSaid,
    Recalled,
    RecordSeen,
    Resumed,
    SeatTakenOver,
    Signed,
    Substituted,
    TableChanged,
    TableClosed,
    TranscriptSetAside,
    Waiting,
    YourTurn,
)
from truc_client.home import Home, default_root, open_home
from truc_client.table import Table

__all__ = [
    "Address",
    "AddressError",
    "CardsDealt",
    "CheckFailedError",
    "Choice",
    "ChoiceError",
    "ClientError",
    "ConnectError",
    "Connection",
    "Happening",
    "Home",
    "HomeError",
    "Interrupted",
    "LostError",
    "MatchEnded",
    "MatchStarted",
    "NewKey",
    "PartnerCards",
    "PhraseSaid",
    "Player",
    "Recalled",
    "RecordSeen",
    "RefusedError",
    "Resumed",
    "SeatTakenOver",
    "ServerKeyError",
    "Signed",
    "StoppedError",
    "Substituted",
    "Table",
    "TableChanged",
    "TableClosed",
    "TranscriptSetAside",
    "Waiting",
    "YourTurn",
    "connect",
    "default_root",
    "open_home",
    "parse_address",
]
