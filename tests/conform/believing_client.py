"""A player with a key that believes everything: it signs what it must and checks nothing. `--fault NAME` makes it worse.

believing_client.py URL [--revocation FILE] [--fault NAME]
"""

import random
import re
import socket
import sys
from contextlib import suppress
from types import SimpleNamespace

import msgpack

from truc_conform.playing import Puppet
from truc_protocol.bodies import Ack, Call, Close, Deal, Draw, End, Open, Share, Sub, Void
from truc_protocol.boxes import BoxError, downward_key, open_hand, open_options, open_share
from truc_protocol.codec import sha256
from truc_protocol.records import Record, body_hash, encode, next_head, parse
from truc_protocol.wire.handshake import Auth

FAULT = sys.argv[sys.argv.index("--fault") + 1] if "--fault" in sys.argv else ""
SILENCE_S = 2.0
LAST_POINT = 2
"""How many points a side has at its last one, at the tables of the kit where hands are played blind."""
HOST, PORT, TABLE = re.fullmatch(r"truc://(.*):(\d+)/(\w+)#\w+", sys.argv[1]).groups()

STUMBLES = {
    "two-seats": lambda body: isinstance(body, Deal) and len(body.leaves) > 2,
    "no-turn-up": lambda body: isinstance(body, Deal) and body.up,
    "open-hands": lambda body: isinstance(body, Close) and body.link is None,
    "no-shares": lambda body: isinstance(body, Share),
    "no-blind-hands": lambda body: isinstance(body, Open),
    "no-substitutes": lambda body: isinstance(body, Sub),
    "only-silence": lambda body: isinstance(body, Void) and body.reason != "silent",
}
"""By fault the records that it does not know, and ends at."""


def opened_hand(shared, body):
    return open_hand(shared, body.mid, j=body.j, d=body.d, seat=0, box=body.boxes[0])


def opened_share(shared, body):
    place = {"giver": body.giver, "receiver": body.receiver}
    return body.receiver or open_share(shared, body.mid, j=body.j, d=body.d, box=body.box, **place)


OPENS = {"opens-boxes": (Deal, opened_hand), "opens-shares": (Share, opened_share)}
"""By fault the records whose box it opens, and looks at no leaf."""
FORGETFUL = {"forgets-stops", "forgets-history", "decides-anew"}
"""With these it goes on with its match when it is started anew, and knows nothing of it but its key and chain."""


