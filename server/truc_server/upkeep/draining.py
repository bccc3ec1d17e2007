"""Stopping without cutting a hand off: what is under way may end, and nothing else begins before the next start.

While the server drains, `ServerDrain` keeps new tables, matches, hands and newcomers out; here is how long that
lasts, and what the next start has to know. Invariant: even if that knowledge is lost, every match goes on.
"""

from collections.abc import Mapping
from contextlib import suppress

import msgspec
import structlog
import trio

from truc_commands.files import MAX_OWN, read_bounded
from truc_server.lobby.lobby import Lobby
from truc_server.operation import notify
from truc_server.settings.folder import Folder, write_private
from truc_server.settings.in_force import Control, InForce, ServerDrain
from truc_server.settings.settings import Settings
from truc_server.upkeep.giving import LOOK_S, Giving, is_in_hand

log = structlog.get_logger()


async def drain_when_asked(
    settings: InForce[Settings],
    drain: ServerDrain,
    lobby: Lobby,
    *,
    control: Control,
    stop: trio.Event,
    giving: Giving | None = None,
) -> None:
    """Wait until a drain is asked for; stop the server when every hand is over, or after tables.drain_s.

    A node gives its tables away first, if there is another one.
    """
    await control.drain.wait()
    seconds = settings.now.tables.drain_s
    drain.by = trio.current_time() + seconds
    lobby.tell_draining()
    log.info("draining", under_way=hands_under_way(lobby), seconds=seconds)
    notify.tell(notify.STOPPING, status="draining: hands under way end")
    with trio.move_on_after(seconds):
        while True:
            leaving = 0 if giving is None else await giving.give_all()
            if not (leaving or hands_under_way(lobby)):
                break
            await trio.sleep(LOOK_S)
    log.info("drained", under_way=hands_under_way(lobby))
    if control.together is not None:
        await control.together.wait()
    stop.set()


def hands_under_way(lobby: Lobby) -> int:
    """Return how many hands are called or dealt and being played: not in a pause, nor with no seat connected."""
    return sum(map(is_in_hand, lobby.tables()))


def unasked(lobby: Lobby) -> dict[bytes, int]:
    """Return the matches whose next call is due and for which nobody has asked for time first, each with its position."""
    games = (table.game for table in lobby.tables())
    return {game.mid: game.ledger.k for game in games if game is not None and game.waits.is_unasked}


def keep(folder: Folder, positions: Mapping[bytes, int]) -> None:
    """Write down for the next start which matches nobody holds back; blocks.

    If that fails, they are held back for as long as if somebody wanted a new chain: nothing else is lost.
    """
    named = {mid.hex(): k for mid, k in positions.items()}
    try:
        write_private(folder.unasked, msgspec.json.encode(named))
    except OSError as error:
        log.warning("drained_unnoted", reason=error.strerror)


def recall(folder: Folder) -> dict[bytes, int]:
    """Return what the previous server wrote down, once; blocks."""
    try:
        named = msgspec.json.decode(read_bounded(folder.unasked, MAX_OWN), type=dict[str, int])
        found = {bytes.fromhex(mid): k for mid, k in named.items()}
    except (OSError, ValueError, msgspec.MsgspecError):
        found = {}
    with suppress(OSError):
        folder.unasked.unlink(missing_ok=True)
    return found
