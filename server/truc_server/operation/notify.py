"""What a service manager such as systemd is told: that the server is ready, that it is stopping, and that it is alive.

The protocol is that of sd_notify(3): datagrams to the socket that NOTIFY_SOCKET names. Without that variable nobody is
told anything. Sockets of virtual machines (vsock) are not supported. Invariants: nothing here waits, and a manager that
does not listen harms nobody; the sign of life comes from the event loop, so a loop that hangs gives none.
"""

import os
import socket
from collections.abc import Mapping
from typing import Final

import structlog
import trio

READY: Final = "READY=1"
STOPPING: Final = "STOPPING=1"
_ALIVE: Final = "WATCHDOG=1"
# Of life in the time after which the manager takes the server for dead; sd_watchdog_enabled(3) advises two,
# so that with three one may be late.
_SIGNS: Final = 3

log = structlog.get_logger()


def tell(sign: str, *, status: str | None = None) -> None:
    """Tell the service manager, if there is one, what has happened, and in words how the server is now."""
    name = os.environ.get("NOTIFY_SOCKET", "")
    if not name:
        return
    message = sign if status is None else f"{sign}\nSTATUS={status}"
    address = "\0" + name[1:] if name.startswith("@") else name  # an abstract socket, as Linux has them
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as speaker:
            speaker.setblocking(False)
            speaker.sendto(message.encode(), address)
    except OSError as error:
        log.warning("service_manager_not_told", reason=error.strerror or str(error))


async def give_signs_of_life() -> None:
    """Tell the service manager again and again that the event loop is running, if it wants to know."""
    every = watchdog_interval_s(os.environ)
    while every is not None:
        tell(_ALIVE)
        await trio.sleep(every)


def watchdog_interval_s(environment: Mapping[str, str]) -> float | None:
    """Return after how many seconds the next sign of life is due; None if this process owes none."""
    microseconds = environment.get("WATCHDOG_USEC", "")
    # The variables are inherited: they may be meant for the process that started this one.
    if environment.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    if not (microseconds.isascii() and microseconds.isdigit()) or int(microseconds) == 0:
        return None
    return int(microseconds) / 1_000_000 / _SIGNS
