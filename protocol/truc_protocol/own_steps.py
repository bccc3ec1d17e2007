"""What a seat may do, and what it owes to a hand of mode blind: found out by itself, from the verified match.

A client with the capability `own-options` makes here what it would otherwise be offered: by the rules, its own cards, and
what everybody is told the match waits for. What is offered is allowed whatever the closed cards are; where only those of
others tell, in a round of flor, nothing is, until the server says whom the match waits for.

Steps with the pack follow from the records and the seat's link of the deal, so the same match gives the same bytes. Nothing
is stored or signed. Invariant: a link is due only by the rules as this reader plays them: when they say that the hand is
over, where the hand is garbled, or once the match has ended in it.
"""

from collections.abc import Collection, Sequence
from enum import StrEnum
from secrets import randbelow

from truc_protocol.acts import HeldCard, options_of
from truc_protocol.blind_mode.sealed_pack import (
    KeysStep,
    LendStep,
    LockStep,
    MaskStep,
    PackStage,
    SealedPack,
    SeatStep,
)
from truc_protocol.blind_mode.seat_secrets import SeatSecrets
from truc_protocol.blind_mode.seat_steps import CardWithKeys, make_keys, make_lend, make_lock, make_mask
from truc_protocol.bodies import Garbled, Keys, Lend, Lock, Mask
from truc_protocol.boxes import Option
from truc_protocol.crypto.chains import Chain
from truc_protocol.ledger import (
    Due,
    Ledger,
    deciding_match,
    due,
    may_show,
    next_share,
    sealed_pack,
    seats_unopened,
)
from truc_protocol.records import Phase
from truc_rules import Seat, deciders, is_hand_over, surely_legal


class Duty(StrEnum):
    """What a seat owes: a step with the pack, its word that the hand is garbled, or its link."""

    MASK = "mask"
    LOCK = "lock"
    KEYS = "keys"
    LEND = "lend"
    GARBLED = "garbled"
    LINK = "link"


StepBody = Mask | Lock | Keys | Lend


def duty(ledger: Ledger, seat: int, *, is_garbled: bool = False) -> Duty | None:
    """Return what `seat` owes now; with `is_garbled` it has seen that its keys open no hand of cards, or one card twice."""
    blind, match, pack = ledger.blind_hand, ledger.match, sealed_pack(ledger)
    if blind is None or match is None or pack is None:
        return None
    is_over = ledger.hand is not None and is_hand_over(match)
    # links open the cards: the records alone make one due, never what the server waits for (blind.md, "What a
    # client does")
    if blind.garbled or blind.exposed is not None or is_over or ledger.phase is Phase.OVER:
        return Duty.LINK if seat in seats_unopened(ledger) else None
    if ledger.pause.active:
        return None
    if pack.stage is not PackStage.READY:
        return Duty(pack.stage.value) if seat in pack.owing() else None
    # before a lend: a seat cannot lend cards that it could not open
    if is_garbled:
        return Duty.GARBLED if due(ledger) is Due.PLAYERS else None
    lend = next_share(ledger)
    return Duty.LEND if lend is not None and lend[0] == seat else None


def secrets_of(ledger: Ledger, chain: Chain) -> SeatSecrets:
    """Return what a seat draws from its link of the open index, or the next; `chain` is the one in force for it."""
    j = ledger.deal_index
    return SeatSecrets(chain.link(j + 1), ledger.setup.mid, j, ledger.setup.terms.table.deck)


def place_of_step(ledger: Ledger, pack: SealedPack, wanted: Duty) -> tuple[int, ...]:
    """Return what tells a step of a seat from its others of the same kind and deal index: it is taken once (C51)."""
    match wanted:
        case Duty.LOCK:
            return pack.d, pack.turn
        case Duty.KEYS:
            return (pack.d,) if pack.unseen_place is None else (pack.d, pack.unseen_place)
        case Duty.LEND:
            lend = next_share(ledger)
            return (pack.d, *(lend or ()))
        case _:
            return ()


def make_step(
    ledger: Ledger, seat: int, secrets: SeatSecrets, hand: Sequence[CardWithKeys], wanted: Duty
) -> SeatStep:
    """Make a step with the pack; `hand` is the seat's own of the newest sub-deal. A mask takes some milliseconds."""
    pack = sealed_pack(ledger)
    if pack is None:
        raise ValueError("no hand is called")
    match wanted:
        case Duty.MASK:
            return make_mask(pack, secrets, seat)
        case Duty.LOCK:
            return make_lock(pack, secrets, seat)
        case Duty.KEYS:
            return make_keys(pack, secrets, seat)
        case Duty.LEND if (lend := next_share(ledger)) is not None:
            return make_lend(pack, secrets, seat=seat, receiver=lend[1], hand=hand)
        case _:
            raise ValueError(f"{wanted} is no step with the pack")


def body_of_step(ledger: Ledger, step: SeatStep) -> StepBody:
    """Return the body of a step, bound to where the match stands now."""
    mid, j, here = ledger.setup.mid, ledger.deal_index, (ledger.k, ledger.head)
    match step:
        case MaskStep(seat, points):
            return Mask(mid, *here, j, seat, points)
        case LockStep(d, seat, nonce, points, commitments):
            return Lock(mid, *here, j, d, seat, nonce, points, commitments)
        case KeysStep(d, seat, box, opened, boxes):
            # all keys of a round carry the head before the first of them, so they may come in any order (Q)
            return Keys(mid, *ledger.parallel, j, d, seat, box, opened, boxes)
        case LendStep(d, seat, receiver, box):
            return Lend(mid, *here, j, d, seat, receiver, box)


def garbled_body(ledger: Ledger, seat: int) -> Garbled:
    """Return the body by which a seat says that its hand is garbled."""
    pack = sealed_pack(ledger)
    d = 0 if pack is None else pack.d
    return Garbled(ledger.setup.mid, ledger.k, ledger.head, ledger.deal_index, d, seat)


def own_options(
    ledger: Ledger, seat: int, openings: Sequence[HeldCard], awaited: Collection[int]
) -> tuple[Option, ...]:
    """Return what `seat` may do now; `openings` are its own cards, `awaited` the seats that `waiting` names."""
    # once the hand is over nobody decides anything, but seats may still show cards (specification.md 8)
    rules = ledger.match if may_show(ledger) else deciding_match(ledger)
    if rules is None:
        return ()
    here, actions = surely_legal(rules, Seat(seat), awaited)
    is_secret = seat not in awaited and seat in deciders(here)
    # `waiting` does not name a seat whose turn would show what it holds: that seat finds out by its own cards
    more_hints = (("waits", 1),) if is_secret else ()
    cut = random_cut(ledger) if ledger.hand is None else 0
    return options_of(here, actions, openings, cut=cut, more_hints=more_hints)


def random_cut(ledger: Ledger) -> int:
    """Return a place to cut at, for a seat that does not choose its own."""
    # a seat cuts at 1 or more; only a ruled cut is 0 (C20)
    return 1 + randbelow(ledger.setup.terms.table.deck - 1)
