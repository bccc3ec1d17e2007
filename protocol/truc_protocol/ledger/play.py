"""The records of play: acts and proxies, and the openings they bring."""

from contextlib import suppress

from msgspec.structs import replace

from truc_protocol import dealing
from truc_protocol.acts import Move, SlotOpening, read_act
from truc_protocol.blind_mode.sealed_pack import SealedPack, opens_place
from truc_protocol.bodies import Act, Deal, Proxy
from truc_protocol.checks import CheckError, role_name
from truc_protocol.dealing import Opening
from truc_protocol.ledger.state import HandLog, Ledger, LoggedMove, Outcome, Taken, check_index
from truc_protocol.records import Phase
from truc_rules import (
    Action,
    Card,
    CardError,
    HandPhase,
    IllegalActionError,
    Kind,
    Match,
    Seat,
    apply,
    know,
    with_known_card,
)

# looked up once: an Enum lookup is expensive
_CUT, _BLIND, _COVER, _RESIGN = Kind.CUT, Kind.BLIND, Kind.COVER, Kind.RESIGN
_AWAITS_DEAL = HandPhase.DEAL
_PAUSES = frozenset({Kind.PAUSE, Kind.RESUME})


def act(ledger: Ledger, body: Act | Proxy) -> Taken:
    """Take a seat's decision; if it fails, the seat is to blame, or nobody for a proxy, which is unsigned.

    Raises:
        CheckError: C2 its shape, C12, C19 an opening, C20 the rules refuse it, C21 who may write it, C25 a card that
            lies elsewhere too, C29 paused.
    """
    signed = type(body) is Act
    # whoever writes the list can write a proxy, so one that fails blames nobody (decision 9)
    author = role_name(body.seat + 1) if signed else None
    if not signed and ledger.contributors[body.seat + 1] is not None:
        raise CheckError("C21", f"seat {body.seat}: expected an act, signed by its key")
    # compared here too: nearly all are right, and a call is spared (decision 19)
    if body.j != ledger.deal_index:
        check_index(ledger, body.j, author)
    table = ledger.setup.terms.table
    move = read_act(body.seat, body.kind, body.args, deck=table.deck, culprit=author, mode=table.mode)
    kind = move.action.kind
    if kind in _PAUSES:
        return _ask_pause(ledger, move.action, author), ()
    if kind is not _RESIGN:
        return _decide(ledger, move, author)
    if signed:
        raise CheckError("C20", "expected a resign record: a keyed seat resigns by its own kind", author)
    return resign(ledger, body.seat), ()


def resign(ledger: Ledger, seat: int) -> Ledger:
    """Give the match to the other side."""
    return replace(ledger, phase=Phase.OVER, outcome=Outcome(1 - seat % 2, "resigned"))


def _ask_pause(ledger: Ledger, action: Action, author: str | None) -> Ledger:
    pause = ledger.pause
    starts = action.kind is Kind.PAUSE
    if starts == pause.active or action.seat in pause.asked or (starts and action.seat in pause.spent):
        needed = (
            "a match that is not paused, and one pause a hand" if starts else "a paused match, and one resume"
        )
        message = f"{action.kind} of seat {action.seat}: expected {needed} for each seat"
        raise CheckError("C29", message, author, refusal="illegal_action")
    spent = pause.spent | {action.seat} if starts else pause.spent
    return replace(ledger, pause=replace(pause, asked=pause.asked | {action.seat}, spent=spent))


def _decide(ledger: Ledger, move: Move, author: str | None) -> Taken:
    action = move.action
    if ledger.pause.active:
        raise CheckError("C29", "the match is paused", author)
    if ledger.match is None:
        raise CheckError("C20", "nothing is to be decided before the draw", author)
    if action.kind is _CUT and not move.cut:
        raise CheckError("C20", "cut: expected a place of at least 1, got 0", author)
    pack = None if ledger.blind_hand is None else ledger.blind_hand.pack
    # the card comes before the rules (C19, C25, then C20): what they allow may depend on which it is
    try:
        hand, match = open_slots(ledger.hand, ledger.match, action.seat, move.openings, author, pack=pack)
    except CardElsewhereError:
        if ledger.blind_hand is None:
            raise
        # no failure of whoever signs it: some seat has doubled the card, and the links will show which. It is
        # a decision all the same, and ends the seat's streak of rulings (blind.md, "Garbled")
        garbled = replace(ledger, blind_hand=replace(ledger.blind_hand, garbled=True))
        return _acted(garbled, action.seat), ()
    step = LoggedMove(action, ruled=False)
    try:
        if action.kind is _BLIND:
            return _acted(_decide_unseen(ledger, match, step), action.seat), ()
        decided, events = apply(match, with_known_card(match, action) if action.kind is _COVER else action)
    except IllegalActionError as error:
        raise CheckError("C20", error.message, author, refusal=error.code) from error
    acted = moved(ledger, hand, decided, step, move.cut)
    # most seats have no streak of rulings: nothing is copied then
    return _acted(acted, action.seat) if acted.streaks[action.seat] else acted, events


