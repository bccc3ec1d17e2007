"""Admission: how many connections there may be, how fast they may come, and how often a login may fail.

Newcomers are told apart by their network (timing/rate_limits.py), as nothing else is known of them yet. Somebody with
very many networks, as everybody may have with IPv6, still has one site, and a site gets only a share of the
connections. Turning one away costs one small write: no outbox, no timer, no player. Connections of a network at other
nodes count as well, as last told. Invariants: a connection that was let in is counted until it leaves; what a node has
told counts until it tells otherwise, or is gone; of networks without a connection no more are remembered than of those
that are limited here.
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import Final, Literal, NamedTuple

import trio

from truc_protocol.errors import Code
from truc_protocol.messages import Refusal, refusal
from truc_protocol.wire.connection import ConnectionEnd, Role
from truc_protocol.wire.transport import COME_LATER_ALERT, ENCRYPTED, FRAME_BYTE, PLAIN, SHUT_OUT_ALERT
from truc_server.net.listening import half_close
from truc_server.net.peer import LINGER_S, ConnectionBacking, TooSoonError
from truc_server.settings.settings import LimitSettings
from truc_server.storage.node_news import CrowdNews
from truc_server.timing.rate_limits import MAX_SUBJECTS, Meter, Rate, site_of


class Tally(NamedTuple):
    """How many connections of a network have come, and how many of its logins failed, since counting began, or since a node told last."""

    came: int
    failed: int


class OtherCrowds:
    """The connections of other nodes, by network and by site."""

    def __init__(self) -> None:
        self._told: dict[str, dict[str, CrowdNews]] = {}  # by node; the network told of last comes last
        self._networks: dict[str, int] = {}
        self._sites: dict[str, int] = {}

    def __len__(self) -> int:
        """The number of networks about which anything is kept, once for each node."""
        return sum(map(len, self._told.values()))

    def connections(self, network: str, site: str) -> tuple[int, int]:
        """Return how many connections of a network, and how many of its site, other nodes have."""
        return self._networks.get(network, 0), self._sites.get(site, 0)

    def hear(self, node: str, told: Iterable[CrowdNews]) -> dict[str, Tally]:
        """Take up what a node tells of networks; return what has come since, nothing of a node heard for the first time."""
        is_new = node not in self._told
        crowds = self._told.setdefault(node, {})
        arrivals = {crowd.network: self._hear(crowds, crowd) for crowd in told}
        # What a node tells first are its totals since it began: charging them here at once would make their
        # networks wait for connections of long ago.
        return {} if is_new else arrivals

    def _hear(self, crowds: dict[str, CrowdNews], told: CrowdNews) -> Tally:
        before = crowds.pop(told.network, CrowdNews(told.network, 0, 0, 0))
        crowds[told.network] = told
        self._count(told.network, told.connections - before.connections)
        self._forget(crowds)
        return Tally(_more(before.came, told.came), _more(before.failed, told.failed))

    def forget_node(self, node: str) -> None:
        """Stop counting what was told by a node that is gone."""
        for crowd in self._told.pop(node, {}).values():
            self._count(crowd.network, -crowd.connections)

    def _count(self, network: str, change: int) -> None:
        for counted, subject in ((self._networks, network), (self._sites, site_of(network))):
            counted[subject] = counted.get(subject, 0) + change
            if not counted[subject]:
                del counted[subject]

    def _forget(self, crowds: dict[str, CrowdNews]) -> None:
        if len(crowds) > MAX_SUBJECTS:
            oldest = next(iter(crowds))
            self._count(oldest, -crowds.pop(oldest).connections)


def _more(before: int, now: int) -> int:
    """Return how many have come since a count; a count that is smaller was begun anew."""
    # A node that knows too many networks forgets a tally (`Admission._note`), and then counts from 0 again.
    return now - before if now >= before else now


# So many sites fill the server, as each has at most a tenth of the connections (decision 15): a /48, with
# 65,536 networks, costs nothing.
_SITES: Final = 10
_TWICE: Final = 2  # the connections of an address may all be lost, and come back, at once
# Those turned away who have time to read why: each has a file open that `limits.connections` does not count.
LINGERING: Final = 256
# transport.md, "TLS": whoever sends no frame either, such as a browser, can read a line of text.
_TLS_ONLY: Final = (
    f"This port speaks the Truc protocol over TLS ({ENCRYPTED}), and nothing else.\r\n".encode()
)
# What looks like guessing; a name that cannot be used does not (limits.md, "Addresses").
_FAILURES: Final = frozenset({Code.BAD_SIGNATURE, Code.BAD_TOKEN, Code.KEY_NOT_ALLOWED, Code.BANNED})

Reason = Literal["banned", "full", "address", "site", "pace"]
"""Why a connection is turned away: its address is shut out, the server is full, its address or site has too many, or they come too fast."""


def _connect_rate(limits: LimitSettings) -> Rate:
    return limits.connects_per_min, max(limits.connects_per_min, _TWICE * limits.connections_per_address)


def _failure_rate(limits: LimitSettings) -> Rate:
    return limits.failed_logins_per_min, limits.failed_logins_per_min


class Admission:
    """Who may come in, by address."""

    def __init__(self, backing: ConnectionBacking) -> None:
        self._backing = backing
        self._is_tls = backing.settings.now.listen.tls
        self._networks: dict[str, int] = {}  # Counter would do; it is written in Python, and slower
        self._sites: dict[str, int] = {}
        self._inside = 0
        self._lingering = 0
        self._others = OtherCrowds() if backing.settings.now.cluster.node else None
        self._tallies: dict[str, Tally] = {}  # of networks, as other nodes are told; who came last comes last
        self._untold: set[str] = set()
        self._connects = Meter[str]()
        self._failures = Meter[str]()

    def enter(self, address: str, network: str, *, counts: bool = True) -> Refusal | None:
        """Count a connection in; if it may not come in, return why. Without `counts` only say so, and count nothing."""
        limits = self._backing.settings.now.limits
        rate = _connect_rate(limits)
        if self._backing.sanctions.now.has_banned(address):
            why = refusal(Code.BANNED, "the host has shut this address out")
            return self._count_turned_away("banned", why, counts=counts)
        if self._inside >= limits.connections:
            message = f"expected at most {limits.connections} connections"
            return self._count_turned_away("full", refusal(Code.SERVER_FULL, message), counts=counts)
        site = site_of(network)
        of_network, of_site = self._networks.get(network, 0), self._sites.get(site, 0)
        elsewhere = None if self._others is None else self._others.connections(network, site)
        others_network, others_site = elsewhere or (0, 0)
        if of_network + others_network >= limits.connections_per_address:
            most = limits.connections_per_address
            message = f"expected at most {most} connections of one address"
            return self._count_turned_away("address", refusal(Code.SERVER_FULL, message), counts=counts)
        # On a small server a tenth is less than one address may have, which must stay possible.
        most = max(limits.connections_per_address, limits.connections // _SITES)
        if of_site + others_site >= most:
            message = f"expected at most {most} connections of one site, the first 48 bits of its addresses"
            return self._count_turned_away("site", refusal(Code.SERVER_FULL, message), counts=counts)
        # Last, as this alone is paid for: whoever is turned away for another reason keeps their pace.
        # With `counts` off a page asks at /door, as it cannot read why its WebSocket was refused.
        pay = self._connects.pay if counts else self._connects.owes
        if wait_ms := pay(network, rate, trio.current_time()):
            message = f"expected at most {limits.connects_per_min} connections of one address in a minute"
            return self._count_turned_away(
                "pace", TooSoonError(message, wait_ms).refusal(None), counts=counts
            )
        if counts:
            self._inside += 1
            self._networks[network] = of_network + 1
            self._sites[site] = of_site + 1
            if self._others is not None:
                self._note(network, came=1)
        return None

    def enter_brought(self, address: str) -> Refusal | None:
        """Count in a connection that another node brings; if it may not come in, return why.

        It counts for its network where it came in.
        """
        limits = self._backing.settings.now.limits
        if self._backing.sanctions.now.has_banned(address):
            return self._count_turned_away(
                "banned", refusal(Code.BANNED, "the host has shut this address out"), counts=True
            )
        if self._inside >= limits.connections:
            message = f"expected at most {limits.connections} connections"
            return self._count_turned_away("full", refusal(Code.SERVER_FULL, message), counts=True)
        self._inside += 1
        return None

    def leave_brought(self) -> None:
        """Count out a connection that another node has brought."""
        self._inside -= 1

    def _count_turned_away(self, reason: Reason, why: Refusal, *, counts: bool) -> Refusal:
        self._backing.figures.turned_away[reason] += counts
        return why

    def leave(self, network: str) -> None:
        """Count a connection out."""
        self._inside -= 1
        for counted, subject in ((self._networks, network), (self._sites, site_of(network))):
            counted[subject] -= 1
            if not counted[subject]:
                del counted[subject]
        if self._others is not None:
            self._note(network)

    def _note(self, network: str, *, came: int = 0, failed: int = 0) -> None:
        """Note that other nodes must be told about a network."""
        tally = self._tallies.pop(network, Tally(0, 0))
        self._tallies[network] = Tally(tally.came + came, tally.failed + failed)
        self._untold.add(network)
        if len(self._tallies) > MAX_SUBJECTS:
            del self._tallies[next(iter(self._tallies))]

    def news(self) -> tuple[CrowdNews, ...]:
        """Return what has changed since the last time, for the other nodes."""
        untold, self._untold = self._untold, set()
        return tuple(
            CrowdNews(network, self._networks.get(network, 0), *self._tallies.get(network, Tally(0, 0)))
            for network in sorted(untold)
        )

    def put_back(self, news: Iterable[CrowdNews]) -> None:
        """Take back what the other nodes could not be told."""
        self._untold |= {crowd.network for crowd in news}

    def hear(self, node: str, crowds: Iterable[CrowdNews]) -> None:
        """Count what another node tells; what came and failed there is charged here as well."""
        limits, now = self._backing.settings.now.limits, trio.current_time()
        arrivals = {} if self._others is None else self._others.hear(node, crowds)
        for network, untold in arrivals.items():
            if untold.came:
                self._connects.charge(network, _connect_rate(limits), now, times=untold.came)
            if untold.failed:
                self._failures.charge(network, _failure_rate(limits), now, times=untold.failed)

    def forget_node(self, node: str) -> None:
        """Stop counting what was told by a node that is gone."""
        if self._others is not None:
            self._others.forget_node(node)

    def note_refused(self, network: str, code: Code) -> None:
        """Count a login that was refused, if it looks like guessing.

        Raises:
            TooSoonError: Too many from its address have failed before; then this is the answer.
        """
        if code not in _FAILURES:
            return
        # Only a login that has failed comes here: a network is shared, and nobody may lock the others in it out.
        limits = self._backing.settings.now.limits
        wait_ms = self._failures.pay(network, _failure_rate(limits), trio.current_time())
        if not wait_ms and self._others is not None:
            self._note(network, failed=1)
        if wait_ms:
            most = limits.failed_logins_per_min
            # In place of the refusal: an address that has to wait is told nothing else (limits.md, "Addresses").
            raise TooSoonError(f"expected at most {most} logins of one address to fail in a minute", wait_ms)

    async def turn_away(self, stream: trio.SocketStream, why: Refusal) -> None:
        """Tell a connection why it may not come in; if connections are encrypted, only whether it may come later."""
        if self._is_tls:
            # An alert of seven bytes in clear: saying more would cost a handshake (transport.md, "TLS").
            words = SHUT_OUT_ALERT if why.code == Code.BANNED else COME_LATER_ALERT
        else:
            words = self._last_words(why)
        await self.say_last_words(stream, words)

    async def redirect(self, stream: trio.SocketStream, first: int) -> None:
        """Tell a connection that begins with another byte than TLS does how to connect instead."""
        text = f"expected TLS: the addresses of this server begin with {ENCRYPTED}, not {PLAIN}"
        is_frame = first == FRAME_BYTE
        words = (
            self._last_words(refusal(Code.UNSUPPORTED, text, detail={"tls": True})) if is_frame else _TLS_ONLY
        )
        await self.say_last_words(stream, words)

    async def say_last_words(self, stream: trio.SocketStream, words: bytes) -> None:
        """Send last words to a connection, and give it time to read them, unless too many others are being given that."""
        with (
            trio.move_on_after(LINGER_S),
            suppress(OSError, trio.BrokenResourceError, trio.ClosedResourceError),
        ):
            await stream.socket.send(words)
            if self._lingering < LINGERING:
                self._lingering += 1
                try:
                    await half_close(stream)
                finally:
                    self._lingering -= 1

    def _last_words(self, why: Refusal) -> bytes:
        grease = self._backing.grease
        words = ConnectionEnd(Role.SERVER) if grease is None else ConnectionEnd(Role.SERVER, grease.to_bytes)
        return words.refuse(why)
