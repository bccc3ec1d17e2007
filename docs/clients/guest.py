"""A guest of a Truc server, all in one file: plays a match of any game at random, and says how it ended.

python guest.py truc://HOST:PORT/TABLE    or    python guest.py HOST PORT [TABLE]
"""

import secrets
import socket
import sys
import time
from urllib.parse import urlsplit

import msgpack

NEW_TABLE = {"variant": "truc-french", "options": {"guests": 2, "match": 1}}
MOST_FAILURES, MOST_MOVES, MOST_S = 20, 3, 120  # in a row without anything new: connections, moves; a wait


class Guest:
    def __init__(self, link: str):
        self.server, self.ids, self.longest = urlsplit(link), iter(range(2**32)), 65536
        self.table, self.token, self.failures, self.moves = self.server.path.strip("/") or None, None, 0, 0
        self.match, self.next, self.chosen = None, 0, None  # how far it has come; the newest choice

    def play(self):
        """Come back, after growing pauses, until the match is over."""
        while self.failures < MOST_FAILURES:
            try:
                line = socket.create_connection((self.server.hostname, self.server.port or 7373), timeout=10)
                with line as self.socket, line.makefile("rb") as self.file:
                    self.visit()
            except (OSError, ValueError, LookupError, AttributeError) as fault:  # lost, or no message
                self.failures, why = self.failures + 1, fault
                pause = min(0.05 * 2**self.failures, 2) * (50 + secrets.randbelow(100)) / 100
                time.sleep(pause)  # not to hammer a server that is away, nor all at the same moment
        sys.exit(f"no way to the server: {why}")

    def visit(self):
        """One connection, from hello on."""
        hello = self.ask("hello", proto=[1], cn=secrets.token_bytes(32))  # it is signed; a guest believes it
        if msgpack.unpackb(hello["body"])[4] != 1:
            sys.exit("the server has chosen a protocol that was not offered")
        info = msgpack.unpackb(hello["info"])
        self.longest = info["limits"]["frame_out"]
        self.socket.settimeout(1.5 * info["limits"]["idle_s"])  # before that the server pings
        welcome = self.ask("login", **({"token": self.token} if self.token else {"name": "guest"}))
        self.token = welcome.get("token", self.token)
        held = next((seat for seat in welcome.get("seats", ()) if self.table in (None, seat["table"])), {})
        self.table, self.is_back = held.get("table", self.table), bool(held)
        if held.get("match", self.match) != self.match:
            self.match, self.next = held["match"], 0
        if not (self.match and "k" in self.ask("resume", table=self.table, match=self.match, next=self.next)):
            find = "seek" if "seek" in info["caps"] else "create"
            reply = self.ask("join", table=self.table) if self.table else self.ask(find, **NEW_TABLE)
            self.table = reply.get("table", self.table)
            print("table", self.table, flush=True)
            self.ask("ready", table=self.table)
        while True:
            self.take(self.receive())

    def ask(self, kind: str, **fields) -> dict:
        """Return the reply; what comes before it is taken as it comes."""
        self.send(kind, id=(number := next(self.ids)), **fields)
        while (reply := self.receive()).get("re") != number or reply.get("close"):  # then bye follows
            self.take(reply)
        if "retry_after_ms" in reply:
            time.sleep(min(reply["retry_after_ms"] / 1000, MOST_S))  # what the server asks, within reason
            return self.ask(kind, **fields)
        if reply["t"] == "error" and kind != "ready" and reply["code"] != "no_such_match":
            sys.exit(reply["msg"])
        return reply

    def take(self, message: dict):
        """React to a message; what is new, or of another table, changes nothing."""
        match message:
            case {"t": "ping", "n": n}:
                self.send("pong", n=n)
            case {"t": "bye", "code": code, "msg": why}:
                time.sleep(min(message.get("reconnect_after_ms", 0) / 1000, MOST_S))  # the same
                self.moves += "to" in message
                self.server = urlsplit(f"truc://{message['to']}") if "to" in message else self.server
                self.token = None if code == "bad_token" else self.token  # good once its guest has sat down
                comes_back = self.moves <= MOST_MOVES and (message["retryable"] or code == "bad_token")
                raise ConnectionError(why) if comes_back else SystemExit(why)
            case {"table": table} if table != self.table:
                pass
            case {"t": "seat_taken_over" | "closed" as why} | {"t": "error", "code": "seat_gone" as why}:
                sys.exit(f"table {self.table}: {why}")
            case {"t": "setup", "match": match}:
                self.match, self.next = match, 0
            case {"t": "table", "state": "playing", "match": match} if self.is_back and match != self.match:
                raise ConnectionError("it began before this connection: what is missing comes after `resume`")
            case {"t": "record", "match": match, "k": k} if match != self.match or k > self.next:
                raise ConnectionError("records were left out: they come after `resume`")
            case {"t": "record", "k": self.next, "means": facts}:
                self.next, self.failures, self.moves = self.next + 1, 0, 0
                for end in (fact for fact in facts if fact["what"] == "match_ended"):
                    print(f"{end['reason']} by side {end['winner']}")
                    sys.exit()
            case {"t": "options", "match": match, "at": self.next as k, "list": options}:
                if message["must"] or any("waits" in option["hints"] for option in options):
                    keys = [option["key"] for option in options if option["kind"] != "concede"] or ["concede"]
                    # All are legal. For the same position it stays the same, also over a new connection.
                    if self.chosen not in [(match, k, key) for key in keys]:
                        self.chosen = match, k, secrets.choice(keys)
                    self.send("act", id=next(self.ids), table=table, match=match, at=k, choose=self.chosen[2])

    def send(self, kind: str, **fields):
        frame = msgpack.packb({"t": kind, **fields})
        self.socket.sendall(len(frame).to_bytes(4, "big") + frame)

    def receive(self) -> dict:
        length = int.from_bytes(self.file.read(4), "big")
        frame = self.file.read(length) if length <= self.longest else b""
        if not frame or len(frame) < length:
            raise ConnectionError("the server hung up, or sent what is no frame")
        return msgpack.unpackb(frame)


address = sys.argv[1:] or sys.exit(__doc__)
Guest(address[0] if len(address) == 1 else "truc://{}:{}/{}".format(*address, "")).play()
