"""A guest that plays or watches one match, and can be told to have one fault: broken_client.py URL [--watch] [--fault NAME]."""

import os
import random
import re
import socket
import sys
import time

import msgpack

FAULT = sys.argv[sys.argv.index("--fault") + 1] if "--fault" in sys.argv else ""
HOST, PORT, TABLE = re.fullmatch(r"truc://(.*):(\d+)/(\w+)#\w+", sys.argv[1]).groups()
IS_WATCHER = "--watch" in sys.argv
LIMIT = 65536
GREETING_S = 10
KNOWN = {
    "hello": {"t", "re", "body", "sig", "info", "rolls"},
    "welcome": {"t", "re", "name", "player", "token", "seats"},
}
NOTICES = {
    *("hello", "welcome", "ok", "error", "bye", "ping", "pong", "table", "closed", "terms", "setup"),
    *("record", "options", "cards", "waiting", "seat_taken_over"),
}


class LostError(Exception):
    """The connection is gone; `again` seconds later it may be opened at `where`."""

    def __init__(self, again=0.0, where=None):
        super().__init__("lost")
        self.again, self.where = again, where


class Client:
    def __init__(self):
        self.where, self.token, self.match, self.next, self.ids = (HOST, int(PORT)), None, None, 0, 0
        self.is_over, self.old, self.held, self.moves = False, None, b"", 0

    def send(self, kind, **fields):
        frame = msgpack.packb({"t": kind, **fields})
        self.held += len(frame).to_bytes(4, "big") + frame
        if FAULT == "one-breath" and kind == "login":
            return
        whole, self.held = self.held, b""
        try:
            self.socket.sendall(whole)
        except OSError:
            raise LostError from None

    def request(self, kind, **fields):
        self.ids += FAULT != "same-id" or self.match is None
        self.send(kind, id=self.ids, **fields)

    def exactly(self, size):
        received = b""
        while len(received) < size:
            try:
                piece = self.socket.recv(65536 if FAULT == "one-frame" else size - len(received))
            except OSError:
                piece = b""
            if not piece:
                raise LostError
            received += piece
            if FAULT == "one-recv":
                break
        return received[:size] if FAULT != "one-frame" else received

    def frame(self):
        if FAULT == "one-frame":
            received = self.exactly(4)
            return received[4 : 4 + int.from_bytes(received[:4], "big")]
        size = int.from_bytes(self.exactly(4), "big")
        while size == 0 and FAULT == "skips-empty":
            size = int.from_bytes(self.exactly(4), "big")
        limit = {"no-limit": 1 << 30, "short": 32768}.get(FAULT, LIMIT)
        if not 0 < size <= limit:
            sys.exit("a frame of a wrong length")
        return self.exactly(size)

    def receive(self):
        while True:
            try:
                message = msgpack.unpackb(self.frame())
            except LostError:
                raise
            except Exception:
                if FAULT == "skips-garbage":
                    continue
                sys.exit("a frame that is no message")
            if message["t"] == "ping":
                self.send("pong", n=message["n"] % 2**32 if FAULT == "short-pong" else message["n"])
            elif message["t"] == "error" and message["close"] and FAULT == "gives-up-early":
                sys.exit(message["code"])
            elif message["t"] == "bye" and FAULT != "deaf-to-bye":
                raise self.lost(message)
            else:
                self.be_strict(message)
                return message

    def lost(self, bye):
        comes_back = (bye["retryable"] and FAULT != "shuns-failures") or FAULT == "deaf-to-hosts"
        if not (comes_back or bye.get("to")):
            sys.exit(bye["code"])
        pause = 0 if FAULT == "comes-at-once" else bye.get("reconnect_after_ms", 0) / 1000
        return LostError(pause, None if FAULT == "ignores-to" else bye.get("to"))

    def be_strict(self, message):
        kind = message["t"]
        if FAULT == "strict-fields":
            assert set(message) <= KNOWN.get(kind, set(message)), "unknown field"
        if FAULT == "strict-notices":
            assert kind in NOTICES, "unknown notice"
        if FAULT == "strict-facts":
            assert all(fact["what"][:2] != "x_" for fact in message.get("means", ())), "unknown fact"
        if FAULT == "strict-codes" and kind == "error":
            assert message["code"] in ("stale_position", "void_bet", "bad_token"), "unknown code"

    def enter(self):
        self.socket = socket.create_connection(self.where)
        self.socket.settimeout(None if FAULT == "patient" else GREETING_S)
        if FAULT == "no-hello":
            self.request("login", name="guest")
        extra = {"x-pad": bytes(3000)} if FAULT == "long-hello" else {}
        nonce = b"\x01" * 31 + b"\x02" if FAULT == "old-nonce" else os.urandom(32)
        self.request("hello", proto=[2] if FAULT == "other-protocol" else [1], cn=nonce, **extra)
        if FAULT == "odd-number":
            self.send("ping", n=1.5)
        if FAULT != "eager-login":
            self.take_hello(self.reply())
        is_known = self.token and not (FAULT == "comes-as-another" and self.moves)
        login = {"token": self.token} if is_known else {"name": "guest"}
        self.request("login", **login)
        if FAULT in ("eager-join", "one-breath"):
            self.request("join", table=TABLE)
        if FAULT == "eager-login":
            self.take_hello(self.reply())
        self.token = self.reply()["token"]
        self.socket.settimeout(None)

    def take_hello(self, hello):
        if FAULT != "any-protocol" and msgpack.unpackb(hello["body"])[4] != 1:
            sys.exit("a protocol that was not offered")
        info = msgpack.unpackb(hello["info"])
        if FAULT == "strict-info":
            assert info["caps"] == {}, "unknown capability"
        if FAULT == "trusts-clocks":
            assert abs(info["now_ms"]) < 3_000_000_000_000, "the clock is wrong"

    def reply(self):
        while (message := self.receive())["t"] not in ("hello", "welcome"):
            pass
        return message

    def begin(self):
        if self.moves and ("resumes-once" if self.match else "asks-once") == FAULT:
            return
        if IS_WATCHER:
            place = {"match": self.match, "next": self.next} if self.match and FAULT != "begins-again" else {}
            self.request("watch", table=TABLE, **place)
        elif self.match:
            self.request("resume", table=TABLE, match=self.match, next=self.next + (FAULT == "resumes-late"))
        else:
            self.request("join", table=TABLE)
            self.request("ready", table=TABLE)

    def run(self):
        while not self.is_over:
            try:
                self.enter()
                self.begin()
                while not self.is_over:
                    self.take(self.receive())
            except LostError as lost:
                if FAULT == "never-returns":
                    sys.exit("the connection was lost")
                time.sleep(lost.again)  # what `bye` asks for, which the kit looks at
                if lost.where:
                    self.moves += 1
                    if self.moves > 3 and FAULT != "goes-round":
                        sys.exit("it only moves on")
                    host, port = lost.where.rsplit(":", 1)
                    self.where = (host, int(port))
        sys.exit(3 if FAULT == "wrong-exit" else 0)

    def take(self, message):
        match message["t"]:
            case "setup":
                self.match = message["match"]
            case "record":
                self.take_record(message)
            case "options" if message["must"]:
                self.act(message)
            case _:
                self.take_notice(message)

    def take_notice(self, message):
        match message["t"]:
            case "error":
                self.take_error(message["code"])
            case "seat_taken_over" if FAULT == "fights":
                self.begin()
            case "draining" if FAULT == "leaves-early":
                sys.exit("the server will stop")
            case "closed" if FAULT != "waits-for-ever":
                sys.exit("the table was closed")
            case "away" if FAULT == "leaves-with-others" and message.get("claim_in_ms") == 0:
                sys.exit("the others are gone")
            case _:
                pass

    def take_error(self, code):
        match code, FAULT:
            case "stale_position", "gives-up":
                sys.exit("too late")
            case "muted", "stops-when-muted":
                sys.exit("it may not talk")
            case "muted", "nags":
                self.chat()
            case "seat_gone", "clings":
                self.begin()
            case "bad_token", _:
                self.token = None
            case _:
                pass

    def take_record(self, record):
        if record["k"] > self.next and FAULT != "overlooks-gaps":
            if IS_WATCHER:
                self.request("watch", table=TABLE, match=self.match, next=self.next)
            return
        self.next = max(self.next, record["k"] + 1)
        if any(fact["what"] == "match_ended" for fact in record["means"]):
            self.is_over = FAULT != "stays"

    def act(self, options):
        self.old = self.old or options
        keys = [option["key"] for option in options["list"] if option["kind"] != "concede"]
        if FAULT in ("stops-when-muted", "nags") and self.old is options:
            self.chat()
        choice = "play 7e" if FAULT == "invents" else random.choice(keys)
        self.act_at(self.old["at"] if FAULT == "acts-late" else options["at"], choice)
        if FAULT == "acts-twice":
            self.act_at(options["at"] + 1, choice)

    def chat(self):
        self.request("chat", table=TABLE, text="good evening")

    def act_at(self, at, choice):
        self.request("act", table=TABLE, match=self.match, at=at, choose=choice)


Client().run()
