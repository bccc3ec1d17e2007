"""Who speaks: the server's proof in hello, the player's in login, and guests by name or token.

Invariant: no connection has a player before the checks of the handshake have passed; of a token only its hash is stored,
and the token itself is in no log.
"""

from collections.abc import Mapping
from importlib.metadata import version
from secrets import token_bytes, token_urlsafe
from typing import Final, NamedTuple

import structlog
import trio

from truc_protocol.codec import pack, sha256
from truc_protocol.crypto.keys import fingerprint
from truc_protocol.errors import Code
from truc_protocol.messages import (
    ClientHello,
    GuestLogin,
    GuestReturn,
    Info,
    KeyLogin,
    Limits,
    SeatHeld,
    Welcome,
)
from truc_protocol.wire.capabilities import BLIND_TABLES, in_force
from truc_protocol.wire.connection import Role
from truc_protocol.wire.encoding import CLIENT_LIMIT, SERVER_LIMIT
from truc_protocol.wire.handshake import Challenge, Greeting, agree_on_protocol, check_login, server_hello
from truc_server.lobby import members
from truc_server.lobby.lobby import Lobby
from truc_server.lobby.names import normalised
from truc_server.net.peer import LoggedInPlayer, Peer, RefusedRequestError
from truc_server.requests.services import RequestServices
from truc_server.settings.abilities import capabilities
from truc_server.settings.settings import MAX_SEATS, Settings
from truc_server.settings.variants import VariantCatalogue
from truc_server.storage import PlayerKind, SaveGuest, StoredSeat
from truc_server.storage.journal import Journal
from truc_server.storage.sql import Store
from truc_server.timing.clock import now_ms

_TOKEN_BYTES: Final = 24  # 192 bits; server-guide.md asks for 128, as whoever guesses a token is this guest
_ID_BYTES: Final = 16
# How often at most it is noted that a guest was there: `access.guest_days` counts days.
_DAY_MS: Final = 86_400_000
_SOFTWARE: Final = f"truc {version('truc')}"

log = structlog.get_logger()


class Introduction(NamedTuple):
    """What the server says about itself under some settings: its capabilities, and all of its info but the time."""

    settings: Settings
    caps: Mapping[str, object]
    info: bytes


def greet(services: RequestServices, peer: Peer, hello: ClientHello, introduction: Introduction) -> None:
    """Answer a client's hello with the server's proof.

    Raises:
        RemoteError: No protocol in common, or a capability that the client cannot do without.
    """
    caps = introduction.caps
    proto = agree_on_protocol(hello, caps)
    identity = services.identity
    greeting = Greeting(
        identity.key,
        token_bytes(32),
        proto,
        _info(services, introduction),
        cert=peer.certificate,
        rolls=identity.rolls,
    )
    peer.send_at_once(server_hello(greeting, hello.id, peer.connection.hello_frame(Role.CLIENT)))
    # As sent, grease included: the login holds the hash of that frame (security.md, "The handshake").
    own = peer.connection.hello_frame(Role.SERVER)
    peer.challenge = Challenge(identity.key.public, hello.cn, greeting.sn, own, identity.revoked)
    # Who seals the pack may go on with a match in mode blind, also where the host offers no more such tables.
    peer.wanted = in_force(hello.want, {**caps, BLIND_TABLES: True})
    if place := services.settings.now.access.moved_to:
        peer.dismiss(Code.MOVED, f"this server has moved to {place}", to=place)


def _info(services: RequestServices, introduction: Introduction) -> bytes:
    # The time is its last field, so that all before it is encoded once (`encode_up_to_clock`).
    encoded = introduction.info + pack(now_ms())
    return encoded if services.grease is None else services.grease.info(encoded)


def info_of(settings: Settings, catalogue: VariantCatalogue) -> Info:
    """Return what the server says about itself now; all but the time holds until the settings change."""
    limits = Limits(
        frame_in=CLIENT_LIMIT,
        frame_out=SERVER_LIMIT,
        idle_s=settings.limits.idle_s,
        requests_per_s=settings.limits.requests_per_s,
        burst=settings.limits.burst,
        # Whoever makes a table sits at it.
        tables=min(settings.limits.tables_per_player, settings.limits.seats_per_player),
        seats=settings.limits.seats_per_player,
        tables_per_min=settings.limits.tables_per_min,
        tables_per_address=settings.limits.tables_per_address,
        connections_per_address=settings.limits.connections_per_address,
        connects_per_min=settings.limits.connects_per_min,
        failed_logins_per_min=settings.limits.failed_logins_per_min,
    )
    return Info(
        name=settings.name,
        software=_SOFTWARE,
        caps=capabilities(settings),
        limits=limits,
        variants=catalogue.offers(),
        guests=members.admits_guests(settings),
        motd=settings.motd or None,
        web=settings.web.known_origin,
        now_ms=now_ms(),
    )


async def enter_with_key(services: RequestServices, lobby: Lobby, peer: Peer, login: KeyLogin) -> None:
    """Log in a player with a key.

    Raises:
        HandshakeError: The login is not for this connection, not signed by its key, or by one that was revoked.
        RefusedError: The name cannot be used, the key is shut out, or the server is closed to it.
    """
    player = _proved(services, peer, login)
    # The host's own bots are admitted without being members (players.md, "Your own bots").
    if members.is_closed(services.settings.now) and not lobby.bot_calls.is_bot(player):
        access = services.settings.now.access
        await trio.to_thread.run_sync(members.check_member, services.store, access, player.id, login.invite)
    others = await seats_elsewhere(services.store, lobby, player) if services.is_node else ()
    # Last before they are let in: what another connection changes from then on is theirs, too.
    await _read_ignored(services, lobby, peer, player)
    members.check_banned(services.sanctions.now, player)  # again: a ban may have been imposed meanwhile
    if peer.is_open and _may_come(lobby, peer, player):
        # They have signed with the name they have at the other node, or will: there it stays.
        named = lobby.give_name(player, others[0].name if others else None)
        _enter(lobby, peer, login.id, named, others=others)


