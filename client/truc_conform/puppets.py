"""Players that the kit moves: keyed seats whose keys, chains and nonces come from a seed, the same in every run."""

import hashlib
from dataclasses import dataclass, field

from truc_protocol.bodies import Ack, Act, Args, Body, Rekey, Release, Resign, SeatTaken, Sub
from truc_protocol.crypto import keys
from truc_protocol.crypto.chains import Chain
from truc_protocol.ledger import Ledger
from truc_protocol.records import Record, encode
from truc_protocol.setup import Terms


def secret(name: str, seed: int) -> bytes:
    """Return 32 bytes that stand for randomness."""
    return hashlib.sha256(f"{name}/{seed}".encode()).digest()


def here(ledger: Ledger) -> tuple[bytes, int, bytes]:
    """Return match, position and head: what most bodies begin with."""
    return ledger.setup.mid, ledger.k, ledger.head


@dataclass
class Player:
    """A keyed seat; `person` tells apart the players who have sat there."""

    seat: int
    seed: int
    person: str = ""
    key: keys.SigningKey = field(init=False)
    x: keys.BoxKey = field(init=False)
    chain: Chain | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.key = keys.signing_key_from_seed(self.secret("key"))
        self.x = keys.box_key(self.secret("x"))

    def secret(self, name: str) -> bytes:
        """Return a secret of this person in this seat."""
        return secret(f"{self.person}{name} {self.seat}", self.seed)

    @property
    def name(self) -> bytes:
        """The label in the seat's record."""
        return f"{self.person}player {self.seat}".encode()

    def sign(self, body: Body) -> Record:
        """Sign as this seat."""
        encoded = encode(body)
        return Record(self.seat + 1, encoded, self.key.sign(encoded))

    def commit(self, terms: Terms, first: int, at: int = -1) -> bytes:
        """Start a chain and return its anchor; `at` tells apart chains from the same index."""
        table = terms.table
        root = self.secret(f"root {first} {at}")
        self.chain = Chain(self.key.public, table.tn, root, first=first, count=table.links)
        return self.chain.anchor

    def join(self, terms: Terms) -> Record:
        """Agree to the terms."""
        anchor = self.commit(terms, 0)
        return self.sign(SeatTaken(terms.th, self.seat, self.key.public, anchor, self.x.public, self.name))

    def release(self, ledger: Ledger) -> Record:
        """Open the link of the deal that was called."""
        if self.chain is None:
            raise ValueError("a seat releases after it has joined")
        link = self.chain.link(ledger.deal_index + 1)
        return self.sign(Release(ledger.setup.mid, *ledger.parallel, ledger.deal_index, self.seat, link))

    def act(self, ledger: Ledger, kind: str, args: Args = ()) -> Record:
        """Decide."""
        return self.sign(Act(*here(ledger), ledger.deal_index, self.seat, kind, args))

    def rekey(self, ledger: Ledger) -> Record:
        """Go on with a new chain."""
        first = ledger.deal_index
        self.x = keys.box_key(self.secret(f"x {first} {ledger.k}"))
        anchor = self.commit(ledger.setup.terms, first, ledger.k)
        return self.sign(Rekey(*here(ledger), self.seat + 1, first, anchor, self.x.public))

    def sub(self, ledger: Ledger) -> Record:
        """Take the seat over in the middle of a match."""
        first = ledger.deal_index
        anchor = self.commit(ledger.setup.terms, first)
        return self.sign(
            Sub(*here(ledger), first, self.seat, self.key.public, anchor, self.x.public, self.name)
        )

    def resign(self, ledger: Ledger) -> Record:
        """Give the match up."""
        return self.sign(Resign(*here(ledger), self.seat))

    def ack(self, ledger: Ledger) -> Record:
        """Sign the end of the match."""
        return self.sign(Ack(ledger.setup.mid, *ledger.parallel, self.seat))
