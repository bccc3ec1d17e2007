"""Who may log in: everybody, or on a closed server the members and those who come with an invite.

Members and invites stand in the store and are looked up at each login, so that the host's commands work beside a running
server. Invariant: of an invite only the hash is stored, and the code itself is in no log.
"""

from base64 import b32encode
from secrets import token_bytes
from typing import Final

from truc_protocol.codec import sha256
from truc_protocol.errors import Code
from truc_protocol.keys import fingerprint
from truc_server.house import House, now_ms
from truc_server.peer import Player, RefusedError
from truc_server.settings import Settings
from truc_server.store import Invite, Member, Store

_CODE_BYTES: Final = 15  # 120 bits
_DAY_MS: Final = 86_400_000


def admits_guests(settings: Settings) -> bool:
    """Tell whether players without a key may log in."""
    return settings.guests and settings.access.members == "anyone"


def check_guest(house: House) -> None:
    """Check that a guest may log in.

    Raises:
        RefusedError: Only players with a key may.
    """
    if not admits_guests(house.settings):
        raise RefusedError(Code.GUESTS_NOT_ALLOWED, "this server admits only players with a key")


def check_banned(house: House, player: Player) -> None:
    """Check that the host has not shut a player out.

    Raises:
        RefusedError: They are.
    """
    if player.tag in house.bans.tags:
        raise RefusedError(Code.BANNED, f"the host has shut {player.tag} out")


def check_member(house: House, public: bytes, code: str | None) -> None:
    """Check that a key may log in, and make it a member if it comes with a good invite; blocks.

    Raises:
        RefusedError: It is no member, or the invite is no good.
    """
    mode, own = house.settings.access.members, fingerprint(public)
    if mode == "anyone" or house.store.is_member(own):
        return
    if mode == "keys" or code is None:
        wanted = "ask the host to admit it" if mode == "keys" else "ask the host for an invite"
        raise RefusedError(Code.KEY_NOT_ALLOWED, f"the key {own} is no member of this server: {wanted}")
    if not house.store.use_invite(_hash(code), Member(own, now_ms())):
        message = "the invite is unknown, used up or too old: ask the host for another"
        raise RefusedError(Code.KEY_NOT_ALLOWED, message, field="invite")


def issue(store: Store, *, uses: int, days: int) -> str:
    """Make an invite and return its code; blocks."""
    code = b32encode(token_bytes(_CODE_BYTES)).decode()
    store.issue(Invite(_hash(code), uses, now_ms() + days * _DAY_MS))
    return code


def _hash(code: str) -> bytes:
    return sha256(code.encode())
