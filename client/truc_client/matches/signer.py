"""What one keyed seat signs in one match: its entry, releases, acts, new chains, resignation and ack.

Every body is stored before it is returned, and for each place only one body is ever returned, unless the server refused
it. Invariants: what `Signer` returns is in the store, byte for byte; a client without the secrets in force signs only a
new chain, and after it nothing before the next call; nothing is signed below the highest place accepted before.
"""

from typing import Any, NamedTuple

from truc_client.errors import CheckFailedError, SignedBeforeError
from truc_client.home.store import HeldChain, Joined, Place, Slot, Statement, Store
from truc_client.matches.chain_store import Holding, chain_of, new_chain
from truc_client.matches.standing import Standing, Wish
from truc_protocol.bodies import Ack, Act, Body, Refuse, Rekey, Release, Resign, SeatTaken, Sub
from truc_protocol.checks import CheckError
from truc_protocol.codec import EncodingError, dec, sha256
from truc_protocol.crypto.keys import SigningKey, verify
from truc_protocol.ledger import Ledger, is_gone, missing, must_end
from truc_protocol.ledger.state import is_exhausted
from truc_protocol.records import SERVER, Phase, Record, encode, tag_of
from truc_protocol.setup import GONE_SUBSTITUTE, Terms


class Entry(NamedTuple):
    """A seat at a server: who sits there, and under which name, as the server has given it."""

    key: SigningKey
    server: bytes
    code: str
    seat: int
    name: str


class Signer:
    """Signs for one seat in one match; `mark` is the highest position accepted before a restart."""

    def __init__(self, entry: Entry, terms: Terms, mid: bytes, store: Store) -> None:
        self._entry = entry
        self._key = entry.key
        self._seat = entry.seat
        self._terms = terms
        self._mid = mid
        self._store = store
        self._holding = Holding(entry.key.public, terms, store)
        known = store.playing(mid)
        self.mark = -1 if known is None or known.k is None else known.k
        self.wish = Wish.LOOK_ON

    def standing(self, ledger: Ledger) -> Standing:
        """Return what this player is to the seat now."""
        if self._holding.in_force(ledger, self._seat) is not None:
            return Standing.HOLDS
        contributor = ledger.contributors[self._seat + 1]
        is_own = contributor is not None and contributor.public == self._key.public
        return Standing.LOST if is_own else Standing.ANOTHERS

    def chain(self, ledger: Ledger) -> HeldChain | None:
        """Return the chain in force, if this client holds it."""
        return self._holding.in_force(ledger, self._seat)

    def has_held(self, ledger: Ledger) -> bool:
        """Tell whether this client has ever held a seat in this match."""
        was_seated = self._store.statement(self._terms.th, Slot("seat")) is not None
        return was_seated or self._holding.was_in_force(ledger)

    def is_behind(self, ledger: Ledger) -> bool:
        """Tell whether a match is short of what this client had accepted before a restart: it signs nothing yet."""
        return ledger.k < self.mark

    def drop_secrets(self) -> None:
        """Drop the secrets: the seat is played by somebody else, or from elsewhere."""
        self._holding.drop()

    def counted(self, ledger: Ledger, counter: int) -> None:
        """Note the counter of the newest box sealed to the key in force."""
        held = self.chain(ledger)
        if held is not None:
            self._holding.counted(held, counter)

    def may_decide(self, ledger: Ledger) -> bool:
        """Tell whether this client may sign a decision: it holds the seat, and has not lost it since the last call."""
        held = self.chain(ledger)
        if held is None or self.is_behind(ledger):
            return False
        is_called = ledger.phase is not Phase.BETWEEN or held.first < ledger.deal_index
        return is_called or not held.after_loss

    def owed(self, ledger: Ledger) -> Statement | None:
        """Return the release, new chain or ack that this seat owes the match.

        Raises:
            CheckFailedError: The server asks again for the release of this deal, under another head than before, or
                uses a table's nonce twice.
        """
        if self.is_behind(ledger):
            return None
        match self.standing(ledger):
            case Standing.HOLDS:
                return self._due(ledger)
            case Standing.LOST if self.wish is Wish.REKEY and may_rekey(ledger, self._seat):
                return self._rekey(ledger, after_loss=True)
            case Standing.ANOTHERS if self.wish is Wish.STEP_IN and may_step_in(ledger, self._seat):
                return self._step_in(ledger)
            case _:
                return None

    def _due(self, ledger: Ledger) -> Statement | None:
        if ledger.phase is Phase.CALLED and self._seat in missing(ledger):
            return self._release(ledger)
        if ledger.phase is Phase.ENDED and self._seat not in ledger.acks:
            return self._keep(ledger, Slot("ack"), Ack(self._mid, *ledger.parallel, self._seat))
        if is_exhausted(ledger, self._seat + 1) and may_rekey(ledger, self._seat):
            return self._rekey(ledger, after_loss=False)
        return None

    def _release(self, ledger: Ledger) -> Statement | None:
        j, held = ledger.deal_index, self.chain(ledger)
        if held is None:
            return None
        body = Release(self._mid, *ledger.parallel, j, self._seat, self._holding.link(held, j + 1))
        try:
            return self._keep(ledger, Slot("release", j), body)
        except SignedBeforeError as error:
            message = f"a release for deal {j} is asked for again under another head"
            raise CheckFailedError("C15", message, "server") from error

    def _rekey(self, ledger: Ledger, *, after_loss: bool) -> Statement | None:
        held = self._holding.fresh(ledger, after_loss=after_loss)
        anchor = self._holding.anchor(held)
        place = (self._mid, ledger.k, ledger.head)
        return self._begin(ledger, held, Rekey(*place, self._seat + 1, held.first, anchor, held.x))

    def _step_in(self, ledger: Ledger) -> Statement | None:
        held = self._holding.fresh(ledger, after_loss=False)
        anchor, public, name = self._holding.anchor(held), self._key.public, self._entry.name.encode()
        place = (self._mid, ledger.k, ledger.head)
        return self._begin(ledger, held, Sub(*place, held.first, self._seat, public, anchor, held.x, name))

    def _begin(self, ledger: Ledger, held: HeldChain, body: Rekey | Sub) -> Statement | None:
        """Sign the record that begins a chain; None if this position has another signed body: the next one will do."""
        self._come_into()
        try:
            statement = self._keep(ledger, Slot("act", ledger.k), body, held)
        except SignedBeforeError:
            return None
        self._holding.add(held)
        return statement

    def _come_into(self) -> None:
        """Store that this client plays in the match from now on, with the nonce of its table."""
        terms, entry = self._terms, self._entry
        known = self._store.joined_with(self._entry.server, terms.table.tn)
        if known is not None and known.th != terms.th:
            raise CheckFailedError("C9", "the table's nonce has served before", "server")
        joined = Joined(terms.th, terms.table.tn, entry.server, entry.code, self._seat, self._mid)
        self._store.come_into(joined)

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
        """Return what was already signed for the current position; nothing else may be sent."""
        return self._store.statement(self._mid, Slot("act", ledger.k))

    def keep_place(self, ledger: Ledger) -> None:
        """Store how far the match was accepted."""
        self._store.keep_place(self._mid, self._place(ledger))

    def end(self, ledger: Ledger) -> None:
        """Drop the secrets: the match has ended."""
        self._store.end(self._mid, self._place(ledger))

    def refused(self, spk: bytes, k: int, statement: Statement, refusal: Record) -> None:
        """Keep the server's refusal of a decision, if it is valid; then another may be signed for that position."""
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

    def _keep(self, ledger: Ledger, slot: Slot, body: Body, chain: HeldChain | None = None) -> Statement:
        encoded = encode(body)
        statement = Statement(encoded, self._key.sign(encoded))
        return self._store.keep_statement(self._mid, slot, statement, self._place(ledger), chain)

    def _place(self, ledger: Ledger) -> Place:
        """Return where the match stands: among releases or acks, whose order is not yet signed, before the first."""
        held = self.chain(ledger)
        return Place(*ledger.parallel, *((held.x, held.counter) if held is not None else ()))


