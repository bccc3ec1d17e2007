"""The host's own bots: who they are, and how they are called to vacant seats of matches and free seats of open tables.

A call asks for nothing and gives nothing: a bot that is called joins as anybody may, and the first record that can
stand gets the seat. Nothing is kept; whom to call follows from who is connected and what is vacant. Where bots may be
connected to other nodes, calls are passed on: for a seat in a match to all nodes, for a seat at an open table, if no
bot is here, to one of them. Invariant: only keys that the host has listed, or whose bots the server has started, are
called, because a call may hold the code of a private table; nobody is called to the free seats of such a table.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final

import structlog
import trio

from truc_protocol.messages import BotWanted, PlayersWanted
from truc_protocol.messages.table import Direction
from truc_protocol.records import BLIND
from truc_protocol.wire.encoding import decode, encode
from truc_server.lobby.online_players import OnlinePlayers
from truc_server.lobby.other_nodes import OtherNodes
from truc_server.matches.game import Game
from truc_server.net.peer import LoggedInPlayer, Peer
from truc_server.settings.in_force import CurrentValue, ServerDrain
from truc_server.settings.settings import Settings
from truc_server.storage import PlayerKind
from truc_server.storage.node_news import LineKind, LineNews
from truc_server.table_data.codes import label
from truc_server.tables.table import Table
from truc_server.timing.clock import Alarm, Timers

HOUSE_BOTS: Final = "house-bots"
Called = BotWanted | PlayersWanted

log = structlog.get_logger()


class BotCalls:
    """The calls to the host's own bots; those of `others` are known by what these have told, and called there.

    Attributes:
        started: the fingerprints of the keys of the bots that the server has started.
    """

    def __init__(self, settings: CurrentValue[Settings], online: OnlinePlayers, others: OtherNodes) -> None:
        self._settings = settings
        self._online = online
        self._others = others
        self.started: Sequence[str] = ()

    @property
    def tags(self) -> tuple[str, ...]:
        """Every bot, once, those that other nodes have started included."""
        listed, elsewhere = self._settings.now.access.bots, sorted(self._others.players.house_bots)
        return tuple(dict.fromkeys((*listed, *self.started, *elsewhere)))

    def is_bot(self, player: LoggedInPlayer) -> bool:
        """Tell whether a player is one of the host's own bots, of this node or another."""
        if player.kind is not PlayerKind.KEY:
            return False
        tag, listed = player.tag, self._settings.now.access.bots
        return tag in listed or tag in self.started or tag in self._others.players.house_bots

    def count_connected(self) -> int:
        """Return how many of the bots that the server has started are connected."""
        return sum(bool(self._online.connections(tag)) for tag in self.started)

    def call(self, table: Table) -> None:
        """Call every connected bot to the vacant seats of a table."""
        for tag in self.tags:
            bot = self._listener(tag)
            if bot is not None:
                _call(bot, table)
        if table.game is not None:
            for called in _calls(table, table.game):
                self._call_elsewhere(table, called)

    def fill(self, table: Table) -> None:
        """Call bots that do not sit at an open table yet, one to each of its free seats."""
        listeners = filter(None, map(self._listener, self.tags))
        others = (
            bot
            for bot in listeners
            if bot.player is not None and table.board.seat_of(bot.player) is None and _can_play(bot, table)
        )
        variant = table.blueprint.chosen.variant.name
        for seat in (seat for seat, seated in enumerate(table.board.seats) if seated is None):
            called, bot = PlayersWanted(table=table.code, seat=seat, variant=variant), next(others, None)
            if bot is not None:
                bot.send(called)
                _note(bot, table.code, seat)
            else:
                self._call_elsewhere(table, called)

    def _call_elsewhere(self, table: Table, called: Called) -> None:
        # The mode goes along, as a bot that cannot play mode blind must not be chosen there.
        mode, text = table.blueprint.chosen.mode, encode(called).hex()
        self._others.untold.note_line(LineKind.CALL, name=mode, text=text)

    def pass_on(self, line: LineNews) -> None:
        """Call bots that are connected here to a seat at another node."""
        called = decode(bytes.fromhex(line.text), Direction.TO_CLIENT)
        if not isinstance(called, BotWanted | PlayersWanted):
            return
        seated = self._others.tables.seated_at(called.table)
        bots = [
            bot
            for bot in filter(None, map(self._listener, self.tags))
            if bot.player is not None
            and bot.player.id not in seated
            and (bot.plays_blind or line.name != BLIND)
        ]
        if isinstance(called, PlayersWanted) and bots:
            # Whoever is asked for seat 0 is not asked for seat 1, unless no other bot is here.
            bots = [bots[called.seat % len(bots)]]
        for bot in bots:
            bot.send(called)
            _note(bot, called.table, called.seat)

    def _listener(self, tag: str) -> Peer | None:
        """Return a player's newest connection among those that asked to be called."""
        connections = reversed(self._online.connections(tag))
        return next((peer for peer in connections if HOUSE_BOTS in peer.wanted), None)

    def catch_up(self, peer: Peer, player: LoggedInPlayer, tables: Iterable[Table]) -> None:
        """Call a newly connected bot to every vacant seat."""
        if HOUSE_BOTS in peer.wanted and self.is_bot(player):
            for table in tables:
                _call(peer, table)


