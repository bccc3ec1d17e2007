"""Which message goes where: one match over what a client may send, and the answer when something goes wrong.

Most of it is handled at once; checking what a seat signs, reading the store and sending much take time, and meanwhile
nothing else from the same connection is handled. What a request does is in the other modules of this folder. Invariant:
each request gets exactly one answer, whatever goes wrong.
"""

from secrets import token_hex
from typing import Final, assert_never

import structlog
import trio

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
    Moderate,
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
    encode_up_to_clock,
    refusal,
    tag_of,
)
from truc_protocol.wire.capabilities import BROUGHT_BY
from truc_protocol.wire.connection import Failure
from truc_server.lobby import members
from truc_server.lobby.lobby import Lobby
from truc_server.net.peer import LoggedInPlayer, Peer, RefusedRequestError, RepeatedActError, TooSoonError
from truc_server.requests import (
    acts,
    catching_up,
    forgetting,
    history,
    lobby_requests,
    login,
    moderating,
    seating,
)
from truc_server.requests.services import Elsewhere, RequestServices
from truc_server.settings.settings import Settings
from truc_server.storage import StoreError
from truc_server.storage.journal import MAX_FILLED, JournalStoppedError
from truc_server.table_data.codes import label
from truc_server.table_data.options import offered_game
from truc_server.timing.clock import now_ms

log = structlog.get_logger()

_BEHIND_MS: Final = 1_000  # to wait when the store does not keep up
_LOGIN_FIRST: Final = "expected a login first"


