"""Which request goes where: one match over the messages a client may send, and the answer when something goes wrong.

Almost everything is handled at once; only checking what a seat signs, and the few requests that read the store or send
much, take time, and meanwhile nothing else from the same connection is handled. What a request does is elsewhere:
seating, acting, company, login, replay, past, forgetting. Invariant: each request gets exactly one answer, whatever goes
wrong.
"""

from contextlib import suppress
from secrets import token_hex
from typing import Final, TypeGuard, assert_never, get_args

import structlog
import trio
from msgspec.structs import replace

from truc_protocol.documents import rule_document
from truc_protocol.errors import Code, RemoteError
from truc_protocol.messages import (
    AnyMessage,
    BoxedSign,
    Chat,
    ClaimMatch,
    ClientHello,
    Create,
    FollowLobby,
    Forget,
    GuestAct,
    GuestLogin,
    GuestReturn,
    History,
    Ignore,
    Join,
    KeyLogin,
    Leaderboard,
    Leave,
    ListMatches,
    ListPlayers,
    ListTables,
    OpenSign,
    Ping,
    Pong,
    Profile,
    ReadRules,
    Ready,
    Request,
    Resume,
    Say,
    Seek,
    SignedAct,
    Unready,
    Unwatch,
    WantRekey,
    Watch,
    refusal,
    tag_of,
)
from truc_protocol.wire.capabilities import BROUGHT_BY
from truc_protocol.wire.connection import Failure
from truc_server.house import House
from truc_server.lobby import members
from truc_server.lobby.lobby import Lobby
from truc_server.net.admission import Door
from truc_server.net.peer import Peer, Player, RefusedError
from truc_server.operation.logs import Seldom
from truc_server.requests import acts, catching_up, company, forgetting, history, login, seating, standings
from truc_server.storage import StoreError
from truc_server.storage.journal import JournalStoppedError
from truc_server.table_data.codes import label
from truc_server.table_data.options import played
from truc_server.timing.clock import now_ms

log = structlog.get_logger()

SlowMessage = (
    SignedAct
    | KeyLogin
    | GuestReturn
    | Resume
    | Watch
    | History
    | ListMatches
    | FollowLobby
    | Seek
    | Leaderboard
    | Profile
)
"""What may wait for a thread or read the store, sends more than fits at once, or looks at every table."""
_SLOW: Final = frozenset(get_args(SlowMessage))
_BEHIND_MS: Final = 1_000  # to wait when the store does not keep up


