"""What one seat makes of its secrets and the public state of an index, what it reads with its keys, and how it is judged.

The same secrets and the same state give the same bytes: the seat makes its steps with these functions, and once its link
is open everybody else makes them again. The first that differs exposes the seat.

One seat's link and the steps are enough: nobody else's secret is needed, so a seat is named whatever the others did.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from truc_protocol.blind_mode.key_boxes import Lent, open_keys, open_lent, seal_keys, seal_lent
from truc_protocol.blind_mode.points import Logarithms, ScalarError, encoded, inverse, times
from truc_protocol.blind_mode.sealed_pack import (
    GrantedRedeal,
    KeysStep,
    LendStep,
    LockStep,
    MaskStep,
    PlayedUnseen,
    SealedPack,
    SeatStep,
    begin,
    due_to_all,
    final_order,
    find_card,
    fits_lock,
    key_digest,
    opens_place,
    seals_keys,
    take_step,
    turn_places,
    turned_up,
)
from truc_protocol.blind_mode.seat_secrets import SeatSecrets
from truc_protocol.boxes import BoxError
from truc_protocol.checks import CheckError, role_name
from truc_protocol.crypto.keys import BoxKey, Multiplier, WeakKeyError, multiplier

LinksBySeat = Mapping[int, bytes]
"""The links that are open, by seat."""
_NO_LINKS: Final[LinksBySeat] = MappingProxyType({})


class GarbledError(Exception):
    """A place gives no card of the pack, or a card that lies elsewhere too; whose doing it is the links will show."""


class CardWithKeys(NamedTuple):
    """A card and what opens its place: one key of each seat. It is secret until it is played, so its repr hides it."""

    card: int
    keys: tuple[bytes, ...]

    def __repr__(self) -> str:
        return "CardWithKeys(hidden)"


Factor = tuple[int, bytes]
"""A class, and the point that a step multiplies with it."""


def mask_factors(pack: SealedPack, secrets: SeatSecrets) -> list[Factor]:
    """Return what the points of a seat's mask are made of: another order, and every pair made new."""
    mask, factors = secrets.mask(), []
    for k, source in enumerate(secrets.order()):
        first, second = pack.pairs[source]
        # one for each pair: no scalar is applied twice to another's point (blind.md, "The argument", 2)
        blind = secrets.blind(k)
        factors += [(blind, first), (blind * mask, second)]
    return factors


def lock_factors(pack: SealedPack, secrets: SeatSecrets) -> list[Factor]:
    """Return what the points of a seat's lock are made of: the own mask is taken off the places whose turn it is."""
    unmask = inverse(secrets.mask())
    if pack.places:
        locked = [(p, pack.places[p].locked) for p in turn_places(pack)]
    else:  # the places are known only with the nonce of this lock
        order = final_order(pack.plan, secrets.nonce())
        locked = [(p, pack.pairs[order[p]][1]) for p in turn_places(pack)]
    # in one factor: the unmasked point is never seen without its new lock (blind.md, "The argument", 2)
    return [(secrets.lock(p) * unmask, point) for p, point in locked]


def make_mask(pack: SealedPack, secrets: SeatSecrets, seat: int, known: Logarithms | None = None) -> MaskStep:
    """Mask the pack."""
    return MaskStep(seat, _multiplied(mask_factors(pack, secrets), pack, known))


def make_lock(pack: SealedPack, secrets: SeatSecrets, seat: int, known: Logarithms | None = None) -> LockStep:
    """Lock the places whose turn it is, and take the own mask off them."""
    nonce = secrets.nonce() if pack.d == 0 and pack.turn == 0 else None
    points = _multiplied(lock_factors(pack, secrets), pack, known)
    shown = [key_digest(pack.plan, p=p, seat=seat, key=encoded(secrets.lock(p))) for p in turn_places(pack)]
    return LockStep(pack.d, seat, nonce, points, tuple(shown))


def _multiplied(factors: Sequence[Factor], pack: SealedPack, known: Logarithms | None) -> tuple[bytes, ...]:
    """Return the points of a step; without `known`, as who makes it does, to whom no link is open."""
    times_point = (known or Logarithms(pack.plan.deck)).times
    return tuple([times_point(number, point) for number, point in factors])


