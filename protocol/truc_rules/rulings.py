"""What is done for a seat whose time is up: the "move" ruling, a function of the state alone.

Whichever applies: an open question is declined, a value to be said is yielded, a flor is declared, a redeal is not
proposed, the pack is cut, three cards are dealt; on a turn the lowest slot is played, or the hand conceded, as the
variant's `absent` says.
"""

from truc_rules import machines, tricks
from truc_rules.cards import CARDS_EACH
from truc_rules.deals import lowest_slot
from truc_rules.errors import MatchError
from truc_rules.match import NextMatch, apply, carry_out
from truc_rules.positions.actions import Action, Kind
from truc_rules.positions.match import FlorRound, HandPhase, Match, Offer, Saying
from truc_rules.seats import Seat


def ruled(match: Match) -> Action | None:
    """Return what a ruling does for the first of the seats that hold the decision; None if nobody does.

    A card to be played that is unknown here is left out: `know` it first, then ask again.
    """
    waiting = machines.deciders(match)
    if not waiting:
        return None
    # the first after the asker in order of play (specification.md, "Rulings")
    seat = waiting[0]
    if match.hand.offers:
        return Action(seat, _ruled_answer(match.hand.offers[-1]))
    match match.hand.phase:
        case HandPhase.REDEAL:
            return Action(seat, Kind.STAND)
        case HandPhase.CUT:
            return Action(seat, Kind.CUT)
        case HandPhase.COUNT:
            return Action(seat, Kind.DEAL, (), CARDS_EACH)
        case _:
            return _ruled_turn(match, seat)


def _ruled_answer(offer: Offer) -> Kind:
    match offer:
        # an answer that needs no card, so that every reader can recompute it (C22)
        case Saying():
            return Kind.GOOD
        # rules.md 8.6: the holder of a flor has to declare it
        case FlorRound():
            return Kind.FLOR
        case _:
            return Kind.DECLINE


def _ruled_turn(match: Match, seat: Seat) -> Action:
    if match.variant.absent == "concede":
        return Action(seat, Kind.CONCEDE)
    slot, dealt = lowest_slot(match, seat), match.hand.dealt
    if dealt.blind:
        return Action(seat, Kind.BLIND, (), slot)
    card = dealt.cards[seat][slot]
    return Action(seat, Kind.PLAY, () if card is None else (card,))


def apply_ruled(match: Match, action: Action) -> NextMatch:
    """Carry out a ruling; a ruled concession needs no right to concede.

    Raises:
        MatchError: `action` is not what `ruled` returns, or its card is not known yet.
    """
    if action != ruled(match) or (action.kind is Kind.PLAY and not action.cards):
        raise MatchError("expected the ruling on this state, with its card known")
    if action.kind is Kind.CONCEDE:
        return carry_out(match, tricks.concede(match, action.seat))
    return apply(match, action)
