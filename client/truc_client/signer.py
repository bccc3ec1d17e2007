"""What one keyed seat signs in one match: its entry, releases, acts, resignation and ack.

Every body is stored before it is returned, and for each place only one body is ever returned. Invariant: what
`Signer` gives out is in the store, byte for byte.
"""

import secrets
from typing import Any, NamedTuple

from truc_client.errors import CheckFailedError, SignedBeforeError
from truc_client.store import Joined, Place, Slot, Statement, Store
from truc_protocol.bodies import Ack, Act, Body, Refuse, Release, Resign, SeatTaken
from truc_protocol.chains import LINK_BYTES, Chain
from truc_protocol.checks import CheckError
from truc_protocol.codec import EncodingError, dec, sha256
from truc_protocol.keys import SigningKey, generate_box_key, verify
from truc_protocol.ledger import Ledger, missing
from truc_protocol.records import SERVER, Phase, Record, encode, tag_of
from truc_protocol.setup import Terms


class Entry(NamedTuple):
    """A seat at a server: who sits there, and under which name."""

    key: SigningKey
    server: bytes
    code: str
    seat: int
    name: str


class Signer:
    """The pen of one seat in one match."""

    def __init__(self, key: SigningKey, joined: Joined, *, links: int, store: Store) -> None:
        if joined.mid is None or joined.root is None:
            raise ValueError("the match has not begun, or has ended")
        self._key = key
        self._mid = joined.mid
        self._seat = joined.seat
        self._store = store
        self._chain = Chain(key.public, joined.tn, joined.root, first=0, count=links)
        self.counter = joined.counter

    def owed(self, ledger: Ledger) -> Statement | None:
        """Return the release or ack that the match waits for from this seat.

        Raises:
            CheckFailedError: The server asks for a release of this index under another head than before.
        """
        if ledger.phase is Phase.CALLED and self._seat in missing(ledger):
            return self._release(ledger)
        if ledger.phase is Phase.ENDED and self._seat not in ledger.acks:
            return self._keep(ledger, Slot("ack"), Ack(self._mid, *ledger.parallel, self._seat))
        return None

    def _release(self, ledger: Ledger) -> Statement:
        j = ledger.deal_index
        body = Release(self._mid, *ledger.parallel, j, self._seat, self._chain.link(j + 1))
        try:
            return self._keep(ledger, Slot("release", j), body)
        except SignedBeforeError as error:
            message = f"a release for deal {j} is asked for again under another head"
            raise CheckFailedError("C15", message, "server") from error

    def act(self, ledger: Ledger, kind: str, args: tuple[Any, ...]) -> Statement:
        """Sign a decision.

        Raises:
            SignedBeforeError: Another one was signed for this position.
        """
        body = Act(self._mid, ledger.k, ledger.head, ledger.deal_index, self._seat, kind, args)
        return self._keep(ledger, Slot("act", ledger.k), body)

    def resign(self, ledger: Ledger) -> Statement:
        """Sign that this side gives the match up.

        Raises:
            SignedBeforeError: An act was signed for this position.
        """
        return self._keep(ledger, Slot("act", ledger.k), Resign(self._mid, ledger.k, ledger.head, self._seat))

    def kept(self, ledger: Ledger) -> Statement | None:
        """Return the decision signed before for the present position, which alone may be sent."""
        return self._store.statement(self._mid, Slot("act", ledger.k))

    def keep_place(self, ledger: Ledger) -> None:
        """Store how far the match was accepted."""
        self._store.keep_place(self._mid, self._place(ledger))

    def end(self, ledger: Ledger) -> None:
        """Drop the secrets: the match has ended."""
        self._store.end(self._mid, self._place(ledger))

    def refused(self, spk: bytes, k: int, statement: Statement, refusal: Record) -> None:
        """Keep the server's refusal of a decision, if it is one; then another may be signed for that position."""
        if (
            refusal.signer == SERVER
            and verify(spk, refusal.body, refusal.sig)
            and self._fits(statement, refusal)
        ):
            self._store.keep_refusal(self._mid, Slot("act", k), refusal.body + refusal.sig)

    def _fits(self, statement: Statement, refusal: Record) -> bool:
        try:
            items = dec(refusal.body)
        except EncodingError:
            return False
        return bool(items[:3] == [tag_of(Refuse), self._mid, sha256(statement.body)])

    def _keep(self, ledger: Ledger, slot: Slot, body: Body) -> Statement:
        encoded = encode(body)
        statement = Statement(encoded, self._key.sign(encoded))
        return self._store.keep_statement(self._mid, slot, statement, self._place(ledger))

    def _place(self, ledger: Ledger) -> Place:
        return Place(ledger.k, ledger.head, self.counter)


def join_terms(terms: Terms, entry: Entry, store: Store) -> Statement:
    """Return the seat record that accepts a table record, stored with its fresh secrets.

    Raises:
        CheckError: C9, the record or its nonce served another match before, or another seat.
    """
    known = store.joined(terms.th)
    if known is not None and known.mid is None and known.seat == entry.seat:
        kept = store.statement(terms.th, Slot("seat"))
        if kept is not None:
            return kept
    if known is not None or store.joined_with(terms.table.tn) is not None:
        raise CheckError("C9", "the table record or its nonce has served before", "server")
    root, x = secrets.token_bytes(LINK_BYTES), generate_box_key()
    anchor = Chain(entry.key.public, terms.table.tn, root, first=0, count=terms.table.links).anchor
    body = encode(SeatTaken(terms.th, entry.seat, entry.key.public, anchor, x.public, entry.name.encode()))
    statement = Statement(body, entry.key.sign(body))
    joined = Joined(terms.th, terms.table.tn, entry.server, entry.code, entry.seat, root, x.secret)
    store.join(joined, statement)
    return statement
