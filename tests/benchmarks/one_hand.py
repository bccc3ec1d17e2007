"""The hand that the benchmark of the fairness work measures, and what the rules engine alone does in it.

Three cards, all played and signed, four bets, every seat keyed.
"""

import copy
from typing import NamedTuple

from protocol.peers import Puppet, Table

from truc_protocol.audit import Auditor, OwnSeat
from truc_protocol.bodies import AnyBody
from truc_protocol.dealer import Dealer
from truc_protocol.ledger import HandLog, Ledger, replayed, side_scores
from truc_protocol.ledger.replay import told
from truc_protocol.records import Record, parse
from truc_rules import Card, Kind, Match, Seat, deal, is_hand_over, know, next_hand

GAME = "truco-argentino"
CARDS = 3
BETS = 4

Cards = tuple[tuple[Card, ...], ...]


class Step(NamedTuple):
    """A record, what it says, and the match before it."""

    record: Record
    body: AnyBody
    ledger: Ledger


class Hand(NamedTuple):
    """A played hand, from its call to its close.

    Attributes:
        server: the dealer before the call.
        players: the seats, with their keys.
        auditors: by seat, its client's auditor before the call.
        log: the hand before its close, as the server knows it.
        cards: every card dealt, by seat and slot.
    """

    server: Dealer
    players: dict[int, Puppet]
    auditors: tuple[Auditor, ...]
    steps: tuple[Step, ...]
    log: HandLog
    cards: Cards

    @property
    def seats(self) -> int:
        """Number of seats."""
        return len(self.cards)

    @property
    def dealer(self) -> Dealer:
        """A fresh copy of the dealer, which has not shuffled yet."""
        return copy.copy(self.server)


def played_hand(seats: int) -> Hand:
    """Return the first hand, by seed, in which every card is played and all the bets are made."""
    for seed in range(1000):
        table = Table(GAME, seats=seats, seed=seed).to("between")
        server, ledgers, begun = copy.copy(table.dealer), [table.ledger], len(table.records)
        while ledgers[-1].phase != "hand":
            table.step()
            ledgers.append(table.ledger)
        bets = 0
        while not is_hand_over(table.ledger.match):
            bets += _play_on(table, is_betting=bets < BETS)
            ledgers.append(table.ledger)
        log = table.ledger.hand
        if bets == BETS and len(log.used) == CARDS * seats:
            cards = tuple(_cards(table, seat) for seat in range(seats))
            table.step()
            auditors = tuple(_auditor(table, seat, begun) for seat in range(seats))
            records = table.records[begun:]
            steps = tuple(map(Step, records, map(parse, records), ledgers))
            return Hand(server, table.players, auditors, steps, log, cards)
    raise AssertionError(f"no such hand of {seats} seats")


def _play_on(table: Table, *, is_betting: bool) -> bool:
    """Accept, raise if bets are wanted, or play a card; tell whether it was a bet."""
    actions = [action for seat in range(table.ledger.seats) for action in table.actions(seat)]
    for kind in (Kind.ACCEPT, Kind.RAISE, Kind.PLAY) if is_betting else (Kind.PLAY,):
        for action in actions:
            if action.kind is kind:
                table.add(table.record_of(action))
                return kind is not Kind.PLAY
    raise AssertionError("nobody can play on")


def _cards(table: Table, seat: int) -> tuple[Card, ...]:
    return tuple(Card(opening.card) for opening in table.dealer.openings(table.ledger, seat))


def _auditor(table: Table, seat: int, begun: int) -> Auditor:
    auditor = Auditor(table.document, OwnSeat(seat, table.players[seat].x))
    for record in table.records[:begun]:
        auditor.feed(record)
    return auditor


def rules_of_server(hand: Hand) -> None:
    """Tell the engine alone what the server tells it."""
    match = _dealt(hand)
    for seat in range(hand.seats):
        match = _known(match, seat, hand.cards)
    _conclude(_moved(match, hand))


def rules_of_client(hand: Hand, seat: int) -> None:
    """Tell the engine alone what a seat's auditor tells it, and at the close the hand again with every card."""
    _moved(_known(_dealt(hand), seat, hand.cards), hand)
    match, _ = replayed(hand.log, (hand.cards,))
    _conclude(match)


def _dealt(hand: Hand) -> Match:
    newest = hand.log.deals[-1]
    unknown = tuple((None,) * len(leaves) for leaves in newest.leaves)
    return deal(hand.log.start, unknown, tuple(Card(card) for card in newest.up))[0]


def _known(match: Match, seat: int, cards: Cards) -> Match:
    for slot, card in enumerate(cards[seat]):
        match = know(match, Seat(seat), slot, card)
    return match


def _moved(match: Match, hand: Hand) -> Match:
    for step in hand.log.steps:
        seat = step.action.seat
        for card in step.action.cards:
            match = know(match, seat, hand.cards[seat].index(card), card)
        match, _ = told(match, step)
    return match


def _conclude(match: Match) -> None:
    side_scores(match)
    next_hand(match)