def _can_play(bot: Peer, table: Table) -> bool:
    """Tell whether a bot can have a seat at a table: where the host sees no card, the seats deal."""
    return bot.plays_blind or table.blueprint.chosen.mode != BLIND


def _call(peer: Peer, table: Table) -> None:
    """Call a bot to each vacant seat, unless it has had one in that match."""
    game, player = table.game, peer.player
    # Whoever has had a seat in a match cannot stand by for another one in it (test_substitutes.py).
    if game is None or player is None or not table.board.vacant or player.id in game.players:
        return
    if not _can_play(peer, table):
        return
    for called in _calls(table, game):
        peer.send(called)
        _note(peer, table.code, called.seat)


def _calls(table: Table, game: Game) -> Iterator[BotWanted]:
    """Yield a call to each vacant seat of a match."""
    for seat in table.board.vacant:
        yield BotWanted(
            table=table.code,
            match=game.mid,
            seat=seat,
            variant=table.blueprint.chosen.variant.name,
            left_ms=game.clock.vacant_ms,
        )


def _note(bot: Peer, code: str, seat: int) -> None:
    log.info("bot_called", bot=bot.player and bot.player.tag, table=label(code), seat=seat)


class TablesToFill:
    """The tables that wait, and when the bots are called to each."""

    def __init__(
        self, settings: CurrentValue[Settings], timers: Timers, drain: ServerDrain, calls: BotCalls
    ) -> None:
        self._settings = settings
        self._timers = timers
        self._drain = drain
        self._calls = calls
        self._next: dict[str, Alarm] = {}

    def note(self, table: Table) -> None:
        """Note how a table stands now."""
        after_s = self._settings.now.tables.company_s
        if not (after_s and self._waits(table)):
            self.drop(table.code)
        elif table.code not in self._next:
            self._next[table.code] = alarm = Alarm(self._timers, partial(self._call, table))
            alarm.set(trio.current_time() + after_s)

    def drop(self, code: str) -> None:
        """Call nobody to a table."""
        alarm = self._next.pop(code, None)
        if alarm is not None:
            alarm.stop()

    def _call(self, table: Table) -> None:
        del self._next[table.code]
        # A server that drains begins no match that they could play.
        if not self._drain.is_on:
            self._calls.fill(table)
        # Again after the same time while somebody waits: the bot may have had no room, or none was here.
        self.note(table)

    def _waits(self, table: Table) -> bool:
        if table.blueprint.private or not table.board.may_change or None not in table.board.seats:
            return False
        seated = (each for seat in table.audience.online if (each := table.board.seats[seat]) is not None)
        # Else bots that everybody has left would be called to each other, match after match.
        return any(each.is_ready and not self._calls.is_bot(each.player) for each in seated)
