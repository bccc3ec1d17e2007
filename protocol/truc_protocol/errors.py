"""The registry of error codes, and the errors that carry them.

Each code has one row, in `REGISTRY`: what it means, whether the connection ends with it, whether the same request may
be tried again, and what its receiver can do. Replies, documentation and tests read it from here. Nothing here says
when a code is given: that is decided where the mistake shows.
"""

from collections.abc import Mapping
from enum import Enum, StrEnum, auto
from types import MappingProxyType
from typing import Final, NamedTuple


class Topic(StrEnum):
    """The groups of the registry."""

    PROTOCOL = auto()
    LOGIN = auto()
    LIMITS = auto()
    TABLE = auto()
    PLAY = auto()
    SERVER = auto()


class Code(StrEnum):
    """Every code of an `error` or `bye`; a name never changes its meaning and is never reused."""

    BAD_FRAME = auto()
    FRAME_TOO_LARGE = auto()
    BAD_MSGPACK = auto()
    BAD_MESSAGE = auto()
    UNKNOWN_REQUEST = auto()
    UNSUPPORTED = auto()
    NOT_NOW = auto()

    AUTH_REQUIRED = auto()
    BAD_SIGNATURE = auto()
    KEY_NOT_ALLOWED = auto()
    BAD_TOKEN = auto()
    GUESTS_NOT_ALLOWED = auto()
    BANNED = auto()
    KICKED = auto()
    FORGOTTEN = auto()
    MUTED = auto()

    RATE_LIMITED = auto()
    SERVER_FULL = auto()
    TOO_MANY_TABLES = auto()
    SLOW_CONSUMER = auto()
    TIMEOUT = auto()

    NO_SUCH_TABLE = auto()
    NO_SUCH_VARIANT = auto()
    NO_SUCH_MATCH = auto()
    BAD_OPTION = auto()
    PRIVATE_TABLE = auto()
    TABLE_FULL = auto()
    TABLE_NOT_OPEN = auto()
    SEAT_TAKEN = auto()
    NOT_SEATED = auto()
    SEAT_GONE = auto()
    TERMS_REFUSED = auto()

    NOT_YOUR_TURN = auto()
    STALE_POSITION = auto()
    BAD_POSITION = auto()
    ILLEGAL_ACTION = auto()
    VOID_BET = auto()
    PAUSED = auto()

    SHUTTING_DOWN = auto()
    MOVED = auto()
    INTERNAL = auto()


class Effect(Enum):
    """What an error does: whether the connection ends with it, and whether the same request may succeed later."""

    REFUSED = auto()
    LATER = auto()
    ENDED = auto()
    INTERRUPTED = auto()


class CodeRow(NamedTuple):
    """One line of the registry."""

    topic: Topic
    effect: Effect
    meaning: str
    remedy: str

    @property
    def closes(self) -> bool:
        """Tell whether the connection ends with this error."""
        return self.effect in (Effect.ENDED, Effect.INTERRUPTED)

    @property
    def retryable(self) -> bool:
        """Tell whether the same request may succeed later, unchanged."""
        return self.effect in (Effect.LATER, Effect.INTERRUPTED)


# unsigned, as a signature would prove nothing: another record may have been first (specification.md 14)
OVERTAKEN_CODES: Final = (Code.STALE_POSITION, Code.VOID_BET)
"""How a server refuses a decision that another record has overtaken: without its signature."""

