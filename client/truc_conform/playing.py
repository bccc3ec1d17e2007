"""How a scripted server plays: the options of the seat under test, and the puppets who hold the other seats.

A puppet's keys, chains and nonces come from a seed, and are the same in every run. Nothing here sends anything.
"""

import hashlib
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from truc_protocol.acts import write_args
from truc_protocol.bodies import (
    Ack,
    Act,
    Args,
    Body,
    Close,
    Deal,
    Placed,
    Rekey,
    Release,
    Resign,
    SeatTaken,
    Sub,
)
from truc_protocol.boxes import Option
from truc_protocol.checks import CheckError
from truc_protocol.crypto import keys
from truc_protocol.crypto.chains import Chain
from truc_protocol.dealer import Dealer, proxy_body
from truc_protocol.dealing import DealtCards
from truc_protocol.ledger import Ledger, deciding_match, fold
from truc_protocol.ledger.facts import Fact, means
from truc_protocol.messages import SignedAct
from truc_protocol.records import Record, encode, parse, unsigned_record
from truc_protocol.setup import MatchTerms
from truc_rules import Action, Match, Seat, deciders, legal, move_line, parse_move


def secret(name: str, seed: int) -> bytes:
    """Return 32 bytes that stand for randomness."""
    return hashlib.sha256(f"{name}/{seed}".encode()).digest()


def here(ledger: Ledger) -> tuple[bytes, int, bytes]:
    """Return match, position and head: what most bodies begin with."""
    return ledger.setup.mid, ledger.k, ledger.head


@dataclass
class Puppet:
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

    def commit(self, terms: MatchTerms, first: int, at: int = -1) -> bytes:
        """Start a chain and return its anchor; `at` tells apart chains from the same index."""
        table = terms.table
        root = self.secret(f"root {first} {at}")
        self.chain = Chain(self.key.public, table.tn, root, first=first, count=table.links)
        return self.chain.anchor

    def join(self, terms: MatchTerms) -> Record:
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
        # specification.md, "Deals", New chains: a keyed seat that rekeys brings a new x.
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


CUT: Final = 7
QUIET: Final = ("play", "blind", "cut", "stand", "accept", "deal")
"""The kinds that keep a match going, the preferred ones first."""

Pick = Callable[[list[Action]], Action]
Picks = Callable[[Ledger], Pick]
"""How the puppets decide, as far as the match has come."""


def open_actions(ledger: Ledger) -> tuple[Action, ...]:
    """Return what the seat under test may do."""
    match = deciding_match(ledger)
    return () if match is None else legal(match, Seat(0))


def _rules(ledger: Ledger) -> Match:
    if ledger.match is None:
        raise ValueError("nothing is decided before the draw")
    return ledger.match


def option_of(ledger: Ledger, dealer: Dealer, action: Action) -> Option:
    """Return an action as an option."""
    match = _rules(ledger)
    return Option(str(action.kind), _args(ledger, dealer, action), move_line(match.variant, action))


def written_choice(ledger: Ledger, dealer: Dealer, line: str) -> Record:
    """Write down what a guest at seat 0 has chosen."""
    action = parse_move(_rules(ledger).variant, Seat(0), line)
    return unsigned_record(proxy_body(ledger, 0, line.split(maxsplit=1)[0], _args(ledger, dealer, action)))


def _args(ledger: Ledger, dealer: Dealer, action: Action) -> tuple[Any, ...]:
    openings = dealer.openings(ledger, action.seat) if ledger.hand else ()
    return write_args(action, openings, cut=CUT)


def decided(ledger: Ledger, dealer: Dealer, players: Mapping[int, Puppet], pick: Pick) -> Record:
    """Let a puppet that holds the decision pick an action."""
    action = pick([action for seat in players for action in legal(_rules(ledger), Seat(seat))])
    option = option_of(ledger, dealer, action)
    return players[action.seat].act(ledger, option.kind, option.args)


def drawn(actions: list[Action], dice: random.Random) -> Action:
    """Pick an action at random; concede only if nothing else is left."""
    # A match of conceded hands would be over before much is tried.
    return dice.choice([action for action in actions if action.kind != "concede"] or actions)


def quiet(actions: list[Action]) -> Action:
    """Pick the action that keeps the match going."""
    return min(actions, key=lambda each: QUIET.index(each.kind) if each.kind in QUIET else len(QUIET))


def conceding(actions: list[Action]) -> Action:
    """Give the hand up, as soon as that is possible."""
    return next((action for action in actions if action.kind == "concede"), actions[0])


def may_decide(ledger: Ledger, players: Iterable[int]) -> bool:
    """Tell whether the match waits for a decision of one of these seats."""
    match = deciding_match(ledger)
    return match is not None and not set(deciders(match)).isdisjoint(players)


def taken(ledger: Ledger, dealer: Dealer, record: Record) -> tuple[Ledger, tuple[Fact, ...]]:
    """Return the ledger after a record, as its dealer knows it, and what the record means."""
    body = parse(record)
    opened = None
    if isinstance(body, Close) and body.link is not None:
        # What a close tells are the cards that its link opens; the dealer knows them already.
        opened = DealtCards(tuple(dealer.openings(ledger, seat) for seat in range(ledger.seats)), (), 0)
    folded = fold(ledger, record, body)
    # A dealer knows the cards of its deal; in mode blind nobody does.
    is_shown = isinstance(body, Deal) and ledger.blind_hand is None
    after = dealer.learn_deal(folded.ledger) if is_shown else folded.ledger
    return after, tuple(means(body, after, folded.events, opened))


def signed_position(message: SignedAct) -> int:
    """Return the position that a signed act is for; -1 if it cannot be read."""
    try:
        return position(Record(1, message.body, message.sig))
    except (CheckError, ValueError):
        return -1


def position(record: Record) -> int:
    """Return the position that a seat has signed; -1 if the body that it signed has none."""
    body = parse(record)
    return body.k if isinstance(body, Placed) else -1
