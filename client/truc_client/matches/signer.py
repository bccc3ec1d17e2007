"""What one keyed seat holds and signs in one match: chains, releases, acts, a resignation, its ack.

Every body is stored before it is returned, and for each place only one body is ever returned; a new chain that the server
refused may be signed anew. No act is signed that the rules forbid, whatever the server offers. The ledger says which key is in force for a seat, and the key identifies the chain. Invariants: what `Signer` returns
is in the store, byte for byte; a chain is stored together with the first statement that names it, and no two chains of a
match share a root or a key; a client without the secrets in force signs only a new chain, and after it nothing before
the next call; nothing is signed below the highest place accepted before.
"""

import secrets
from dataclasses import replace
from enum import Enum
from typing import Any, Final, NamedTuple, assert_never

from truc_client.errors import CheckFailedError, ChoiceError, ClientError, NotPlayedError, SignedBeforeError
from truc_client.home.store import AcceptedPlace, HeldChain, HomeStore, Joined, Slot, Statement
from truc_protocol.blind_mode.seat_secrets import SeatSecrets
from truc_protocol.bodies import Ack, Act, Body, Rekey, Release, Resign, SeatTaken, Sub, TableTerms
from truc_protocol.checks import CheckError
from truc_protocol.codec import sha256
from truc_protocol.crypto.chains import LINK_BYTES, Chain
from truc_protocol.crypto.keys import SigningKey, generate_box_key, verify
from truc_protocol.evidence_file import SignedRefusal, read_refusal
from truc_protocol.ledger import Ledger, fold, is_gone, must_end, seats_missing
from truc_protocol.ledger.state import is_exhausted
from truc_protocol.own_steps import secrets_of
from truc_protocol.records import Phase, Record, encode
from truc_protocol.setup import GONE_SUBSTITUTE, MatchTerms
from truc_words import Sentence

_REKEY: Final = "truc play --rekey"
NOT_HERE: Final = Sentence("failures.secrets_not_here", command=_REKEY)
PLAYED_ELSEWHERE: Final = Sentence("failures.played_elsewhere", command=_REKEY)
_BOX_KEY, _ANCHOR = "box key", "anchor"  # as the ledger names what a match has used


class Tenure(Enum):
    """What a player is to a seat in a match.

    Attributes:
        HOLDS: they play the seat, with the secrets in force.
        LOST: their key has the seat, but the secrets in force are not in this client's home.
        ANOTHERS: the seat is somebody else's.
    """

    HOLDS = "holds"
    LOST = "lost"
    ANOTHERS = "another's"


class Intent(Enum):
    """How far a player would go for a seat that they do not hold: look on, begin a new chain, or step in."""

    LOOK_ON = "look on"
    REKEY = "rekey"
    STEP_IN = "step in"


def check_tenure(tenure: Tenure, intent: Intent, *, has_held: bool) -> None:
    """Check that a match can be followed from here; `has_held` tells whether this home ever had the seat.

    It is nobody's fault that a seat is played from elsewhere: another home with the same key went on with it, or a
    substitute took it as the terms allow. So the table ends with a sentence, and no evidence is kept.

    Raises:
        NotPlayedError: The seat was never this player's.
        ClientError: The seat is played from elsewhere, or its secrets are lost.
    """
    match tenure:
        case Tenure.HOLDS:
            return
        case Tenure.LOST:
            if intent is not Intent.REKEY:
                raise ClientError(PLAYED_ELSEWHERE if has_held else NOT_HERE)
        case Tenure.ANOTHERS:
            if has_held:
                raise ClientError(Sentence("failures.substituted"))
            if intent is not Intent.STEP_IN:
                raise NotPlayedError(Sentence("failures.anothers_seat"))
        case _:
            assert_never(tenure)


class SeatKey(NamedTuple):
    """A seat at a server: the key that sits there, and the name that the server has given it."""

    key: SigningKey
    server: bytes
    code: str
    seat: int
    name: str


