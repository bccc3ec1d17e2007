"""The settings of a server: what there is to set.

Each setting is written once, as a field with its default, its range and a line for the host; the commented file, the
environment variables and the messages are made from these (settings_file.py). Invariant: a loaded `Settings` holds only
values in range.
"""

import ipaddress
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec
from msgspec import Meta

from truc_protocol.crypto.chains import MAX_LINKS
from truc_protocol.setup import LEAST_DECISION_MS, MAX_DELAY_S
from truc_server.settings.subjects import is_fingerprint, is_subject

_MAX_PORT: Final = 65_535
_PORT_DIGITS: Final = 5
_ORIGIN: Final = re.compile(r"https?://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[1-9][0-9]{0,4})?")
_DEFAULT_PORTS: Final = {"http:": ":80", "https": ":443"}  # by how an origin begins; browsers leave them out
_DATABASE: Final = re.compile(r"(postgresql(\+\w+)?://.*|sqlite(\+\w+)?:///.+)?")
_NODE: Final = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,31})?")


def can_be_resolved(name: str) -> bool:
    """Tell whether the system may be asked for the addresses of a name: no part of one may be empty or too long."""
    with suppress(UnicodeError):
        name.encode("idna")
        return True
    return False


def is_host(value: str) -> bool:
    """Tell whether a text is empty, or a name or an address alone."""
    with suppress(ValueError):
        return bool(ipaddress.ip_address(value))
    return value.isprintable() and not set(value) & set(":/@?#[] ") and can_be_resolved(value)


def host_and_port(place: str) -> tuple[str, int]:
    """Return the parts of host:port; an IPv6 address without its brackets."""
    host, _, port = place.rpartition(":")
    return host.strip("[]"), int(port)


def is_place(value: str) -> bool:
    """Tell whether a text is empty or host:port, an IPv6 address in brackets."""
    if not value:
        return True
    host, _, port = value.rpartition(":")
    is_port = port.isascii() and port.isdigit() and len(port) <= _PORT_DIGITS and 1 <= int(port) <= _MAX_PORT
    is_name = bool(host) and host.isprintable() and not set(host) & set(" /#?@") and can_be_resolved(host)
    return is_port and is_name and (":" not in host or (host[0], host[-1]) == ("[", "]"))


def is_web_place(value: str) -> bool:
    """Tell whether a text is empty or host:port, where port 0 takes a free one."""
    host, _, port = value.rpartition(":")
    return is_place(f"{host}:1" if port == "0" else value)


def is_origin(value: str) -> bool:
    """Tell whether a text is empty or an origin as browsers send it: http:// or https://, and a place in small letters."""
    return not value or (
        _ORIGIN.fullmatch(value) is not None and not value.endswith(_DEFAULT_PORTS.get(value[:5], " "))
    )


def is_network(value: str) -> bool:
    """Tell whether a text is an address or a network."""
    try:
        ipaddress.ip_network(value)
    except ValueError:
        return False
    return True


def is_node(value: str) -> bool:
    """Tell whether a text is empty or the name of a node."""
    return _NODE.fullmatch(value) is not None


def is_inner(value: str) -> bool:
    """Tell whether a text is empty, host:port, or the path of a socket from the root."""
    return value.startswith("/") or is_place(value)


def is_database(value: str) -> bool:
    """Tell whether a text is empty, or the URL of a database of a kind that can be used."""
    return _DATABASE.fullmatch(value) is not None


_WHEN_GONE: Final = {"forfeit": 0, "substitute": 1, "wait": 2}
_SPECTATORS: Final = {"none": 0, "live": 1, "hand": 2}
_DELAY: Final = "delay:"
_DELAYED: Final = 3  # opts[8] of a delay is this plus its seconds
MAX_SEATS: Final = 500  # of one player: all of them are listed in the frame that welcomes them


class SettingsError(Exception):
    """A setting is wrong; the text says where it is set, what was expected and what came."""