def make_keys(pack: SealedPack, secrets: SeatSecrets, seat: int) -> KeysStep:
    """Give the keys that are due: in clear to all, in boxes to the owners of the places."""
    plan, d = pack.plan, pack.d
    opened = tuple(encoded(secrets.lock(p)) for p in due_to_all(pack))
    # the hand is played blind, or this round opens one card of it: its keys are for everybody
    if not seals_keys(pack):
        return KeysStep(d, seat, None, opened, ())
    # from the link, not of a fresh key: so everybody can make the boxes again, and judge them (C50)
    sealing = times(secrets.box(d))
    boxes = [
        b"" if receiver == seat else _sealed_keys(pack, secrets, sealing, seat, receiver)
        for receiver in range(plan.seats)
    ]
    return KeysStep(d, seat, sealing.times_base(), opened, tuple(boxes))


def _sealed_keys(
    pack: SealedPack, secrets: SeatSecrets, sealing: Multiplier, seat: int, receiver: int
) -> bytes:
    plan, d = pack.plan, pack.d
    keys = [encoded(secrets.lock(plan.place(d, receiver, slot))) for slot in range(plan.ncards)]
    shared = sealing.times(plan.xs[receiver])
    return seal_keys(shared, plan.mid, j=plan.j, d=d, giver=seat, receiver=receiver, scalars=keys)


def make_lend(
    pack: SealedPack, secrets: SeatSecrets, *, seat: int, receiver: int, hand: Sequence[CardWithKeys]
) -> LendStep:
    """Show the cards of the newest sub-deal to a partner."""
    plan, d = pack.plan, pack.d
    shared = times(secrets.box(d)).times(plan.xs[receiver])
    box = seal_lent(shared, plan.mid, j=plan.j, d=d, giver=seat, receiver=receiver, cards=hand)
    return LendStep(d, seat, receiver, box)


def read_hand(pack: SealedPack, secrets: SeatSecrets, seat: int, x: BoxKey) -> tuple[CardWithKeys, ...]:
    """Open the own cards of the newest sub-deal, by slot, once all keys are in.

    Raises:
        CheckError: C46, the culprit is the seat whose box does not open, or whose keys do not fit its locks.
        GarbledError: The keys fit, and yet a place is no card, or a card is there twice.
    """
    given = [
        _given(pack, secrets, keys, seat, x)
        for keys in sorted(pack.dealt[pack.d], key=lambda keys: keys.seat)
    ]
    hand = []
    for place, *keys in zip(pack.hand(pack.d, seat), *given, strict=True):
        card = find_card(place, tuple(keys), pack.plan.deck)
        if card is None:
            raise GarbledError("a place of the own gives no card of the pack")
        hand.append(CardWithKeys(card, tuple(keys)))
    seen = [opened.card for opened in hand] + list(turned_up(pack))
    if None in seen or len(set(seen)) != len(seen):
        raise GarbledError("a card turned up is none, or a card is there twice")
    return tuple(hand)


def _given(pack: SealedPack, secrets: SeatSecrets, keys: KeysStep, seat: int, x: BoxKey) -> tuple[bytes, ...]:
    """Return what one seat has given for the own places, by slot."""
    plan, d, giver = pack.plan, pack.d, keys.seat
    if giver == seat:
        return tuple(encoded(secrets.lock(plan.place(d, seat, slot))) for slot in range(plan.ncards))
    try:
        shared = x.exchange(keys.box or b"")
        found = open_keys(
            shared,
            plan.mid,
            j=plan.j,
            d=d,
            giver=giver,
            receiver=seat,
            count=plan.ncards,
            box=keys.boxes[seat],
        )
    except (BoxError, WeakKeyError) as error:
        raise CheckError(
            "C46", f"the box of seat {giver} does not open: {error}", role_name(giver + 1)
        ) from error
    for slot, key in enumerate(found):
        if not fits_lock(pack, plan.place(d, seat, slot), giver, key):
            message = f"the key of seat {giver} for slot {slot} does not fit its lock"
            raise CheckError("C46", message, role_name(giver + 1))
    return found


