"""How fast the store is read, and the lobby sent or searched, for one address: page by page, and whoever wants many waits.

A page costs the server a hundred times what asking for it costs, and anybody may ask on many connections. Nobody is
refused: the answer takes longer, and nothing else of that connection is handled meanwhile. Invariant: the pages of one
address leave others the rest of the server's time.
"""

from typing import Final

import trio

from truc_server.settings.settings import Limits
from truc_server.timing.rate_limits import Meter

_MINUTE_S: Final = 60
BURST: Final = 10  # pages at once, for each connection that an address may have; then one a second for each


class Pace:
    """The pages that every address was given lately."""

    def __init__(self, limits: Limits) -> None:
        connections = limits.connections_per_address
        self._pages = Meter[str](_MINUTE_S * connections, burst=BURST * connections)

    async def wait_page(self, network: str) -> None:
        """Wait until an address may have one more page."""
        now = trio.current_time()
        while wait_ms := self._pages.pay(network, now):
            await trio.sleep(wait_ms / 1000)
            now = trio.current_time()
