"""How a seat is judged once its link is open: every step of it is made again, and the first that differs exposes it.

One seat's link and the steps are enough: nobody else's secret is needed, so a seat is named whatever the others did. Links of
others that are open make it cheaper: whoever has those of all that masked the pack before knows what each point is of the base
point, and multiplying that one takes half the time. So several links are judged in one go, the steps in their order.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from truc_protocol.blind_mode.points import Logarithms, ScalarError
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
    lock_factors,
    make_keys,
    make_lend,
    make_lock,
    make_mask,
    mask_factors,
    opened_lend,
)
from truc_protocol.checks import CheckError
from truc_protocol.crypto.keys import WeakKeyError

Links = Mapping[int, bytes]
"""The links that are open, by seat."""
_NONE: Final[Links] = MappingProxyType({})


def first_difference(pack: SealedPack, seat: int, link: bytes, kept: Links = _NONE) -> int | None:
    """Return which step of an index, counted from 0, is not what the seat's link says; None if all of its are (C50).

    `kept` are the open links of others, who have done as they say.
    """
    return differences(pack, {seat: link}, kept).get(seat)


def differences(pack: SealedPack, links: Links, kept: Links = _NONE) -> dict[int, int]:
    """Return the first step that is not what a seat's link says, counted from 0, of each seat of `links` that has one (C50).

    `kept` are the open links of others, who have done as they say.
    """
    plan, found = pack.plan, dict[int, int]()
    secrets = {
        seat: SeatSecrets(link, plan.mid, plan.j, plan.deck) for seat, link in (*kept.items(), *links.items())
    }
    known, at = Logarithms(plan.deck), begin(plan)
    for number, step in enumerate(pack.steps):
        match step:
            case Redeal() | PlayedUnseen():
                pass
            case _ if step.seat in found or (own := secrets.get(step.seat)) is None:
                pass
            case _ if step.seat not in links:
                _note(at, own, step, known)
            case _ if not _is_honest(at, own, step, known):
                found[step.seat] = number
            case _:
                pass
        at = take_step(at, step)
    return found


def _note(pack: SealedPack, secrets: SeatSecrets, step: SeatStep, known: Logarithms) -> None:
    """Note what the points of a step were made of."""
    match step:
        case MaskStep():
            factors = mask_factors(pack, secrets)
        case LockStep():
            factors = lock_factors(pack, secrets)
        case _:
            return
    for made, (number, point) in zip(step.points, factors, strict=True):
        known.note(made, number, point)


def cards_of(pack: SealedPack, links: Sequence[bytes]) -> tuple[int, ...]:
    """Return the card of each place, by the link of every seat: if all did as their links say, there is no other."""
    plan = pack.plan
    cards = list(range(plan.deck))
    for seat in plan.in_order():
        order = SeatSecrets(links[seat], plan.mid, plan.j, plan.deck).order()
        cards = [cards[source] for source in order]
    return tuple(cards[pair] for pair in pack.order[: len(pack.places)])


def _is_honest(pack: SealedPack, secrets: SeatSecrets, step: SeatStep, known: Logarithms) -> bool:
    try:
        return _made(pack, secrets, step, known) == step
    except (
        ScalarError,
        WeakKeyError,
        CheckError,
    ):  # the first is too rare to happen, the others are a difference
        return False


def _made(pack: SealedPack, secrets: SeatSecrets, step: SeatStep, known: Logarithms) -> SeatStep:
    match step:
        case MaskStep(seat=seat):
            return make_mask(pack, secrets, seat, known)
        case LockStep(seat=seat):
            return make_lock(pack, secrets, seat, known)
        case KeysStep(seat=seat):
            return make_keys(pack, secrets, seat)
        case LendStep(seat=seat, receiver=receiver):
            hand = opened_lend(pack, step, lend_secret(pack, secrets, step))
            return make_lend(pack, secrets, seat=seat, receiver=receiver, hand=hand)
