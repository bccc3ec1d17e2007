"""Admission: how many connections there may be, how fast they may come, and how often a login may fail.

Newcomers are told apart by the network they come from (timing/rate_limits.py), as nothing else is known of them yet; who has very many
networks, as everybody may have with IPv6, still has one site, and a site has a share of the connections only. Turning one away
costs one small write: no outbox, no timer, no player. A player whose key or token is right is let in however many logins
from their network have failed: a network is shared, and nobody is to lock the others out. What is shown at a login cannot
be guessed, and checking it costs no more than the connection did. Invariant: a connection that was let in is counted
until it leaves.
"""

from contextlib import suppress
from typing import Final, Literal

import trio
from msgspec.structs import replace

from truc_protocol.errors import Code
from truc_protocol.messages import Refusal, refusal
from truc_protocol.wire.connection import Connection, Role
from truc_protocol.wire.transport import COME_LATER, ENCRYPTED, FRAME_BYTE, PLAIN, SHUT_OUT
from truc_server.net.listening import read_out
from truc_server.net.peer import LINGER_S, Surroundings, TooSoonError
from truc_server.settings.settings import LimitSettings
from truc_server.timing.rate_limits import Meter, site_of

_SITES: Final = 10  # that it takes to fill the server
_TWICE: Final = 2  # the connections of an address may all be lost, and come back, at once
_LINGERING: Final = 256  # at most, who were turned away and have time to read why
_TLS_ONLY: Final = (
    f"This port speaks the Truc protocol over TLS ({ENCRYPTED}), and nothing else.\r\n".encode()
)
_FAILURES: Final = frozenset({Code.BAD_SIGNATURE, Code.BAD_TOKEN, Code.KEY_NOT_ALLOWED, Code.BANNED})

Reason = Literal["banned", "full", "address", "site", "pace"]
"""Why a connection is turned away: its address is shut out, the server is full, its address or site has too many, or they come too fast."""


class Admission:
    """Who may come in, by address."""

    def __init__(self, house: Surroundings) -> None:
        self._house = house
        self._is_tls = house.settings.now.listen.tls
        self._networks: dict[str, int] = {}  # Counter would do; it is written in Python, and slower
        self._sites: dict[str, int] = {}
        self._inside = 0
        self._lingering = 0
        self.renew(house.settings.now.limits)

    def renew(self, limits: LimitSettings) -> None:
        """Start counting anew, against these limits, how fast connections come and logins fail."""
        burst = max(limits.connects_per_min, _TWICE * limits.connections_per_address)
        self._connects = Meter[str](limits.connects_per_min, burst=burst)
        self._failures = Meter[str](limits.failed_logins_per_min)

    def enter(self, address: str, network: str, *, counts: bool = True) -> Refusal | None:
        """Count a connection in; if it may not come in, return why. With `counts` off only tell, and count nothing."""
        limits = self._house.settings.now.limits
        if self._house.sanctions.now.has_banned(address):
            why = refusal(Code.BANNED, "the host has shut this address out")
            return self._turned("banned", why, counts=counts)
        if self._inside >= limits.connections:
            message = f"expected at most {limits.connections} connections"
            return self._turned("full", refusal(Code.SERVER_FULL, message), counts=counts)
        site, of_network = site_of(network), self._networks.get(network, 0)
        if of_network >= limits.connections_per_address:
            most = limits.connections_per_address
            message = f"expected at most {most} connections of one address"
            return self._turned("address", refusal(Code.SERVER_FULL, message), counts=counts)
        most = max(limits.connections_per_address, limits.connections // _SITES)
        of_site = self._sites.get(site, 0)
        if of_site >= most:
            message = f"expected at most {most} connections of one site, the first 48 bits of its addresses"
            return self._turned("site", refusal(Code.SERVER_FULL, message), counts=counts)
        pay = self._connects.pay if counts else self._connects.owes
        if wait_ms := pay(network, trio.current_time()):
            message = f"expected at most {limits.connects_per_min} connections of one address in a minute"
            why = replace(refusal(Code.RATE_LIMITED, message), retry_after_ms=wait_ms)
            return self._turned("pace", why, counts=counts)
        if counts:
            self._inside += 1
            self._networks[network] = of_network + 1
            self._sites[site] = of_site + 1
        return None

    def _turned(self, reason: Reason, why: Refusal, *, counts: bool) -> Refusal:
        self._house.figures.turned_away[reason] += counts
        return why

    def leave(self, network: str) -> None:
        """Count a connection out."""
        self._inside -= 1
        for counted, subject in ((self._networks, network), (self._sites, site_of(network))):
            counted[subject] -= 1
            if not counted[subject]:
                del counted[subject]

    def note_refused(self, network: str, code: Code) -> None:
        """Count a login that was refused, if it looks like guessing.

        Raises:
            TooSoonError: Too many from its address have failed before; then this is the answer.
        """
        if code in _FAILURES and (wait_ms := self._failures.pay(network, trio.current_time())):
            most = self._house.settings.now.limits.failed_logins_per_min
            raise TooSoonError(f"expected at most {most} logins of one address to fail in a minute", wait_ms)

    async def turn_away(self, stream: trio.SocketStream, why: Refusal) -> None:
        """Tell a connection why it may not come in; if connections are encrypted, only whether it may come later."""
        if self._is_tls:  # saying more would cost a handshake
            words = SHUT_OUT if why.code == Code.BANNED else COME_LATER
        else:
            words = self._last_words(why)
        await self.part(stream, words)

    async def redirect(self, stream: trio.SocketStream, first: int) -> None:
        """Tell a connection that begins with another byte than TLS does how to connect instead."""
        text = f"expected TLS: the addresses of this server begin with {ENCRYPTED}, not {PLAIN}"
        is_frame = first == FRAME_BYTE
        words = (
            self._last_words(refusal(Code.UNSUPPORTED, text, detail={"tls": True})) if is_frame else _TLS_ONLY
        )
        await self.part(stream, words)

    async def part(self, stream: trio.SocketStream, words: bytes) -> None:
        """Say a last word to a connection, and give it time to read that, unless many others are being given it."""
        with (
            trio.move_on_after(LINGER_S),
            suppress(OSError, trio.BrokenResourceError, trio.ClosedResourceError),
        ):
            await stream.socket.send(words)
            if self._lingering < _LINGERING:
                self._lingering += 1
                try:
                    await read_out(stream)
                finally:
                    self._lingering -= 1

    def _last_words(self, why: Refusal) -> bytes:
        grease = self._house.grease
        words = Connection(Role.SERVER) if grease is None else Connection(Role.SERVER, grease.to_bytes)
        return words.refuse(why)
