"""The dealer: what the server signs, composed from a match's secrets and its ledger.

No clock, no socket, no store: the same secrets and the same records give the same bytes, so that a restarted server
deals the hand it had committed to. The dealer knows every card, and so do the ledgers it returns; no record it signs
names a card that is not open. `openings` does, for the seat it is asked for alone. What is for one seat alone is sealed here too.
"""

from typing import NamedTuple

from truc_protocol import bodies, boxes, dealing
from truc_protocol.acts import write_args
from truc_protocol.blind_mode.sealed_pack import SealedPack, leaves, turned_up
from truc_protocol.codec import sha256
from truc_protocol.crypto.chains import Chain
from truc_protocol.crypto.keys import SigningKey, box_key
from truc_protocol.dealing import DealtCards, Opening
from truc_protocol.documents import rule_document
from truc_protocol.ledger import (
    Due,
    Ledger,
    box_public,
    deal_public,
    due,
    fold,
    learn_all,
    next_call,
    next_open,
    next_share,
    score,
    sealed_pack,
    seats_missing,
)
from truc_protocol.match_secrets import MatchSecrets
from truc_protocol.records import DEALT, Record, body_hash, encode_own, parse
from truc_protocol.setup import MatchTerms, Opts, own_terms
from truc_rules import Variant, ruled


class Shuffled(NamedTuple):
    """What one deal index has given so far, kept until the next; (call, links) tell it from others."""

    call: bodies.Call
    links: tuple[tuple[int, bytes], ...]
    seed: bytes
    order: bytes
    deals: tuple[DealtCards, ...] = ()

    def __repr__(self) -> str:
        return "Shuffled(...)"