class Signer:
    """Signs for one seat in one match, always for the position it was told last.

    Attributes:
        tenure: what this player is to the seat there.
        chain: the chain in force for the seat there, if this client holds it.
        mark: the highest position accepted before a restart.
        intent: how far this player would go for the seat while it does not hold it.
    """

    def __init__(
        self, own: SeatKey, ledger: Ledger, store: HomeStore, intent: Intent = Intent.LOOK_ON
    ) -> None:
        self._own = own
        self._terms = ledger.setup.terms
        self._mid = ledger.setup.mid
        self._store = store
        self._chains = {chain.x: chain for chain in store.chains(self._terms.th)}
        self._links: dict[bytes, Chain] = {}
        self._was_seated = store.statement(self._terms.th, Slot("seat")) is not None
        known = store.playing(self._mid)
        # below it a server might show another history, to have a second body signed (threats.md)
        self.mark = -1 if known is None or known.k is None else known.k
        self.intent = intent
        self.advance(ledger)

    def advance(self, ledger: Ledger) -> None:
        """Go on to a position; what is asked of it several times is found out once."""
        contributor = ledger.contributors[self._own.seat + 1]
        is_own = contributor is not None and contributor.public == self._own.key.public
        self._ledger = ledger
        self.chain = self._chains.get(contributor.x) if is_own and contributor is not None else None
        has_lost = Tenure.LOST if is_own else Tenure.ANOTHERS
        self.tenure = has_lost if self.chain is None else Tenure.HOLDS

    @property
    def has_held(self) -> bool:
        """Whether this client has ever held a seat in this match."""
        return self._was_seated or any((_BOX_KEY, x) in self._ledger.commitments for x in self._chains)

    @property
    def has_another_seat(self) -> bool:
        """Whether a chain of this client is in force for another seat of this match than this one."""
        seats = enumerate(self._ledger.contributors[1:])
        return any(
            seat != self._own.seat and contributor is not None and contributor.x in self._chains
            for seat, contributor in seats
        )

    @property
    def is_behind(self) -> bool:
        """Whether a match is short of what this client had accepted before a restart: it signs nothing yet."""
        return self._ledger.k < self.mark

    @property
    def may_decide(self) -> bool:
        """Whether this client may sign a decision: it holds the seat, and has not lost it since the last call."""
        if self.chain is None or self.is_behind:
            return False
        # whoever has lost their secrets signs a new chain, and
        # nothing else before the call after it (specification.md, 13)
        is_called = self._ledger.phase is not Phase.BETWEEN or self.chain.first < self._ledger.deal_index
        return is_called or not self.chain.after_loss

    def counted(self, counter: int) -> None:
        """Note the counter of the newest box sealed to the key in force."""
        if self.chain is not None:
            self.chain = self._chains[self.chain.x] = replace(self.chain, counter=counter)

    def drop_secrets(self) -> None:
        """Drop the secrets: the seat is played by somebody else, or from elsewhere."""
        self._chains.clear()
        self._links.clear()
        self._store.drop_secrets(self._terms.th)
        self.advance(self._ledger)

    def owed(self) -> Statement | None:
        """Return the release, new chain or ack that this seat owes the match; steps of mode blind are for `PackSteps`.

        Raises:
            CheckFailedError: The server asks again for the release of this deal, under another head than before, or
                uses a table's nonce twice.
        """
        ledger, seat = self._ledger, self._own.seat
        if self.is_behind:
            return None
        match self.tenure:
            case Tenure.HOLDS:
                return self._due()
            # only if the player says so: the seat can then no
            # longer be played from where it was played before
            case Tenure.LOST if self.intent is Intent.REKEY and may_rekey(ledger, seat):
                return self._rekey(after_loss=True)
            case Tenure.ANOTHERS if self.intent is Intent.STEP_IN and may_step_in(ledger, seat):
                return self._step_in()
            case _:
                return None

    def _due(self) -> Statement | None:
        ledger, seat = self._ledger, self._own.seat
        # in mode blind the link opens the hand at its end, and is due by other rules (PackSteps)
        if ledger.blind_hand is None and ledger.phase is Phase.CALLED and seat in seats_missing(ledger):
            return self.release()
        if ledger.phase is Phase.ENDED and seat not in ledger.acks:
            return self.keep(Slot("ack"), Ack(self._mid, *ledger.parallel, seat))
        if is_exhausted(ledger, seat + 1) and may_rekey(ledger, seat):
            return self._rekey(after_loss=False)
        return None

    def secrets(self) -> SeatSecrets | None:
        """Return what this seat draws from its link of the open deal in mode blind; None while it may sign nothing."""
        held = self.chain
        return None if held is None or self.is_behind else secrets_of(self._ledger, self._links_of(held))

    def links(self) -> Chain | None:
        """Return the chain in force, if this client holds it."""
        return None if self.chain is None else self._links_of(self.chain)

    def kept_for(self, slot: Slot) -> Statement | None:
        """Return what was signed for a place of this match."""
        return self._store.statement(self._mid, slot)

    def release(self) -> Statement | None:
        """Sign this seat's link of the open deal.

        Raises:
            CheckFailedError: It is asked for again under another head.
        """
        j, held = self._ledger.deal_index, self.chain
        if held is None:
            return None
        # deal j opens v_{j+1} (specification.md, 4)
        link = self._links_of(held).link(j + 1)
        body = Release(self._mid, *self._ledger.parallel, j, self._own.seat, link)
        try:
            return self.keep(Slot("release", j), body)
        except SignedBeforeError as error:
            # whoever gets two releases of one deal under different heads can choose between two cuts
            message = f"a release for deal {j} is asked for again under another head"
            raise CheckFailedError("C15", message, "server") from error

    def _rekey(self, *, after_loss: bool) -> Statement | None:
        held = self.fresh_chain(after_loss=after_loss)
        anchor = self._links_of(held).anchor
        return self._begin(held, Rekey(*self._here, self._own.seat + 1, held.first, anchor, held.x))

    def _step_in(self) -> Statement | None:
        held = self.fresh_chain(after_loss=False)
        anchor, public, name = self._links_of(held).anchor, self._own.key.public, self._own.name.encode()
        return self._begin(held, Sub(*self._here, held.first, self._own.seat, public, anchor, held.x, name))

    @property
    def _here(self) -> tuple[bytes, int, bytes]:
        return self._mid, self._ledger.k, self._ledger.head

    def _begin(self, held: HeldChain, body: Rekey | Sub) -> Statement | None:
        """Sign the record that begins a chain; None if this position has another signed body: the next one will do."""
        # first: the chain is stored under the match that this notes
        self._come_into()
        try:
            statement = self.keep(Slot("act", self._ledger.k), body, held)
        except SignedBeforeError:
            return None
        self._chains[held.x] = held
        return statement

    def fresh_chain(self, *, after_loss: bool) -> HeldChain:
        """Return a chain for the next deal that was not in force yet: one that was named before, else a new one.

        Another seat may meanwhile have copied the anchor or box key of one that was named: then it is no longer used.
        """
        for held in self._chains.values():
            used = (_BOX_KEY, held.x), (_ANCHOR, self._links_of(held).anchor)
            is_used = any(each in self._ledger.commitments for each in used)
            # overtaken by another record, a rekey goes out again
            # with the same anchor and x (keyed-client.md, 5)
            if held.first == self._ledger.deal_index and not is_used:
                return replace(held, after_loss=held.after_loss or after_loss)
        return new_chain(self._ledger.deal_index, after_loss=after_loss)

    def _links_of(self, held: HeldChain) -> Chain:
        """Return the links of a chain, which take thousands of hashes to make: each chain's are made once."""
        made = self._links.get(held.x)
        if made is None:
            made = self._links[held.x] = links_of(held, self._own.key.public, self._terms.table)
        return made

    def _come_into(self) -> None:
        """Store that this client plays in the match from now on, with the nonce of its table."""
        terms, own = self._terms, self._own
        known = self._store.joined_with(own.server, terms.table.tn)
        if known is not None and known.th != terms.th:
            raise CheckFailedError("C9", "the table's nonce has served before", "server")
        self._store.come_into(Joined(terms.th, terms.table.tn, own.server, own.code, own.seat, self._mid))

    def act(self, kind: str, args: tuple[Any, ...]) -> Statement:
        """Sign a decision.

        Raises:
            SignedBeforeError: Another one was signed for this position.
            ChoiceError: The rules forbid it: a server that offers it wants to have it signed, to accuse this seat.
        """
        body = Act(*self._here, self._ledger.deal_index, self._own.seat, kind, args)
        try:
            # no bytes are needed for what the rules say, and the folded ledger is thrown away
            fold(self._ledger, Record(self._own.seat + 1, b"", b""), body)
        except CheckError as error:
            raise ChoiceError(Sentence("failures.offered_against_rules", why=error.message)) from error
        return self.keep(Slot("act", self._ledger.k), body)

    def resign(self) -> Statement:
        """Sign that this side gives the match up.

        Raises:
            SignedBeforeError: An act was signed for this position.
        """
        return self.keep(Slot("act", self._ledger.k), Resign(*self._here, self._own.seat))

    def kept(self) -> Statement | None:
        """Return what was already signed for the current position; nothing else may be sent."""
        return self._store.statement(self._mid, Slot("act", self._ledger.k))

    def keep_place(self) -> None:
        """Store how far the match was accepted."""
        self._store.keep_place(self._mid, self._place)

    def end(self) -> None:
        """Drop the secrets: the match has ended."""
        self._store.end(self._mid, self._place)

    def refused(self, k: int, statement: Statement, refusal: Record) -> SignedRefusal | None:
        """Keep the server's refusal of what was signed for a position, and return it; None if it is not valid."""
        read = read_refusal(refusal)
        if read is None or (read.mid, read.body.body) != (self._mid, sha256(statement.body)):
            return None
        # only a refusal under the match's key shows anything to others (C35)
        if not verify(self._terms.table.spk, refusal.body, refusal.sig):
            return None
        self._store.keep_refusal(self._mid, Slot("act", k), refusal.body + refusal.sig)
        return read

    def keep(self, slot: Slot, body: Body, chain: HeldChain | None = None) -> Statement:
        """Sign a body and store it, with the chain that it begins, if any.

        Raises:
            SignedBeforeError: Another one was signed for this place.
        """
        encoded = encode(body)
        statement = Statement(encoded, self._own.key.sign(encoded))
        return self._store.keep_statement(self._mid, slot, statement, self._place, chain)

    @property
    def _place(self) -> AcceptedPlace:
        """Where the match stands: among releases or acks, whose order is not yet signed, before the first."""
        held = self.chain
        return AcceptedPlace(*self._ledger.parallel, *((held.x, held.counter) if held is not None else ()))


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


