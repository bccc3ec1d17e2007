"""Who may log in: everybody, or on a closed server the members and those who come with an invite; and who may talk.

Members and invites are in the store and looked up at each login, so that the host's commands work beside a running
server; sanctions are read from it now and then (upkeep/sanction_watch.py). Invariant: of an invite only the hash is
stored, and the code itself is in no log.
"""

from base64 import b32encode
from secrets import token_bytes
from typing import Final

import structlog

from truc_protocol.codec import sha256
from truc_protocol.crypto.keys import fingerprint
from truc_protocol.errors import Code
from truc_server.net.peer import LoggedInPlayer, Peer, RefusedRequestError
from truc_server.net.sanctions import Sanctions
from truc_server.settings.settings import AccessSettings, Settings
from truc_server.storage import Invite, Member
from truc_server.storage.sql import Store
from truc_server.timing.clock import now_ms

_CODE_BYTES: Final = 15  # 120 bits, which are 24 letters and digits without padding
_DAY_MS: Final = 86_400_000

log = structlog.get_logger()


def admits_guests(settings: Settings) -> bool:
    """Tell whether players without a key may log in."""
    return settings.guests and not is_closed(settings)


def is_closed(settings: Settings) -> bool:
    """Tell whether not every key may log in."""
    return settings.access.members != "anyone"


def check_guest(settings: Settings) -> None:
    """Check that a guest may log in.

    Raises:
        RefusedError: Only players with a key may.
    """
    if not admits_guests(settings):
        raise RefusedRequestError(Code.GUESTS_NOT_ALLOWED, "this server admits only players with a key")


def check_banned(sanctions: Sanctions, player: LoggedInPlayer) -> None:
    """Check that the host has not shut a player out; addresses are checked before anybody logs in.

    Raises:
        RefusedError: The host has.
    """
    if player.tag in sanctions.banned.tags:
        raise RefusedRequestError(Code.BANNED, f"the host has shut {player.tag} out")


def check_muted(sanctions: Sanctions, peer: Peer, player: LoggedInPlayer) -> None:
    """Check that the host lets a player talk, from where they are.

    Raises:
        RefusedError: They may play, but not talk.
    """
    if not sanctions.is_muted(tag=player.tag, address=peer.address):
        return
    # Once for a connection: every further line that is tried says the same.
    if not peer.is_mute_logged:
        peer.is_mute_logged = True
        log.info("muted", subject=player.tag, address=peer.address)
    raise RefusedRequestError(Code.MUTED, "the host lets you play but not talk, so nobody was told of it")


def check_member(store: Store, access: AccessSettings, public: bytes, code: str | None) -> None:
    """Check that a key may log in to a closed server, and make it a member if it comes with a good invite; blocks.

    Raises:
        RefusedError: It is not a member, and has no good invite.
    """
    mode, own = access.members, fingerprint(public)
    if store.is_member(own):
        return
    if mode == "keys" or code is None:
        wanted = "ask the host to admit it" if mode == "keys" else "ask the host for an invite"
        raise RefusedRequestError(
            Code.KEY_NOT_ALLOWED, f"the key {own} is no member of this server: {wanted}"
        )
    # Used and written down in one transaction: of two keys that come at once with the last use one is let in.
    if not store.use_invite(invite_hash(code), Member(own, now_ms())):
        message = "the invite is unknown, used up or too old: ask the host for another"
        raise RefusedRequestError(Code.KEY_NOT_ALLOWED, message, field="invite")


def issue_invite(store: Store, *, uses: int, days: int) -> str:
    """Make an invite and return its code; blocks."""
    code = b32encode(token_bytes(_CODE_BYTES)).decode()
    store.issue(Invite(invite_hash(code), uses, now_ms() + days * _DAY_MS))
    return code


def invite_hash(code: str) -> bytes:
    """Return what is stored of an invite."""
    return sha256(code.encode())
