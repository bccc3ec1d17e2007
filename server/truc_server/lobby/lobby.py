"""The lobby: every table, which tables a player sits at, who is connected, and who follows what changes.

Synchronous. What other nodes have told of theirs stands beside it, for lists, counts and limits. Invariant: the indexes of
tables here follow from the tables; nothing is kept only in them.
"""

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator
from heapq import merge
from typing import Final, NamedTuple, assert_never

import structlog
import trio

from truc_protocol.errors import Code
from truc_protocol.messages import Create, Draining, LobbyState, SeatHeld, Seek, TableClosed
from truc_protocol.wire.connection import broadcast_frame
from truc_rules import Variant
from truc_server.lobby.followers import LobbyFollowers
from truc_server.lobby.house_bots import BotCalls, TablesToFill
from truc_server.lobby.names import Names
from truc_server.lobby.online_players import PAGE as PLAYERS
from truc_server.lobby.online_players import OnlinePlayers, PlayerPage
from truc_server.lobby.other_nodes import OtherNodes, OtherTable
from truc_server.lobby.seeking import suitable
from truc_server.lobby.table_limits import MadeTables
from truc_server.matches.acceptance import Verified, accept_substitute
from truc_server.matches.game import Game, Turn
from truc_server.net.peer import LoggedInPlayer, Peer, RefusedRequestError
from truc_server.net.usage_limits import CHAT, LISTS, Allowance
from truc_server.operation.disk import Disk
from truc_server.settings.settings import MAX_SEATS
from truc_server.settings.variants import VariantCatalogue
from truc_server.storage import AddPlayer, TableOwner
from truc_server.storage.node_news import PlayerNews, TableNews
from truc_server.table_data.board import Blueprint, Seated, seat_row
from truc_server.table_data.codes import PRIVATE_CODE, PUBLIC_CODE, draw_code, label
from truc_server.table_data.options import ChosenGame, ChosenOptions, choose, offered_game
from truc_server.tables.table import Table, TableBacking
from truc_server.timing.clock import now_ms

PAGE: Final = 24  # tables in one answer; far below the longest frame
_MINUTE_MS: Final = 60_000
_MANY: Final = 64  # tables followed by one connection, before those that are gone are looked for among them

log = structlog.get_logger()


class TablePage(NamedTuple):
    """Some tables, those of other nodes among them, and whether there are more."""

    tables: tuple[Table | OtherTable, ...]
    more: bool


