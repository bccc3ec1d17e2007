"""The public state of one deal index: the pack as it is masked, ordered, locked, and opened place by place.

Nothing here is secret and nothing is random: whoever has the steps has this state. `check_step` says what is wrong with
the next step and whose doing it is, `take_step` goes on without checking, as the replay of an opened seat does.

Masks come from the seat after the dealer (the *eldest*) round to the dealer. The eldest's nonce then puts the pairs in
order, and places belong to seats as cards do in a deal. *Tray A* are the places of the dealer's side, *tray B* the
others and those turned up: the eldest locks A, then every other seat A and B, then the eldest B. So a side's own places
are always locked first by the other side.
"""

from collections.abc import Sequence
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from truc_protocol.blind_mode.key_boxes import key_box_bytes
from truc_protocol.blind_mode.points import (
    BASE,
    Pair,
    ScalarError,
    card_point,
    card_scalar,
    card_times,
    decoded,
    inverse,
    is_scalar,
    plain_pack,
    product,
    times,
)
from truc_protocol.checks import CheckError, role_name
from truc_protocol.codec import digest
from truc_protocol.crypto.keys import in_prime_subgroup
from truc_protocol.crypto.shuffle import shuffle


class PackPlan(NamedTuple):
    """What the call of an index fixes.

    Attributes:
        turned: how many cards are turned up.
        unseen: whether the hand is played blind: nobody sees a card before it is played.
        xs: the X25519 key of each seat.
    """

    mid: bytes
    j: int
    deck: int
    seats: int
    dealer: int
    ncards: int
    cut: int
    turned: int
    unseen: bool
    xs: tuple[bytes, ...]

    @property
    def eldest(self) -> int:
        """The seat after the dealer."""
        return (self.dealer + 1) % self.seats

    def in_order(self) -> list[int]:
        """Return the seats in order of play, from the eldest to the dealer."""
        return [(self.eldest + at) % self.seats for at in range(self.seats)]

    def first_place(self, d: int) -> int:
        """Return the first place of a sub-deal."""
        # the cards turned up lie behind the first sub-deal
        return d * self.seats * self.ncards + (self.turned if d else 0)

    def place(self, d: int, seat: int, slot: int) -> int:
        """Return the place of a seat's card."""
        # one card to each seat in turn, the eldest first, as in mode dealt (specification.md 6)
        return self.first_place(d) + slot * self.seats + (seat - self.eldest) % self.seats

    def owners(self, d: int) -> list[tuple[int | None, int]]:
        """Return (seat, slot) of each place of a sub-deal, ascending; seat None for a card turned up."""
        dealt: list[tuple[int | None, int]] = [
            (seat, slot) for slot in range(self.ncards) for seat in self.in_order()
        ]
        return dealt + [(None, at) for at in range(0 if d else self.turned)]


class PackPlace(NamedTuple):
    """One place of the ordered pack.

    Attributes:
        seat: whose it is; None if it is turned up.
        slot: which of the owner's cards it is.
        point: P, which never changes.
        locked: Q, as of the newest lock.
        commitments: (seat, digest of its key) of each lock so far.
    """

    seat: int | None
    slot: int
    point: bytes
    locked: bytes
    commitments: tuple[tuple[int, bytes], ...] = ()


class MaskStep(NamedTuple):
    """A seat masks the pack: P and Q of each pair."""

    seat: int
    points: tuple[bytes, ...]


class LockStep(NamedTuple):
    """A seat locks its trays: Q of each place, ascending, and the digest of its key; with z in the eldest's very first one."""

    d: int
    seat: int
    nonce: bytes | None
    points: tuple[bytes, ...]
    commitments: tuple[bytes, ...]


class KeysStep(NamedTuple):
    """A seat gives its keys: those due to all in clear, those of each other seat's places in a box."""

    d: int
    seat: int
    box: bytes | None
    opened: tuple[bytes, ...]
    boxes: tuple[bytes, ...]


class LendStep(NamedTuple):
    """A seat shows its cards to its partner."""

    d: int
    seat: int
    receiver: int
    box: bytes


class GrantedRedeal(NamedTuple):
    """The rules have granted new cards: sub-deal `d` is due."""

    d: int


class PlayedUnseen(NamedTuple):
    """A card is played that nobody has seen: everybody owes its key."""

    place: int


SeatStep = MaskStep | LockStep | KeysStep | LendStep
Step = SeatStep | GrantedRedeal | PlayedUnseen


class PackStage(Enum):
    """What an index waits for."""

    MASK = "mask"
    LOCK = "lock"
    KEYS = "keys"
    READY = "ready"


