"""The cards the server opens or shares because the rules say so: `open` and `share`.

A card played unseen is opened at once. At the end of a hand whose close opens nothing, the cards are opened that prove
what was declared, said or claimed. A reader who cannot yet tell what is owed takes what comes; it is judged at the
close and, for the exact slots, at the end.
"""

from reprlib import repr as shorten

from msgspec.structs import replace

from truc_protocol.acts import SlotOpening
from truc_protocol.bodies import Open, Share
from truc_protocol.checks import CheckError
from truc_protocol.ledger.play import moved, open_slots
from truc_protocol.ledger.replay import apply_logged, is_unsure
from truc_protocol.ledger.state import (
    HandLog,
    Ledger,
    LoggedMove,
    Shown,
    Taken,
    box_public,
    check_index,
    next_open,
    next_share,
    unseen_slot,
)
from truc_rules import Match, compared_seats, is_hand_over, owed_shows, unproven_seats, without_unknown_flor

_SERVER = "server"


def open_cards(ledger: Ledger, body: Open) -> Taken:
    """Take cards that the rules force a seat to show, or one that it plays unseen.

    Raises:
        CheckError: C12, C19, C23; C25 a card that lies elsewhere too.
    """
    check_index(ledger, body.j, _SERVER)
    hand, match = ledger.hand, ledger.match
    if hand is None or match is None:
        raise CheckError("C23", "no cards are dealt", _SERVER)
    if body.d != len(hand.deals) - 1:
        raise CheckError("C12", f"expected sub-deal {len(hand.deals) - 1}, got {body.d}", _SERVER)
    if hand.unseen is not None:
        return _play_unseen_card(ledger, match, body, hand.unseen)
    # a flor contest that only unknown cards could continue is over, as an open does not continue it
    closed, events = without_unknown_flor(match)
    _check_owed(ledger, closed, hand, body)
    noted = replace(hand, opens=(*hand.opens, body))
    opened, match = open_slots(noted, closed, body.seat, _openings(body), _SERVER)
    return replace(ledger, match=match, hand=opened), events


def _openings(body: Open) -> tuple[SlotOpening, ...]:
    return tuple(SlotOpening(*opening) for opening in body.openings)


def _slots_of(body: Open) -> Shown:
    return body.seat, tuple(slot for slot, _, _ in body.openings)


def _play_unseen_card(ledger: Ledger, match: Match, body: Open, step: LoggedMove) -> Taken:
    if _slots_of(body) != unseen_slot(step):
        raise CheckError(
            "C23", f"expected {_slots_text(unseen_slot(step))}, got {_slots_text(_slots_of(body))}", _SERVER
        )
    hand, match = open_slots(ledger.hand, match, body.seat, _openings(body), _SERVER)
    # that the slot may be played was checked with the act; what comes of it depends on the card
    decided, events = apply_logged(match, step)
    return moved(ledger, hand, decided, step, 0), events


def _slots_text(shown: Shown) -> str:
    seat, slots = shown
    return f"slots {shorten(slots)} of seat {seat} to be opened"


def _check_owed(ledger: Ledger, match: Match, hand: HandLog, body: Open) -> None:
    """Check, as far as cards are known, that an open at the end of a hand is due."""
    seat, slots = _slots_of(body)
    if ledger.opens_at_close:
        raise CheckError("C23", "reveal = hand: the close opens every card", _SERVER)
    if hand.is_known:
        expected = next_open(ledger)
        if expected != (seat, slots):
            wanted = "no card to be opened" if expected is None else _slots_text(expected)
            raise CheckError("C23", f"expected {wanted}, got {_slots_text((seat, slots))}", _SERVER)
    elif not is_hand_over(match) and not is_unsure(match):
        # hidden points may have ended the hand where a reader is unsure: the close shows whether they did
        raise CheckError("C23", "cards opened before the hand is over", _SERVER)
    # seats ascending, slots ascending: what is out of order is refused at once (specification.md 8)
    if not slots or list(slots) != sorted(set(slots)):
        raise CheckError("C23", f"expected slots in ascending order, got {shorten(slots)}", _SERVER)
    if hand.opens and seat <= hand.opens[-1].seat:
        raise CheckError("C23", f"expected a seat after {hand.opens[-1].seat}, got {seat}", _SERVER)


def check_shown(ledger: Ledger, hand: HandLog, match: Match) -> None:
    """Check that the cards which the rules force open at the end of a hand are open, as far as `match` knows them.

    Where the close itself opens every card, nothing is left to be shown.

    Raises:
        CheckError: C23.
    """
    if hand.is_known and (expected := next_open(ledger)) is not None:
        raise CheckError("C23", f"expected {_slots_text(expected)} before the close", _SERVER)
    if seats := unproven_seats(match):
        raise CheckError("C23", f"the cards of seats {list(seats)} do not show what they must", _SERVER)
    for body in hand.opens:
        if body.seat not in _seats_with_proofs(match):
            raise CheckError(
                "C23", f"seat {body.seat} owes no card, got {_slots_text(_slots_of(body))}", _SERVER
            )


def _seats_with_proofs(match: Match) -> frozenset[int]:
    """Return the seats that declared or said what cards can prove, were claimed to have kept it quiet, or are compared."""
    duels = (match.hand.contests, *(contests for _, contests in match.hand.earlier_duels))
    flores = (seat for contests in duels for seat in contests.flores)
    said = (seat for contests in duels for seat, _ in contests.said)
    claimed = (target for contests in duels for _, target in contests.claims)
    return frozenset((*flores, *said, *claimed, *compared_seats(match)))


def check_exact(log: HandLog, match: Match) -> None:
    """Check, with every card of the hand known, that exactly what was owed at its end was opened.

    Raises:
        CheckError: C23.
    """
    opened = {(body.d, body.seat, slot) for body in log.opens for slot, _, _ in body.openings}
    # owed is what was neither played face up nor shown by choice, not what the server then opened for it
    before = replace(log, opened_slots=log.opened_slots - opened)
    expected, shown = before.still_closed(owed_shows(match)), tuple(map(_slots_of, log.opens))
    if shown != expected:
        wanted = ", ".join(map(_slots_text, expected)) or "no card to be opened"
        got = ", ".join(map(_slots_text, shown)) or "none"
        raise CheckError("C23", f"deal {log.call.j}: expected {wanted}, got {got}", _SERVER)


def share(ledger: Ledger, body: Share) -> Ledger:
    """Take a share of a partner's cards, right after the deal, in ascending order.

    Raises:
        CheckError: C12, C23.
    """
    check_index(ledger, body.j, _SERVER)
    owed, hand = next_share(ledger), ledger.hand
    if hand is None:
        raise CheckError("C23", "no cards are dealt", _SERVER)
    if body.d != len(hand.deals) - 1:
        raise CheckError("C12", f"expected sub-deal {len(hand.deals) - 1}, got {body.d}", _SERVER)
    if owed != (body.giver, body.receiver):
        raise CheckError("C23", f"expected {owed or 'no share'}, got {(body.giver, body.receiver)}", _SERVER)
    if bool(body.box) != (box_public(ledger, body.receiver) is not None):
        raise CheckError("C23", "expected a box exactly for a seat with a box key", _SERVER)
    return replace(ledger, hand=replace(hand, shares=(*hand.shares, body)))
