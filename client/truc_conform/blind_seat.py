"""A player at a table whose host sees no card, over a raw client: masks, locks, gives keys and opens its links as they are due."""

from collections.abc import Callable, Sequence
from typing import Final

from truc_conform.expectations import Map, UnexpectedError
from truc_conform.raw_client import RawClient
from truc_conform.raw_seat import RawSeat
from truc_protocol.blind_mode.sealed_pack import KeysStep, LockStep, MaskStep, SealedPack, SeatStep
from truc_protocol.blind_mode.seat_secrets import SeatSecrets
from truc_protocol.blind_mode.seat_steps import CardWithKeys
from truc_protocol.bodies import Body, Release
from truc_protocol.ledger import sealed_pack
from truc_protocol.own_steps import (
    Duty,
    body_of_step,
    duty,
    garbled_body,
    make_step,
    place_of_step,
    secrets_of,
)
from truc_protocol.wire.capabilities import BLIND_TABLES, OWN_OPTIONS

WANT: Final = (OWN_OPTIONS, BLIND_TABLES)
StepCheat = Callable[[SeatStep], SeatStep]
"""What a seat makes of the step that it should take."""


def changing_points(change: Callable[[tuple[bytes, ...]], tuple[bytes, ...]]) -> StepCheat:
    """Return a cheat in the points of masks and locks."""
    return lambda step: (
        step._replace(points=change(step.points)) if isinstance(step, MaskStep | LockStep) else step
    )


def changing_boxes(change: Callable[[bytes], bytes]) -> StepCheat:
    """Return a cheat in the boxes of keys."""
    return lambda step: (
        step._replace(boxes=tuple(map(change, step.boxes))) if isinstance(step, KeysStep) else step
    )


def only(kind: type[SeatStep], cheat: StepCheat) -> StepCheat:
    """Return a cheat in steps of one kind alone."""
    return lambda step: cheat(step) if isinstance(step, kind) else step


def in_another_order(points: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """Exchange the first two pairs of a pack: a card is the ratio inside a pair (blind.md, "The group")."""
    return (*points[2:4], *points[:2], *points[4:])


unsound: Final = changing_points(lambda points: (bytes(32), *points[1:]))
with_one_twice: Final = changing_points(lambda points: (points[1], *points[1:]))
too_short: Final = changing_points(lambda points: points[2:])
reordered: Final = only(MaskStep, changing_points(in_another_order))
"""The mask is in another order than the link says: every hand is one of cards, and only the link shows it."""
in_short_boxes: Final = changing_boxes(lambda box: box[1:])
in_shut_boxes: Final = changing_boxes(lambda box: bytes(len(box)))
"""The keys are in boxes that do not open."""


class BlindSeat(RawSeat):
    """A player with a key who deals.

    Attributes:
        withheld: what it owes and does not sign by itself.
        cheats: what it makes of a step that it should take.
        taken: the acts by which it has taken a step, by the place that each was for.
    """

    def __init__(self, client: RawClient, *, seed: int = 1) -> None:
        super().__init__(client, seed=seed)
        self.withheld: frozenset[Duty] = frozenset()
        self.cheats: StepCheat = lambda step: step
        self.taken: dict[tuple[object, ...], Map] = {}

    async def login(self, *, want: Sequence[str] = WANT) -> Map:
        """Log in as a key that deals."""
        return await super().login(want=want)

    def begin(self, message: Map) -> None:
        """Start to audit a match; what was taken in the one before it is of other deals with the same numbers."""
        self.taken = {}
        super().begin(message)

    def pack(self) -> SealedPack:
        """Return the pack of the hand.

        Raises:
            UnexpectedError: None is called.
        """
        pack = sealed_pack(self.ledger)
        if pack is None:
            raise UnexpectedError("expected the call of a hand before this, got none")
        return pack

    def secrets(self) -> SeatSecrets:
        """Return what this seat draws from its link of the hand."""
        if self.chain is None:
            raise ValueError("a seat deals after it has joined")
        return secrets_of(self.ledger, self.chain)

    def duty(self) -> Duty | None:
        """Return what this seat owes now."""
        is_garbled = self.auditor is not None and self.auditor.is_garbled
        return duty(self.ledger, self.seat, is_garbled=is_garbled)

    def hand(self) -> tuple[CardWithKeys, ...]:
        """Return what this seat reads of its newest cards."""
        openings = () if self.auditor is None else self.auditor.openings
        return tuple(held for held in openings if isinstance(held, CardWithKeys))

    def step(self, wanted: Duty) -> SeatStep:
        """Return the step that is due, as the seat's link says."""
        return make_step(self.ledger, self.seat, self.secrets(), self.hand(), wanted)

    def body_of(self, step: SeatStep) -> Body:
        """Return the body of a step, in its place."""
        return body_of_step(self.ledger, step)

    def opening(self, link: bytes | None = None) -> Release:
        """Return the release of the hand's link, or of another one."""
        if self.chain is None:
            raise ValueError("a seat opens links after it has joined")
        j = self.ledger.deal_index
        own = self.chain.link(j + 1) if link is None else link
        return Release(self.ledger.setup.mid, *self.ledger.parallel, j, self.seat, own)

    async def do_withheld(self) -> None:
        """Do what was withheld, as far as it is due."""
        self.withheld = frozenset()
        await self.follow()

    async def follow(self) -> None:
        """Do what is due, each step once."""
        # Whoever stands by has no chain, and deals nothing yet.
        if self.ledger.blind_hand is None or self.chain is None:
            await super().follow()
            return
        wanted = self.duty()
        if wanted is None or wanted in self.withheld:
            return
        place = self.place_of(wanted)
        if place not in self.taken:
            self.taken[place] = self.sign(self.due_body(wanted))
            await self.act(self.taken[place])

    def place_of(self, wanted: Duty) -> tuple[object, ...]:
        """Return the place that a step is for: it is taken once for each."""
        ledger = self.ledger
        if wanted is Duty.GARBLED:
            return wanted, ledger.deal_index, ledger.k  # a decision may have come before it
        place = wanted, ledger.deal_index, *place_of_step(ledger, self.pack(), wanted)
        # In a hand a step is signed again for its new place, where another record has come in between.
        is_in_hand = self.pack().d > 0 and wanted in (Duty.LOCK, Duty.KEYS)
        return (*place, ledger.parallel[0]) if is_in_hand else place

    def due_body(self, wanted: Duty) -> Body:
        """Return the body of what is due, as this seat would sign it."""
        match wanted:
            case Duty.LINK:
                return self.opening()
            case Duty.GARBLED:
                return garbled_body(self.ledger, self.seat)
            case _:
                return self.body_of(self.cheats(self.step(wanted)))
