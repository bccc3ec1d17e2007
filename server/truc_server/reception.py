"""What every request does: one match over the messages a client may send.

Almost everything is synchronous; the few requests that read the store take time, and while they do, nothing else of
the same connection is handled. Invariant: each request gets exactly one answer, whatever goes wrong.
"""

from secrets import token_hex
from typing import Final, assert_never

import structlog
import trio
from msgspec.structs import replace

from truc_protocol.connection import Failure
from truc_protocol.documents import rule_document
from truc_protocol.errors import Code, RemoteError
from truc_protocol.messages import (
    AnyMessage,
    BoxedSign,
    ClientHello,
    Create,
    GuestAct,
    GuestLogin,
    GuestReturn,
    Join,
    KeyLogin,
    Leave,
    ListTables,
    OpenSign,
    Ping,
    Pong,
    ReadRules,
    Ready,
    Request,
    Resume,
    Say,
    SignedAct,
    Unready,
    Unwatch,
    WantRekey,
    Watch,
    refusal,
)
from truc_protocol.records import Record
from truc_server import login, replay
from truc_server.game import Game
from truc_server.house import House, now_ms
from truc_server.journal import JournalStoppedError
from truc_server.lobby import Lobby
from truc_server.options import played
from truc_server.peer import Peer, Player, RefusedError
from truc_server.proxies import accept_choice
from truc_server.signed import Accepted, accept
from truc_server.store import PlayerKind
from truc_server.table import Table

log = structlog.get_logger()

_BEHIND_MS: Final = 1_000  # to wait when the store does not keep up