class Lobby:
    """All tables of the server; where others have their own, `share` is what codes of new ones are drawn from.

    Attributes:
        online: who is connected.
        names: what everybody who is connected or seated is called.
        made_tables: who has made the open tables.
        chat_allowance: how much each player has said.
        list_allowance: how often each player was sent every public table.
        followers: who follows the lobby.
        bot_calls: calls the host's own bots to vacant seats.
        others: what this node knows of the others, and what they are to be told.
        catalogue: the games that tables are made for.
        drain: whether the server is about to be stopped, and where players go then.
        disk: whether there is room for what a match will store.
        forgotten: how many players were forgotten, so that a login knows when it must look again.
    """

    def __init__(
        self, backing: TableBacking, catalogue: VariantCatalogue, disk: Disk, *, share: int | None = None
    ) -> None:
        self.online = OnlinePlayers()
        self.others = others = OtherNodes(is_node=share is not None)
        self.names = Names(others.lent)
        self.chat_allowance = Allowance(CHAT)
        self.list_allowance = Allowance(LISTS)
        settings = backing.settings
        self.made_tables = MadeTables(settings, others.tables.made_by, others.tables.made_from)
        self.followers = LobbyFollowers(backing.timers, self._state)
        self.bot_calls = BotCalls(settings, self.online, others)
        self._tables_to_fill = TablesToFill(settings, backing.timers, backing.drain, self.bot_calls)
        self._backing = backing
        self._settings = settings
        self.drain = backing.drain
        self.catalogue = catalogue
        self.disk = disk
        self._share = share
        self._tables: dict[str, Table] = {}
        self._public: list[str] = []  # codes, ascending, as lists are told page by page
        self._seats: dict[bytes, dict[str, int]] = {}  # by player and by code: each login asks for its seats
        self.forgotten = 0
        self._withheld: set[str] = set()

    def tables(self) -> tuple[Table, ...]:
        """Return every table."""
        return tuple(self._tables.values())

    def get(self, code: str) -> Table | None:
        """Return a table by its code, in capitals or not; None if there is none here."""
        return self._tables.get(code.upper())

    def table(self, code: str) -> Table:
        """Return a table by its code.

        Raises:
            RefusedError: There is none.
        """
        table = self.get(code)
        if table is None:
            raise RefusedRequestError(
                Code.NO_SUCH_TABLE, f"expected the code of a table, got {code!r}", field="table"
            )
        return table

    def table_and_seat(self, code: str, player: LoggedInPlayer) -> tuple[Table, int | None]:
        """Return a table by its code, and the seat of a player there; None if they have none.

        Raises:
            RefusedError: There is no such table.
        """
        try:
            # Nearly every act names the code in capitals, as it was told; `table` takes it in either case.
            table = self._tables[code]
        except KeyError:
            table = self.table(code)
        try:
            return table, self._seats[player.id][table.code]
        except KeyError:
            return table, None

    def create(self, player: LoggedInPlayer, wanted: Create, network: str) -> Table:
        """Make a table with its creator on a seat; `network` is where the creator comes from.

        Raises:
            RefusedError: Too many tables, no such game, or options that do not fit.
        """
        game = offered_game(self.catalogue, wanted.variant)
        chosen, seats = self._choose(game, wanted.seats, wanted.options)
        self._check_room(player)
        # Last of the checks, as this is paid for: a table that is not made costs nothing of the pace.
        self.made_tables.pay(player, network)
        code = self._fresh_code(PRIVATE_CODE if wanted.private else PUBLIC_CODE)
        blueprint = Blueprint(code, chosen, seats, dict(wanted.options), wanted.private, player.id, now_ms())
        table = Table(self._backing, blueprint, self, epoch=self._backing.epoch)
        self._backing.journal.write(table.row())
        self.add(table, network)
        try:
            self.join(table, player, wanted.seat)
        except RefusedRequestError:
            # A guest, say, may not sit at a table without seats for guests: it would stand empty until it
            # expires.
            table.close("empty")
            raise
        log.info("table_created", table=label(code), variant=wanted.variant, seats=seats, mode=chosen.mode)
        return table

    def seek(self, player: LoggedInPlayer, wanted: Seek, network: str) -> Table:
        """Seat a player at an open public table that fits the request, or at a new one if there is none.

        Raises:
            RefusedError: Too many tables, no such game, or options that do not fit.
        """
        table = self.find(player, wanted)
        if table is not None:
            self.join(table, player, None)
            return table
        fresh = Create(id=wanted.id, variant=wanted.variant, seats=wanted.seats, options=wanted.options)
        return self.create(player, fresh, network)

    def find(self, player: LoggedInPlayer, wanted: Seek) -> Table | None:
        """Return the open public table that suits a player best; None if there is none.

        Raises:
            RefusedError: There is no such game, or the options do not fit.
        """
        game = offered_game(self.catalogue, wanted.variant)
        for table in suitable(self._tables.values(), player, wanted):
            # By the game's present rules: a table keeps those it was made with (decision 6).
            if self._choose(game, table.blueprint.seats, wanted.options)[0] == table.blueprint.chosen:
                return table
        return None

    def _choose(self, game: Variant, seats: int | None, options: ChosenOptions) -> tuple[ChosenGame, int]:
        return choose(game, seats, options, self._settings.now.match)

    def check_may_begin(self) -> None:
        """Check that another table or match may begin, and that there is room for what it will store.

        Raises:
            RefusedError: The server is about to be stopped, or the disk is nearly full.
        """
        if self.drain.is_on:
            message = "the server is about to be stopped: no table or match begins until it is back"
            raise RefusedRequestError(Code.TOO_MANY_TABLES, message)
        if self.disk.is_nearly_full:
            message = "the server's disk is nearly full: no table or match begins until there is room"
            raise RefusedRequestError(Code.TOO_MANY_TABLES, message)

    def _check_room(self, player: LoggedInPlayer) -> None:
        self.check_may_begin()
        limits = self._settings.now.limits
        if len(self._tables) >= limits.tables:
            raise RefusedRequestError(Code.TOO_MANY_TABLES, f"tables of this server: at most {limits.tables}")
        self.check_seats(player)

    def check_seats(self, player: LoggedInPlayer) -> None:
        """Check that a player may have one more seat.

        Raises:
            RefusedError: They have all that one player may.
        """
        # The host's bots sit wherever they are called (players.md, "Your own bots"); what is left to them is
        # what fits into the frame that welcomes them.
        most = MAX_SEATS if self.bot_calls.is_bot(player) else self._settings.now.limits.seats_per_player
        if len(self._seats.get(player.id, ())) + self.others.tables.count_seats(player.id) >= most:
            raise RefusedRequestError(Code.TOO_MANY_TABLES, f"seats of one player: at most {most}")

    def _fresh_code(self, length: int) -> str:
        while True:
            code = draw_code(length, self._share)
            if code not in self._tables and code not in self._withheld:
                return code

    def withhold(self, *codes: str) -> None:
        """Give no new table these codes: older tables that cannot go on are stored under them."""
        self._withheld.update(codes)

    def add(self, table: Table, network: str | None = None) -> None:
        """Take a table into the lobby as it is; its time runs from now. `network` is where it was made, if known."""
        self._tables[table.code] = table
        told = self.others.tables.drop(table.code)
        if (
            told is not None
        ):  # taken over from another node, which has told where it was made; the store has not
            network = told.network
        self.others.untold.note_table(table.code)
        self.made_tables.add(table.code, table.blueprint.creator, network)
        if not table.blueprint.private:
            insort(self._public, table.code)
        for seat, seated in enumerate(table.board.seats):
            if seated is not None:
                self._seats.setdefault(seated.player.id, {})[table.code] = seat
                self.names.keep(seated.player.id, seated.player.name)
        table.renew_expiry()

    def closed(self, table: Table, notice: TableClosed) -> None:
        """Take a closed table out of the lobby, and tell those who follow the lobby."""
        self.forget(table)
        self.followers.note_table(table, notice)
        self.others.untold.note_table(table.code, notice.reason)

    def changed(self, table: Table) -> None:
        """Note that a table has changed."""
        self.followers.note_table(table)
        self._tables_to_fill.note(table)
        self.others.untold.note_table(table.code)

    def vacated(self, table: Table) -> None:
        """Call the host's own bots to the seats of a match that are vacant."""
        self.bot_calls.call(table)

    def forget(self, table: Table) -> None:
        """Take out of the lobby a table that cannot go on."""
        del self._tables[table.code]
        self._tables_to_fill.drop(table.code)
        self.made_tables.drop(table.code, table.blueprint.creator)
        if not table.blueprint.private:
            self._public.remove(table.code)
        for seated in table.board.seats:
            if seated is not None:
                self._unseat(table, seated.player)

    def given(self, table: Table) -> None:
        """Take out of the lobby a table that another node is to have; its code stays in use."""
        self.forget(table)
        # Nobody may be given the code while the table is on its way: the other node has not told of it yet.
        self.withhold(table.code)
        self.followers.note_state()

    def _unseat(self, table: Table, player: LoggedInPlayer) -> None:
        held = self._seats.get(player.id, {})
        held.pop(table.code, None)
        if not held:
            self._seats.pop(player.id, None)
            self._free_name(player)

    def _free_name(self, player: LoggedInPlayer) -> None:
        """Free the name of a player who is no longer connected or seated."""
        if player.id not in self._seats and not self.online.connections(player.tag):
            self.names.drop(player.id)

    def give_name(self, player: LoggedInPlayer, kept: str | None = None) -> LoggedInPlayer:
        """Return a player under the name they get here, on all of their connections; a seated player keeps theirs.

        `kept` is the name by which they sit elsewhere. A name that looks like another player's gets a number.
        """
        if player.id in self._seats:
            kept = self.names.of(player.id)
        elif kept is not None:
            self.names.replace(player.id, kept)
        named = LoggedInPlayer(player.kind, player.id, kept or self.names.give(player.id, player.name))
        for connection in self.online.connections(player.tag):
            connection.player = named
            self.others.untold.note_player(named)
        return named

    def note_name(self, player: LoggedInPlayer) -> None:
        """Note the name that a player was given on another node, like others here or not: they sign with it."""
        if self.names.of(player.id) is None:
            self.names.keep(player.id, player.name)

    def join(self, table: Table, player: LoggedInPlayer, seat: int | None) -> int:
        """Seat a player and return the seat.

        Raises:
            RefusedError: The table does not allow it, or the player has too many seats.
        """
        if table.board.seat_of(player) is None:
            self.check_seats(player)
        taken = table.join(player, seat)
        self._seats.setdefault(player.id, {})[table.code] = taken
        return taken

    def substitute(
        self, table: Table, game: Game, peer: Peer, player: LoggedInPlayer, signed: Verified
    ) -> Turn:
        """Give a seat of a match to the player who stands by for it on this connection and has signed.

        The record, the seat, and the fact that its new player has played in the match are stored together.

        Raises:
            RefusedError: The record is not taken, or the player has too many seats.
        """
        self.check_seats(player)
        # The new player signs for what has happened, and can only have checked what they were sent.
        if table.audience.is_skipped(peer):
            raise RefusedRequestError(Code.NOT_NOW, "expected a connection that has been sent every record")
        seat = signed.placed.record.signer - 1
        left, newcomer = table.board.seats[seat], Seated(player, is_ready=True)
        had = AddPlayer(game.mid, seat, player.id, player.kind, now_ms())
        turn = accept_substitute(game, signed, player, had, seat_row(table.code, seat, newcomer))
        table.commit(game, turn)
        table.change_hands(seat, newcomer, peer)
        log.info("seat_substituted", table=label(table.code), seat=seat, k=turn.k)
        if left is not None:
            self._unseat(table, left.player)
        self._seats.setdefault(player.id, {})[table.code] = seat
        return turn

    def leave(self, table: Table, player: LoggedInPlayer) -> None:
        """Unseat a player; a table that everybody has left is the caller's to close.

        Raises:
            RefusedError: The table does not allow it.
        """
        table.leave(player)
        self._unseat(table, player)

    def page(self, *, variant: str | None, after: str) -> TablePage:
        """Return the public tables after a code, ascending."""
        found: list[Table | OtherTable] = []
        for table in self._public_after(after.upper()):
            if variant in (None, _variant_of(table)):
                found.append(table)
            if len(found) > PAGE:
                return TablePage(tuple(found[:PAGE]), more=True)
        return TablePage(tuple(found), more=False)

    def _public_after(self, code: str) -> Iterator[Table | OtherTable]:
        """Return the public tables after a code, those of other nodes among them, ascending."""
        here = map(self._tables.__getitem__, self._public[bisect_right(self._public, code) :])
        return merge(here, self.others.tables.after(code), key=lambda table: table.code)

    def find_elsewhere(self, player: LoggedInPlayer, wanted: Seek) -> TableOwner | None:
        """Return the node that has a table which a player who seeks a seat may be given, the best one; None if none is known.

        Raises:
            RefusedError: There is no such game, or the options do not fit.
        """
        others, game = self.others, offered_game(self.catalogue, wanted.variant)
        table = others.tables.suitable(
            player, wanted, lambda seats: self._choose(game, seats, wanted.options)[0], nodes=others.places
        )
        if table is None:
            return None
        place = others.places[table.node]
        return TableOwner(table.node, place.public, place.inner)

    def hear_tables(self, node: str, told: Iterable[TableNews]) -> None:
        """Take in what another node tells of its tables."""
        for table in told:
            if table.code not in self._tables:  # else it is this node's by now
                self._hear_table(node, table)
        self.followers.note_state()

    def hear_players(self, node: str, told: Iterable[PlayerNews]) -> None:
        """Take in what another node tells of who is connected to it."""
        for player in told:
            self.others.players.hear(node, player)
        self.followers.note_state()

    def _hear_table(self, node: str, told: TableNews) -> None:
        is_new = told.code not in self.others.tables
        change = self.others.tables.hear(node, told)
        if change is not None:
            self.followers.note_public(told.code, change)
        # A node that begins hears of every table there is; only those just made count towards the pace.
        if is_new and told.reason is None and now_ms() - told.created_ms < _MINUTE_MS:
            self.made_tables.note_elsewhere(told.creator, told.network)

    def forget_node(self, node: str) -> None:
        """Note that another node is gone, with whoever was connected to it; others will take its tables."""
        # Its tables stay listed: they go on at other nodes, which will tell of them.
        self.others.places.pop(node, None)
        self.others.players.forget_node(node)
        self.followers.note_state()

    def players(self, *, after: str) -> PlayerPage:
        """Return the players after a tag who are connected, here or to another node, ascending."""
        most = PLAYERS + 1
        tags = sorted({*self.online.after(after, most), *self.others.players.after(after, most)})[:most]
        found = map(self.player, tags[:PLAYERS])
        return PlayerPage(tuple(player for player in found if player is not None), len(tags) > PLAYERS)

    def player(self, tag: str) -> LoggedInPlayer | None:
        """Return a player who is connected, here or to another node, by their tag."""
        return self.online.player(tag) or self.others.players.player(tag)

    def is_online(self, tag: str) -> bool:
        """Tell whether a player is connected, here or to another node."""
        return self.player(tag) is not None

    def seated(self) -> frozenset[LoggedInPlayer]:
        """Return everybody who has a seat."""
        held = (seated for table in self._tables.values() for seated in table.board.seats)
        return frozenset(seated.player for seated in held if seated is not None)

    def seats_of(self, player: LoggedInPlayer) -> tuple[SeatHeld, ...]:
        """Return every seat of a player here."""
        held = self._seats.get(player.id, {})
        return tuple(
            SeatHeld(table=code, match=self._tables[code].match_of(seat), seat=seat)
            for code, seat in sorted(held.items())
        )

    def has_seat(self, player: LoggedInPlayer) -> bool:
        """Tell whether a player has a seat at any table."""
        return player.id in self._seats

    def public_tables_of(self, player: LoggedInPlayer) -> tuple[str, ...]:
        """Return the codes of the public tables where a player sits as far as everybody may know, ascending."""
        held = map(self._tables.__getitem__, self._seats.get(player.id, {}))
        shown = (table.code for table in held if not (table.blueprint.private or table.feed.is_behind))
        return tuple(sorted((*shown, *self.others.tables.public_tables_of(player.id))))

    def forget_said_by(self, player: bytes) -> None:
        """Forget what a player has said at any table."""
        for table in self._tables.values():
            table.chat.forget(player)

    def enter(self, peer: Peer, player: LoggedInPlayer) -> None:
        """Note that a connection speaks for a player now."""
        self.online.enter(peer, player)
        if self.drain.by is not None:
            peer.send(_draining(self.drain.by))
        self.followers.note_state()
        if self._share is not None:  # every login comes here: no call for it where nobody is told
            self.others.untold.note_player(player)
        self.bot_calls.catch_up(peer, player, self._tables.values())

    def tell_draining(self) -> None:
        """Tell everybody who is logged in that the server is about to be stopped."""
        if self.drain.by is not None:
            frame = broadcast_frame(_draining(self.drain.by))
            for peer in self.online.everybody():
                peer.offer_frame(frame)

    def follows_any(self, peer: Peer) -> bool:
        """Tell whether a connection follows any table here, with a seat or without."""
        # Codes of tables that are gone stay among `peer.tables` for a while (`forget_gone_tables`).
        followed = (self._tables.get(code) for code in peer.tables)
        return any(table is not None and table.audience.is_following(peer) for table in followed)

    def forget_gone_tables(self, peer: Peer) -> None:
        """Forget the tables that a connection has followed and that are gone, if it has followed many."""
        if len(peer.tables) > _MANY:
            peer.tables = frozenset(code for code in peer.tables if code in self._tables)

    def drop_connection(self, peer: Peer) -> None:
        """Forget a connection that has ended, and tell the tables it followed."""
        self.followers.drop(peer)
        self.online.leave(peer)
        if peer.player is not None:
            self._free_name(peer.player)
            self.others.untold.note_player(peer.player)
        self.followers.note_state()
        # In one order, whatever the hashes of this process are: the same seed must be the same simulation.
        for code in sorted(peer.tables):
            table = self._tables.get(code)
            if table is not None:
                table.drop(peer)

    def _state(self) -> LobbyState:
        others = self.others
        # A player counts once, at however many nodes they are connected.
        only_there = sum(not self.online.connections(tag) for tag in others.players)
        playing = sum(table.feed.is_seen_playing for table in self._tables.values())
        return LobbyState(
            online=len(self.online) + only_there,
            tables=len(self._tables) + len(others.tables),
            playing=playing + others.tables.playing,
        )


def _draining(by: float) -> Draining:
    return Draining(left_ms=max(0, round((by - trio.current_time()) * 1_000)))


def _variant_of(table: Table | OtherTable) -> str:
    match table:
        case Table():
            return table.blueprint.chosen.variant.name
        case OtherTable():
            return table.state.variant
        case _:
            assert_never(table)
