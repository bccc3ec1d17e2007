"""How a seat is judged once its link is open: every step of it is made again, and the first that differs exposes it.

One seat's link and the steps are enough: nobody else's secret is needed, so a seat is named whatever the others did.
"""

from collections.abc import Sequence

from truc_protocol.blind_mode.points import ScalarError
from truc_protocol.blind_mode.sealed_pack import (
    KeysStep,
    LendStep,
    LockStep,
    MaskStep,
    PlayedUnseen,
    Redeal,
    SealedPack,
    SeatStep,
    begin,
    take_step,
)
from truc_protocol.blind_mode.seat_secrets import SeatSecrets
from truc_protocol.blind_mode.seat_steps import (
    lend_secret,
    make_keys,
    make_lend,
    make_lock,
    make_mask,
    opened_lend,
)
from truc_protocol.checks import CheckError
from truc_protocol.crypto.keys import WeakKeyError


def first_difference(pack: SealedPack, seat: int, link: bytes) -> int | None:
    """Return which step of an index, counted from 0, is not what the seat's link says; None if all of its are (C50)."""
    plan = pack.plan
    secrets, at = SeatSecrets(link, plan.mid, plan.j, plan.deck), begin(plan)
    for number, step in enumerate(pack.steps):
        match step:
            case Redeal() | PlayedUnseen():
                pass
            case _ if step.seat == seat and not _is_honest(at, secrets, step):
                return number
            case _:
                pass
        at = take_step(at, step)
    return None


def cards_of(pack: SealedPack, links: Sequence[bytes]) -> tuple[int, ...]:
    """Return the card of each place, by the link of every seat: if all did as their links say, there is no other."""
    plan = pack.plan
    cards = list(range(plan.deck))
    for seat in plan.in_order():
        order = SeatSecrets(links[seat], plan.mid, plan.j, plan.deck).order()
        cards = [cards[source] for source in order]
    return tuple(cards[pair] for pair in pack.order[: len(pack.places)])


def _is_honest(pack: SealedPack, secrets: SeatSecrets, step: SeatStep) -> bool:
    try:
        return _made(pack, secrets, step) == step
    except (
        ScalarError,
        WeakKeyError,
        CheckError,
    ):  # the first is too rare to happen, the others are a difference
        return False


def _made(pack: SealedPack, secrets: SeatSecrets, step: SeatStep) -> SeatStep:
    match step:
        case MaskStep(seat=seat):
            return make_mask(pack, secrets, seat)
        case LockStep(seat=seat):
            return make_lock(pack, secrets, seat)
        case KeysStep(seat=seat):
            return make_keys(pack, secrets, seat)
        case LendStep(seat=seat, receiver=receiver):
            hand = opened_lend(pack, step, lend_secret(pack, secrets, step))
            return make_lend(pack, secrets, seat=seat, receiver=receiver, hand=hand)
