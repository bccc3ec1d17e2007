"""The audit of one hand: its cards recomputed from the links, its rules replayed, its boxes made again."""

from typing import NamedTuple

from truc_protocol import boxes, dealing
from truc_protocol.bodies import Deal, Share
from truc_protocol.checks import CheckError
from truc_protocol.dealing import DealtCards
from truc_protocol.keys import BoxKey
from truc_protocol.ledger import HandLog, Ledger, box_public
from truc_protocol.setup import Setup
from truc_rules import (
    Card,
    Match,
    RulesError,
    apply,
    apply_ruled,
    awaits_deal,
    deal,
    turn_count,
)


class ClosedHand(NamedTuple):
    """A hand whose close has come, kept for what only the end can check.

    Attributes:
        log: its records.
        match: the rules' state at its end, as far as cards were known.
        publics: per seat, the X25519 key its boxes are sealed to.
        dealt: its cards, by sub-deal; None as long as the server's link is not open.
    """

    log: HandLog
    match: Match
    publics: tuple[bytes | None, ...]
    dealt: tuple[DealtCards, ...] | None = None


def closed_hand(ledger: Ledger) -> ClosedHand:
    """Take the open hand out of the ledger that is about to close it."""
    if ledger.hand is None or ledger.match is None:
        raise ValueError("no hand is open")
    publics = tuple(box_public(ledger, seat) for seat in range(ledger.seats))
    return ClosedHand(ledger.hand, ledger.match, publics)


def open_hand(setup: Setup, hand: ClosedHand, server_link: bytes) -> ClosedHand:
    """Recompute every card of a hand, compare it with what was dealt, and replay the rules on the open cards.

    Raises:
        CheckError: C25; the culprit is the server.
    """
    dealt = _recompute(setup, hand.log, server_link)
    _replay(hand, dealt)
    return hand._replace(dealt=dealt)


def _recompute(setup: Setup, log: HandLog, server_link: bytes) -> tuple[DealtCards, ...]:
    call, table = log.call, setup.terms.table
    seed = dealing.seed(setup.mid, call.j, ((0, server_link), *log.links))
    order = dealing.deck_order(seed, size=table.deck, cut=call.cut)
    opened: list[DealtCards] = []
    for body in log.deals:
        cards = dealing.deal_cards(
            seed,
            order,
            d=body.d,
            dealer=call.dealer,
            seats=table.seats,
            ncards=call.ncards,
            start=opened[-1].next_card if opened else 0,
            up=turn_count(setup.terms.variant) if body.d == 0 else 0,
        )
        _compare(setup, body, cards)
        opened.append(cards)
    return tuple(opened)


def _compare(setup: Setup, body: Deal, cards: DealtCards) -> None:
    leaves = dealing.leaves(setup.mid, j=body.j, d=body.d, hands=cards.hands)
    for seat, (expected, came) in enumerate(zip(leaves, body.leaves, strict=True)):
        if tuple(expected) != came:
            message = f"deal {body.j}.{body.d}: the cards of seat {seat} are not those of the shuffle"
            raise CheckError("C25", message, "server")
    if cards.up != body.up:
        raise CheckError("C25", f"deal {body.j}: the cards turned up are not those of the shuffle", "server")


def _replay(hand: ClosedHand, dealt: tuple[DealtCards, ...]) -> None:
    waiting = iter(dealt)
    match = _deal(hand.log.start, next(waiting))
    try:
        for step in hand.log.steps:
            match, _ = (apply_ruled if step.ruled else apply)(match, step.action)
            if awaits_deal(match) and (cards := next(waiting, None)) is not None:
                match = _deal(match, cards)
    except RulesError as error:
        message = f"deal {hand.log.call.j}: with all cards open the rules refuse a move: {error}"
        raise CheckError("C25", message, "server") from error
    if (match.score, match.games, match.winner) != (hand.match.score, hand.match.games, hand.match.winner):
        raise CheckError("C25", f"deal {hand.log.call.j}: with all cards open the score is another", "server")


def _deal(match: Match, cards: DealtCards) -> Match:
    hands = tuple(tuple(Card(opening.card) for opening in hand) for hand in cards.hands)
    return deal(match, hands, tuple(Card(card) for card in cards.up))[0]


def check_boxes(setup: Setup, hand: ClosedHand, secret: BoxKey) -> None:
    """Make every box of a hand again with the server's X25519 secret and compare the bytes.

    Raises:
        CheckError: C31; the culprit is the server.
    """
    if hand.dealt is None:
        raise ValueError("the hand is not open yet")
    shared = tuple(public and secret.exchange(public) for public in hand.publics)
    for body, cards in zip(hand.log.deals, hand.dealt, strict=True):
        for seat, key in enumerate(shared):
            if key and body.boxes[seat] != boxes.seal_hand(
                key, setup.mid, j=body.j, d=body.d, seat=seat, hand=cards.hands[seat]
            ):
                message = f"deal {body.j}.{body.d}: the box of seat {seat} does not hold its cards"
                raise CheckError("C31", message, "server")
    for share in hand.log.shares:
        _check_share(setup, share, shared[share.receiver], hand.dealt[share.d])


def _check_share(setup: Setup, share: Share, key: bytes | None, cards: DealtCards) -> None:
    sealed = (
        b""
        if key is None
        else boxes.seal_share(
            key,
            setup.mid,
            j=share.j,
            d=share.d,
            giver=share.giver,
            receiver=share.receiver,
            hand=cards.hands[share.giver],
        )
    )
    if sealed != share.box:
        message = (
            f"deal {share.j}.{share.d}: the share for seat {share.receiver} does not hold its partner's cards"
        )
        raise CheckError("C31", message, "server")