class Dispatch:
    """The way from a message to what it does; what asks for a table that is not here may be taken `elsewhere`."""

    def __init__(
        self,
        services: RequestServices,
        lobby: Lobby,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self._services = services
        self._lobby = lobby
        self._elsewhere = elsewhere
        self._told = self._introduction(services.settings.now)

    def _introduction(self, settings: Settings) -> login.Introduction:
        info = login.info_of(settings, self._lobby.catalogue)
        return login.Introduction(settings, info.caps, encode_up_to_clock(info))

    @property
    def _introduced(self) -> login.Introduction:
        """What the server says about itself, by the settings in force."""
        # Encoded once for its settings, as every connection is told the same.
        settings = self._services.settings.now
        if settings is not self._told.settings:
            self._told = self._introduction(settings)
        return self._told

    async def handle(self, peer: Peer, item: AnyMessage | Failure) -> None:
        """Do what a client asks, or answer why not.

        An act that is new is never refused for its rate; but if nothing could be stored for a long time, not even acts are taken.
        """
        match item:  # a pattern, as `isinstance` is a call
            case SignedAct() | GuestAct():
                message = item
            case _:
                await self._handle_other(peer, item)
                return
        try:
            if self._services.journal.waiting >= MAX_FILLED:
                _refuse_for_now(peer, message, _BEHIND_MS)
                return
            if (player := peer.player) is None:
                self._refuse(peer, message, RefusedRequestError(Code.AUTH_REQUIRED, _LOGIN_FIRST))
                return
            match message:
                case SignedAct():
                    taken = await acts.sign(self._services, self._lobby, peer, player, message)
                case GuestAct():
                    taken = acts.choose(self._lobby, peer, player, message)
                case _:
                    assert_never(message)
            # Only a new act is free: a flood of requests must not keep a player from moving (limits.md, "Rates").
            if taken is None:
                self._charge(peer)
                return
            self._services.figures.acts[player.kind] += 1
            # How long an act takes counts from when its frame had come.
            self._services.journal.note_act(peer.heard)
            taken_at, is_step = taken
            budget = self._services.pace.steps if is_step else self._services.pace.acts
            await budget.wait(peer.network, message.match, taken_at)
        # The same act again has its price, and so has one that is refused, or both could go on for ever.
        except RepeatedActError as repeated:
            peer.ok(message, k=repeated.k, dup=True)
            self._charge(peer)
        except Exception as error:
            if not await self._is_taken_elsewhere(peer, message, error):
                self._fail(peer, message, error)

    async def _handle_other(self, peer: Peer, item: AnyMessage | Failure) -> None:
        # A broken message costs as much as a request, so that its sender is cut in the end as well.
        if isinstance(item, Failure):
            self._charge(peer)
            peer.answer(item)
            return
        try:
            if self._is_let_in(peer, item):
                await self._take(peer, item)
        except Exception as error:
            if not await self._is_taken_elsewhere(peer, item, error):
                self._fail(peer, item, error)

    async def _is_taken_elsewhere(self, peer: Peer, message: AnyMessage, error: Exception) -> bool:
        """Tell whether a message about a table that is not here was passed on, or answered with why not."""
        elsewhere = self._elsewhere
        if elsewhere is None or not (
            isinstance(error, RefusedRequestError) and error.code is Code.NO_SUCH_TABLE
        ):
            return False
        try:
            return await elsewhere.take(peer, message)
        except Exception as failed:
            self._fail(peer, message, failed)
            return True

    def _fail(self, peer: Peer, message: AnyMessage, error: Exception) -> None:
        """Answer what could not be done."""
        request = message.id if isinstance(message, Request) else None
        match error:
            case RefusedRequestError():
                self._refuse(peer, message, error)
            case RemoteError():
                peer.refuse(refusal(error.code, error.message, re=request, field=error.field))
            # The server has logged why, and is ending: this is no incident of its own.
            case JournalStoppedError():
                peer.refuse(refusal(Code.INTERNAL, "the server cannot store anything any more", re=request))
            case _:
                incident = token_hex(4)
                self._report(error, incident, message)
                detail = {"incident": incident}
                peer.refuse(refusal(Code.INTERNAL, "the server has failed", re=request, detail=detail))

    def _report(self, error: Exception, incident: str, item: AnyMessage) -> None:
        """Log what has failed."""
        if not isinstance(error, StoreError):
            log.exception("internal", incident=incident, message=type(item).__name__, **self._place(item))
        else:
            fields = {"incident": incident, "message": type(item).__name__, "reason": str(error)}
            log.error("store_not_read", **fields)

    def _is_let_in(self, peer: Peer, message: AnyMessage) -> bool:
        """Charge for a message, and check that the server offers what it asks for; False if it came too soon."""
        if isinstance(message, Request):
            # Put off at half of what acts are put off at (`MAX_FILLED`), so that matches go on longest.
            wait_ms = self._charge(peer) or (_BEHIND_MS if self._services.journal.is_behind else 0)
            if wait_ms:
                _refuse_for_now(peer, message, wait_ms)
                return False
        capability = BROUGHT_BY.get(tag_of(message))
        if capability is not None and capability not in self._introduced.caps:  # the host has turned it off
            raise RefusedRequestError(Code.UNKNOWN_REQUEST, f"this server is without {capability}", field="t")
        return True

    def _charge(self, peer: Peer) -> int:
        """Take the price of a request; return after how many milliseconds it could be paid, 0 if it was."""
        is_paid = peer.bucket.take(trio.current_time())
        if peer.bucket.is_overdrawn:
            peer.dismiss(Code.RATE_LIMITED, "requests went on although they were refused")
        # What is refused is paid for too: whoever goes on all the same owes ever more, and is cut.
        return 0 if is_paid else peer.bucket.wait_ms

    def _refuse(self, peer: Peer, message: AnyMessage, error: RefusedRequestError) -> None:
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
        table = self._lobby.get(message.table) if isinstance(message, SignedAct | GuestAct) else None
        if table is None:
            return {}
        return {"table": label(table.code), "k": table.game and table.game.ledger.k}

    async def _take(self, peer: Peer, message: AnyMessage) -> None:
        match message:
            case Ping() | Pong():
                # Never refused, as it is a sign of life; only without end it cuts (`Bucket.is_overdrawn`).
                self._charge(peer)
                if isinstance(message, Ping):
                    peer.send(Pong(n=message.n, now_ms=now_ms()))
            case ClientHello():
                login.greet(self._services, peer, message, self._introduced)
            case KeyLogin() | GuestLogin() | GuestReturn():
                await self._enter(peer, message)
            case _:
                if peer.player is None:
                    raise RefusedRequestError(Code.AUTH_REQUIRED, _LOGIN_FIRST)
                await self._take_request(peer, peer.player, message)

    async def _take_request(self, peer: Peer, player: LoggedInPlayer, message: AnyMessage) -> None:
        services, lobby = self._services, self._lobby
        lobby.forget_gone_tables(peer)
        match message:
            case ReadRules():
                peer.ok(message, doc=rule_document(offered_game(lobby.catalogue, message.variant)))
            case ClaimMatch():
                acts.claim(lobby, peer, player, message)
            case WantRekey():
                acts.want_rekey(lobby, peer, player, message)
            case Say():
                members.check_muted(services.sanctions.now, peer, player)
                acts.speak(lobby, peer, player, message)
            case BoxedSign() | OpenSign():  # part of partners' play: those who are muted may, too
                acts.speak(lobby, peer, player, message)
            case Resume() | Watch():
                await catching_up.follow(services, lobby, peer, player, message)
            case Create():
                seating.create(services, lobby, peer, player, message)
            case Seek():
                await seating.seek(services, lobby, peer, player, message, elsewhere=self._elsewhere)
            case Join():
                seating.join(services, lobby, peer, player, message)
            case Leave():
                seating.leave(lobby, peer, player, message)
            case Ready() | Unready():
                seating.set_ready(lobby, peer, player, message)
            case Unwatch():
                seating.unwatch(lobby, peer, message)
            case ListTables():
                lobby_requests.list_tables(lobby, peer, message)
            case ListPlayers():
                lobby_requests.list_players(lobby, peer, message)
            case FollowLobby():
                await lobby_requests.follow(services, lobby, peer, player, message)
            case Chat():
                lobby_requests.say(services, lobby, peer, player, message)
            case Ignore():
                lobby_requests.ignore_or_hear(services, lobby, peer, player, message)
                if self._elsewhere is not None:
                    self._elsewhere.ignore(peer, message)
            case History():
                await history.show_records(services, lobby, peer, player, message)
            case ListMatches():
                await history.show_matches(services, peer, player, message)
            case Leaderboard():
                await history.show_board(services, lobby, peer, message)
            case Profile():
                await history.show_profile(services, lobby, peer, player, message)
            case Forget():
                await forgetting.forget(services, lobby, peer, player, message)
            case Moderate():
                await moderating.moderate(services, lobby, peer, player, message)
            case _:
                raise RefusedRequestError(Code.UNKNOWN_REQUEST, "expected a message that goes to the server")

    async def _enter(self, peer: Peer, message: KeyLogin | GuestLogin | GuestReturn) -> None:
        services, lobby = self._services, self._lobby
        try:
            match message:
                case KeyLogin():
                    await login.enter_with_key(services, lobby, peer, message)
                case GuestLogin():
                    login.enter_as_guest(services, lobby, peer, message)
                case GuestReturn():
                    await login.enter_again(services, lobby, peer, message)
                case _:
                    assert_never(message)
        except (RefusedRequestError, RemoteError) as error:
            log.info("login_refused", address=peer.address, code=str(error.code))
            services.admission.note_refused(peer.network, error.code)
            raise


def _refuse_for_now(peer: Peer, message: Request, wait_ms: int) -> None:
    peer.refuse(TooSoonError("too many requests in a short time", wait_ms).refusal(message.id))
