"""Plain counters, which the rest of the server adds to as things happen: an addition each, no lock, no lookup by labels.

Who reads them, and under which names they are published, is in measures.py. Imports nothing of the server. Invariant: a
count never goes down.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

WEB_PATHS: Final = ("page", "file", "ws", "door", "table", "status", "report", "other")
"""What is asked for over HTTP."""
WEB_REFUSALS: Final = (
    "busy",
    "tls",
    "request",
    "slow",
    "method",
    "body",
    "host",
    "origin",
    "pace",
    "upgrade",
    "subprotocol",
    "admission",
)
"""Why something is not served over HTTP."""
INNER_CUTS: Final = ("stranger", "version", "forged", "slow", "gone", "crowded")
"""Why somebody who comes to the door for other nodes is cut: no node, one of another version, without the key, too slow, gone, one too many."""
LINK_LOSSES: Final = ("unreached", "refused", "ended")
"""Why a link to another node is not there: nobody answers, they let nobody in, or it has ended."""


@dataclass(slots=True)
class Figures:
    """What has happened since the server started."""

    connections: int = 0
    """Connections that were let in, and have agreed on TLS if it is on; also the number of the newest."""
    unencrypted: int = 0
    """Connections that were let in, but have not agreed on TLS."""
    closed: int = 0
    """How many of `connections` have ended."""
    logins: Counter[str] = field(default_factory=Counter)
    """Logins by kind of player."""
    left: int = 0
    """Connections that were logged in and have ended."""
    turned_away: Counter[str] = field(default_factory=Counter)
    """Connections that were not let in, by reason."""
    errors: Counter[str] = field(default_factory=Counter)
    """What was answered with an error, by its code."""
    goodbyes: Counter[str] = field(default_factory=Counter)
    """Connections that were told to go, by the code."""
    acts: Counter[str] = field(default_factory=Counter)
    """What seats have signed or chosen and the server has taken, by kind of player."""
    received: int = 0
    """Bytes read from clients that were let in."""
    dropped: int = 0
    """Frames for watchers that had no room."""
    cut: int = 0
    """Connections that were cut because more waited for them than may."""
    web_requests: Counter[str] = field(default_factory=Counter)
    """Answers over HTTP, by what was asked for and the status."""
    web_refused: Counter[str] = field(default_factory=Counter)
    """What came to the door for browsers and was not served, by reason."""
    web_connections: int = 0
    """Connections open there that are no WebSocket yet. Not a count."""
    web_tree: str = ""
    """The name of the tree of files that browsers are given; empty if none are. Not a count."""
    websockets: int = 0
    """WebSockets open now. Not a count."""
    brought: Counter[str] = field(default_factory=Counter)
    """What came to the door for other nodes: who was let in ("in"), and the others by the reason."""
    links: int = 0
    """Links to other nodes that this one has open for its clients now. Not a count."""
    links_lost: Counter[str] = field(default_factory=Counter)
    """Links that came to nothing or were lost while their client was there, by the reason."""
    lease_until: float | None = None
    """Until when a node's lease lasts at least, as `time.monotonic` counts; None without one. Not a count."""
    renewals_failed: int = 0
    """Renewals that the database has not taken; each is tried again."""
    tables_taken: int = 0
    """Tables that were taken up while the server ran, from nodes that are gone or have given them."""
    tables_given: int = 0
    """Tables that were given to other nodes."""
    certificate_ends: int = 0
    """When the certificate shown now ends, in Unix seconds; 0 without TLS. Not a count."""
