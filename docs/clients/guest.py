"""A guest of a Truc server: plays one match of whatever game at random, and says how it ended.

python guest.py truc://HOST:PORT/TABLE    or    python guest.py HOST PORT [TABLE]
"""

import os
import random
import sys
import time

import msgpack
from line import Line, LostError, come_back, place_of

NEW_TABLE = {"variant": "truc-french", "options": {"guests": 2, "match": 1}}


class Guest:
    def __init__(self, host: str, port: int, table: str | None):
        self.host, self.port, self.table, self.token = host, port, table, None
        self.match, self.next, self.chosen = None, 0, (None, "")  # how far it has come; the newest choice
        self.ended, self.failures = None, 0

    def visit(self, line: Line) -> str:
        """One connection, from hello to its end; returns how the match has ended."""
        self.line, self.is_back, self.is_behind = line, False, False
        hello = self.ask("hello", proto=[1], cn=os.urandom(32))  # it is signed; a guest believes it
        if msgpack.unpackb(hello["body"])[4] != 1:
            sys.exit("the server has chosen a protocol that was not offered")
        info = msgpack.unpackb(hello["info"])
        line.obey(info["limits"])
        self.log_in()
        if not self.is_behind:
            self.sit_down("seek" if "seek" in info["caps"] else "create")
        while not self.ended:
            if self.is_behind:
                self.catch_up()
            else:
                self.take(line.receive())
        return self.ended

    def ask(self, kind: str, **fields) -> dict:
        """Return the reply; what comes before it is taken as it comes."""
        number = self.line.ask(kind, **fields)
        while (reply := self.line.receive()).get("re") != number:
            self.take(reply)
        while reply.get("close") and reply["code"] != "bad_token":
            self.line.receive()  # bye follows, and ends this
        if "retry_after_ms" not in reply:
            return reply
        time.sleep(reply["retry_after_ms"] / 1000)
        return self.ask(kind, **fields)

    def log_in(self):
        reply = self.ask("login", **({"token": self.token} if self.token else {"name": "guest"}))
        if reply["t"] == "error":
            self.token = None  # it is good only once its guest has sat down
            raise LostError(reply["msg"])
        self.token = reply.get("token", self.token)
        held = [seat for seat in reply.get("seats", ()) if self.table in (seat["table"], None)]
        for seat in held[:1]:
            self.table, self.is_back = seat["table"], True
            self.know(seat.get("match") or self.match)
        self.is_behind = self.match is not None

    def sit_down(self, find: str = "create"):
        reply = self.ask("join", table=self.table) if self.table else self.ask(find, **NEW_TABLE)
        if reply["t"] == "error":
            sys.exit(reply["msg"])
        self.table = reply.get("table", self.table)
        print("table", self.table, flush=True)
        self.ask("ready", table=self.table)

    def catch_up(self):
        """Have the records sent that are missing."""
        reply = self.ask("resume", table=self.table, match=self.match, next=self.next)
        self.is_behind = False
        if reply.get("code") == "no_such_match":
            self.match = self.sit_down()
        elif reply["t"] == "error":
            sys.exit(reply["msg"])
        elif reply["k"] > self.next:
            raise LostError("records are missing")

    def take(self, message: dict):
        """React to a message; what is new, or of another table, changes nothing."""
        match message:
            case {"table": table} if table != self.table:
                pass
            case {"t": "seat_taken_over" | "closed" as why} | {"t": "error", "code": "seat_gone" as why}:
                sys.exit(f"table {self.table}: {why}")
            case {"t": "setup", "match": match}:
                self.know(match)
            case {"t": "table", "state": "playing", "match": match} if self.is_back and match != self.match:
                self.is_next(match, sys.maxsize)
            case {"t": "options", "match": match, "at": at, "list": options} if self.is_next(match, at):
                if message["must"] or any("waits" in option["hints"] for option in options):
                    self.act(at, [option["key"] for option in options if option["kind"] != "concede"])
            case {"t": "record", "match": match, "k": k} if self.is_next(match, k):
                self.next, self.failures = k + 1, 0
                ends = [fact for fact in message["means"] if fact["what"] == "match_ended"]
                self.ended = f"{ends[0]['reason']} by side {ends[0]['winner']}" if ends else None

    def know(self, match: bytes | None):
        if match != self.match:
            self.match, self.next, self.chosen = match, 0, (None, "")

    def is_next(self, match: bytes, k: int) -> bool:
        """Whether this is the next position; a later one, or another match, shows that records are missing."""
        self.is_behind = self.is_behind or match != self.match or k > self.next
        self.know(match)
        return k == self.next

    def act(self, at: int, keys: list[str]):
        """Choose any, all are legal; for the same position the same again, also over a new connection."""
        if self.chosen[0] != at or self.chosen[1] not in keys:
            self.chosen = at, random.choice(keys or ["concede"])
        self.line.ask("act", table=self.table, match=self.match, at=at, choose=self.chosen[1])


print(come_back(Guest(*place_of(*sys.argv[1:]))))