class Dealer:
    """Sign the server's records of one match.

    Attributes:
        secrets: what it makes them from; a rekey adds to it.
    """

    def __init__(self, key: SigningKey, secrets: MatchSecrets, *, links: int) -> None:
        self.secrets = secrets
        self._key = key
        self._box_key = box_key(secrets.x)
        self._tn = secrets.tn
        self._links = links
        self._chains = tuple(
            self._new_chain(first, root) for first, root in ((0, secrets.root), *secrets.later)
        )
        self._shuffled: Shuffled | None = None
        self._exchanged: dict[bytes, bytes] = {}

    def _new_chain(self, first: int, root: bytes) -> Chain:
        return Chain(self._key.public, self._tn, root, first=first, count=self._links)

    def add_chain(self, first: int, root: bytes) -> Chain:
        """Go on from a deal index with a new chain, which replaces any that begins there or later."""
        chain = self._new_chain(first, root)
        # where the record of an earlier attempt was never stored, nobody has seen its chain: this replaces it
        self._chains = (*(older for older in self._chains if older.first < first), chain)
        later = tuple(older for older in self.secrets.later if older[0] < first)
        self.secrets = self.secrets._replace(later=(*later, (first, root)))
        return chain

    def _signed(self, body: bodies.Body) -> Record:
        encoded = encode_own(body)
        return Record(0, encoded, self._key.sign(encoded))

    def terms(
        self, variant: Variant, *, seats: int, opts: Opts, name: str, opened_at: int, mode: str = DEALT
    ) -> MatchTerms:
        """Sign the terms of the match; `opened_at` is in Unix seconds.

        Raises:
            CheckError: C5, these terms cannot be played.
        """
        document = rule_document(variant)
        table = bodies.TableTerms(
            spk=self._key.public,
            tn=self._tn,
            rules=sha256(document),
            deck=len(variant.pack),
            seats=seats,
            links=self._links,
            policy=variant.reveal,
            mode=mode,
            anchor=self._chains[0].anchor,
            x=self._box_key.public,
            opts=tuple(opts),
            name=name.encode(),
            time=opened_at,
        )
        return own_terms(document, self._signed(table), table)

    def guest_record(self, guest: bodies.Guest) -> Record:
        """Seat a guest."""
        return self._signed(guest)

    def match_record(self, terms: MatchTerms, seats: tuple[Record, ...]) -> Record:
        """Close the set of seats."""
        return self._signed(bodies.MatchStart(terms.th, tuple(body_hash(record) for record in seats)))

    def next_record(self, ledger: Ledger) -> Record | None:
        """Return the record that is due from the server; None while it waits for players.

        None also for a consequence or a rekey, which are not composed here: the match chooses what follows a void.
        """
        match due(ledger):
            case Due.PLAYERS | Due.CONSEQUENCE | Due.REKEY:
                return None
            case Due.CALL:
                return self._signed(next_call(ledger))
            case Due.DRAW:
                return self._draw(ledger)
            case Due.DEAL:
                return self._deal(ledger)
            case Due.SHARE:
                return self._share(ledger)
            case Due.OPEN:
                return self._open(ledger)
            case Due.CLOSE:
                return self._close(ledger)
            case Due.END:
                return self._end(ledger)

    def _link(self, ledger: Ledger) -> bytes:
        index = ledger.deal_index
        # the newest chain that has begun; deal j opens v_{j+1}
        for in_force in reversed(self._chains):
            if in_force.first <= index:
                return in_force.link(index + 1)
        raise ValueError(f"no chain serves deal {index}")

    def _policy_link(self, ledger: Ledger) -> bytes | None:
        # under reveal = match links stay closed until the end (specification.md 6)
        return self._link(ledger) if ledger.link_at_close else None

    def _draw(self, ledger: Ledger) -> Record:
        link = self._link(ledger)
        links = ((0, link), *ledger.released)
        first = dealing.first_dealer(ledger.setup.mid, ledger.deal_index, links, ledger.seats)
        return self._signed(bodies.Draw(*_place(ledger), ledger.deal_index, link, first))

    def _cards(self, ledger: Ledger, deals: int) -> tuple[DealtCards, ...]:
        """Return the open index's deals 0 to `deals` - 1; kept until the index changes."""
        call = _open_call(ledger)
        links = ledger.released if ledger.hand is None else ledger.hand.links
        table = ledger.setup.terms.table
        shuffled = self._shuffled
        if shuffled is None or (shuffled.call, shuffled.links) != (call, links):
            seed = dealing.seed(ledger.setup.mid, call.j, ((0, self._link(ledger)), *links))
            order = bytes(dealing.deck_order(seed, size=table.deck, cut=call.cut))
            self._shuffled = shuffled = Shuffled(call, links, seed, order)
        _, _, seed, order, kept = shuffled
        while len(kept) < deals:
            cards = dealing.deal_cards(
                seed,
                order,
                before=kept,
                dealer=call.dealer,
                seats=table.seats,
                ncards=call.ncards,
                up=ledger.setup.terms.variant.turn_count,
            )
            kept = (*kept, cards)
            self._shuffled = Shuffled(call, links, seed, order, kept)
        return kept

    def _deal(self, ledger: Ledger) -> Record:
        if ledger.blind_hand is not None and (pack := sealed_pack(ledger)) is not None:
            return self._signed(_sealed_deal(ledger, pack))
        call, d = _open_call(ledger), len(ledger.hand.deals) if ledger.hand else 0
        cards = self._cards(ledger, d + 1)[d]
        mid = ledger.setup.mid
        leaves = dealing.leaves(mid, j=call.j, d=d, hands=cards.hands)
        sealed = tuple([self._box(ledger, seat, d, cards) for seat in range(ledger.seats)])
        called = (call.j, d, call.dealer, call.ncards, call.cut)
        return self._signed(bodies.Deal(*_place(ledger), *called, up=cards.up, leaves=leaves, boxes=sealed))

    def _box(self, ledger: Ledger, seat: int, d: int, cards: DealtCards) -> bytes:
        public = deal_public(ledger, seat)
        if public is None:
            return b""
        return boxes.seal_hand(
            self.exchange(public),
            ledger.setup.mid,
            j=ledger.deal_index,
            d=d,
            seat=seat,
            hand=cards.hands[seat],
        )

    def shared(self, ledger: Ledger, seat: int) -> bytes | None:
        """Return the secret shared with a seat, which its private boxes are keyed from; None without a box key."""
        public = box_public(ledger, seat)
        return None if public is None else self.exchange(public)

    def exchange(self, public: bytes) -> bytes:
        """Return the secret shared with the owner of a box key: made once, as every deal and every box asks for it."""
        shared = self._exchanged.get(public)
        if shared is None:
            shared = self._exchanged[public] = self._box_key.exchange(public)
        return shared

    def _share(self, ledger: Ledger) -> Record:
        owed = next_share(ledger)
        if owed is None or ledger.hand is None:
            raise ValueError("no share is due")
        giver, receiver = owed
        d = len(ledger.hand.deals) - 1
        box = boxes.seal_share(
            self.shared(ledger, receiver),
            ledger.setup.mid,
            j=ledger.deal_index,
            d=d,
            giver=giver,
            receiver=receiver,
            hand=self.openings(ledger, giver),
        )
        return self._signed(bodies.Share(*_place(ledger), ledger.deal_index, d, giver, receiver, box))

    def _open(self, ledger: Ledger) -> Record:
        owed = next_open(ledger)
        if owed is None or ledger.hand is None:
            raise ValueError("no card is to be opened")
        seat, slots = owed
        cards = self.openings(ledger, seat)
        openings = tuple((slot, *cards[slot]) for slot in slots)
        d = len(ledger.hand.deals) - 1
        return self._signed(bodies.Open(*_place(ledger), ledger.deal_index, d, seat, openings))

    def _close(self, ledger: Ledger) -> Record:
        reason = "hand" if ledger.outcome is None else "ended"
        return self._signed(
            bodies.Close(*_place(ledger), ledger.deal_index, self._policy_link(ledger), score(ledger), reason)
        )

    def _end(self, ledger: Ledger) -> Record:
        if ledger.outcome is None:
            raise ValueError("the match is not decided")
        index = ledger.deal_index
        # of each chain that served a deal the highest link used; the others follow by hashing (C30)
        links = tuple(
            (chain.first, chain.link(min(index, chain.last))) for chain in self._chains if chain.first < index
        )
        winner, reason = ledger.outcome
        # with the secret of the box key everybody seals every box again, and compares (C31)
        return self._signed(
            bodies.End(*_place(ledger), index, links, self._box_key.secret, score(ledger), winner, reason)
        )

    def openings(self, ledger: Ledger, seat: int) -> tuple[Opening, ...]:
        """Return a seat's cards and salts of the newest deal, if a hand is open: for that seat alone.

        Empty in mode blind, where the server knows no card.
        """
        hand, shuffled = ledger.hand, self._shuffled
        if hand is None or ledger.blind_hand is not None:
            return ()
        d = hand.deals[-1].d
        # asked several times an act: the very deal that was made last, nearly always
        if shuffled is not None and shuffled.links is hand.links and shuffled.call is ledger.call:
            kept = shuffled.deals
            if d < len(kept):
                return kept[d].hands[seat]
        return self._cards(ledger, d + 1)[d].hands[seat]

    def take(self, ledger: Ledger, record: Record) -> Ledger:
        """Fold a record in; after a deal the ledger knows every card.

        Raises:
            CheckError: The record does not follow.
        """
        body = parse(record)
        folded = fold(ledger, record, body).ledger
        # every reader folds a deal as unknown cards; whoever knows more says so (decision 3)
        return (
            self.learn_deal(folded) if isinstance(body, bodies.Deal) and ledger.blind_hand is None else folded
        )

    def learn_deal(self, ledger: Ledger) -> Ledger:
        """Tell the ledger every card of the deal it has just taken."""
        hands = [self.openings(ledger, seat) for seat in range(ledger.seats)]
        return learn_all(ledger, [[opening.card for opening in hand] for hand in hands])

    def move(self, ledger: Ledger) -> Record:
        """Return the ruling for the seat that holds the decision and let its time run out."""
        if ledger.match is None:
            raise ValueError("nothing is decided before the draw")
        action = ruled(ledger.match)
        if action is None:
            raise ValueError("nobody holds a decision")
        # a ruled cut is [0]: the pack stays as it is (specification.md 9)
        args = write_args(action, self.openings(ledger, action.seat))
        return self._rule(ledger, "move", action.seat, action.kind, args)

    def forfeit(self, ledger: Ledger, seat: int, kind: str) -> Record:
        """End the match against a seat that was "silent" or is "absent"; in mode blind also for "opening", "cheat" or "false"."""
        return self._rule(ledger, "forfeit", seat, kind, ())

    def abandon(self, ledger: Ledger, kind: str) -> Record:
        """End the match without a winner: "empty", "voids" or "server"."""
        return self._rule(ledger, "abandon", None, kind, ())

    def pause(self, ledger: Ledger) -> Record:
        """Let the match rest: every seat has asked for it."""
        return self._rule(ledger, "pause", None, None, ())

    def resume(self, ledger: Ledger) -> Record:
        """End the pause."""
        return self._rule(ledger, "resume", None, None, ())

    def _rule(
        self, ledger: Ledger, ruling: str, seat: int | None, kind: str | None, args: bodies.Args
    ) -> Record:
        word = None if kind is None else str(kind)
        return self._signed(bodies.Rule(*_place(ledger), ledger.deal_index, ruling, seat, word, args))

    def void(self, ledger: Ledger, reason: str = "silent") -> Record:
        """Void the open call because of the seats that have not released, or in mode blind have not made the step that is due."""
        link = self._policy_link(ledger)
        return self._signed(
            bodies.Void(*_place(ledger), ledger.deal_index, reason, seats_missing(ledger), link)
        )

    def rekey(self, ledger: Ledger, root: bytes) -> Record:
        """Start a new chain where the old one is exhausted; `root` is stored, sealed, before the record leaves."""
        chain = self.add_chain(ledger.deal_index, root)
        # no x: the server keeps the one of the table record (C27)
        return self._signed(bodies.Rekey(*_place(ledger), 0, chain.first, chain.anchor, None))

    def reproduces(self, ledger: Ledger, record: Record, body: bodies.AnyBody) -> bool:
        """Tell whether the secrets give a stored deal or rekey of the server again; any other record passes."""
        # the fold checks links against their chain; whether leaves, boxes and a new anchor are right, only
        # the secrets can tell
        match body:
            case bodies.Deal():
                return self.next_record(ledger) == record
            case bodies.Rekey(role=0, first=first, anchor=anchor):
                return (first, anchor) in ((chain.first, chain.anchor) for chain in self._chains)
            case _:
                return True

    def refuse(self, mid: bytes, body: bytes, code: str) -> Record:
        """Sign that a validly signed body was not taken, for the error reply."""
        return self._signed(bodies.Refuse(mid, sha256(body), code))


