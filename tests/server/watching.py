"""Somebody who watches, and checks as they do that the records of every match come in order and without a hole."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from trio.testing import wait_all_tasks_blocked

from truc_protocol.records import Record, next_head
from truc_server.net.outbox import Outbox

if TYPE_CHECKING:
    from server.rawclient import RawClient


class Eye:
    """A watcher on one connection, which may be replaced.

    Attributes:
        seen: of every match, the records by position.
        order: what has come, in order: a tag, with the position of a record.
        states: the table's states.
    """

    def __init__(self, *want: str) -> None:
        self.want = list(want)
        self.seen: dict[bytes, dict[int, Record]] = {}
        self.order: list[str] = []
        self.states: list[str] = []
        self.notes: list[dict] = []
        self.skips = 0
        self.match = b""
        self.next = 0

    async def connect(self, server) -> "Eye":
        self.client: RawClient = await server.connect()
        await self.client.hello(want=self.want)
        assert (await self.client.ask({"t": "login", "name": "Wat"}))["t"] == "welcome"
        return self

    async def watch(self, table: str, **fields) -> dict:
        return await self.ask({"t": "watch", "table": table, **fields})

    async def go_on(self, table: str) -> dict:
        """Watch again, from where this one was."""
        return await self.watch(table, **({"match": self.match, "next": self.next} if self.match else {}))

    async def ask(self, request: dict) -> dict:
        number = await self.client.send(request)
        while True:
            message = await self.client.receive()
            if message.get("re") == number:
                return message
            self.take(message)

    def take(self, message: dict) -> None:
        match message["t"]:
            case "table":
                self.states.append(message["state"])
                self.order.append(message["state"])
            case "setup":
                self.begin(message, 0)
            case "snapshot":
                self.begin(message, message["k"])
                self.check_head(message)
                self.skips += message.get("skipped", False)
            case "record":
                self.add(message)
            case _:
                self.notes.append(message)
                self.order.append(message["t"])

    def begin(self, message: dict, k: int) -> None:
        self.match, self.next = message["match"], k
        self.seen.setdefault(self.match, {})
        self.order.append(message["t"])

    def check_head(self, snapshot: dict) -> None:
        """Check the head of a snapshot, where every record before it is known."""
        seen, head = self.seen[self.match], self.match
        if all(k in seen for k in range(snapshot["k"])):
            for k in range(snapshot["k"]):
                head = next_head(head, seen[k])
            assert snapshot["head"] == head

    def add(self, message: dict) -> None:
        assert (message["match"], message["k"]) == (self.match, self.next)
        record = Record(message["signer"], message["body"], message["sig"])
        assert self.seen[self.match].setdefault(self.next, record) == record
        self.next += 1
        self.order.append("record")

    @property
    def records(self) -> list[int]:
        """The positions that were seen of the newest match."""
        return sorted(self.seen.get(self.match, {}))

    async def until(self, condition: Callable[["Eye"], bool]) -> None:
        while not condition(self):
            self.take(await self.client.receive())

    async def settle(self) -> None:
        """Take everything that has been sent so far."""
        await wait_all_tasks_blocked()
        number = await self.client.send({"t": "tables"})
        while (message := await self.client.receive()).get("re") != number:
            self.take(message)


class Held:
    """Connections to which nothing is written, as if their clients did not read."""

    def __init__(self, monkeypatch) -> None:
        self._ports: set[int] = set()
        self._waiting: dict[int, list[Outbox]] = {}
        flush = Outbox.flush

        def flush_or_hold(outbox, durable) -> bytes:
            port = _peer_port(outbox)
            if port not in self._ports:
                return flush(outbox, durable)
            outbox.is_draining = True
            self._waiting.setdefault(port, []).append(outbox)
            return b""

        monkeypatch.setattr(Outbox, "flush", flush_or_hold)

    def hold(self, follower) -> None:
        """Write nothing to a follower."""
        self._ports.add(_port(follower))

    def leave_no_room(self, follower) -> None:
        """Let what waits for a follower be all that may."""
        for outbox in self._waiting[_port(follower)]:
            outbox.limit = outbox.size

    def release(self, follower) -> None:
        """Write again."""
        self._ports.discard(_port(follower))
        for outbox in self._waiting.pop(_port(follower), []):
            outbox.is_draining = False
            outbox._flusher.touch(outbox)


def _peer_port(outbox: Outbox) -> int:
    try:
        return outbox.wire.getpeername()[1]
    except OSError:
        return 0  # the connection has ended


def _port(follower) -> int:
    return follower.client.stream.socket.getsockname()[1]
