"""Signs: what a seat may sign, and who sees it (rules.md 1.10, 6.4, 12 and 13b.13).

A sign is not an action: it changes nothing, and is void once the hand is over. Where truth is enforced it must claim a
card that its seat holds unplayed; it does not say how many it holds. A card unknown here may be any card.
"""

from functools import cache

from truc_rules.cards import rank_of
from truc_rules.errors import IllegalActionError
from truc_rules.positions.match import HandPhase, Match, governor
from truc_rules.seats import Seat, side_of
from truc_rules.variants.variant import Signals
from truc_rules.variants.vocabulary import SIGNS

_CARDS_ARE_OUT = (HandPhase.REDEAL, HandPhase.PLAY)
_NO_SIGNS = Signals(vocabulary=(), visible_to="partner", truth="free", orders="none")


def sign_receivers(match: Match, seat: Seat) -> tuple[Seat, ...]:
    """Return the seats that see a sign of `seat`, ascending; none if it may not sign at all."""
    signals = match.variant.signals or _NO_SIGNS
    if not signals.vocabulary or not 0 <= seat < match.seats:
        return ()
    # rules.md 6.4: to the governor only, and the roles may not be reversed
    governed_by = governor(match, side_of(seat)) if match.variant.is_governed else None
    return _receivers(seat, match.seats, governed_by, signals.visible_to)


@cache
def _receivers(seat: Seat, seats: int, governed_by: Seat | None, visible_to: str) -> tuple[Seat, ...]:
    others = tuple(Seat(other) for other in range(seats) if other != seat)
    partners = tuple(other for other in others if side_of(other) == side_of(seat))
    if governed_by is not None:
        partners = tuple(other for other in partners if other == governed_by)
    # a seat without a partner has nobody to sign to, even where all would see it
    return others if partners and visible_to == "table" else partners


def check_sign(match: Match, seat: Seat, word: str) -> None:
    """Check that `seat` may sign `word` now. Only the sender may read why not: it tells what the seat holds.

    Raises:
        IllegalActionError: It may not.
    """
    signals = match.variant.signals or _NO_SIGNS
    reason = _objection(match, seat, signals)
    if reason is not None:
        raise _refusal(seat, "sign", reason)
    if word not in signals.vocabulary:
        raise _refusal(seat, "sign that", f"expected {' or '.join(signals.vocabulary)}")
    if signals.truth != "free" and not _is_held(match, seat, word):
        raise _refusal(
            seat, f"sign {word}", "signs are true in this game, and it holds no such card unplayed"
        )


def _refusal(seat: Seat, what: str, reason: str) -> IllegalActionError:
    return IllegalActionError("illegal_action", f"seat {seat} cannot {what}: {reason}")


def _objection(match: Match, seat: Seat, signals: Signals) -> str | None:
    """Return why `seat` may not sign anything now; None if it may."""
    if not signals.vocabulary:
        return "this table is played without signs"
    if not 0 <= seat < match.seats:
        return f"expected a seat of 0 to {match.seats - 1}"
    if match.hand.phase not in _CARDS_ARE_OUT:
        return "the hand is over" if match.hand.phase is HandPhase.OVER else "the cards are not dealt yet"
    # rules.md 6.4: a sign that must be true names a card that its seat knows it holds
    if match.hand.dealt.blind and signals.truth == "enforced":
        return "nobody has seen the cards of this hand"
    if sign_receivers(match, seat):
        return None
    governed = match.variant.is_governed
    return "the governor gives orders, its partner signs" if governed else "it has no partner"


def _is_held(match: Match, seat: Seat, word: str) -> bool:
    """Tell whether `seat` holds an unplayed card that `word` claims, or may hold one as far as is known here."""
    pack, held, claimed = match.variant.pack, match.hand.dealt.cards[seat], SIGNS[word]
    cards = [held[slot] for slot in match.hand.row.left[seat]]
    return any(card is None or pack[card] in claimed or rank_of(pack[card]) in claimed for card in cards)