def spectators(word: str) -> int | None:
    """Return opts[8] for who may watch: none, live, hand or delay:SECONDS; None for anything else."""
    if not word.startswith(_DELAY):
        return _SPECTATORS.get(word)
    seconds = word.removeprefix(_DELAY)
    if not (seconds.isascii() and seconds.isdigit() and len(seconds) <= len(str(MAX_DELAY_S))):
        return None
    return _DELAYED + int(seconds) if 1 <= int(seconds) <= MAX_DELAY_S else None


def _is_spectators(value: object) -> bool:
    return isinstance(value, str) and spectators(value) is not None


def _is_decision_time(value: object) -> bool:
    return isinstance(value, int) and (value == 0 or value >= LEAST_DECISION_MS)


class Takes(NamedTuple):
    """What a setting takes beyond what its type and range tell.

    Attributes:
        words: the same for the host; empty where type and range tell all.
        admits: tells whether a value is admitted, or of a list each entry.
        max_bytes: how many bytes of UTF-8 a text may have.
    """

    words: str = ""
    admits: Callable[[Any], bool] = lambda _value: True
    max_bytes: int = 0


# What several settings take.
Count = Annotated[int, Meta(ge=1, le=1_000_000)]
SmallCount = Annotated[int, Meta(ge=1, le=10_000)]
UpTo16 = Annotated[int, Meta(ge=0, le=16)]
UpTo100 = Annotated[int, Meta(ge=0, le=100)]
UpToAMinuteMs = Annotated[int, Meta(ge=0, le=60_000)]
UpToAnHourS = Annotated[int, Meta(ge=0, le=3_600)]
UpToADayMs = Annotated[int, Meta(ge=0, le=86_400_000)]
Port = Annotated[int, Meta(ge=0, le=65_535)]
Claim = Literal["server", "opponents"]
Readers = Literal["seats", "watchers", "all"]
FilePath = Annotated[str, Takes(max_bytes=4_096)]
Place = Annotated[str, Takes("host:port, or nothing", is_place, max_bytes=260)]
FingerprintList = Annotated[
    tuple[str, ...],
    Meta(max_length=100),
    Takes("a list of at most 100 fingerprints", is_fingerprint),
]
SubjectList = Annotated[
    tuple[str, ...],
    Meta(max_length=1_000),
    Takes("a list of at most 1000 fingerprints, tags of guests, addresses and networks", is_subject),
]


class ListenSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the server listens, and what it is called from outside."""

    hosts: Annotated[
        tuple[str, ...],
        Takes("a list of one or more addresses or names", can_be_resolved),
        Meta(
            min_length=1,
            description="Addresses to listen on: IPv4, IPv6, or names that resolve to them.",
        ),
    ] = ("0.0.0.0", "::")
    port: Annotated[Port, Meta(description="TCP port; 0 takes a free one.")] = 7373
    public_host: Annotated[
        str,
        Takes("a name or an address without a port, or nothing", is_host, max_bytes=253),
        Meta(description="Name or address that players use, for invites; empty: the first of hosts."),
    ] = ""
    tls: Annotated[bool, Meta(description="Whether connections are encrypted: TLS, and nothing else.")] = (
        False
    )
    certificate: Annotated[
        FilePath,
        Meta(
            description="PEM file of your own certificate, chain included; empty: one is made, which your key vouches for."
        ),
    ] = ""
    certificate_key: Annotated[FilePath, Meta(description="PEM file of the key of your own certificate.")] = (
        ""
    )


class LimitSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one player, one address and everybody together may use."""

    connections: Annotated[Count, Meta(description="Open connections in all.")] = 10_000
    connections_per_address: Annotated[Count, Meta(description="Open connections from one address.")] = 20
    idle_s: Annotated[
        int,
        Meta(ge=5, le=3_600, description="Seconds of silence before a ping; cut after half as many again."),
    ] = 30
    login_s: Annotated[int, Meta(ge=1, le=120, description="Seconds from connecting to being logged in.")] = (
        10
    )
    tables: Annotated[Count, Meta(description="Tables in all.")] = 4_096
    tables_per_player: Annotated[SmallCount, Meta(description="Tables that one player may open.")] = 5
    seats_per_player: Annotated[
        int, Meta(ge=1, le=MAX_SEATS, description="Tables at which one player may sit, their own included.")
    ] = 20
    requests_per_s: Annotated[SmallCount, Meta(description="Requests a second, on average.")] = 10
    burst: Annotated[SmallCount, Meta(description="Requests at once.")] = 20
    acts_per_s: Annotated[
        SmallCount,
        Meta(
            description="Acts a second, on average, for each connection that an address may have; more wait."
        ),
    ] = 1
    table_acts_per_s: Annotated[
        SmallCount,
        Meta(
            description="Acts a second at one table, on average; more wait. Steps with the pack in mode blind: five times as many."
        ),
    ] = 5
    outbox_bytes: Annotated[
        int,
        Meta(ge=65_536, le=1 << 26, description="Bytes waiting for a slow connection before it is cut."),
    ] = 262_144
    connects_per_min: Annotated[
        Count, Meta(description="Connections that one address may open in a minute.")
    ] = 600
    failed_logins_per_min: Annotated[
        Count, Meta(description="Logins of one address that may fail in a minute.")
    ] = 5
    tables_per_min: Annotated[
        SmallCount, Meta(description="Tables that one player may open in a minute.")
    ] = 5
    # A dozen of one household may each open their five (test_table_limits.py).
    tables_per_address: Annotated[Count, Meta(description="Open tables that were made from one address.")] = (
        100
    )


class TableSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How tables live."""

    expiry_s: Annotated[
        int,
        Meta(
            ge=10,
            le=604_800,
            description="Seconds after which a table that nobody starts is closed, "
            "and a match without any player connected is abandoned.",
        ),
    ] = 1_800
    bots: Annotated[
        UpTo16,
        Meta(description="Bots that the server starts itself, for free and vacant seats."),
    ] = 0
    company_s: Annotated[
        UpToAnHourS, Meta(description="Seconds until your bots join somebody who waits; 0 is never.")
    ] = 20
    between_hands_ms: Annotated[
        UpToAMinuteMs,
        Meta(
            description="Pause between hands at a table without keyed seats, "
            "and the time to show cards where only the end of the match opens them; 0 is none.",
        ),
    ] = 2_000
    window_ms: Annotated[
        UpToAMinuteMs,
        Meta(
            description="Time after a flor in which nobody is told whether another seat has one to answer with."
        ),
    ] = 2_000
    drain_s: Annotated[
        UpToAnHourS,
        Meta(
            description="Seconds that hands under way have to end when the server is told to stop; 0 is none."
        ),
    ] = 60
    blind: Annotated[
        bool,
        Meta(description="Whether tables may be made whose host sees no card: mode blind, experimental."),
    ] = True


class MatchDefaults(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The terms of a match, unless the table's creator chooses others."""

    decision_ms: Annotated[
        UpToADayMs,
        Takes(f"0, or {LEAST_DECISION_MS} to 86400000", _is_decision_time),
        Meta(description="Time for one decision; 0 is no limit."),
    ] = 30_000
    bank_ms: Annotated[UpToADayMs, Meta(description="Extra time, for a seat and game.")] = 120_000
    release_ms: Annotated[
        int, Meta(ge=1_000, le=86_400_000, description="Time for a client to contribute to the next deal.")
    ] = 60_000
    voids: Annotated[UpTo100, Meta(description="Deals that may fail before a match is given up.")] = 1
    when_gone: Annotated[
        Literal["forfeit", "substitute", "wait"],
        Meta(description="What happens when a seat is gone: forfeit, substitute or wait."),
    ] = "forfeit"
    claim: Annotated[
        Claim,
        Meta(
            description="Who ends a match against a side that is gone: server at once, or opponents when they ask."
        ),
    ] = "server"
    guests: Annotated[int, Meta(ge=0, le=6, description="Seats of a table that guests may take.")] = 0
    rekeys: Annotated[UpTo100, Meta(description="How often a seat may start a new chain.")] = 3
    pause_ms: Annotated[UpToADayMs, Meta(description="Longest pause.")] = 600_000
    spectators: Annotated[
        str,
        Takes('one of "none", "live", "hand", "delay:SECONDS" with 1..3600', _is_spectators, max_bytes=16),
        Meta(description="Who may watch: none, live, hand (when each hand is over) or delay:SECONDS."),
    ] = "live"
    transcript: Annotated[
        Readers,
        Meta(description="Who may download a match that is over: seats (who has played), watchers or all."),
    ] = "seats"
    absences: Annotated[
        UpTo100,
        Meta(description="Decisions missed in a row after which a seat is gone; 0 is never."),
    ] = 3
    # Every link of a chain is hashed when it begins, and hardly any match has as many deals: 1,024 cost each
    # act 100 calls more, its share of a match included (decision 19).
    links: Annotated[
        int,
        Meta(ge=1, le=MAX_LINKS, description="Deals that a chain serves before its owner starts a new one."),
    ] = 128

    def opts(self) -> tuple[int, ...]:
        """Return the array `opts` of the record `table`, complete."""
        return (
            self.decision_ms,
            self.bank_ms,
            self.release_ms,
            self.voids,
            _WHEN_GONE[self.when_gone],
            self.guests,
            self.rekeys,
            self.pause_ms,
            spectators(self.spectators) or 0,
            self.absences,
        )


class AccessSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who may come in."""

    members: Annotated[
        Literal["anyone", "keys", "invite"],
        Meta(
            description="Who may log in: anyone, only the keys on your list, or invite: these and whoever has an invite."
        ),
    ] = "anyone"
    banned: Annotated[
        SubjectList,
        Meta(description="Who is shut out: fingerprints of keys, tags of guests, addresses and networks."),
    ] = ()
    muted: Annotated[
        SubjectList,
        Meta(
            description="Who may play but not talk: fingerprints of keys, tags of guests, addresses and networks."
        ),
    ] = ()
    bots: Annotated[
        FingerprintList,
        Meta(
            description="Your own bots, by the fingerprints of their keys: they are called for free and vacant seats."
        ),
    ] = ()
    moderators: Annotated[
        FingerprintList,
        Meta(
            description="Players who may kick, ban, mute and say something to everybody, by the fingerprints of their keys."
        ),
    ] = ()
    guest_days: Annotated[
        int,
        Meta(
            ge=0,
            le=3_650,
            description="Days after which a guest who does not come back is forgotten; 0 is never.",
        ),
    ] = 30
    moved_to: Annotated[
        Place,
        Meta(description="Where everybody is sent instead, as host:port; empty: nobody is."),
    ] = ""


class ChatSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where players may talk."""

    tables: Annotated[bool, Meta(description="Whether tables have a chat.")] = True
    lobby: Annotated[bool, Meta(description="Whether the lobby has a chat.")] = True
    log: Annotated[
        bool, Meta(description="Whether the log has what is said; clients tell their players.")
    ] = False


class LogSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is written to standard error."""

    format: Annotated[
        Literal["human", "json"],
        Meta(description="Form of the lines: human, or json with one object a line."),
    ] = "human"
    level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Meta(description="The lowest level that is written: debug, info, warning or error."),
    ] = "info"


class MetricsSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the server publishes figures about itself."""

    port: Annotated[Port, Meta(description="HTTP port of /metrics and /health; 0 is none.")] = 0
    host: Annotated[
        str,
        Takes("a name or an address", can_be_resolved, max_bytes=253),
        Meta(min_length=1, description="Address it is on; whoever reaches it can read it."),
    ] = "127.0.0.1"


class WebSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The door for browsers."""

    listen: Annotated[
        str,
        Takes("host:port, or nothing", is_web_place, max_bytes=260),
        Meta(description="Where browsers are served, as host:port; empty: nowhere."),
    ] = ""
    origin: Annotated[
        str,
        Takes("https://HOST or http://HOST, or nothing", is_origin, max_bytes=260),
        Meta(description="What players type to come there; empty: http://localhost and the port."),
    ] = ""
    certificate: Annotated[
        FilePath,
        Meta(description="PEM file of an authority's certificate, chain included; empty: no TLS there."),
    ] = ""
    certificate_key: Annotated[FilePath, Meta(description="PEM file of its key.")] = ""
    proxies: Annotated[
        tuple[str, ...],
        Takes("a list of at most 100 addresses and networks", is_network),
        Meta(
            max_length=100,
            description="Addresses and networks of your own proxies, whose X-Forwarded-For is believed.",
        ),
    ] = ()
    status: Annotated[bool, Meta(description="Whether /status tells how many play.")] = True

    @property
    def place(self) -> tuple[str, int]:
        """Host and port to listen on."""
        return host_and_port(self.listen)

    def origin_at(self, port: int) -> str:
        """Return what browsers must send as origin; `port` is where the server listens."""
        return self.origin or f"http://localhost:{port}"

    @property
    def known_origin(self) -> str | None:
        """The origin as far as the settings tell it: None if no browser is served, or at a port that is free then."""
        if not self.listen:
            return None
        _, port = self.place
        return self.origin_at(port) if port or self.origin else None


class StoreSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where matches are kept."""

    url: Annotated[
        str,
        Takes("postgresql://USER@HOST/NAME, sqlite:///FILE, or nothing", is_database, max_bytes=1_024),
        Meta(description="The database; empty: truc.db (SQLite) in the data folder."),
    ] = ""
    spare_mb: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000,
            description="Free megabytes on the disk of the data folder below which no new table or match begins.",
        ),
    ] = 64
    keep_days: Annotated[
        int,
        Meta(ge=0, le=36_500, description="Days after which a match that is over is deleted; 0 is never."),
    ] = 0
    passphrase_file: Annotated[
        FilePath, Meta(description="File whose first line opens the server's key, if that has a passphrase.")
    ] = ""


class ClusterSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How several servers share one database and its tables."""

    node: Annotated[
        str,
        Takes(
            "a name of at most 32 letters, digits, dots, hyphens and underscores, or nothing",
            is_node,
            max_bytes=32,
        ),
        Meta(
            description="Name of this server among those on one database, each its own; empty: it is the only one."
        ),
    ] = ""
    lease_s: Annotated[
        int,
        Meta(
            ge=1,
            le=60,
            description="Seconds after which the others take over the tables of a node that does not answer.",
        ),
    ] = 5
    public: Annotated[
        Place,
        Meta(description="Where players reach this node; empty: listen.public_host and listen.port."),
    ] = ""
    inner: Annotated[
        str,
        Takes("host:port, the path of a socket from the root, or nothing", is_inner, max_bytes=260),
        Meta(
            description="Where the other nodes reach this one, and bring it the players at its tables; empty: nowhere."
        ),
    ] = ""
    route: Annotated[
        Literal["moved", "proxy"],
        Meta(
            description="How players come to tables of another node: moved sends them there, proxy passes on what they say."
        ),
    ] = "moved"
    shares_ports: Annotated[
        bool,
        Meta(
            description="Whether other nodes of this machine listen on the same ports (`truc-server run --nodes` sets it)."
        ),
    ] = False


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything a host can set."""

    data: Annotated[
        FilePath,
        Meta(description="The data folder; empty: the user's own folder for data."),
    ] = ""
    name: Annotated[
        str,
        Takes(max_bytes=64),
        Meta(min_length=1, description="Name of the server, signed into every match."),
    ] = "Truc"
    motd: Annotated[str, Takes(max_bytes=1_024), Meta(description="A line for everybody who connects.")] = ""
    guests: Annotated[bool, Meta(description="Whether players without a key may log in.")] = True
    ratings: Annotated[
        bool,
        Meta(description="Whether matches at public tables are rated, and everybody may ask who is best."),
    ] = True
    grease: Annotated[
        bool,
        Meta(
            description="Add unknown fields, facts and notices to everything that is sent, to test clients."
        ),
    ] = False
    listen: ListenSettings = ListenSettings()
    limits: LimitSettings = LimitSettings()
    tables: TableSettings = TableSettings()
    match: MatchDefaults = MatchDefaults()
    access: AccessSettings = AccessSettings()
    chat: ChatSettings = ChatSettings()
    log: LogSettings = LogSettings()
    metrics: MetricsSettings = MetricsSettings()
    web: WebSettings = WebSettings()
    store: StoreSettings = StoreSettings()
    cluster: ClusterSettings = ClusterSettings()