class SealedPack(NamedTuple):
    """What the steps of an index have come to.

    Attributes:
        pairs: the pack as of the newest mask.
        masked: how many seats have masked it.
        order: D, once the nonce is open: place p is pair order[p].
        places: those of all sub-deals so far.
        d: the newest sub-deal.
        turn: how many locks it has.
        keyed: the keys of the newest round, by seat, as they came.
        dealt: the keys of each sub-deal, once all are in.
        unseen_place: the place that is played unseen and not open yet.
        points: every point of the index so far, and those of the plain pack.
        steps: all steps so far.
    """

    plan: PackPlan
    pairs: tuple[Pair, ...]
    points: frozenset[bytes]
    masked: int = 0
    order: tuple[int, ...] = ()
    places: tuple[PackPlace, ...] = ()
    d: int = 0
    turn: int = 0
    keyed: tuple[KeysStep, ...] = ()
    dealt: tuple[tuple[KeysStep, ...], ...] = ()
    unseen_place: int | None = None
    steps: tuple[Step, ...] = ()

    @property
    def stage(self) -> PackStage:
        """What comes next."""
        seats = self.plan.seats
        if self.masked < seats:
            return PackStage.MASK
        # one lock more than there are seats: the eldest's trays come first and last
        if self.turn <= seats:
            return PackStage.LOCK
        return PackStage.KEYS if len(self.keyed) < seats else PackStage.READY

    def owing(self) -> tuple[int, ...]:
        """Return the seats whose step the index waits for: one, or with keys several, ascending."""
        match self.stage:
            case PackStage.MASK:
                return (self.plan.in_order()[self.masked],)
            case PackStage.LOCK:
                return (lock_turns(self.plan)[self.turn].seat,)
            case PackStage.KEYS:
                there = {keys.seat for keys in self.keyed}
                return tuple(seat for seat in range(self.plan.seats) if seat not in there)
            case PackStage.READY:
                return ()

    @property
    def is_keyed(self) -> bool:
        """Whether the newest keys were the last of a sub-deal, so that its hands can be read."""
        return self.unseen_place is None and len(self.dealt) > self.d

    def hand(self, d: int, seat: int) -> tuple[PackPlace, ...]:
        """Return a seat's places of a sub-deal, by slot."""
        return tuple(self.places[self.plan.place(d, seat, slot)] for slot in range(self.plan.ncards))


class LockTurn(NamedTuple):
    """Who locks next, and which trays."""

    seat: int
    dealers_side: bool
    other_side: bool


def begin(plan: PackPlan) -> SealedPack:
    """Return an index that has nothing but its call."""
    plain = plain_pack(plan.deck)
    return SealedPack(plan, plain, frozenset((BASE, *map(card_point, range(plan.deck)))))


def lock_turns(plan: PackPlan) -> list[LockTurn]:
    """Return who locks which trays, in order: one turn more than there are seats."""
    eldest, *others = plan.in_order()
    # each place is first locked by the other side, which takes its mask off what the masks have left there, and
    # off no copy that the place's own side may put there later (blind.md, "The argument", 4)
    between = [LockTurn(seat, dealers_side=True, other_side=True) for seat in others]
    first = LockTurn(eldest, dealers_side=True, other_side=False)
    last = LockTurn(eldest, dealers_side=False, other_side=True)
    return [first, *between, last]


def turn_places(pack: SealedPack) -> list[int]:
    """Return the places that the lock which is due locks, ascending."""
    plan, turn = pack.plan, lock_turns(pack.plan)[pack.turn]
    first = plan.first_place(pack.d)
    return [
        first + at
        for at, (seat, _) in enumerate(plan.owners(pack.d))
        if (turn.dealers_side if _is_dealers(plan, seat) else turn.other_side)
    ]


def _is_dealers(plan: PackPlan, seat: int | None) -> bool:
    # a card turned up belongs to no side, and goes with the others
    return seat is not None and seat % 2 == plan.dealer % 2


def final_order(plan: PackPlan, nonce: bytes) -> tuple[int, ...]:
    """Return D: the masked pack in the order the eldest's nonce gives, then cut."""
    # what a mask puts where is decided after the last of them, by a nonce that the eldest's link fixes
    order = shuffle(digest("order", plan.mid, plan.j, nonce), plan.deck)
    return (*order[plan.cut :], *order[: plan.cut])


def due_to_all(pack: SealedPack) -> list[int]:
    """Return the places whose keys everybody opens in this round: those turned up, or the one played unseen."""
    if pack.unseen_place is not None:
        return [pack.unseen_place]
    if pack.d:
        return []
    first = pack.plan.seats * pack.plan.ncards
    return list(range(first, first + pack.plan.turned))


