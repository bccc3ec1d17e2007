"""What `truc web` would run for a page, over a line on which a server's words are changed after it has signed its hello."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import trio
from client.serving import RealServer
from conform.altering import altered

from truc_client.connecting import meet
from truc_client.home.account import Player
from truc_client.home.home import open_home
from truc_terminal.web_carrier import WebCarrier
from truc_web.tree import read_tree

Change = Callable[[dict[str, Any]], list[dict[str, Any]]]
"""Says what the page is told in the place of a message."""
SIGNED = ("hello", "welcome")
"""What the page answers by its hash, or puts into a record of its own."""
LOST = trio.BrokenResourceError
"""What a change raises to lose the connection instead."""


@contextmanager
def bent_line(server: RealServer, home: Path, change: Change, *, gathered_s: float = 0) -> Iterator[str]:
    """Run it in a thread; returns the link that opens the page.

    What the page says within `gathered_s` comes to the server at once.
    """
    ready, found = threading.Event(), {}

    def alter(message: dict[str, Any], asked: object) -> list[dict[str, Any]]:
        return [message] if message["t"] in SIGNED else change(message)

    async def run() -> None:
        met = await meet(server.address, Player(open_home(home), "north"))
        async with (
            altered(met.address.port, alter, gathered_s=gathered_s) as port,
            trio.open_nursery() as tasks,
        ):
            (page,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
            bent = met._replace(address=met.address._replace(port=port))
            origin = f"http://localhost:{page.socket.getsockname()[1]}"
            carrier = WebCarrier(bent, origin, read_tree(), "/", lambda: None)
            tasks.start_soon(trio.serve_listeners, carrier.serve, [page])
            found.update(
                link=carrier.link, scope=tasks.cancel_scope, token=trio.lowlevel.current_trio_token()
            )
            ready.set()

    running = threading.Thread(target=trio.run, args=(run,))
    running.start()
    assert ready.wait(30)
    try:
        yield found["link"]
    finally:
        trio.from_thread.run_sync(found["scope"].cancel, trio_token=found["token"])
        running.join()