class Reception:
    """The way from a message to what it does."""

    def __init__(self, house: House, lobby: Lobby) -> None:
        self._house = house
        self._lobby = lobby

    async def take(self, peer: Peer, item: AnyMessage | Failure) -> None:
        """Handle what a connection has received."""
        if isinstance(item, Failure):
            self._charge(peer)
            peer.answer(item)
            return
        request = item.id if isinstance(item, Request) else None
        try:
            await self._take(peer, item)
        except RefusedError as error:
            self._refuse(peer, item, error)
        except RemoteError as error:
            peer.refuse(refusal(error.code, error.message, re=request, field=error.field))
        except JournalStoppedError:
            peer.refuse(refusal(Code.INTERNAL, "the server cannot store anything any more", re=request))
        except Exception:
            incident = token_hex(4)
            log.exception("internal", incident=incident, message=type(item).__name__)
            peer.refuse(
                refusal(Code.INTERNAL, "the server has failed", re=request, detail={"incident": incident})
            )

    async def _take(self, peer: Peer, message: AnyMessage) -> None:
        # A legal act is never limited; one that is refused, or was taken before, pays for it.
        if isinstance(message, Request) and not isinstance(message, SignedAct | GuestAct):
            wait_ms = self._charge(peer) or (_BEHIND_MS if self._house.journal.is_behind else 0)
            if wait_ms:
                refused = refusal(Code.RATE_LIMITED, "too many requests in a short time", re=message.id)
                peer.refuse(replace(refused, retry_after_ms=wait_ms))
                return
        match message:
            case Resume() | Watch() | GuestReturn():
                await self._take_slowly(peer, message)
            case ClientHello() | KeyLogin() | GuestLogin():
                self._enter(peer, message)
            case Ping():
                self._charge(peer)
                peer.send(Pong(n=message.n, now_ms=now_ms()))
            case Pong():
                self._charge(peer)
            case _:
                self._take_at_once(peer, message)

    def _charge(self, peer: Peer) -> int:
        """Take the price of a request; return after how many milliseconds it could be paid, 0 if it was."""
        wait_ms = peer.bucket.take(trio.current_time())
        if peer.bucket.is_overdrawn:
            peer.dismiss(Code.RATE_LIMITED, "requests went on although they were refused")
        return wait_ms

    def _refuse(self, peer: Peer, message: AnyMessage, error: RefusedError) -> None:
        if isinstance(message, SignedAct | GuestAct):
            self._charge(peer)
        if error.code is Code.BAD_SIGNATURE:
            log.warning("bad_signature", address=peer.address, name=peer.player and peer.player.name)
        peer.refuse(error.refusal(message.id if isinstance(message, Request) else None))

    async def _take_slowly(self, peer: Peer, message: Resume | Watch | GuestReturn) -> None:
        match message:
            case Resume():
                table = self._lobby.table(message.table)
                await replay.resume(self._house, table, peer, _player(peer), message)
            case Watch():
                await replay.watch(self._house, self._lobby.table(message.table), peer, message)
            case GuestReturn():
                await login.enter_again(self._house, self._lobby, peer, message)
            case _:
                assert_never(message)

    def _enter(self, peer: Peer, message: ClientHello | KeyLogin | GuestLogin) -> None:
        match message:
            case ClientHello():
                login.greet(self._house, peer, message)
            case KeyLogin():
                login.enter_with_key(self._lobby, peer, message)
            case GuestLogin():
                login.enter_as_guest(self._house, self._lobby, peer, message)
            case _:
                assert_never(message)

    def _take_at_once(self, peer: Peer, message: AnyMessage) -> None:
        match message:
            case ListTables():
                self._list(peer, message)
            case ReadRules():
                document = rule_document(played(self._house.catalogue, message.variant))
                peer.ok(message, doc=document)
            case Create() | Join() | Leave() | Ready() | Unready() | Unwatch():
                self._at_table(peer, _player(peer), message)
            case BoxedSign() | OpenSign() | Say():
                self._talk(peer, _player(peer), message)
            case SignedAct():
                self._signed(peer, _player(peer), message)
            case WantRekey():
                self._wish(peer, _player(peer), message)
            case GuestAct():
                self._chosen(peer, _player(peer), message)
            case _:
                raise RefusedError(Code.UNKNOWN_REQUEST, "expected a message that goes to the server")

    def _list(self, peer: Peer, message: ListTables) -> None:
        page = self._lobby.page(variant=message.variant, after=message.after or "")
        peer.ok(message, tables=tuple(table.notice() for table in page.tables), more=page.more)

    def _at_table(
        self, peer: Peer, player: Player, message: Create | Join | Leave | Ready | Unready | Unwatch
    ) -> None:
        match message:
            case Create():
                self._create(peer, player, message)
            case Join():
                self._join(peer, player, message)
            case Leave():
                self._leave(peer, player, message)
            case Ready() | Unready():
                self._ready(peer, player, message)
            case Unwatch():
                self._lobby.table(message.table).standins.unwatch(peer)
                peer.ok(message)
            case _:
                assert_never(message)

    def _create(self, peer: Peer, player: Player, message: Create) -> None:
        table = self._lobby.create(player, message)
        seat = table.own_seat(player)
        table.attach(seat, peer)
        login.remember(self._house, peer)
        peer.ok(message, table=table.code, seat=seat)
        table.remind(peer)
        table.announce()

    def _join(self, peer: Peer, player: Player, message: Join) -> None:
        table = self._lobby.table(message.table)
        if table.seat_of(player) is None and table.game is not None and table.game.vacant:
            seat = table.standins.stand_by(table.game, peer, player, message.seat)
        else:
            seat = self._lobby.join(table, player, message.seat)
            table.attach(seat, peer)
        login.remember(self._house, peer)
        peer.ok(message, seat=seat)
        table.remind(peer)
        table.announce()

    def _leave(self, peer: Peer, player: Player, message: Leave) -> None:
        table = self._lobby.table(message.table)
        if table.standins.seat_of(peer) is not None:
            table.standins.unwatch(peer)
            peer.ok(message)
            return
        self._lobby.leave(table, player)
        peer.ok(message)
        if table.is_empty:
            table.close("empty")
        else:
            table.announce()

    def _ready(self, peer: Peer, player: Player, message: Ready | Unready) -> None:
        table = self._lobby.table(message.table)
        box_key = message.x if isinstance(message, Ready) else None
        table.set_ready(player, is_ready=isinstance(message, Ready), x=box_key)
        peer.ok(message)
        table.announce()
        table.advance()

    def _talk(self, peer: Peer, player: Player, message: BoxedSign | OpenSign | Say) -> None:
        table = self._lobby.table(message.table)
        seat = table.own_seat(player)
        match message:
            case Say():
                table.talk.say(seat, message)
            case BoxedSign() | OpenSign():
                table.talk.sign(table.own_game(message.match), seat, message)
            case _:
                assert_never(message)
        peer.ok(message)

    def _wish(self, peer: Peer, player: Player, message: WantRekey) -> None:
        table = self._lobby.table(message.table)
        seat = table.own_seat(player)
        game = table.own_game(message.match)
        game.wish(seat)
        peer.ok(message)
        game.remind()

    def _signed(self, peer: Peer, player: Player, message: SignedAct) -> None:
        table = self._lobby.table(message.table)
        if message.match is not None and table.standins.seat_of(peer) is not None:
            self._substituted(peer, player, message, message.match)
            return
        seat = table.own_seat(player)
        if player.kind is not PlayerKind.KEY:
            raise RefusedError(Code.NOT_NOW, "expected a choice: a guest signs nothing", field="body")
        record = Record(seat + 1, message.body, message.sig)
        if message.match is None:
            self._sign_terms(peer, table, seat, record, message)
            return
        game = table.own_game(message.match)
        self._accepted(peer, game, message, accept(game, record))

    def _accepted(self, peer: Peer, game: Game, message: SignedAct | GuestAct, accepted: Accepted) -> None:
        peer.ok(message, k=accepted.k, dup=accepted.is_repeat)
        if accepted.is_repeat:
            self._charge(peer)
        else:
            game.drive()

    def _substituted(self, peer: Peer, player: Player, message: SignedAct, mid: bytes) -> None:
        table = self._lobby.table(message.table)
        game = table.own_game(mid)
        record = Record(table.standins.own_seat(peer) + 1, message.body, message.sig)
        accepted = self._lobby.substitute(table, game, peer, player, record)
        peer.ok(message, k=accepted.k, dup=accepted.is_repeat)
        game.drive()

    def _sign_terms(self, peer: Peer, table: Table, seat: int, record: Record, message: SignedAct) -> None:
        if table.gathering is None:
            raise RefusedError(Code.TERMS_REFUSED, "there are no terms to be signed now")
        fresh = table.gathering.sign(seat, record)
        peer.ok(message, dup=not fresh)
        if fresh:
            table.begin_if_signed()
        else:
            self._charge(peer)

    def _chosen(self, peer: Peer, player: Player, message: GuestAct) -> None:
        table = self._lobby.table(message.table)
        seat = table.own_seat(player)
        if player.kind is not PlayerKind.GUEST:
            raise RefusedError(Code.NOT_NOW, "expected a signed act from a player with a key", field="choose")
        game = table.own_game(message.match)
        self._accepted(peer, game, message, accept_choice(game, seat, message))


def _player(peer: Peer) -> Player:
    if peer.player is None:
        raise RefusedError(Code.AUTH_REQUIRED, "expected a login first")
    return peer.player
