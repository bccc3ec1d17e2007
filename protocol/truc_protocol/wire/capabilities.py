"""The registry of capabilities: what a server may have besides the core of the protocol, and what each value says.

A server announces its capabilities with their values in its info, and by `caps` when they change. Names without a
domain are assigned here alone; `example.org/name` belongs to whoever has the domain, `draft/name-2` is being tried out.
A name that is given up is never reused with another meaning.
"""

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

_NAME: Final = re.compile(r"([a-z0-9.-]+\.[a-z]+/|draft/)?[a-z0-9]+(-[a-z0-9]+)*")


class Capability(NamedTuple):
    """One line of the registry.

    `brings` are the tags of the messages that only a server with it takes or sends. One that is `wanted` changes what
    a client is sent, and only for a client that names it in `want`.
    """

    name: str
    value: str
    meaning: str
    brings: tuple[str, ...] = ()
    wanted: bool = False


OWN_OPTIONS: Final = "own-options"
BLIND_TABLES: Final = "blind"
CAPABILITIES: Final[tuple[Capability, ...]] = (
    Capability(
        "chat",
        "map: `chars`, the most in a line; `lines` and `total`, the most lines and chars in `seconds`; `tables` and"
        " `lobby`, whether each of them has a chat; `logged`, true if the host keeps a log of it",
        "Players talk at tables, in the lobby, or in both.",
        ("chat", "ignore"),
    ),
    Capability(
        "lobby",
        "true",
        "The lobby can be followed: who is there, and which tables change.",
        ("lobby", "players"),
    ),
    Capability("seek", "true", "A player can ask for a seat at any table of a game.", ("seek",)),
    Capability(
        "snapshot",
        "true",
        "A watcher begins at the present hand, and on falling behind is sent a snapshot instead of being cut off.",
        ("snapshot",),
        wanted=True,
    ),
    Capability(
        "history",
        "int: the most records in one answer",
        "The records of matches, page by page.",
        ("history",),
    ),
    Capability(
        "matches",
        "int: the most matches in one answer",
        "A player can ask which matches they have had a seat in.",
        ("matches",),
    ),
    Capability("delay", "int: the longest delay in seconds", "Tables may be watched with a delay."),
    Capability("forget", "true", "A player can ask to be forgotten.", ("forget",)),
    Capability(
        "away",
        "true",
        "Players are told who is away from a match, and how long until the seat is gone; a match may be claimed.",
        ("away", "claim_match"),
    ),
    Capability(
        OWN_OPTIONS,
        "true",
        "A player with a key who runs the rules is sent no `options`, but only `waiting`, and names an act by signing it.",
        wanted=True,
    ),
    Capability(
        BLIND_TABLES,
        "true",
        "Tables may be made at which the seats shuffle and seal the pack, and the host sees no card; a seat there takes this and `own-options`.",
        wanted=True,
    ),
    Capability(
        "house-bots",
        "true",
        "The host has bots that are called to vacant seats, and to free ones where somebody waits; only their keys are sent the call.",
        ("bot_wanted", "players_wanted"),
        wanted=True,
    ),
    Capability(
        "ratings",
        "int: the most standings in one answer",
        "Matches of players with keys are rated, by game and number of seats.",
        ("leaderboard", "profile"),
    ),
    Capability(
        "draining",
        "true",
        "Everybody logged in is told when the server is about to be stopped.",
        ("draining",),
    ),
    Capability(
        "host-says", "true", "The host may say something to everybody who is logged in.", ("host_says",)
    ),
    Capability("moderation", "true", "The host has named moderators.", ("moderate",)),
    Capability("websocket", "true", "The server also speaks the protocol in a WebSocket."),
    Capability("invite", "true", "The server is closed; an invite in `login` makes a key a member."),
)
BROUGHT_BY: Final[Mapping[str, str]] = MappingProxyType(
    {tag: capability.name for capability in CAPABILITIES for tag in capability.brings}
)
"""By tag: the capability without which there is no such message."""


def is_capability_name(name: str) -> bool:
    """Tell whether a capability may have this name."""
    return len(name) <= _LONGEST_NAME and _NAME.fullmatch(name) is not None


def in_force(want: Collection[str], caps: Collection[str]) -> tuple[str, ...]:
    """Return which of the capabilities that a client asks for are in force on its connection; unknown ones are left out."""
    return tuple(name for name in caps if name in _TO_BE_WANTED and name in want)


_LONGEST_NAME: Final = 64
_TO_BE_WANTED: Final = frozenset(capability.name for capability in CAPABILITIES if capability.wanted)