async def _read_ignored(services: RequestServices, lobby: Lobby, peer: Peer, player: LoggedInPlayer) -> None:
    """Read whom a key ignores; again, if another connection changes it meanwhile, which may be gone before this one is in."""
    online = lobby.online
    # Few ignore anybody: the store is read for those alone.
    while player.id in online.ignoring:
        changes = online.ignore_changes[player.id]
        await services.journal.wait_durable(services.journal.gate)
        peer.ignored = set(await trio.to_thread.run_sync(services.store.ignored, player.id))
        if online.ignore_changes[player.id] == changes:
            break


def _proved(services: RequestServices, peer: Peer, login: KeyLogin) -> LoggedInPlayer:
    """Return the player whose key has signed a login."""
    if peer.challenge is None:
        raise RefusedRequestError(Code.NOT_NOW, "expected hello first")
    # Before the signature: a name that cannot be used costs no check.
    name = None if login.name is None else normalised(login.name)
    public = check_login(login, peer.challenge)
    player = LoggedInPlayer(PlayerKind.KEY, public, name or default_name(public))
    members.check_banned(services.sanctions.now, player)
    return player


def default_name(public: bytes) -> str:
    """Return the name of a player with a key who has given none."""
    return f"player {fingerprint(public)[:6]}"


def enter_as_guest(services: RequestServices, lobby: Lobby, peer: Peer, login: GuestLogin) -> None:
    """Let in a new guest.

    Raises:
        RefusedError: The server takes no guests, or not under this name.
    """
    members.check_guest(services.settings.now)
    newcomer = LoggedInPlayer(PlayerKind.GUEST, token_bytes(_ID_BYTES), normalised(login.name))
    if not _may_come(lobby, peer, newcomer):
        return
    guest = lobby.give_name(newcomer)
    token = token_urlsafe(_TOKEN_BYTES)
    peer.unstored_guest = SaveGuest(guest.id, guest.name, _hash(token), now_ms())
    _enter(lobby, peer, login.id, guest, token)


def store_guest(journal: Journal, peer: Peer) -> None:
    """Store a guest who has sat down: only guests with something to come back to can come back."""
    newcomer, peer.unstored_guest = peer.unstored_guest, None
    if newcomer is not None:
        journal.write(newcomer._replace(seen_ms=now_ms()))


async def enter_again(services: RequestServices, lobby: Lobby, peer: Peer, login: GuestReturn) -> None:
    """Let in a guest who was here before.

    Raises:
        RefusedError: The server takes no guests, does not know the token, or its guest is shut out.
    """
    members.check_guest(services.settings.now)
    while True:
        forgotten = lobby.forgotten
        # Then the store knows who was forgotten before.
        await services.journal.wait_durable(services.journal.gate)
        known = await services.tokens.guest(_hash(login.token))
        if known is None:
            message = "expected a token that this server gave"
            raise RefusedRequestError(Code.BAD_TOKEN, message, field="token")
        player = LoggedInPlayer(PlayerKind.GUEST, known.id, known.name)
        others = await seats_elsewhere(services.store, lobby, player) if services.is_node else ()
        # Else it may have been this guest, after the store had found them: the store is asked again.
        if lobby.forgotten == forgotten:
            break
    members.check_banned(services.sanctions.now, player)
    if peer.is_open and _may_come(lobby, peer, player):
        _see_again(services.journal, known)
        named = lobby.give_name(player, others[0].name if others else None)
        _enter(lobby, peer, login.id, named, login.token, others=others)


def _see_again(journal: Journal, guest: SaveGuest) -> None:
    """Note that a guest has come back, but not more than once a day."""
    now = now_ms()
    if now - guest.seen_ms >= _DAY_MS:
        journal.write(guest._replace(seen_ms=now))


def _may_come(lobby: Lobby, peer: Peer, player: LoggedInPlayer) -> bool:
    """Tell whether a player may log in now; shortly before the server is stopped, only those with a seat may."""
    if not lobby.drain.is_on or lobby.has_seat(player):
        return True
    peer.send_away("the server is about to be stopped: come back in a moment", to=lobby.drain.to)
    return False


def _hash(token: str) -> bytes:
    return sha256(token.encode())


async def seats_elsewhere(store: Store, lobby: Lobby, player: LoggedInPlayer) -> tuple[StoredSeat, ...]:
    """Return every seat of a player at tables of other nodes."""
    stored = await trio.to_thread.run_sync(store.seats_of, player.id)
    return tuple(held for held in stored if lobby.get(held.table) is None)


def _enter(
    lobby: Lobby,
    peer: Peer,
    request: int,
    player: LoggedInPlayer,
    token: str | None = None,
    *,
    others: tuple[StoredSeat, ...] = (),
) -> None:
    peer.admit(player)
    seats = lobby.seats_of(player)
    if others:
        seats += tuple(SeatHeld(table=held.table, match=held.match, seat=held.seat) for held in others)
    tag, seats = player.tag, seats[:MAX_SEATS]  # older versions had no limit; all must fit into this frame
    peer.send_at_once(Welcome(re=request, name=player.name, player=tag, token=token, seats=seats))
    log.info("login", kind=str(player.kind), name=player.name, tag=tag, address=peer.address)
    # Behind the welcome, for which a client waits before all else (session.md, "Hello").
    lobby.enter(peer, player)