def read_lend(pack: SealedPack, lend: LendStep, x: BoxKey) -> tuple[CardWithKeys, ...]:
    """Open the cards that a partner shows, by slot.

    Raises:
        CheckError: C19, the culprit is the giver.
    """
    giver = next(keys for keys in pack.dealt[lend.d] if keys.seat == lend.seat)
    return opened_lend(pack, lend, x.exchange(giver.box or b""))


def lend_secret(pack: SealedPack, secrets: SeatSecrets, lend: LendStep) -> bytes:
    """Return what the box of a lend is sealed with, from the giver's side."""
    return multiplier(encoded(secrets.box(lend.d))).times(pack.plan.xs[lend.receiver])


def opened_lend(pack: SealedPack, lend: LendStep, shared: bytes) -> tuple[CardWithKeys, ...]:
    """Return the cards in a lend by the secret it is sealed with.

    Raises:
        CheckError: C19, the culprit is the giver.
    """
    plan, author = pack.plan, role_name(lend.seat + 1)
    place = {"j": plan.j, "d": lend.d, "giver": lend.seat, "receiver": lend.receiver}
    try:
        cards: tuple[Lent, ...] = open_lent(shared, plan.mid, seats=plan.seats, box=lend.box, **place)
    except BoxError as error:
        raise CheckError(
            "C19", f"the cards lent to seat {lend.receiver} do not open: {error}", author
        ) from error
    places = [plan.place(lend.d, lend.seat, slot) for slot in range(plan.ncards)]
    is_true = len(cards) == len(places) and all(
        opens_place(pack, p, card, keys) for p, (card, keys) in zip(places, cards, strict=True)
    )
    if not is_true:
        message = f"the cards lent to seat {lend.receiver} do not open their places"
        raise CheckError("C19", message, author)
    return tuple(CardWithKeys(*card) for card in cards)


def first_difference(
    pack: SealedPack, seat: int, link: bytes, true_links: LinksBySeat = _NO_LINKS
) -> int | None:
    """Return which step of an index, counted from 0, is not what the seat's link says; None if all of its are (C50).

    `true_links` are the open links of others, who have done as they say.
    """
    return differences(pack, {seat: link}, true_links).get(seat)


def differences(pack: SealedPack, links: LinksBySeat, true_links: LinksBySeat = _NO_LINKS) -> dict[int, int]:
    """Return the first step that is not what a seat's link says, counted from 0, of each seat of `links` that has one (C50).

    `true_links` are the open links of others, who have done as they say.
    """
    plan, found = pack.plan, dict[int, int]()
    secrets = {
        seat: SeatSecrets(link, plan.mid, plan.j, plan.deck)
        for seat, link in (*true_links.items(), *links.items())
    }
    # in the order of the steps: whoever has the links of all that masked before knows what each point is of
    # the base point, and multiplies that one, in half the time
    known, at = Logarithms(plan.deck), begin(plan)
    for number, step in enumerate(pack.steps):
        match step:
            case GrantedRedeal() | PlayedUnseen():
                pass
            case _ if step.seat in found or (own := secrets.get(step.seat)) is None:
                pass
            # judged before: its points need not be made again to be known
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
        return _make_again(pack, secrets, step, known) == step
    # a class without an encoding, too rare to happen by chance, counts as a difference, too (blind.md)
    except (ScalarError, WeakKeyError, CheckError):
        return False


def _make_again(pack: SealedPack, secrets: SeatSecrets, step: SeatStep, known: Logarithms) -> SeatStep:
    match step:
        case MaskStep(seat=seat):
            return make_mask(pack, secrets, seat, known)
        case LockStep(seat=seat):
            return make_lock(pack, secrets, seat, known)
        case KeysStep(seat=seat):
            return make_keys(pack, secrets, seat)
        # which cards it lent is not in its link: they are read out of its box, and must open its places
        case LendStep(seat=seat, receiver=receiver):
            hand = opened_lend(pack, step, lend_secret(pack, secrets, step))
            return make_lend(pack, secrets, seat=seat, receiver=receiver, hand=hand)