def may_rekey(ledger: Ledger, seat: int) -> bool:
    """Tell whether a seat may begin a new chain now, by the state of the match and the number its table allows."""
    contributor, allowed = ledger.contributors[seat + 1], ledger.setup.terms.opts.rekeys
    has_right = contributor is not None and contributor.rekeys < allowed
    return _is_open(ledger) and (has_right or is_exhausted(ledger, seat + 1))


def may_step_in(ledger: Ledger, seat: int) -> bool:
    """Tell whether a substitute can take a seat now."""
    return _is_open(ledger) and ledger.setup.terms.opts.gone == GONE_SUBSTITUTE and is_gone(ledger, seat)


def _is_open(ledger: Ledger) -> bool:
    return ledger.phase is Phase.BETWEEN and not ledger.pause.active and not must_end(ledger)


def join_terms(terms: Terms, entry: Entry, store: Store) -> Statement:
    """Return the seat record that accepts a table record, stored with its fresh secrets.

    Raises:
        CheckError: C9, the record or its nonce was used before, for another match or seat.
    """
    known = store.joined(terms.th)
    if known is not None and known.mid is None and known.seat == entry.seat:
        kept = store.statement(terms.th, Slot("seat"))
        if kept is not None and store.chains(terms.th):
            return kept
    if known is not None or store.joined_with(entry.server, terms.table.tn) is not None:
        raise CheckError("C9", "the table record or its nonce has served before", "server")
    held, public = new_chain(0), entry.key.public
    anchor = chain_of(held, public, terms).anchor
    body = encode(SeatTaken(terms.th, entry.seat, public, anchor, held.x, entry.name.encode()))
    statement = Statement(body, entry.key.sign(body))
    joined = Joined(terms.th, terms.table.tn, entry.server, entry.code, entry.seat)
    store.join(joined, held, statement)
    return statement
