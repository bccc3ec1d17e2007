"""Players at tables whose host sees no card, over real sockets: they shuffle, seal and open the pack by their links."""

from collections.abc import Callable

from server.conftest import only_cut, play_on
from server.rawclient import RawSeat

from truc_conform.blind_seat import WANT
from truc_conform.blind_seat import BlindSeat as Dealer
from truc_protocol.blind_mode.sealed_pack import LendStep, MaskStep, PackStage, SeatStep
from truc_protocol.blind_mode.seat_steps import make_keys, make_lend, make_lock, make_mask
from truc_protocol.bodies import Body, Resign
from truc_protocol.ledger import next_share, sealed_pack, steps_due
from truc_protocol.own_steps import garbled_body
from truc_protocol.transcript import write_transcript


class BlindSeat(Dealer):
    """A player in mode blind who may refuse, cheat and come back.

    Attributes:
        refuses: kinds of step that it does not take: "mask", "lock", "keys", "lend", "opening".
        cheats: what it makes of a step that it should take.
        places: where it has taken a step already, with the act that took it.
        resigns_at: the position from which on it gives up, at its next decision.
    """

    def __init__(self, client, **fields) -> None:
        super().__init__(client, **fields)
        self.refuses: frozenset[str] = frozenset()
        self.cheats: Callable[[BlindSeat, SeatStep], SeatStep] = lambda _seat, step: step
        self.places: dict[tuple, dict] = {}
        self.resigns_at: int | None = None

    def begin(self, message) -> None:
        self.places = {}
        super().begin(message)

    async def come_back(self, client, *, next_=None):
        self.client = client
        taken = set(self.places)
        welcome = await client.login_key(self.key, self.name, want=WANT)
        self.name = welcome.get("name", self.name)
        answer = await self.resume(next_)
        if self.ledger.blind_hand is None:
            await self.send_again()
        else:
            await self.send_steps_again(taken)
        return answer

    async def send_steps_again(self, taken: set[tuple]) -> None:
        """Send the step that is due once more, if it was taken on a connection that is gone."""
        place = self._place()
        if place in taken:
            await self.act(self.places[place])

    async def choose(self, message) -> None:
        if message.get("what", "decision") != "decision":
            return
        if self.resigns_at is not None and self.next >= self.resigns_at and self.seat in message["seats"]:
            ledger = self.ledger
            await self.act(self.sign(Resign(ledger.setup.mid, ledger.k, ledger.head, self.seat)))
        else:
            await super().choose(message)

    async def follow(self) -> None:
        if self.ledger.blind_hand is None:
            await super().follow()
            return
        if self.chain is None:
            return  # it stands by, and has no seat yet
        due = steps_due(self.ledger)
        if due is None or self.seat not in due.seats or self._kind() in self.refuses:
            return
        place = self._place()
        if place not in self.places:
            body = self._body()
            if body is not None:
                self.places[place] = self.sign(body)
                await self.act(self.places[place])

    def _kind(self) -> str:
        """Return what this seat owes."""
        pack, due = sealed_pack(self.ledger), steps_due(self.ledger)
        return "lend" if due.what == "keys" and pack.stage is PackStage.READY else due.what

    def _place(self) -> tuple:
        """Return the place that a step of this seat is for: it takes one for each."""
        pack = sealed_pack(self.ledger)
        if pack is None or steps_due(self.ledger) is None:
            return ()
        what = self._kind()
        turn = pack.turn if what == "lock" else len(pack.steps) if what == "lend" else pack.unseen_place
        # in a hand a step is signed again for its new place where another record came in between
        again = self.ledger.parallel[0] if pack.d and what in ("lock", "keys") else 0
        return what, pack.plan.j, 0 if what == "opening" else pack.d, turn, again

    def _body(self) -> Body | None:
        pack, what = sealed_pack(self.ledger), self._kind()
        if what == "opening":
            return self._opening()
        if what == "lend":
            return self.body_of(self.lend())
        make = {PackStage.MASK: make_mask, PackStage.LOCK: make_lock, PackStage.KEYS: make_keys}[pack.stage]
        return self.body_of(self.cheats(self, make(pack, self.secrets(), self.seat)))

    def _opening(self) -> Body:
        ledger = self.ledger
        if ledger.hand is None and not ledger.blind_hand.garbled:  # a card turned up is none
            return garbled_body(ledger, self.seat)
        return self.opening()

    def lend(self) -> LendStep:
        pack = sealed_pack(self.ledger)
        _, receiver = next_share(self.ledger)
        return make_lend(pack, self.secrets(), seat=self.seat, receiver=receiver, hand=self.hand())

    def file(self) -> bytes:
        """Return the transcript so far."""
        return write_transcript(self.document, self.records)


async def blind_seat(server, *, seed=1, **fields) -> BlindSeat:
    seat = BlindSeat(await server.connect(), seed=seed, **fields)
    assert (await seat.login(want=WANT))["t"] == "welcome"
    return seat


async def blind_seats(server, count=2, variant="truc-valencia", *, options=None, seed=1) -> list[BlindSeat]:
    """Return players at one table whose host sees no card, none of them ready."""
    seats = [await blind_seat(server, seed=seed * 10 + i) for i in range(count)]
    table = await seats[0].create(variant, seats=count, options={"mode": "blind", **(options or {})})
    for i, seat in enumerate(seats[1:], 1):
        assert (await seat.join(table, i))["t"] == "ok"
    return seats


async def blind_match(server, count=2, variant="truc-valencia", **fields) -> list[BlindSeat]:
    """Return players who have all said ready."""
    seats = await blind_seats(server, count, variant, **fields)
    for seat in seats:
        assert (await seat.ready())["t"] == "ok"
    return seats


async def rest_in_hand(seats) -> None:
    """Play to the first decision about the cards of a hand, and move no more."""
    for seat in seats:
        seat.chooses = only_cut
    await play_on(seats, is_in_hand)


async def choose_again(seats) -> None:
    """Let seats that have rested choose again."""
    for seat in seats:
        seat.chooses = seat.pick
        await seat.choose(seat.find_options(seat.waiting))


def other_order(_seat, step):
    """Return a mask with two places exchanged, and any other step as it is."""
    if not isinstance(step, MaskStep):
        return step
    return step._replace(points=step.points[2:4] + step.points[:2] + step.points[4:])


def is_in_hand(seat: RawSeat) -> bool:
    """Tell whether this seat has seen that a hand's first decision is waited for."""
    waiting = seat.waiting
    return (
        seat.auditor is not None
        and seat.ledger.hand is not None
        and waiting is not None
        and waiting["at"] == seat.next
        and waiting.get("what", "decision") == "decision"
    )


def is_due(what: str, *seats: int) -> Callable[[RawSeat], bool]:
    """Return what tells whether a seat has been told that a kind of step is waited for, of these seats if any are given."""

    def told(seat: RawSeat) -> bool:
        waiting = seat.waiting
        return (
            waiting is not None
            and waiting["at"] == seat.next
            and waiting.get("what") == what
            and (not seats or waiting["seats"] == list(seats))
        )

    return told