class Believer:
    def __init__(self):
        # Started anew it is somebody else, unless it is to be seen how it goes on.
        self.player = Puppet(0, 1 if FAULT in FORGETFUL else random.randrange(1 << 30))
        self.ids, self.spk = 0, None
        self.place = HOST, PORT
        self.tried, self.met = set(), set()
        self.score = ()
        self.seen = SimpleNamespace(setup=None, k=0, head=b"", deal_index=0, parallel=(0, b""))

    def send(self, kind, **fields):
        frame = msgpack.packb({"t": kind, **fields})
        self.socket.sendall(len(frame).to_bytes(4, "big") + frame)
        return frame

    def request(self, kind, **fields):
        self.ids += 1
        return self.send(kind, id=self.ids, **fields)

    def receive(self):
        while True:
            size = int.from_bytes(self.socket.recv(4, socket.MSG_WAITALL), "big")
            frame = self.socket.recv(size, socket.MSG_WAITALL)
            if not frame:
                self.come_back()
                continue
            message = msgpack.unpackb(frame)
            if message["t"] == "bye" and "to" in message:
                self.place = message["to"].split(":")
                self.come_back()
                continue
            if message["t"] != "ping":
                return frame, message
            self.send("pong", n=message["n"])

    def until(self, kind):
        while (received := self.receive())[1]["t"] != kind:
            pass
        return received

    def enter(self):
        host, port = self.place
        self.socket = socket.create_connection((host, int(port)), timeout=SILENCE_S)
        nonce = random.randbytes(32)
        self.request("hello", proto=[1], cn=nonce)
        frame, hello = self.until("hello")
        _, spk, server_nonce, *_ = msgpack.unpackb(hello["body"])
        rolls = len(hello.get("rolls", ()))
        if (FAULT == "one-key" and self.spk not in (None, spk)) or (FAULT == "one-rotation" and rolls > 1):
            sys.exit("what key is that?")
        self.spk = spk
        bound = sha256(b"other" if FAULT == "unbound-login" else frame)
        body = encode(Auth(self.spk, self.player.key.public, nonce, server_nonce, bound))
        self.request("login", name="north", body=body, sig=self.player.key.sign(body))
        _, welcome = self.until("welcome")
        self.held = [
            seat["match"] for seat in welcome.get("seats", ()) if FAULT in FORGETFUL and "match" in seat
        ]

    def come_back(self):
        self.enter()
        if self.seen.setup is None:
            self.request("join", table=TABLE)
            return
        self.request("resume", table=TABLE, match=self.seen.setup.mid, next=self.seen.k)

    def run(self):
        self.enter()
        if self.held:
            self.request("resume", table=TABLE, match=self.held[0], next=-1)
        else:
            self.request("join", table=TABLE)
            self.request("ready", table=TABLE)
        while True:
            _, message = self.receive()
            self.take(message)

    def take(self, message):
        match message["t"]:
            case "terms":
                self.join(Record(*message["record"]))
            case "setup":
                if self.held:
                    self.agree(Record(*message["records"][0]))
                self.seen.setup = SimpleNamespace(mid=message["match"], terms=self.terms)
                self.seen.k, self.seen.head = 0, message["match"]
            case "record":
                self.take_record(Record(message["signer"], message["body"], message["sig"]))
            case "options" if FAULT == "asks-on" and message["at"] > self.seen.k:
                self.request("resume", table=TABLE, match=self.seen.setup.mid, next=self.seen.k)
            case "options" if message["must"]:
                self.act(message)
            case "waiting" if message.get("what") == "rekey" and FAULT != "never-rekeys":
                self.hand_in(self.player.rekey(self.seen))
            case _:
                pass

    def agree(self, record):
        self.table = parse(record)
        self.terms = SimpleNamespace(th=body_hash(record), table=self.table)
        return self.player.join(self.terms)

    def join(self, record):
        own = self.agree(record)
        if FAULT == "knows-terms" and self.terms.th in self.met:
            sys.exit("these terms are known")
        self.met.add(self.terms.th)
        self.hand_in(own, match=None)

    def take_record(self, record):
        body = parse(record)
        if FAULT in STUMBLES and STUMBLES[FAULT](body):
            sys.exit("what record is that?")
        self.count(body)
        if FAULT == "minds-heads" and body.head not in (self.seen.head, self.seen.parallel[1]):
            sys.exit("what head is that?")
        with suppress(KeyError):
            self.open_box(body, *OPENS[FAULT])
        self.seen.head, self.seen.k = next_head(self.seen.head, record), self.seen.k + 1
        match body:
            case Call(j=j):
                self.seen.deal_index, self.seen.parallel = j, (self.seen.k, self.seen.head)
                self.release()
            case Draw(j=j) | Close(j=j) | Void(j=j):
                self.seen.deal_index = j + 1
            case End():
                self.seen.parallel = self.seen.k, self.seen.head
                if FAULT == "never-acks":
                    sys.exit(0)
                self.hand_in(self.player.ack(self.seen))
            case Ack(seat=0):
                sys.exit(0)
            case _:
                pass

    def count(self, body):
        """Keep the score, and take each hand after which both sides are at their last point to be played blind."""
        if isinstance(body, Close):
            self.score = body.score
        is_blind = self.score and min(points for *_, points in self.score) >= LAST_POINT
        if FAULT == "counts-on" and isinstance(body, Deal) and is_blind and any(body.boxes):
            sys.exit("boxes in a blind hand")

    def open_box(self, body, kind, opened):
        try:
            if isinstance(body, kind):
                opened(self.player.x.exchange(self.table.x), body)
        except BoxError:
            sys.exit("what box is that?")

    def release(self):
        if FAULT == "old-link":
            self.seen.deal_index -= self.seen.deal_index > 0
        with suppress(ValueError):  # it has no link for this deal: then it waits
            self.hand_in(self.player.release(self.seen))

    def act(self, options):
        shared = self.player.x.exchange(self.table.x)
        key = downward_key(shared, self.seen.setup.mid, 0)
        place = {"seat": 0, "at": options["at"], "offer": options["offer"], "after": -1}
        try:
            found = open_options(key, self.seen.setup.mid, box=options["box"], **place).options
        except (BoxError, KeyError):
            sys.exit(0)
        option = self.decide(options["at"], [option for option in found if option.kind != "concede"] or found)
        if FAULT == "odd-head":
            self.seen.head = bytes(32)
        self.hand_in(self.player.act(self.seen, option.kind, option.args))

    def decide(self, at, found):
        """Choose at random, and where it has chosen before, something else."""
        if FAULT == "decides-anew":
            return found[-1 if self.held else 0]
        option = random.choice([option for option in found if (at, option.line) not in self.tried] or found)
        self.tried.add((at, option.line))
        return option

    def hand_in(self, record, **place):
        self.request(
            "act",
            **{"table": TABLE, "match": self.seen.setup and self.seen.setup.mid, **place},
            **fields(record),
        )


def fields(record):
    return {"body": record.body, "sig": bytes(64) if FAULT == "unsigned" else record.sig}


try:
    Believer().run()
except TimeoutError:  # it believes that all has been said
    sys.exit(0)
