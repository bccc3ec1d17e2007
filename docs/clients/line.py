"""A connection to a server: frames, signs of life, the goodbye; and how one comes back after it is lost.

What is said over it is not here. A line that is lost, for whatever reason, is a `LostError`.
"""

import itertools
import socket
import sys
import time
from urllib.parse import urlsplit

import msgpack

MOST_FAILURES = 20  # connections in a row that brought nothing new
FRAME_LIMIT = 65536  # until the server has said its own


class LostError(Exception):
    """The connection is over; `goodbye` is what the server said of it, if it did."""

    def __init__(self, why: str, goodbye: dict | None = None):
        super().__init__(why)
        self.goodbye = goodbye or {}


def place_of(first: str = "", port: str = "", table: str | None = None) -> tuple[str, int, str | None]:
    """Return host, port and table of truc://HOST:PORT/TABLE#FINGERPRINT, or of HOST PORT [TABLE]."""
    if not first.startswith("truc://"):
        return first, int(port) if port.isdigit() else sys.exit("expected HOST PORT [TABLE]"), table
    link = urlsplit(first)
    return link.hostname, link.port or 7373, link.path.strip("/") or None


class Line:
    def __init__(self, host: str, port: int):
        try:
            self.socket = socket.create_connection((host, port), timeout=10)
        except OSError as error:
            raise LostError(str(error)) from error
        self.file, self.longest, self.ids = self.socket.makefile("rb"), FRAME_LIMIT, itertools.count()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        self.socket.close()

    def obey(self, limits: dict):
        self.longest = limits["frame_out"]
        self.socket.settimeout(1.5 * limits["idle_s"])  # the server asks for a sign of life before that

    def send(self, kind: str, **fields):
        frame = msgpack.packb({"t": kind, **fields})
        try:
            self.socket.sendall(len(frame).to_bytes(4, "big") + frame)
        except OSError as error:
            raise LostError(str(error)) from error

    def ask(self, kind: str, **fields) -> int:
        """Send a request; returns the number that its reply has in `re`."""
        number = next(self.ids)
        self.send(kind, id=number, **fields)
        return number

    def receive(self) -> dict:
        """Return the next message that is no ping."""
        while True:
            message = self.read()
            match message:
                case {"t": "ping", "n": n}:
                    self.send("pong", n=n)
                case {"t": "bye", "code": code, "msg": text}:
                    raise LostError(f"{code}: {text}", message)
                case {"t": str()}:
                    return message

    def read(self):
        try:
            length = int.from_bytes(self.file.read(4), "big")
            frame = self.file.read(length) if 0 < length <= self.longest else b""
            if not frame or len(frame) < length:
                raise LostError("the server hung up, or sent what is no frame")
            return msgpack.unpackb(frame)
        except (OSError, ValueError) as error:
            raise LostError(str(error)) from error


def come_back(client) -> str:
    """Visit the server until a visit has a result; whatever brings something new sets `failures` to 0."""
    while True:
        try:
            with Line(client.host, client.port) as line:
                return client.visit(line)
        except LostError as lost:
            time.sleep(pause_after(lost, client) / 1000)


def pause_after(lost: LostError, client) -> int:
    client.failures += 1
    if "to" in lost.goodbye:
        client.host, client.port, _ = place_of(f"truc://{lost.goodbye['to']}")
    elif not lost.goodbye.get("retryable", True) or client.failures > MOST_FAILURES:
        sys.exit(f"no way to the server: {lost}")
    return max(lost.goodbye.get("reconnect_after_ms", 0), min(50 * 2**client.failures, 2000))