def _acted(ledger: Ledger, seat: int) -> Ledger:
    """End a seat's streak of rulings."""
    return replace(ledger, streaks=streaks_with(ledger, seat, 0))


def _decide_unseen(ledger: Ledger, match: Match, step: LoggedMove) -> Ledger:
    with suppress(CardError):  # the rules allow it, but its card is not known yet
        apply(match, step.action)
    return played_unseen(ledger, step)


def played_unseen(ledger: Ledger, step: LoggedMove) -> Ledger:
    """Return the ledger that waits for the server to open a card which its seat plays unseen."""
    if ledger.hand is None:
        raise ValueError("no hand is open")
    return replace(ledger, hand=replace(ledger.hand, unseen=step))


def moved(ledger: Ledger, hand: HandLog | None, match: Match, step: LoggedMove, cut: int) -> Ledger:
    """Return the ledger after a move of the rules; `hand` has the cards opened for it."""
    if hand is None:
        return replace(ledger, match=match, cut=cut)
    stepped = replace(hand, steps=(*hand.steps, step), unseen=None)
    return replace(ledger, match=match, hand=stepped)


def streaks_with(ledger: Ledger, seat: int, count: int) -> tuple[int, ...]:
    """Return the streaks of rulings, with that of one seat set."""
    return (*ledger.streaks[:seat], count, *ledger.streaks[seat + 1 :])


class CardElsewhereError(CheckError):
    """C25: a card is opened that lies open elsewhere too."""


def open_slots(
    hand: HandLog | None,
    match: Match,
    seat: int,
    openings: tuple[SlotOpening, ...],
    author: str | None,
    *,
    pack: SealedPack | None = None,
) -> tuple[HandLog | None, Match]:
    """Check openings of a seat's newest deal, note them in the open hand and tell the rules the cards.

    In mode blind keys open the places of `pack`; else salts open the leaves of the deal.

    Raises:
        CheckError: C19; C25 if the leaf holds a card that lies elsewhere too.
    """
    if not openings:
        return hand, match
    # once new cards are granted, those of the deal before are out of play (specification.md 6, "Redeal")
    if hand is None or match.hand.phase is _AWAITS_DEAL:
        raise CheckError("C19", "no cards are dealt", author)
    opened_slots, deal = hand.opened_slots, hand.deals[-1]
    for opening in openings:
        _check_opening(deal, opened_slots, seat, opening, author=author, pack=pack)
        opened_slots |= {(deal.d, seat, opening.slot)}
        if match.hand.dealt.cards[seat][opening.slot] == opening.card:
            continue  # whoever dealt, or holds the card, knew it before
        try:
            match = know(match, Seat(seat), opening.slot, Card(opening.card))
        except CardError as error:
            # the leaf is the server's, whoever opens it (specification.md 11)
            raise CardElsewhereError("C25", str(error), "server") from error
    return replace(hand, opened_slots=opened_slots), match


def _check_opening(
    deal: Deal,
    opened_slots: frozenset[tuple[int, int, int]],
    seat: int,
    opening: SlotOpening,
    *,
    author: str | None,
    pack: SealedPack | None,
) -> None:
    slot, card, proof = opening
    if slot >= deal.ncards or (deal.d, seat, slot) in opened_slots:
        raise CheckError("C19", f"slot {slot}: expected one dealt and not opened before", author)
    match proof:  # a pattern, as `isinstance` is a call
        case bytes():
            opened = Opening(card, proof)
            shown = dealing.leaf(deal.mid, j=deal.j, d=deal.d, seat=seat, slot=slot, opening=opened)
            is_true = shown == deal.leaves[seat][slot]
        case _:
            is_true = pack is not None and opens_place(pack, pack.plan.place(deal.d, seat, slot), card, proof)
    if not is_true:
        raise CheckError("C19", f"slot {slot}: the card is not shown to be the one dealt", author)
