"""How fast the store is read for one address, the lobby told to it and searched: page by page, and who wants many waits.

What a page costs the server is a hundred times what it costs to ask for it, and whoever likes may ask on many connections.
Nobody is refused: the answer takes longer, and nothing else of that connection is handled meanwhile. Invariant: the pages of
one address leave others the rest of the server's time.
"""

from typing import Final

import trio

from truc_server.connections.meters import Meter
from truc_server.host.settings import Limits

_MINUTE_S: Final = 60
BURST: Final = 10  # pages at once, for each connection that an address may have; then one a second for each


class Pace:
    """The pages that every address was given of late."""

    def __init__(self, limits: Limits) -> None:
        connections = limits.connections_per_address
        self._pages = Meter[str](_MINUTE_S * connections, burst=BURST * connections)

    async def wait_page(self, network: str) -> None:
        """Wait until an address may have one page more."""
        now = trio.current_time()
        while wait_ms := self._pages.pay(network, now):
            await trio.sleep(wait_ms / 1000)
            now = trio.current_time()
