"""The clients of docs/clients as processes, a bot of ours to play against, and a line between that loses connections."""

import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from client.running import Process

from truc_client import parse_address
from truc_protocol.audit import verify
from truc_protocol.wire.transport import scheme

CLIENTS = Path(__file__).parents[2] / "docs" / "clients"
NODE = shutil.which("node") or "node"
PATIENCE_S = 60


def node_version() -> int:
    if shutil.which("node") is None:
        return 0
    version = subprocess.run([NODE, "--version"], capture_output=True, text=True, check=True).stdout
    return int(version.removeprefix("v").split(".")[0])


def in_node(script: str, *arguments: str, given: str = "") -> str:
    """Return what a module of JavaScript prints."""
    command = [NODE, "--input-type=module", "-e", script, *arguments]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout


def node(program: Path | str, *arguments: object, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run a program to its end."""
    command = [NODE, str(program), *map(str, arguments)]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False)


needs_node = pytest.mark.skipif(node_version() < 18, reason="node 18 or later is not installed")
needs_jdk = pytest.mark.skipif(shutil.which("javac") is None, reason="no JDK is installed: there is no javac")
GUEST_PY = (sys.executable, str(CLIENTS / "guest.py"))
GUEST_JS = (NODE, str(CLIENTS / "guest.mjs"))
KEYED_JS = (NODE, str(CLIENTS / "keyed.mjs"))
GUESTS = [pytest.param(GUEST_JS, marks=needs_node, id="javascript"), pytest.param(GUEST_PY, id="python")]
JAVA = ("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
JAVAC = ("javac", "-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC")
"""A machine that is soon up: these programs end before the best code would pay."""
KEYED = [
    pytest.param(KEYED_JS, marks=needs_node, id="javascript"),
    pytest.param("keyed_java", marks=needs_jdk, id="java"),  # the fixture that compiles it
]


class Place(NamedTuple):
    """A table of a server, as a link names it."""

    port: int
    table: str
    fingerprint: str
    is_tls: bool = False

    def by(self, port: int) -> "Place":
        """Return the same table by way of another port."""
        return self._replace(port=port)

    def __str__(self) -> str:
        return f"{scheme(is_tls=self.is_tls)}127.0.0.1:{self.port}/{self.table}#{self.fingerprint}"


def keyed(home: Path, client: tuple[str, ...] = KEYED_JS) -> tuple[str, ...]:
    """Return the command of a player with a key that keeps its things in a folder."""
    return (*client, "--keep", str(home / "keep.json"), "--out", str(home / "match.truc"))


def result_of(home: Path) -> str:
    """Return what a verifier says of the transcript that a player with a key has left."""
    return str(verify((home / "match.truc").read_bytes()).result)


def start(command: Iterable[str], place: Place) -> subprocess.Popen[str]:
    return subprocess.Popen([*command, str(place)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Told(NamedTuple):
    """How a program ended: its exit code, its last line, and what it said of errors."""

    code: int
    last: str
    errors: str


def told(process: subprocess.Popen[str]) -> Told:
    """Wait for a program to end."""
    output, errors = process.communicate(timeout=PATIENCE_S)
    return Told(process.returncode, (output.splitlines() or [""])[-1], errors)


@contextmanager
def bot(
    server, home: Path, game: str, *options: str, seats: int | None = None
) -> Iterator[tuple[Place, subprocess.Popen[str]]]:
    """Open a table with a bot at it, which plays one match."""
    words = [] if seats is None else ["--seats", str(seats)]
    words += [word for option in options for word in ("--option", option)]
    with Process(home, "bot", server.url, "--create", game, *words) as opponent:
        link = parse_address(opponent.line().split()[1])
        yield Place(link.port, link.table, link.fingerprint, link.is_tls), opponent.process


class Relay:
    """A way to a server that ends each connection after so many bytes, in turn; when none is left they last.

    The bytes of both directions count. `cut` is called at each end, before the connection goes. To the client they come in
    pieces of `size` bytes, if it is given.
    """

    def __init__(self, port: int, lasts: Iterable[int], *, size: int | None = None) -> None:
        self._target = port
        self._lasts = iter(lasts)
        self._size = size
        self.cut: Callable[[], object] = lambda: None
        self.cuts = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            server = socket.create_connection(("127.0.0.1", self._target))
            _Pair(self, client, server, next(self._lasts, None)).start()

    def ended(self) -> None:
        self.cuts += 1
        self.cut()

    def pieces(self, received: bytes) -> Iterator[bytes]:
        size = self._size or len(received)
        return (received[at : at + size] for at in range(0, len(received), size))


class _Pair:
    """One connection on both sides of a relay."""

    def __init__(self, relay: Relay, client: socket.socket, server: socket.socket, left: int | None) -> None:
        self._relay, self._client, self._server, self._left = relay, client, server, left
        self._lock = threading.Lock()

    def start(self) -> None:
        for way in ((self._client, self._server), (self._server, self._client)):
            threading.Thread(target=self._carry, args=way, daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while self._left != 0 and (received := source.recv(65536)):
                for piece in self._relay.pieces(received) if target is self._client else [received]:
                    passes, is_last = self._passes(piece)
                    target.sendall(passes)
                    if is_last:
                        self._relay.ended()
        self._end()

    def _passes(self, piece: bytes) -> tuple[bytes, bool]:
        """Return as much of a piece as may still pass, and whether nothing will after it; for one way only."""
        with self._lock:
            passes = piece[: self._left]
            self._left = None if self._left is None else self._left - len(passes)
            return passes, self._left == 0 and bool(passes)

    def _end(self) -> None:
        for end in (self._client, self._server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@contextmanager
def relay(
    place: Place, lasts: Iterable[int] = (), *, size: int | None = None
) -> Iterator[tuple[Relay, Place]]:
    """Put a relay before a server."""
    opened = Relay(place.port, lasts, size=size)
    try:
        yield opened, place.by(opened.port)
    finally:
        opened.close()
