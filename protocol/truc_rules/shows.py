"""Cards laid open when a hand is over: what the rules force open, and what a seat shows by choice.

Forced are declared flores, the envido that won, or all cards where the cards decide it, and what answers a claim; a hand
played as duels owes what each duel owes. Also, for those who know only the open cards, whether these prove it. By choice
a seat opens unplayed cards of its own (rules.md 13b.14).
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Literal, NamedTuple, assert_never

from truc_rules.cards import Card
from truc_rules.contests.values import envido_cards, envido_value, is_flor, may_be_flor
from truc_rules.positions.actions import Action, Kind
from truc_rules.positions.events import CardsShown
from truc_rules.positions.match import Contests, Hand, HandPhase, Match, Step, players
from truc_rules.seats import Seat

Cards = tuple[Card | None, ...]


class _Proof(NamedTuple):
    """What the cards of a seat have to show.

    Attributes:
        what: that it has the flor which it declared, or the envido value which it said; whether it has a flor, after a claim
            that it kept one quiet; or all that it was dealt, where an envido compares them.
        value: the envido value.
    """

    seat: Seat
    what: Literal["declared", "said", "claimed", "compared"]
    value: int = 0


def owed_shows(match: Match) -> tuple[tuple[Seat, tuple[int, ...]], ...]:
    """Return, once the hand is over, what the rules force open: by seat, slots that do not lie open already.

    What depends on cards that are unknown here is left out.
    """
    owed: dict[Seat, set[int]] = {}
    for proof in _proofs(match):
        owed.setdefault(proof.seat, set()).update(_slots(match, proof))
    return tuple((seat, tuple(sorted(slots))) for seat, slots in sorted(owed.items()) if slots)


def unproven_seats(match: Match) -> tuple[Seat, ...]:
    """Return, once the hand is over, the seats whose cards, as known here, do not prove what they must."""
    return tuple(sorted({proof.seat for proof in _proofs(match) if not _is_proven(match, proof)}))


def compared_seats(match: Match) -> tuple[Seat, ...]:
    """Return the seats whose cards decide an accepted envido when the hand is over."""
    return players(match.hand.row, match.seats) if match.hand.contests.owed else ()


def _proofs(match: Match) -> Iterator[_Proof]:
    """Yield what has to be proven when the hand is over."""
    hand = match.hand
    if hand.phase is not HandPhase.OVER:
        return
    for _, contests in hand.earlier_duels:
        yield from _of_bets(contests, are_settled=True)
    # a hand has no winner if the game ended first, with nothing settled, or if it was drawn, with all cards
    # played
    is_won = hand.winner is not None
    yield from _of_bets(hand.contests, are_settled=is_won)
    if is_won or len(hand.row.tricks) == hand.dealt.each:
        for seat in compared_seats(match):
            yield _Proof(seat, "compared")


def _of_bets(contests: Contests, *, are_settled: bool) -> Iterator[_Proof]:
    for seat in contests.flores:
        yield _Proof(seat, "declared")
    for seat, value in contests.said:
        yield _Proof(seat, "said", value)
    for _, target in contests.claims if are_settled else ():
        yield _Proof(target, "claimed")


def _slots(match: Match, proof: _Proof) -> tuple[int, ...]:
    hidden, cards = _hidden(match.hand, proof.seat), match.hand.dealt.cards[proof.seat]
    match proof.what:
        # all of them, so that a reader without the cards can tell what is owed
        case "declared" | "compared":
            return hidden
        # which cards are owed depends on unknown ones: at `end` it is recomputed with all (C23)
        case _ if None in cards:
            return ()
        case "said":
            return _making_envido(match, cards, hidden)
        case "claimed":
            return _deciding_flor(match, cards, hidden)
        case _:
            assert_never(proof.what)


def _hidden(hand: Hand, seat: Seat) -> tuple[int, ...]:
    """Return the slots of `seat` that were not played face up, nor shown by choice."""
    left, dealt = hand.row.left[seat], hand.dealt
    return tuple(
        slot
        for slot in range(dealt.each)
        if (slot in left or (seat, slot) in dealt.covered)
        and (seat, dealt.cards[seat][slot]) not in dealt.shown
    )


def _making_envido(match: Match, cards: Cards, hidden: tuple[int, ...]) -> tuple[int, ...]:
    """Return which of the `hidden` slots belong to the cards that make the envido value; as few as will do."""
    # cards that lie open come first: of pairs with the same value the one that opens least is taken
    in_order = sorted(range(len(cards)), key=lambda slot: slot in hidden)
    held = [card for slot in in_order if (card := cards[slot]) is not None]
    making = envido_cards(match.variant, held, match.hand.dealt.up)
    return tuple(slot for slot in hidden if cards[slot] in making)


def _deciding_flor(match: Match, cards: Cards, hidden: tuple[int, ...]) -> tuple[int, ...]:
    """Return the fewest of the `hidden` slots that, opened, show that there is no flor; all if there is one."""
    # rules.md 8.6: two cards of different suits. The fewest cards, then the lowest slots: everybody has to
    # find the same ones owed (specification.md, "Opens at the end of a hand")
    for count in range(len(hidden)):
        for opened in combinations(hidden, count):
            closed = {*hidden} - {*opened}
            seen = [None if slot in closed else card for slot, card in enumerate(cards)]
            if not may_be_flor(match.variant, seen, match.hand.dealt.up):
                return opened
    return hidden


def _is_proven(match: Match, proof: _Proof) -> bool:
    variant, dealt = match.variant, match.hand.dealt
    cards, up = dealt.cards[proof.seat], dealt.up
    known = [card for card in cards if card is not None]
    match proof.what:
        case "declared":
            return is_flor(variant, known, up)
        case "said":
            return bool(known) and envido_value(variant, known, up) == proof.value
        case "compared":
            return len(known) == len(cards)
        case "claimed":
            return len(known) == len(cards) or not may_be_flor(variant, cards, up)
        case _:
            assert_never(proof.what)


def actions(match: Match, seat: Seat) -> tuple[Action, ...]:
    """Return every choice of unplayed cards that `seat` may show."""
    hand = match.hand
    if match.variant.show == "none" or hand.phase is not HandPhase.OVER or not hand.dealt.cards:
        return ()
    cards = _unshown(match, seat)
    return tuple(
        Action(seat, Kind.SHOW, chosen)
        for size in range(1, len(cards) + 1)
        for chosen in combinations(cards, size)
    )


def _unshown(match: Match, seat: Seat) -> tuple[Card, ...]:
    dealt, left = match.hand.dealt, match.hand.row.left[seat]
    held = (dealt.cards[seat][slot] for slot in left)
    return tuple(card for card in held if card is not None and (seat, card) not in dealt.shown)


def allows(match: Match, action: Action) -> bool:
    """Tell whether a show is among `actions`, its cards in any order."""
    if not match.hand.dealt.cards:
        return False
    in_order = tuple(card for card in _unshown(match, action.seat) if card in action.cards)
    return len(in_order) == len(action.cards) and Action(action.seat, Kind.SHOW, in_order) in actions(
        match, action.seat
    )


def show(match: Match, action: Action) -> Step:
    """Show cards."""
    hand = match.hand
    shown = (*hand.dealt.shown, *((action.seat, card) for card in action.cards))
    return hand._replace(dealt=hand.dealt._replace(shown=shown)), (CardsShown(action.seat, action.cards),)
