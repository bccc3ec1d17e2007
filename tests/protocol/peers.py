"""Parties of a match in memory: a table whose server and seats hold real keys, and can be told to cheat.

Everything random comes from a seed, so that a test's transcript is the same on every run.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, field

from truc_protocol import keys
from truc_protocol.acts import write_args
from truc_protocol.audit import Auditor
from truc_protocol.bodies import Ack, Act, Body, Close, Release, Resign, SeatTaken
from truc_protocol.chains import Chain
from truc_protocol.documents import rule_document
from truc_protocol.ledger import Due, Ledger, due, missing, start
from truc_protocol.records import Phase, Record, encode
from truc_protocol.setup import Opts, Setup, Terms, close_setup, open_terms
from truc_protocol.transcript import write_transcript
from truc_rules import Action, Kind, Variant, legal, preset
from truc_server.dealer import Dealer, MatchSecrets


def secret(name: str, seed: int) -> bytes:
    """Return 32 bytes that stand for randomness."""
    return hashlib.sha256(f"{name}/{seed}".encode()).digest()


@dataclass
class Player:
    """A keyed seat."""

    seat: int
    seed: int
    links: int = 64
    key: keys.SigningKey = field(init=False)
    x: keys.BoxKey = field(init=False)

    def __post_init__(self) -> None:
        self.key = keys.signing_key_from_seed(secret(f"key {self.seat}", self.seed))
        self.x = keys.box_key(secret(f"x {self.seat}", self.seed))
        self.chain: Chain | None = None

    def sign(self, body: Body) -> Record:
        encoded = encode(body)
        return Record(self.seat + 1, encoded, self.key.sign(encoded))

    def join(self, terms: Terms) -> Record:
        table = terms.table
        root = secret(f"root {self.seat}", self.seed)
        self.chain = Chain(self.key.public, table.tn, root, first=0, count=table.links)
        name = f"player {self.seat}".encode()
        return self.sign(SeatTaken(terms.th, self.seat, self.key.public, self.chain.anchor, self.x.public, name))

    def release(self, ledger: Ledger) -> Record:
        assert self.chain is not None
        link = self.chain.link(ledger.deal_index + 1)
        return self.sign(Release(ledger.setup.mid, *ledger.parallel, ledger.deal_index, self.seat, link))

    def act(self, ledger: Ledger, kind: str, args: tuple = ()) -> Record:
        return self.sign(Act(*here(ledger), ledger.deal_index, self.seat, kind, args))

    def resign(self, ledger: Ledger) -> Record:
        return self.sign(Resign(*here(ledger), self.seat))

    def ack(self, ledger: Ledger) -> Record:
        return self.sign(Ack(ledger.setup.mid, *ledger.parallel, self.seat))


def here(ledger: Ledger) -> tuple[bytes, int, bytes]:
    return ledger.setup.mid, ledger.k, ledger.head


class Table:
    """An honest match in memory; `records` is its transcript so far, the setup included."""

    def __init__(
        self,
        variant: Variant | str = "truc-french",
        *,
        seats: int = 2,
        guests: tuple[int, ...] = (),
        opts: Opts | None = None,
        seed: int = 1,
        links: int = 64,
        boxed_guests: bool = False,
    ) -> None:
        variant = preset(variant) if isinstance(variant, str) else variant
        self.random = random.Random(seed)
        self.server = keys.signing_key_from_seed(secret("server", seed))
        secrets = MatchSecrets(secret("root", seed), secret("x", seed), secret("tn", seed))
        self.dealer = Dealer(self.server, secrets, links=links)
        self.document = rule_document(variant)
        opts = (opts or Opts())._replace(guests=len(guests))
        table = self.dealer.table_record(variant, seats=seats, opts=opts, name="a table", opened=1_700_000_000)
        self.terms = open_terms(self.document, table)
        self.players = {seat: Player(seat, seed) for seat in range(seats) if seat not in guests}
        x = keys.box_key(secret("guest", seed)).public if boxed_guests else None
        taken = tuple(
            self.players[seat].join(self.terms)
            if seat in self.players
            else self.dealer.guest_record(self.terms, seat=seat, x=x, name=f"guest {seat}")
            for seat in range(seats)
        )
        self.setup: Setup = close_setup(self.terms, taken, self.dealer.match_record(self.terms, taken))
        self.ledger = start(self.setup)
        self.records: list[Record] = list(self.setup.records)

    def sign(self, body: Body) -> Record:
        """Sign as the server."""
        encoded = encode(body)
        return Record(0, encoded, self.server.sign(encoded))

    def add(self, record: Record) -> Ledger:
        self.ledger = self.dealer.take(self.ledger, record)
        self.records.append(record)
        return self.ledger

    def choice(self) -> Action:
        """Pick a legal action of somebody, conceding rarely."""
        assert self.ledger.match is not None
        seats = self.ledger.seats
        actions = [action for seat in range(seats) for action in legal(self.ledger.match, seat)]
        quiet = [action for action in actions if action.kind is not Kind.CONCEDE or self.random.random() < 0.05]
        return self.random.choice(quiet or actions)

    def record_of(self, action: Action) -> Record:
        """Write an action as its seat's record."""
        assert self.ledger.match is not None
        openings = self.dealer.openings(self.ledger, action.seat) if self.ledger.hand else ()
        cut = self.random.randrange(1, self.terms.table.deck)
        args = tuple(write_args(self.ledger.match, action, openings, cut=cut))
        if action.seat in self.players:
            return self.players[action.seat].act(self.ledger, str(action.kind), args)
        return self.dealer.proxy(self.ledger, action.seat, str(action.kind), args)

    def next_record(self) -> Record | None:
        """Return what an honest party would write next; None once every ack is in."""
        record = self.dealer.next_record(self.ledger)
        if record is not None:
            return record
        if self.ledger.phase is Phase.CALLED:
            return self.players[missing(self.ledger)[0]].release(self.ledger)
        if self.ledger.phase is Phase.ENDED:
            waiting = [seat for seat in self.players if seat not in self.ledger.acks]
            return self.players[waiting[0]].ack(self.ledger) if waiting else None
        assert due(self.ledger) is Due.PLAYERS
        return self.record_of(self.choice())

    def step(self) -> Record | None:
        record = self.next_record()
        if record is not None:
            self.add(record)
        return record

    def run(self, *, until=lambda ledger: False) -> Table:
        """Play until the condition holds, or to the last ack."""
        while not until(self.ledger) and self.step() is not None:
            pass
        return self

    def play(self, line: str) -> Ledger:
        """Let the one seat that can do so make a move, by its line."""
        from truc_rules import move_line

        assert self.ledger.match is not None
        match = self.ledger.match
        for seat in range(self.ledger.seats):
            for action in legal(match, seat):
                if move_line(match.variant, action) == line:
                    return self.add(self.record_of(action))
        raise AssertionError(f"nobody can {line}")

    def file(self) -> bytes:
        return write_transcript(self.document, self.records)


def audit(document: bytes, records: list[Record]) -> Auditor:
    """Feed a whole transcript."""
    auditor = Auditor(document)
    for record in records:
        auditor.feed(record)
    return auditor


def closes(record: Record) -> bool:
    return b"truc/1/close" in record.body[:16]


__all__ = ["Close", "Player", "Table", "audit", "closes", "here", "secret"]