def seals_keys(pack: SealedPack) -> bool:
    """Tell whether the keys of this round hold boxes."""
    return not pack.plan.unseen and pack.unseen_place is None


def check_step(pack: SealedPack, step: SeatStep) -> None:
    """Check everything about a step that the steps before it decide; a lend's box is its receiver's to check.

    Raises:
        CheckError: C43 it is not the step that is due, or not of its shape; C44 a point is not sound; C45 a point came
            before; C46 keys that do not fit. The culprit is the seat.
    """
    author = role_name(step.seat + 1)
    _check_due(pack, step, author)
    match step:
        # C45 before C44 here, C44 before C45 with keys: the order of blind.md, "Checks"
        case MaskStep() | LockStep():
            _check_new(pack, step.points, author)
            _check_sound(step.points, author)
        case KeysStep():
            points = () if step.box is None else (step.box,)
            _check_sound(points, author)
            _check_new(pack, points, author)
            _check_keys(pack, step, author)
        case LendStep():
            pass


def _check_due(pack: SealedPack, step: SeatStep, author: str) -> None:
    stage, plan = pack.stage, pack.plan
    match step:
        case MaskStep():
            fits = stage is PackStage.MASK and len(step.points) == 2 * plan.deck
        case LockStep():
            fits = stage is PackStage.LOCK and _is_due_lock(pack, step)
        case KeysStep():
            fits = stage is PackStage.KEYS and _is_due_keys(pack, step)
        case LendStep():
            fits = (
                stage is PackStage.READY
                and step.d == pack.d
                and not plan.unseen
                and step.receiver < plan.seats
            )
            # nobody owes a lend by the pack: who has to give one, the rules say
            if fits:
                return
    if not fits or step.seat not in pack.owing():
        wanted = f"{stage.value} of seats {list(pack.owing())}"
        kind = type(step).__name__.removesuffix("Step").lower()
        raise CheckError("C43", f"expected {wanted}, got {kind} of seat {step.seat} or another shape", author)


def _is_due_lock(pack: SealedPack, step: LockStep) -> bool:
    is_very_first = pack.d == 0 and pack.turn == 0
    if step.d != pack.d or (step.nonce is not None) != is_very_first:
        return False
    return len(step.points) == len(step.commitments) == len(turn_places(pack))


def _is_due_keys(pack: SealedPack, step: KeysStep) -> bool:
    sealed = seals_keys(pack)
    if step.d != pack.d or (step.box is not None) != sealed:
        return False
    count = pack.plan.seats if sealed else 0
    return len(step.boxes) == count and len(step.opened) == len(due_to_all(pack))


def _check_new(pack: SealedPack, points: Sequence[bytes], author: str) -> None:
    # a seat must not put a copy of another place, or a card that it knows, where it likes (threats.md)
    if len(set(points)) != len(points) or not pack.points.isdisjoint(points):
        raise CheckError("C45", "expected new points, got one twice, or one that came before", author)


def _check_sound(points: Sequence[bytes], author: str) -> None:
    # a point of the twist or of small order would be a mark that masks leave on a card (threats.md)
    for point in points:
        if not in_prime_subgroup(point):
            raise CheckError("C44", f"the point {point.hex()} is not one of prime order", author)


def _check_keys(pack: SealedPack, step: KeysStep, author: str) -> None:
    for p, key in zip(due_to_all(pack), step.opened, strict=True):
        if not fits_lock(pack, p, step.seat, key):
            raise CheckError("C46", f"the key of place {p} does not fit its lock", author)
    # what is in a box only its receiver sees; the length everybody checks
    length = key_box_bytes(pack.plan.ncards)
    expected = [0 if seat == step.seat else length for seat in range(len(step.boxes))]
    if [*map(len, step.boxes)] != expected:
        raise CheckError("C46", f"expected a box of {length} bytes for each other seat", author)


def key_digest(plan: PackPlan, *, p: int, seat: int, key: bytes) -> bytes:
    """Return what a seat shows of its key of a place when it locks it, before it knows anybody else's."""
    return digest("key", plan.mid, plan.j, p, seat, key)


def fits_lock(pack: SealedPack, p: int, seat: int, key: bytes) -> bool:
    """Tell whether a key, in its only encoding, is the one that a seat has locked a place with."""
    shown = (seat, key_digest(pack.plan, p=p, seat=seat, key=key))
    # a digest can be of any bytes, but only by a clamped scalar do all libraries multiply by the same number
    return is_scalar(key) and shown in pack.places[p].commitments


