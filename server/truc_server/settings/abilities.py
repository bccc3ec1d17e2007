"""What this server can do beyond the core of the protocol: the capabilities that its settings do not turn off.

The registry is in truc_protocol.wire.capabilities. Invariant: whatever is announced here is also done.
"""

from typing import Final

from truc_protocol.setup import MAX_DELAY_S
from truc_protocol.wire.capabilities import BLIND_TABLES, OWN_OPTIONS
from truc_server.settings.settings import Settings

HISTORY_PAGE: Final = 64  # records in one answer
MATCHES_PAGE: Final = 32  # in one answer
STANDINGS_PAGE: Final = 32  # in one answer
CHAT_CHARS: Final = 200  # of a line
CHAT_LINES: Final = 10  # of one player in CHAT_SECONDS
CHAT_TOTAL: Final = 1_000  # characters of one player in CHAT_SECONDS
CHAT_SECONDS: Final = 10
CHAT_CROWD: Final = 5  # players: all of one address together may say as much as this many
LISTS: Final = 3  # of all public tables, to one player in LISTS_SECONDS
LISTS_SECONDS: Final = 10
LISTS_CROWD: Final = 10  # players: all of one address together are sent as much as this many


def capabilities(settings: Settings) -> dict[str, object]:
    """Return the capabilities with their values, as `info` announces them."""
    has_chat = settings.chat.tables or settings.chat.lobby
    return {
        **({"chat": _chat(settings)} if has_chat else {}),
        "lobby": True,
        "seek": True,
        "snapshot": True,
        "history": HISTORY_PAGE,
        "matches": MATCHES_PAGE,
        "delay": MAX_DELAY_S,
        "forget": True,
        "away": True,
        OWN_OPTIONS: True,
        **({BLIND_TABLES: True} if settings.tables.blind else {}),
        "draining": True,
        "host-says": True,
        **({"house-bots": True} if settings.access.bots or settings.tables.bots else {}),
        **({"ratings": STANDINGS_PAGE} if settings.ratings else {}),
        **({"moderation": True} if settings.access.moderators else {}),
        **({"websocket": True} if settings.web.listen else {}),
        **({"invite": True} if settings.access.members == "invite" else {}),
    }


def _chat(settings: Settings) -> dict[str, object]:
    return {
        "chars": CHAT_CHARS,
        "lines": CHAT_LINES,
        "seconds": CHAT_SECONDS,
        "total": CHAT_TOTAL,
        "tables": settings.chat.tables,
        "lobby": settings.chat.lobby,
        **({"logged": True} if settings.chat.log else {}),
    }
