"""One deal index of mode blind in memory: seats that keep to it, and whatever a test has one of them do instead."""

from collections.abc import Callable, Sequence

from truc_protocol.blind_mode.sealed_pack import (
    GrantedRedeal,
    KeysStep,
    LendStep,
    LockStep,
    MaskStep,
    PackPlan,
    PackStage,
    PlayedUnseen,
    SealedPack,
    SeatStep,
    begin,
    check_step,
    take_step,
)
from truc_protocol.blind_mode.seat_secrets import SeatSecrets
from truc_protocol.blind_mode.seat_steps import (
    CardWithKeys,
    differences,
    first_difference,
    make_keys,
    make_lend,
    make_lock,
    make_mask,
    read_hand,
)
from truc_protocol.codec import digest
from truc_protocol.crypto.keys import BoxKey, box_key

MID = digest("test/mid")
MAKE = {PackStage.MASK: make_mask, PackStage.LOCK: make_lock, PackStage.KEYS: make_keys}
Deviation = Callable[["SealedDeal", SeatStep], SeatStep]
"""What a cheat makes of the step that it should take."""


def link_of(seat: int, run: int = 0) -> bytes:
    """The link of a seat; each `run` has others, but for the first they are those of the vectors."""
    return digest("test/link", seat, run) if run else digest("test/link", seat)


class SealedDeal:
    """The deal of one index: every step is checked before it is taken, as everybody does."""

    def __init__(
        self,
        *,
        seats: int = 2,
        dealer: int | None = None,
        turned: int = 0,
        unseen: bool = False,
        ncards: int = 3,
        cut: int = 7,
        deck: int = 40,
        run: int = 0,
        cheats: Sequence[Deviation] = (),
    ) -> None:
        self.xs: list[BoxKey] = [box_key(digest("test/x", seat)) for seat in range(seats)]
        publics = tuple(x.public for x in self.xs)
        last = seats - 1 if dealer is None else dealer
        plan = PackPlan(MID, 1, deck, seats, last, ncards, cut, turned, unseen, publics)
        self.links = [link_of(seat, run) for seat in range(seats)]
        self.secrets = [SeatSecrets(link, MID, plan.j, deck) for link in self.links]
        self.pack: SealedPack = begin(plan)
        self.cheats = cheats

    @property
    def plan(self) -> PackPlan:
        return self.pack.plan

    def take(self, step: SeatStep) -> None:
        check_step(self.pack, step)
        self.pack = take_step(self.pack, step)

    def next_step(self) -> SeatStep:
        """The step that is due; of several seats that owe keys, the lowest one's."""
        seat = self.pack.owing()[0]
        step: SeatStep = MAKE[self.pack.stage](self.pack, self.secrets[seat], seat)
        for cheat in self.cheats:
            step = cheat(self, step)
        return step

    def until(self, kind: type[SeatStep], seat: int, *, d: int = 0, nth: int = 0) -> SeatStep:
        """Take steps until the nth one of a kind by this seat is due, and return it untaken."""
        left = nth
        while True:
            step = self.next_step()
            if type(step) is kind and step.seat == seat and getattr(step, "d", d) == d:
                if left == 0:
                    return step
                left -= 1
            self.take(step)

    def deal(self) -> "SealedDeal":
        """Take all steps of the newest sub-deal."""
        while self.pack.stage is not PackStage.READY:
            self.take(self.next_step())
        return self

    def redeal(self) -> "SealedDeal":
        self.pack = take_step(self.pack, GrantedRedeal(self.pack.d + 1))
        return self.deal()

    def play_unseen(self, seat: int, slot: int) -> int:
        """Everybody opens the keys of a card that nobody has seen; return its place."""
        p = self.plan.place(self.pack.d, seat, slot)
        self.pack = take_step(self.pack, PlayedUnseen(p))
        self.deal()
        return p

    def hand(self, seat: int) -> tuple[CardWithKeys, ...]:
        """What a seat reads of its newest cards."""
        return read_hand(self.pack, self.secrets[seat], seat, self.xs[seat])

    def cards(self, seat: int) -> list[int]:
        return [opened.card for opened in self.hand(seat)]

    def lend(self, seat: int, receiver: int) -> LendStep:
        hand = self.hand(seat)
        return make_lend(self.pack, self.secrets[seat], seat=seat, receiver=receiver, hand=hand)

    def exposed(self) -> list[int]:
        """The seats that their opened links expose: the same whether each is judged alone, or with links of others."""
        links = dict(enumerate(self.links))
        found = {
            seat: at
            for seat, link in links.items()
            if (at := first_difference(self.pack, seat, link)) is not None
        }
        kept = {seat: link for seat, link in links.items() if seat not in found}
        assert differences(self.pack, links) == found
        for seat, link in links.items():
            others = {other: kept[other] for other in kept.keys() - {seat}}
            assert first_difference(self.pack, seat, link, others) == found.get(seat)
        return sorted(found)


def replaced(points: Sequence[bytes], changes: dict[int, bytes]) -> tuple[bytes, ...]:
    """Return points with some replaced."""
    return tuple(changes.get(at, point) for at, point in enumerate(points))


__all__ = ["MID", "Deviation", "KeysStep", "LockStep", "MaskStep", "SealedDeal", "link_of", "replaced"]