def take_step(pack: SealedPack, step: Step) -> SealedPack:
    """Return the index after a step; nothing is checked but that it can be taken at all."""
    logged = pack._replace(steps=(*pack.steps, step))
    match step:
        case MaskStep():
            pairs = _paired(step.points)
            return logged._replace(pairs=pairs, masked=pack.masked + 1, points=pack.points.union(step.points))
        case LockStep():
            return _locked(logged, step)
        case KeysStep():
            return _keyed(logged, step)
        case LendStep():
            return logged
        # no mask and no nonce: the pack is masked and in order, and new places lie behind the first
        case GrantedRedeal():
            return _with_places(logged._replace(d=step.d, turn=0, keyed=(), unseen_place=None))
        case PlayedUnseen():
            return logged._replace(unseen_place=step.place, keyed=())


def _paired(points: Sequence[bytes]) -> tuple[Pair, ...]:
    return tuple(zip(points[::2], points[1::2], strict=True))


def _with_places(pack: SealedPack) -> SealedPack:
    """Add the places of the newest sub-deal."""
    first = pack.plan.first_place(pack.d)
    new = tuple(
        PackPlace(seat, slot, *pack.pairs[pack.order[first + at]])
        for at, (seat, slot) in enumerate(pack.plan.owners(pack.d))
    )
    return pack._replace(places=pack.places + new)


def _locked(pack: SealedPack, step: LockStep) -> SealedPack:
    if step.nonce is not None:
        pack = _with_places(pack._replace(order=final_order(pack.plan, step.nonce)))
    places = list(pack.places)
    for p, locked, shown in zip(turn_places(pack), step.points, step.commitments, strict=True):
        at = places[p]
        places[p] = at._replace(locked=locked, commitments=(*at.commitments, (step.seat, shown)))
    return pack._replace(places=tuple(places), turn=pack.turn + 1, points=pack.points.union(step.points))


def _keyed(pack: SealedPack, step: KeysStep) -> SealedPack:
    keyed = (*pack.keyed, step)
    points = pack.points if step.box is None else pack.points | {step.box}
    pack = pack._replace(keyed=keyed, points=points)
    # the round of a card played unseen opens that card alone, and deals nothing
    if len(keyed) < pack.plan.seats or pack.unseen_place is not None:
        return pack
    return pack._replace(dealt=(*pack.dealt, keyed))


def opened_to_all(pack: SealedPack, p: int) -> tuple[bytes, ...]:
    """Return the keys of a place that is due to all, by seat; all of them must be in."""
    at = due_to_all(pack).index(p)
    return tuple(keys.opened[at] for keys in sorted(pack.keyed, key=lambda keys: keys.seat))


def turned_up(pack: SealedPack) -> tuple[int | None, ...]:
    """Return the cards turned up, once all keys of the first sub-deal are in; None for one that is no card."""
    first = pack.plan.seats * pack.plan.ncards
    rounds = sorted(pack.dealt[0], key=lambda keys: keys.seat)
    return tuple(
        find_card(pack.places[first + at], tuple(keys.opened[at] for keys in rounds), pack.plan.deck)
        for at in range(pack.plan.turned)
    )


def leaves(pack: SealedPack, d: int) -> tuple[tuple[bytes, ...], ...]:
    """Return the digest of each place of a sub-deal, by seat and slot, which the deal repeats."""
    mid, j = pack.plan.mid, pack.plan.j
    return tuple(
        tuple(
            digest("place", mid, j, d, seat, slot, place.point, place.locked, place.commitments)
            for slot, place in enumerate(pack.hand(d, seat))
        )
        for seat in range(pack.plan.seats)
    )


# what `ledger.find_cards_shown` has found in another thread is still here when the keys are taken
@lru_cache(maxsize=256)
def find_card(place: PackPlace, keys: tuple[bytes, ...], deck: int) -> int | None:
    """Return the card of a place by its keys, one of each seat; None if it is none of the pack."""
    # the keys come off Q once, rather than going onto P for each card that it may be
    try:
        shown = times(inverse(product([decoded(key) for key in keys]))).times(place.locked)
    except ScalarError:
        return None
    return next((card for card in range(deck) if card_times(card).times(place.point) == shown), None)


def opens_place(pack: SealedPack, p: int, card: int, keys: Sequence[bytes]) -> bool:
    """Tell whether a card and one key of each seat open a place, whose locks are all on."""
    place = pack.places[p]
    if len(keys) != len(place.commitments):
        return False
    # were only their product bound, whoever locks a place last, and is told the others' keys afterwards,
    # could replace the card in it by one of its choice (blind.md, "Why each lock shows digests")
    if not all(fits_lock(pack, p, seat, key) for seat, key in enumerate(keys)):
        return False
    try:
        number = product([card_scalar(card), *map(decoded, keys)])
        return times(number).times(place.point) == place.locked
    except ScalarError:
        return False
