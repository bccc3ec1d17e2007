"""How late the event loop is: a task that asks to be woken at fixed moments, and notes how long after them it was.

While anything holds the loop up no frame is read or sent, so every act waits at least that long.
"""

from typing import Final

import trio

from truc_server.operation.figures import Spread

EVERY_S: Final = 0.25


async def watch(late_s: Spread) -> None:
    """Note how late the loop is, again and again."""
    moment = trio.current_time()
    while True:
        moment += EVERY_S
        await trio.sleep_until(moment)
        now = trio.current_time()
        late_s.add(now - moment)
        moment = max(moment, now)