REGISTRY: Final[Mapping[Code, CodeRow]] = MappingProxyType(
    {
        Code.BAD_FRAME: CodeRow(
            Topic.PROTOCOL,
            Effect.ENDED,
            "A frame has length 0, or the peer speaks another protocol.",
            "Send a length of 1 or more, then exactly that many bytes.",
        ),
        Code.FRAME_TOO_LARGE: CodeRow(
            Topic.PROTOCOL,
            Effect.ENDED,
            "The announced length is above the limit in force.",
            "Stay within limits.frame_in of the server's info; before welcome, within 2048 bytes.",
        ),
        Code.BAD_MSGPACK: CodeRow(
            Topic.PROTOCOL,
            Effect.ENDED,
            "The frame is not exactly one msgpack map that keeps to the profile.",
            "Send one map with distinct str keys; no float, no extension type, nothing after it.",
        ),
        Code.BAD_MESSAGE: CodeRow(
            Topic.PROTOCOL,
            Effect.REFUSED,
            "A field is missing, or has the wrong type, length or range; or a request id is still in use.",
            "Correct the field named in `field`.",
        ),
        Code.UNKNOWN_REQUEST: CodeRow(
            Topic.PROTOCOL,
            Effect.REFUSED,
            "`t` names no message that a client may send, or one whose capability this server lacks.",
            "Send what needs a capability only if the server's info lists it.",
        ),
        Code.UNSUPPORTED: CodeRow(
            Topic.PROTOCOL,
            Effect.ENDED,
            "The server speaks none of the protocol numbers offered, lacks a required capability, or differs from the client about TLS.",
            "Offer another number, or drop the capability that `field` points at; with `detail.tls`, connect again by TLS.",
        ),
        Code.NOT_NOW: CodeRow(
            Topic.PROTOCOL,
            Effect.REFUSED,
            "The message exists but does not fit the state of the connection, table or match.",
            "Wait for the message or record that allows it.",
        ),
        Code.AUTH_REQUIRED: CodeRow(
            Topic.LOGIN,
            Effect.ENDED,
            "The request came before welcome.",
            "Send hello, then login, and wait for welcome.",
        ),
        Code.BAD_SIGNATURE: CodeRow(
            Topic.LOGIN,
            Effect.ENDED,
            "A signature does not match its bytes and key, or the signed bytes are for another connection.",
            "Sign exactly the bytes sent, made for this connection and this match.",
        ),
        Code.KEY_NOT_ALLOWED: CodeRow(
            Topic.LOGIN,
            Effect.ENDED,
            "The public key is inadmissible, or not a member of this server.",
            "Ask the host to admit it, or for an invite. With `field` = `invite`, the invite is not valid.",
        ),
        Code.BAD_TOKEN: CodeRow(
            Topic.LOGIN,
            Effect.ENDED,
            "The guest token is unknown; a token is valid once its guest has sat down at a table.",
            "Log in with a name and keep the new token.",
        ),
        Code.GUESTS_NOT_ALLOWED: CodeRow(
            Topic.LOGIN,
            Effect.REFUSED,
            "This server or table admits only players with a key.",
            "Log in with a key, choose a table that admits guests, or create one with the option `guests`.",
        ),
        Code.BANNED: CodeRow(
            Topic.LOGIN,
            Effect.ENDED,
            "The host has shut out this key, guest or address.",
            "Ask the host.",
        ),
        Code.KICKED: CodeRow(
            Topic.LOGIN,
            Effect.ENDED,
            "The host has ended this connection; the player keeps their seats and may log in again.",
            "Tell the player; connect again only when they ask for it.",
        ),
        Code.FORGOTTEN: CodeRow(
            Topic.LOGIN,
            Effect.ENDED,
            "The player asked to be forgotten, and has been.",
            "Drop the token; log in as a new guest.",
        ),
        Code.MUTED: CodeRow(
            Topic.LOGIN,
            Effect.REFUSED,
            "The host lets this player, or this address, play but not talk.",
            "Ask the host.",
        ),
        Code.RATE_LIMITED: CodeRow(
            Topic.LIMITS,
            Effect.LATER,
            "Too many requests in a short time, or too many without a reply. Or, from one address, too many connections or failed logins in a minute.",
            "Wait `retry_after_ms`, then send again; if that is absent, wait for the replies that are due.",
        ),
        Code.SERVER_FULL: CodeRow(
            Topic.LIMITS,
            Effect.INTERRUPTED,
            "The server, or this address, has as many connections as are allowed.",
            "Connect again later.",
        ),
        Code.TOO_MANY_TABLES: CodeRow(
            Topic.LIMITS,
            Effect.LATER,
            "This player, address or server has as many open tables as are allowed, or this player as many seats; or the"
            " server has no room to store another match, or is about to be stopped.",
            "Leave a table first, or try again later.",
        ),
        Code.SLOW_CONSUMER: CodeRow(
            Topic.LIMITS,
            Effect.INTERRUPTED,
            "The client does not read what it is sent.",
            "Connect again and resume; the seat is kept.",
        ),
        Code.TIMEOUT: CodeRow(
            Topic.LIMITS,
            Effect.INTERRUPTED,
            "Nothing came for one and a half times limits.idle_s, or login took too long.",
            "Connect again and resume; answer ping at once.",
        ),
        Code.NO_SUCH_TABLE: CodeRow(
            Topic.TABLE,
            Effect.REFUSED,
            "There is no table with this code.",
            "Ask for `tables`; tables that nobody starts expire.",
        ),
        Code.NO_SUCH_VARIANT: CodeRow(
            Topic.TABLE,
            Effect.REFUSED,
            "This server has no game of that name.",
            "Choose a name from `variants` of the server's info.",
        ),
        Code.NO_SUCH_MATCH: CodeRow(
            Topic.TABLE,
            Effect.REFUSED,
            "The table has no such match, or no longer has it.",
            "Take `match` from the newest table notice or setup.",
        ),
        Code.BAD_OPTION: CodeRow(
            Topic.TABLE,
            Effect.REFUSED,
            "A table option is unknown, out of range, or not possible in this variant.",
            "Correct the option named in `field`.",
        ),
        Code.PRIVATE_TABLE: CodeRow(
            Topic.TABLE,
            Effect.REFUSED,
            "The table admits no watchers, or the records of its match are not for this player.",
            "Ask whoever made the table, or one of its players.",
        ),
        Code.TABLE_FULL: CodeRow(
            Topic.TABLE,
            Effect.LATER,
            "Every seat is taken.",
            "Watch the table, or join another.",
        ),
        Code.TABLE_NOT_OPEN: CodeRow(
            Topic.TABLE,
            Effect.REFUSED,
            "The table is setting up a match or playing; seats and readiness are fixed.",
            "Wait until the match is over.",
        ),
        Code.SEAT_TAKEN: CodeRow(
            Topic.TABLE,
            Effect.LATER,
            "Somebody sits there.",
            "Join without `seat`, or choose an empty one.",
        ),
        Code.NOT_SEATED: CodeRow(
            Topic.TABLE,
            Effect.REFUSED,
            "This player has no seat at the table.",
            "Join first.",
        ),
        Code.SEAT_GONE: CodeRow(
            Topic.TABLE,
            Effect.REFUSED,
            "The seat was forfeited or has been taken by a substitute.",
            "Watch the rest of the match.",
        ),
        Code.TERMS_REFUSED: CodeRow(
            Topic.TABLE,
            Effect.REFUSED,
            "A seat record does not match the terms it answers, or those terms were dropped. "
            "Or a `rekey` or `sub` record brings a key, anchor or x that is not sound or not new to the match, or another name or key than the login's.",
            "Wait for new terms and sign a fresh seat record for them; for a `rekey` or `sub` draw a fresh chain and x.",
        ),
        Code.NOT_YOUR_TURN: CodeRow(
            Topic.PLAY,
            Effect.REFUSED,
            "It is not this seat's decision.",
            "Act only while you have `options`.",
        ),
        Code.STALE_POSITION: CodeRow(
            Topic.PLAY,
            Effect.REFUSED,
            "Another record already stands at the position that this act or sign was made for.",
            "Read the records up to now, then decide again.",
        ),
        Code.BAD_POSITION: CodeRow(
            Topic.PLAY,
            Effect.REFUSED,
            "The position lies beyond the last record of the match, or is right but comes with another head or deal index.",
            "Compare position, head and index with the records: another head may be evidence. Resume from a position already reached, or from -1.",
        ),
        Code.ILLEGAL_ACTION: CodeRow(
            Topic.PLAY,
            Effect.REFUSED,
            "The rules do not allow this act or sign now, or have no such phrase; or `pause`, `resume` or a link does not fit.",
            "Choose one of the options; make only signs of the game, and true ones where signs must be true.",
        ),
        Code.VOID_BET: CodeRow(
            Topic.PLAY,
            Effect.REFUSED,
            "The ask came too late: the next seat's card has closed its window.",
            "Do not repeat it; choose one of the fresh options.",
        ),
        Code.PAUSED: CodeRow(
            Topic.PLAY,
            Effect.REFUSED,
            "The match is paused; only `resume` and resigning are accepted.",
            "Ask to resume, or wait; then decide and sign again, for the next position.",
        ),
        Code.SHUTTING_DOWN: CodeRow(
            Topic.SERVER,
            Effect.INTERRUPTED,
            "The server is being stopped; every table is kept.",
            "Connect again after `reconnect_after_ms` and resume.",
        ),
        Code.MOVED: CodeRow(
            Topic.SERVER,
            Effect.INTERRUPTED,
            "The server has moved, or has what was asked for at another of its addresses.",
            "Connect to the address in `to`, which has the same key, and ask again.",
        ),
        Code.INTERNAL: CodeRow(
            Topic.SERVER,
            Effect.LATER,
            "The server failed. `detail.incident` names the entry in its log.",
            "Try once more; report the incident to the host.",
        ),
    }
)


class ProtocolError(Exception):
    """The root of the errors on a connection."""


class LocalError(ProtocolError):
    """We tried something that the protocol does not allow now; nothing was sent."""


class RemoteError(ProtocolError):
    """The peer broke the protocol.

    `code` is what to answer, `field` the place in the message (`seats/0/name`), `re` the request it belongs to.
    """

    def __init__(self, code: Code, message: str, *, field: str | None = None, re: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field
        self.re = re
