"""Players at tables whose host sees no card, over real sockets: they shuffle, seal and open the pack by their links."""

from collections.abc import Callable

from server.conftest import only_cut, play_on
from server.rawclient import RawSeat

from truc_conform.blind_seat import WANT
from truc_conform.blind_seat import BlindSeat as Dealer
from truc_protocol.bodies import Resign
from truc_protocol.transcript import write_transcript


class BlindSeat(Dealer):
    """A player in mode blind who may come back, and give up.

    Attributes:
        resigns_at: the position from which on it gives up, at its next decision.
    """

    resigns_at: int | None = None

    async def come_back(self, client, *, next_=None):
        self.client = client
        taken = set(self.taken)
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
        wanted = self.duty()
        place = None if wanted is None else self.place_of(wanted)
        if place in taken:
            await self.act(self.taken[place])

    async def choose(self, message) -> None:
        if message.get("what", "decision") != "decision":
            return
        if self.resigns_at is not None and self.next >= self.resigns_at and self.seat in message["seats"]:
            ledger = self.ledger
            await self.act(self.sign(Resign(ledger.setup.mid, ledger.k, ledger.head, self.seat)))
        else:
            await super().choose(message)

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