class BoxSealer:
    """The private boxes of one match under one ownership of its table: no counter is used twice."""

    def __init__(self, dealer: Dealer, epoch: int) -> None:
        self._dealer = dealer
        self._epoch = epoch
        self._keys: dict[tuple[int, bytes], boxes.DownwardKey] = {}
        self._numbers: dict[int, int] = {}

    def seal(
        self,
        public: bytes,
        mid: bytes,
        options: tuple[boxes.Option, ...],
        *,
        seat: int,
        at: int,
        offer: int,
    ) -> bytes:
        """Return the box of the options of a seat with this box key, as `boxes.seal_options` has it."""
        key, ctr = self._next(public, mid, seat)
        fill = boxes.OPTIONS_BYTES
        return boxes.seal_options(
            key, mid, seat=seat, at=at, offer=offer, ctr=ctr, options=options, fill=fill
        )

    def seal_sign(self, ledger: Ledger, seat: int, sender: int, word: str) -> bytes:
        """Return the box of a sign that a seat sees."""
        public, mid = box_public(ledger, seat), ledger.setup.mid
        if public is None:
            raise ValueError(f"seat {seat} has no box key")
        key, ctr = self._next(public, mid, seat)
        return boxes.seal_sign(key, mid, seat=seat, at=ledger.k, sender=sender, ctr=ctr, word=word)

    def _next(self, public: bytes, mid: bytes, seat: int) -> tuple[boxes.DownwardKey, int]:
        """Return the key and the counter of a seat's next box: options and signs have one key, and so one count."""
        number = self._numbers.get(seat, 0)
        self._numbers[seat] = number + 1
        # by x too, which changes when the seat rekeys or is taken over
        key = self._keys.get((seat, public))
        if key is None:
            key = self._keys[seat, public] = boxes.downward_key(self._dealer.exchange(public), mid, seat)
        return key, boxes.counter(epoch=self._epoch, number=number)


def proxy_body(ledger: Ledger, seat: int, kind: str, args: bodies.Args) -> bodies.Proxy:
    """Return a guest's decision as the server writes it down."""
    return bodies.Proxy(*_place(ledger), ledger.deal_index, seat, kind, args)


def _sealed_deal(ledger: Ledger, pack: SealedPack) -> bodies.Deal:
    """Return the deal of places that the seats have locked: the server repeats what everybody sees."""
    call, d = _open_call(ledger), pack.d
    up = tuple(card for card in turned_up(pack) if card is not None) if d == 0 else ()
    called = (call.j, d, call.dealer, call.ncards, call.cut)
    empty = (b"",) * ledger.seats
    return bodies.Deal(*_place(ledger), *called, up=up, leaves=leaves(pack, d), boxes=empty)


def _place(ledger: Ledger) -> tuple[bytes, int, bytes]:
    return ledger.setup.mid, ledger.k, ledger.head


def _open_call(ledger: Ledger) -> bodies.Call:
    if ledger.call is None:
        raise ValueError("no deal index is open")
    return ledger.call
