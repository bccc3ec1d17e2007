"""The bots that the server starts itself: `tables.bots` of them.

Each is a process of `truc bot`, a client over loopback like any other, with a home of its own in the data folder. Its key
is made here, so that the server knows whom to call and to admit before the bot comes. Invariants: no bot outlives the
server: it is told to end, and ends by itself when its standard input does, as after a kill; of the server's environment
it is handed nothing that may hold a secret.
"""

import os
import subprocess
import sys
from pathlib import Path
from secrets import randbelow, token_bytes
from typing import Final

import structlog
import trio

from truc_commands.files import MAX_TEXT, read_beginning
from truc_protocol.crypto.keys import KEY_BYTES, fingerprint, player_seed, signing_key_from_seed
from truc_protocol.wire.handshake import MAX_ROLLS
from truc_protocol.wire.transport import scheme
from truc_server.identity.identity import Identity
from truc_server.net.peer import LoggedInPlayer
from truc_server.parts import ServerParts
from truc_server.settings.folder import Folder, write_private
from truc_server.storage import PlayerKind
from truc_server.table_data.codes import without_invites

_LOOK_S: Final = 1.0  # between two looks at how many there should be
_FIRST_S: Final = 1.0  # before a bot that has lasted is restarted; doubled each time one ends sooner
_MOST_S: Final = 300.0
_LASTED_S: Final = 60.0  # a bot that has run for so long has lasted
_GRACE_S: Final = 5.0  # for a bot that is told to end
_AWAY: Final = 3  # times `limits.idle_s`: a bot that has been without a connection for that long hangs
_LINE: Final = 500  # characters of what a bot says that the log has
_NICENESS: Final = 10  # what a bot takes to think must not keep players waiting
_KEPT_BACK: Final = ("TRUC_", "PG", "NOTIFY_", "WATCHDOG_")  # variables that concern the server alone
_SEEDS: Final = 1 << 31

log = structlog.get_logger()