class Reception:
    """The way from a message to what it does."""

    def __init__(self, house: House, lobby: Lobby, door: Door) -> None:
        self._house = house
        self._lobby = lobby
        self._door = door
        self._info = login.info_of(house)
        self._complaints = Seldom()

    def renew(self) -> None:
        """Use the house's new settings from now on."""
        self._info = login.info_of(self._house)

    def takes_time(self, item: AnyMessage | Failure) -> TypeGuard[SlowMessage]:
        """Tell whether something that was received is not handled at once."""
        if type(item) is KeyLogin:
            return login.reads_store(self._house, self._lobby)
        return type(item) in _SLOW

    def take(self, peer: Peer, item: AnyMessage | Failure) -> None:
        """Handle something received that takes no time."""
        if isinstance(item, Failure):
            self._charge(peer)
            peer.answer(item)
            return
        try:
            if self._is_let_in(peer, item):
                self._take(peer, item)
        except Exception as error:
            self._fail(peer, item, error)

    async def take_slowly(self, peer: Peer, message: SlowMessage) -> None:
        """Handle what takes time."""
        try:
            if self._is_let_in(peer, message):
                await self._take_slowly(peer, message)
        except Exception as error:
            self._fail(peer, message, error)

    def _fail(self, peer: Peer, message: AnyMessage, error: Exception) -> None:
        """Answer what could not be done."""
        request = message.id if isinstance(message, Request) else None
        match error:
            case RefusedError():
                self._refuse(peer, message, error)
            case RemoteError():
                peer.refuse(refusal(error.code, error.message, re=request, field=error.field))
            case JournalStoppedError():
                peer.refuse(refusal(Code.INTERNAL, "the server cannot store anything any more", re=request))
            case _:
                incident = token_hex(4)
                self._report(error, incident, message)
                detail = {"incident": incident}
                peer.refuse(refusal(Code.INTERNAL, "the server has failed", re=request, detail=detail))

    def _report(self, error: Exception, incident: str, item: AnyMessage) -> None:
        """Log what has failed; that the store cannot be read only once in a while, as anybody may ask."""
        if not isinstance(error, StoreError):
            log.exception("internal", incident=incident, message=type(item).__name__, **self._place(item))
        elif self._complaints.is_due(trio.current_time()):
            log.error("store_not_read", incident=incident, message=type(item).__name__, reason=str(error))

    def _is_let_in(self, peer: Peer, message: AnyMessage) -> bool:
        """Let a message pay, and check that the server has what it asks for; False if it came too soon and was told so."""
        wait_ms = self._wait_ms(peer, message)
        if wait_ms:
            request = message.id if isinstance(message, Request) else None
            refused = refusal(Code.RATE_LIMITED, "too many requests in a short time", re=request)
            peer.refuse(replace(refused, retry_after_ms=wait_ms))
            return False
        capability = BROUGHT_BY.get(tag_of(message))
        if capability is not None and capability not in self._info.caps:  # the host has turned it off
            raise RefusedError(Code.UNKNOWN_REQUEST, f"this server is without {capability}", field="t")
        return True

    def _wait_ms(self, peer: Peer, message: AnyMessage) -> int:
        """Let a request pay; return after how many milliseconds it may come again, 0 if it is taken now.

        A legal act pays nothing: one that is refused, or was taken before, pays later. But if nothing could be stored for a
        long time, not even acts are taken.
        """
        journal = self._house.journal
        match message:
            case SignedAct() | GuestAct():
                return _BEHIND_MS if journal.is_full else 0
            case Request():
                return self._charge(peer) or (_BEHIND_MS if journal.is_behind else 0)
            case _:
                return 0

    def _charge(self, peer: Peer) -> int:
        """Take the price of a request; return after how many milliseconds it could be paid, 0 if it was."""
        is_paid = peer.bucket.take(trio.current_time())
        if peer.bucket.is_overdrawn:
            peer.dismiss(Code.RATE_LIMITED, "requests went on although they were refused")
        return 0 if is_paid else peer.bucket.wait_ms  # what is refused has its price too

    def _refuse(self, peer: Peer, message: AnyMessage, error: RefusedError) -> None:
        if isinstance(message, SignedAct | GuestAct):
            self._charge(peer)
        if error.code is Code.BAD_SIGNATURE:
            name = peer.player and peer.player.name
            log.warning("bad_signature", address=peer.address, name=name, **self._place(message))
        elif isinstance(message, SignedAct | GuestAct):
            log.info("act_refused", address=peer.address, code=str(error.code), **self._place(message))
        peer.refuse(error.refusal(message.id if isinstance(message, Request) else None))

    def _place(self, message: AnyMessage) -> dict[str, object]:
        """Return, for the log, the table and the position that an act came to, if there is such a table."""
        if not isinstance(message, SignedAct | GuestAct):
            return {}
        with suppress(RefusedError):
            table = self._lobby.table(message.table)
            return {"table": label(table.code), "k": table.game and table.game.ledger.k}
        return {}

    def _take(self, peer: Peer, message: AnyMessage) -> None:
        house, lobby = self._house, self._lobby
        match message:
            case GuestAct():
                player = _player(peer)
                self._note(peer, player, is_new=acts.choose(lobby, peer, player, message))
            case ClientHello():
                login.greet(house, peer, message, self._info)
            case KeyLogin() | GuestLogin():
                self._enter(peer, message)
            case Ping() | Pong():
                self._charge(peer)
                if isinstance(message, Ping):
                    peer.send(Pong(n=message.n, now_ms=now_ms()))
            case _:
                self._take_request(peer, message)

    def _take_request(self, peer: Peer, message: AnyMessage) -> None:
        house, lobby = self._house, self._lobby
        match message:
            case ReadRules():
                peer.ok(message, doc=rule_document(played(house.catalogue, message.variant)))
            case ListTables() | ListPlayers() | Chat() | Ignore():
                company.take(house, lobby, peer, _player(peer), message)
            case Forget():
                forgetting.forget(house, lobby, peer, message)
            case Create() | Join() | Leave() | Ready() | Unready() | Unwatch():
                seating.take(house, lobby, peer, _player(peer), message)
            case _:
                self._take_in_match(peer, _player(peer), message)

    def _take_in_match(self, peer: Peer, player: Player, message: AnyMessage) -> None:
        match message:
            case ClaimMatch():
                acts.claim(self._lobby, peer, player, message)
            case WantRekey():
                acts.wish(self._lobby, peer, player, message)
            case BoxedSign() | OpenSign() | Say():
                if isinstance(message, Say):  # signs are part of partners' play
                    members.check_muted(self._house.sanctions, peer, player)
                acts.speak(self._lobby, peer, player, message)
            case _:
                raise RefusedError(Code.UNKNOWN_REQUEST, "expected a message that goes to the server")

    def _note(self, peer: Peer, player: Player, *, is_new: bool) -> None:
        """Count an act; one that was taken before is charged for."""
        if is_new:
            self._house.figures.note_act(player.kind, peer.heard, self._house.gate)
        else:
            self._charge(peer)

    async def _take_slowly(self, peer: Peer, message: SlowMessage) -> None:
        house, lobby = self._house, self._lobby
        match message:
            case SignedAct():
                player = _player(peer)
                is_new = await acts.sign(house.verifier, lobby, peer, player, message)
                self._note(peer, player, is_new=is_new)
            case KeyLogin() | GuestReturn():
                await self._enter_slowly(peer, message)
            case Resume() | Watch():
                await self._follow(peer, message)
            case History() | ListMatches():
                await history.take(house, lobby, peer, _player(peer), message)
            case FollowLobby():
                await company.follow(house, lobby, peer, _player(peer), message)
            case Seek():
                await self._seek(peer, message)
            case Leaderboard() | Profile():
                await standings.take(house, peer, _player(peer), message)
            case _:
                assert_never(message)

    async def _seek(self, peer: Peer, message: Seek) -> None:
        """Look at every table for a seat, when it is this network's turn."""
        await self._house.pace.wait_page(peer.network)
        if peer.is_open:
            seating.take(self._house, self._lobby, peer, _player(peer), message)

    async def _follow(self, peer: Peer, message: Resume | Watch) -> None:
        """Send what there is of a table, and from then on what happens there."""
        if isinstance(message, Watch):
            self._lobby.tidy(peer)
        table = self._lobby.table(message.table)
        if isinstance(message, Watch):
            await catching_up.watch(self._house, table, peer, message)
        else:
            await catching_up.resume(self._house, table, peer, _player(peer), message)
        table.chat.catch_up(peer)

    def _enter(self, peer: Peer, message: KeyLogin | GuestLogin) -> None:
        try:
            if isinstance(message, KeyLogin):
                login.enter_with_key(self._house, self._lobby, peer, message)
            else:
                login.enter_as_guest(self._house, self._lobby, peer, message)
        except (RefusedError, RemoteError) as error:
            self._note_refused(peer, error)
            raise

    async def _enter_slowly(self, peer: Peer, message: KeyLogin | GuestReturn) -> None:
        try:
            if isinstance(message, KeyLogin):
                await login.enter_known(self._house, self._lobby, peer, message)
            else:
                await login.enter_again(self._house, self._lobby, peer, message)
        except (RefusedError, RemoteError) as error:
            self._note_refused(peer, error)
            raise

    def _note_refused(self, peer: Peer, error: RefusedError | RemoteError) -> None:
        log.info("login_refused", address=peer.address, code=str(error.code))
        self._door.note_refused(peer.network, error.code)


def _player(peer: Peer) -> Player:
    if peer.player is None:
        raise RefusedError(Code.AUTH_REQUIRED, "expected a login first")
    return peer.player
