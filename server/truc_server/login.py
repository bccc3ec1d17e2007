"""Who speaks: the server's proof in hello, the player's in login, and guests by name or token.

Invariant: nobody has a player before the checks of the handshake have passed; of a token only its hash is stored, and
the token itself is in no log.
"""

from importlib.metadata import version
from secrets import token_bytes, token_urlsafe
from typing import Final

import structlog
import trio

from truc_protocol.codec import sha256
from truc_protocol.connection import Role
from truc_protocol.errors import Code
from truc_protocol.frames import CLIENT_LIMIT, SERVER_LIMIT
from truc_protocol.handshake import Challenge, Greeting, agree, check_login, server_hello
from truc_protocol.keys import fingerprint
from truc_protocol.messages import (
    ClientHello,
    GuestLogin,
    GuestReturn,
    Info,
    KeyLogin,
    Limits,
    Welcome,
    encode_info,
)
from truc_server.house import House, now_ms
from truc_server.lobby import Lobby
from truc_server.peer import Peer, Player, RefusedError
from truc_server.store import PlayerKind, SaveGuest

_TOKEN_BYTES: Final = 24
_ID_BYTES: Final = 16
_LONGEST_NAME: Final = 64
_SOFTWARE: Final = f"truc {version('truc')}"
CAPABILITIES: Final[dict[str, object]] = {}

log = structlog.get_logger()


def greet(house: House, peer: Peer, hello: ClientHello) -> None:
    """Answer a client's hello with the server's proof.

    Raises:
        RemoteError: No protocol in common, or a capability that the client cannot do without.
    """
    proto = agree(hello, CAPABILITIES)
    identity = house.identity
    greeting = Greeting(identity.key, token_bytes(32), proto, encode_info(_info(house)), rolls=identity.rolls)
    peer.send(server_hello(greeting, hello.id, peer.connection.hello_frame(Role.CLIENT)))
    own = peer.connection.hello_frame(Role.SERVER)
    peer.challenge = Challenge(identity.key.public, hello.cn, greeting.sn, own, identity.revoked)


def _info(house: House) -> Info:
    settings = house.settings
    limits = Limits(
        frame_in=CLIENT_LIMIT,
        frame_out=SERVER_LIMIT,
        idle_s=settings.limits.idle_s,
        requests_per_s=settings.limits.requests_per_s,
        burst=settings.limits.burst,
        tables=settings.limits.tables_per_player,
    )
    return Info(
        name=settings.name,
        software=_SOFTWARE,
        caps=CAPABILITIES,
        limits=limits,
        variants=house.catalogue.offers(),
        guests=settings.guests,
        motd=settings.motd or None,
        now_ms=now_ms(),
    )


def enter_with_key(lobby: Lobby, peer: Peer, login: KeyLogin) -> None:
    """Log a key in.

    Raises:
        HandshakeError: The login is not for this connection, not signed by its key, or by one that was revoked.
        RefusedError: The name cannot be used.
    """
    if peer.challenge is None:
        raise RefusedError(Code.NOT_NOW, "expected hello first")
    public = check_login(login, peer.challenge)
    name = login.name or f"player {fingerprint(public)[:6]}"
    _enter(lobby, peer, login.id, Player(PlayerKind.KEY, public, _checked(name)))


def enter_as_guest(house: House, lobby: Lobby, peer: Peer, login: GuestLogin) -> None:
    """Take a new guest in.

    Raises:
        RefusedError: The server takes no guests, or not under this name.
    """
    _check_guests(house)
    guest = Player(PlayerKind.GUEST, token_bytes(_ID_BYTES), _checked(login.name))
    token = token_urlsafe(_TOKEN_BYTES)
    peer.newcomer = SaveGuest(guest.id, guest.name, _hash(token))
    _enter(lobby, peer, login.id, guest, token)


def remember(house: House, peer: Peer) -> None:
    """Store the guest who has sat down: only who has something to come back to can come back."""
    newcomer, peer.newcomer = peer.newcomer, None
    if newcomer is not None:
        house.write(newcomer)


async def enter_again(house: House, lobby: Lobby, peer: Peer, login: GuestReturn) -> None:
    """Let a guest in who was here before.

    Raises:
        RefusedError: The server takes no guests, or does not know the token.
    """
    _check_guests(house)
    known = await trio.to_thread.run_sync(house.store.guest_by_token, _hash(login.token))
    if known is None:
        raise RefusedError(Code.BAD_TOKEN, "expected a token that this server gave", field="token")
    if peer.is_open:
        _enter(lobby, peer, login.id, Player(PlayerKind.GUEST, known.id, known.name), login.token)


def _check_guests(house: House) -> None:
    if not house.settings.guests:
        raise RefusedError(Code.GUESTS_NOT_ALLOWED, "this server admits only players with a key")


def _checked(name: str) -> str:
    cleaned = name.strip()
    if not cleaned or len(cleaned.encode()) > _LONGEST_NAME or not cleaned.isprintable():
        message = f"name: expected 1 to {_LONGEST_NAME} bytes of printable text"
        raise RefusedError(Code.BAD_MESSAGE, message, field="name")
    return cleaned


def _hash(token: str) -> bytes:
    return sha256(token.encode())


def _enter(lobby: Lobby, peer: Peer, request: int, player: Player, token: str | None = None) -> None:
    peer.player = player
    peer.challenge = None
    peer.send(Welcome(re=request, name=player.name, token=token, seats=lobby.seats_of(player)))
    peer.expect_silence()
    log.info("login", kind=str(player.kind), name=player.name, address=peer.address)
