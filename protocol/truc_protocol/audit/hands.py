"""The audit of one hand: its cards recomputed from the links, its moves replayed by the rules, its boxes made again."""

from typing import NamedTuple

from msgspec.structs import replace

from truc_protocol import boxes, dealing
from truc_protocol.bodies import Close, Deal, Share
from truc_protocol.checks import CheckError
from truc_protocol.crypto.keys import BoxKey
from truc_protocol.dealing import DealtCards
from truc_protocol.ledger import (
    HandLog,
    Ledger,
    box_public,
    check_exact,
    check_server_link,
    deal_public,
    opened_hands,
    replayed,
    side_scores,
)
from truc_protocol.setup import MatchSetup
from truc_rules import Card, Event, Match, RulesError, is_hand_over

Events = tuple[Event, ...]


class ClosedHand(NamedTuple):
    """A hand whose close has come, kept for what only the end can check.

    Attributes:
        log: its records.
        close: its close.
        publics: per seat, the X25519 key its boxes are sealed to, if any.
        receivers: per seat, the X25519 key that shares for it are sealed to.
        dealt: its cards, by sub-deal; None as long as the server's link is not open, in mode blind one of the seats'.
    """

    log: HandLog
    close: Close
    publics: tuple[bytes | None, ...]
    receivers: tuple[bytes | None, ...]
    dealt: tuple[DealtCards, ...] | None = None


def closed_hand(ledger: Ledger, close: Close) -> ClosedHand:
    """Take the open hand out of the ledger that is about to close it."""
    if ledger.hand is None:
        raise ValueError("no hand is open")
    seats = range(ledger.seats)
    publics = tuple(deal_public(ledger, seat) for seat in seats)
    return ClosedHand(ledger.hand, close, publics, tuple(box_public(ledger, seat) for seat in seats))


def open_at_close(ledger: Ledger, hand: ClosedHand) -> tuple[Ledger, ClosedHand, Events]:
    """Return the ledger that knows every card of the hand, if the close opens the server's link, and the hand so opened.

    With them comes all that happened in the hand, if it is opened.

    Raises:
        CheckError: C12, C14; C25, the culprit is the server.
    """
    link = check_server_link(ledger, hand.close)
    if link is None:
        return ledger, hand._replace(dealt=opened_hands(ledger)), ()
    dealt, match, happened = _opened(ledger.setup, hand.log, link)
    # what the rules make of all the cards replaces what a reader could make of those it knew
    log = replace(hand.log, known=len(hand.log.deals))
    return replace(ledger, match=match, hand=log), hand._replace(dealt=dealt), happened


def open_hand(setup: MatchSetup, hand: ClosedHand, server_link: bytes) -> ClosedHand:
    """Recompute every card of a hand closed before, and compare what all of them prove with its close.

    Raises:
        CheckError: C23 other cards were opened than were owed; C24, C25; the culprit is the server.
    """
    dealt, match, _ = _opened(setup, hand.log, server_link)
    # at its close this hand was believed as far as cards were unknown: here every one of them is known
    is_short = hand.close.reason == "hand" and not is_hand_over(match)
    if is_short or side_scores(match) != hand.close.score:
        raise CheckError("C25", f"deal {hand.log.call.j}: with all cards open the score is another", "server")
    if hand.close.reason == "ended" and match.winner is not None:
        message = f"deal {hand.log.call.j}: the match was won before it was ended otherwise"
        raise CheckError("C24", message, "server")
    if hand.close.reason == "hand":  # a hand that was cut short opens nothing at its end
        check_exact(hand.log, match)
    return hand._replace(dealt=dealt)


def _opened(
    setup: MatchSetup, log: HandLog, server_link: bytes
) -> tuple[tuple[DealtCards, ...], Match, Events]:
    dealt = _recompute(setup, log, server_link)
    return dealt, *_replay(log, dealt)


def _recompute(setup: MatchSetup, log: HandLog, server_link: bytes) -> tuple[DealtCards, ...]:
    call, table = log.call, setup.terms.table
    seed = dealing.seed(setup.mid, call.j, ((0, server_link), *log.links))
    order = dealing.deck_order(seed, size=table.deck, cut=call.cut)
    opened: list[DealtCards] = []
    for body in log.deals:
        cards = dealing.deal_cards(
            seed,
            order,
            before=opened,
            dealer=call.dealer,
            seats=table.seats,
            ncards=call.ncards,
            up=setup.terms.variant.turn_count,
        )
        _compare(setup, body, cards)
        opened.append(cards)
    return tuple(opened)


def _compare(setup: MatchSetup, body: Deal, cards: DealtCards) -> None:
    leaves = dealing.leaves(setup.mid, j=body.j, d=body.d, hands=cards.hands)
    # a leaf is the digest of card and salt, which both follow from the seed: equal leaves are equal cards
    for seat, (expected, came) in enumerate(zip(leaves, body.leaves, strict=True)):
        if tuple(expected) != came:
            message = f"deal {body.j}.{body.d}: the cards of seat {seat} are not those of the shuffle"
            raise CheckError("C25", message, "server")
    if cards.up != body.up:
        raise CheckError("C25", f"deal {body.j}: the cards turned up are not those of the shuffle", "server")


def _replay(log: HandLog, dealt: tuple[DealtCards, ...]) -> tuple[Match, Events]:
    hands = tuple(
        tuple(tuple(Card(opening.card) for opening in hand) for hand in cards.hands) for cards in dealt
    )
    try:
        return replayed(log, hands)
    except RulesError as error:
        # the server, not the seat that moved: it knew the cards, and let the move pass
        message = f"deal {log.call.j}: with all cards open the rules refuse a move: {error}"
        raise CheckError("C25", message, "server") from error


def check_boxes(setup: MatchSetup, hand: ClosedHand, secret: BoxKey) -> None:
    """Make every box of a hand again with the server's X25519 secret and compare the bytes.

    Raises:
        CheckError: C31; the culprit is the server.
    """
    if hand.dealt is None:
        raise ValueError("the hand is not open yet")
    # the keys that were in force in that hand: a seat may have rekeyed since
    shared = tuple(public and secret.exchange(public) for public in hand.publics)
    for body, cards in zip(hand.log.deals, hand.dealt, strict=True):
        for seat, key in enumerate(shared):
            if key and body.boxes[seat] != boxes.seal_hand(
                key, setup.mid, j=body.j, d=body.d, seat=seat, hand=cards.hands[seat]
            ):
                message = f"deal {body.j}.{body.d}: the box of seat {seat} does not hold its cards"
                raise CheckError("C31", message, "server")
    for share in hand.log.shares:
        public = hand.receivers[share.receiver]
        _check_share(setup, share, public and secret.exchange(public), hand.dealt[share.d])


def _check_share(setup: MatchSetup, share: Share, key: bytes | None, cards: DealtCards) -> None:
    sealed = boxes.seal_share(
        key,
        setup.mid,
        j=share.j,
        d=share.d,
        giver=share.giver,
        receiver=share.receiver,
        hand=cards.hands[share.giver],
    )
    if sealed != share.box:
        message = (
            f"deal {share.j}.{share.d}: the share for seat {share.receiver} does not hold its partner's cards"
        )
        raise CheckError("C31", message, "server")