def join_terms(terms: MatchTerms, own: SeatKey, store: HomeStore) -> Statement:
    """Return the seat record that accepts a table record, stored with its fresh secrets.

    Raises:
        CheckError: C9, the record or its nonce was used before, for another match or seat.
    """
    known = store.joined(terms.th)
    # the same terms come again until their setup, and are answered with the same bytes (C9)
    if known is not None and known.mid is None and known.seat == own.seat:
        kept = store.statement(terms.th, Slot("seat"))
        if kept is not None and store.chains(terms.th):
            return kept
    if known is not None or store.joined_with(own.server, terms.table.tn) is not None:
        raise CheckError("C9", "the table record or its nonce has served before", "server")
    held, public = new_chain(0), own.key.public
    anchor = links_of(held, public, terms.table).anchor
    body = encode(SeatTaken(terms.th, own.seat, public, anchor, held.x, own.name.encode()))
    statement = Statement(body, own.key.sign(body))
    store.join(Joined(terms.th, terms.table.tn, own.server, own.code, own.seat), held, statement)
    return statement


def new_chain(first: int, *, after_loss: bool = False) -> HeldChain:
    """Draw the secrets of a new chain."""
    x = generate_box_key()
    return HeldChain(x.public, first, secrets.token_bytes(LINK_BYTES), x.secret, after_loss)


def links_of(held: HeldChain, public: bytes, table: TableTerms) -> Chain:
    """Return the links of a chain of the player with the key `public`."""
    return Chain(public, table.tn, held.root, first=held.first, count=table.links)
