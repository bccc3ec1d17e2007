"""The client library: connect, sit down, play. Signing, checking, storing and reconnecting are automatic.

    async with connect("truc://host:7373", Player(open_home(path), "north")) as server:
        table = await server.seek("truc-french")
        await table.ready()
        async for happening in table:
            match happening:
                case YourTurn():
                    await table.choose(happening.options[0])
                case MatchEnded():
                    break

The names in `__all__` are public, and docs/clients/api.txt lists them with their signatures; everything else may move.

Within: `line` is the connection to a server, `subscriptions` gives what comes to the table it is about, `table_session`
follows that table, `matches` is what is audited, signed and sent in one match, `reports` what has happened, for the
program to read; `home` is what a player keeps. Programs for people are `truc_terminal`, on which nothing here leans.
"""

from truc_client.address import Address, parse_address
from truc_client.bots import Chooser, careful, careless, play_match, simple_bot
from truc_client.connecting import WANT, connect
from truc_client.connection import Connection
from truc_client.errors import (
    AddressError,
    CheckFailedError,
    ChoiceError,
    ClientError,
    ConnectError,
    HomeError,
    LostError,
    NotPlayedError,
    RefusedError,
    ServerKeyError,
    StoppedError,
)
from truc_client.happenings import (
    BotCalled,
    CardsDealt,
    ChatSaid,
    Fact,
    Happening,
    HostSaid,
    Interrupted,
    LobbyChanged,
    LobbyHappening,
    MatchContinued,
    MatchEnded,
    MatchStarted,
    MatchWaits,
    MoveChoice,
    PartnerCards,
    PhraseSaid,
    PresenceChanged,
    RecordSeen,
    RecordUnchecked,
    Resumed,
    SeatLost,
    ServerDraining,
    SignMade,
    SnapshotTaken,
    Substituted,
    TableChanged,
    TableGone,
    TranscriptSetAside,
    YourTurn,
)
from truc_client.home.account import Delay, NewKey, Player
from truc_client.home.home import Home, default_root, open_home
from truc_client.lobby import Lobby
from truc_client.paging import HistoryRecord, HistoryRecords
from truc_client.reports import HOUSE_BOTS, Calls
from truc_client.table import Table
from truc_client.verifying import verify_file
from truc_protocol.audit import Result, Verdict

__all__ = [
    "HOUSE_BOTS",
    "WANT",
    "Address",
    "AddressError",
    "BotCalled",
    "Calls",
    "CardsDealt",
    "ChatSaid",
    "CheckFailedError",
    "ChoiceError",
    "Chooser",
    "ClientError",
    "ConnectError",
    "Connection",
    "Delay",
    "Fact",
    "Happening",
    "HistoryRecord",
    "HistoryRecords",
    "Home",
    "HomeError",
    "HostSaid",
    "Interrupted",
    "Lobby",
    "LobbyChanged",
    "LobbyHappening",
    "LostError",
    "MatchContinued",
    "MatchEnded",
    "MatchStarted",
    "MatchWaits",
    "MoveChoice",
    "NewKey",
    "NotPlayedError",
    "PartnerCards",
    "PhraseSaid",
    "Player",
    "PresenceChanged",
    "RecordSeen",
    "RecordUnchecked",
    "RefusedError",
    "Result",
    "Resumed",
    "SeatLost",
    "ServerDraining",
    "ServerKeyError",
    "SignMade",
    "SnapshotTaken",
    "StoppedError",
    "Substituted",
    "Table",
    "TableChanged",
    "TableGone",
    "TranscriptSetAside",
    "Verdict",
    "YourTurn",
    "careful",
    "careless",
    "connect",
    "default_root",
    "open_home",
    "parse_address",
    "play_match",
    "simple_bot",
    "verify_file",
]