class OwnBots:
    """The bots of one server, which is reached at `place` from this machine; as a node, it has bots of its own.

    Attributes:
        ends: cancelled to end all of them.
    """

    def __init__(self, parts: ServerParts, folder: Folder, place: str) -> None:
        self.ends = trio.CancelScope()
        self._settings = parts.settings
        self._lobby = parts.lobby
        self._first = first_key(parts.identity)
        self._root = folder.house_bots / fingerprint(self._first)
        self._address = f"{scheme(is_tls=parts.settings.now.listen.tls)}{place}#{fingerprint(self._first)}"
        self._running: dict[int, trio.CancelScope] = {}
        self._players: dict[int, LoggedInPlayer] = {}

    async def run(self) -> None:
        """Keep as many bots running as the settings say, until cancelled; none where everybody is sent elsewhere."""
        if self._settings.now.access.moved_to:
            return
        with self.ends:
            async with trio.open_nursery() as nursery:
                while True:
                    self._adjust(nursery)
                    await trio.sleep(_LOOK_S)

    def _adjust(self, nursery: trio.Nursery) -> None:
        """Start those that are missing, and end those that are too many as soon as they have no seat."""
        self._renew_calls()
        for number in range(1, self._settings.now.tables.bots + 1):
            if number not in self._running:
                self._running[number] = trio.CancelScope()
                nursery.start_soon(self._keep_running, number)
        for number, scope in self._running.items():
            player = self._players.get(number)
            # its seats are kept to their end (hosting/admin.md, "Reloading settings")
            if number > self._settings.now.tables.bots and not (player and self._has_seat(player)):
                scope.cancel()

    def _has_seat(self, player: LoggedInPlayer) -> bool:
        """Tell whether a bot has a seat, here or, as it is called there too, at another node."""
        return self._lobby.has_seat(player) or self._lobby.others.tables.count_seats(player.id) > 0

    def _renew_calls(self) -> None:
        wanted = self._settings.now.tables.bots
        before = self._lobby.bot_calls.started
        self._lobby.bot_calls.started = [
            player.tag for number, player in self._players.items() if number <= wanted
        ]
        # nodes call each other's bots to their tables, and so have to know which players are bots
        if self._lobby.bot_calls.started != before:
            for player in self._players.values():
                self._lobby.others.untold.note_player(player)

    async def _keep_running(self, number: int) -> None:
        """Restart a bot whenever it ends; the sooner it ended, the longer the wait."""
        node = self._settings.now.cluster.node
        name, pause = f"{node}-bot-{number}" if node else f"bot-{number}", _FIRST_S
        with self._running[number]:
            while True:
                began = trio.current_time()
                try:
                    reason = await self._run_once(number, name)
                except OSError as error:  # no room for its key, or for one more process
                    reason = error.strerror or str(error)
                pause = _FIRST_S if trio.current_time() - began > _LASTED_S else min(2 * pause, _MOST_S)
                log.warning("bot_ended", bot=name, reason=reason, again_s=pause)
                await trio.sleep(pause)
        del self._running[number]
        self._players.pop(number, None)

    async def _run_once(self, number: int, name: str) -> str:
        """Run a bot to its end, and return why it has ended."""
        home = self._root / "bots" / name
        # known before it comes, so that a closed server lets it in
        public = await trio.to_thread.run_sync(_key, home, self._first)
        self._players[number] = LoggedInPlayer(PlayerKind.KEY, public, name)
        self._renew_calls()
        process = await trio.lowlevel.open_process(
            self._command(name),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=_environment(self._root),
            start_new_session=True,  # Ctrl-C is for the server, which tells its bots
        )
        try:
            os.setpriority(os.PRIO_PROCESS, process.pid, _NICENESS)
            log.info("bot_started", bot=name, tag=fingerprint(public), pid=process.pid)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._watch, process, name, fingerprint(public))
                try:
                    await _hear(process, name)
                except trio.Cancelled:
                    log.info("bot_stopped", bot=name)
                    raise
                nursery.cancel_scope.cancel()
            return f"exit status {await process.wait()}"
        finally:
            await _end(process)

    async def _watch(self, process: trio.Process, name: str, tag: str) -> None:
        """Kill a bot that hangs: one that answers nothing has lost its connection, and does not come back."""
        seen = trio.current_time()
        while trio.current_time() - seen < _AWAY * self._settings.now.limits.idle_s:
            await trio.sleep(_LOOK_S)
            # a bot that hangs answers no ping, and loses its connection by that
            if self._lobby.is_online(tag):
                seen = trio.current_time()
        log.warning("bot_hangs", bot=name, pid=process.pid)
        process.kill()

    def _command(self, name: str) -> list[str]:
        seed = str(randbelow(_SEEDS))
        how = ["--house", "--of-server", "--style", "sharp", "--seed", seed, "--name", name, "--lang", "en"]
        # -P: no module of the working directory is taken for one of ours
        return [sys.executable, "-P", "-m", "truc_terminal", "bot", self._address, *how]


def first_key(identity: Identity) -> bytes:
    """Return the oldest key from which clients that come for the first time can follow the server's changes of key."""
    rotations = identity.rotations[-MAX_ROLLS:]
    return rotations[0].change.old if rotations else identity.key.public


def _key(home: Path, first: bytes) -> bytes:
    """Return the public key of the bot with this home, made at its first start as `truc` itself would; blocks."""
    seed = home / "master.seed"
    if not seed.exists():
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(seed, token_bytes(KEY_BYTES))
    return signing_key_from_seed(player_seed(read_beginning(seed, MAX_TEXT), first)).public


def _environment(root: Path) -> dict[str, str]:
    passed = {name: value for name, value in os.environ.items() if not name.startswith(_KEPT_BACK)}
    return {**passed, "TRUC_HOME": str(root)}


async def _hear(process: trio.Process, name: str) -> None:
    """Log what a bot says, line by line, until it says no more."""
    if process.stdout is None:  # it was asked for, but that is more than the type says
        return
    rest = b""
    async for chunk in process.stdout:
        *lines, rest = (rest + chunk).split(b"\n")
        # a line without an end takes no more memory than the log has of it
        rest = rest[:_LINE]
        for line in lines:
            said = without_invites(line.decode("utf-8", "replace"))[:_LINE]
            log.info("bot_says", bot=name, text=said)


async def _end(process: trio.Process) -> None:
    """End a process, unless it has ended, and close its streams."""
    with trio.CancelScope(shield=True):
        if process.poll() is None:
            process.terminate()
            with trio.move_on_after(_GRACE_S):
                await process.wait()
        if process.poll() is None:
            process.kill()
            await process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                await stream.aclose()
