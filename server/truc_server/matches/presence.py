"""Who is connected to one match, what the others have missed, when they count as gone, and what everybody was told of it.

Invariants: the time until a seat counts as gone never grows while nothing but time passes; nothing here depends on what
only some can see; what was last told of a seat is how it stood at the newest call of `tell`; to those who watch, at the
newest one when they were told anything.
"""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

import trio

from truc_protocol.bodies import Act, AnyBody, Proxy, Rule
from truc_protocol.ledger import Ledger, is_gone
from truc_protocol.messages import Away
from truc_protocol.records import Phase
from truc_protocol.setup import GONE_WAIT, Opts
from truc_server.matches.deadlines import STEPS, MatchClock


class Attendance(NamedTuple):
    """Since when each seat has kept the others waiting, and how many decisions it had missed when it came back.

    `left` is when the seat lost its connection, the other side acted, or the match went on after a pause, whichever
    was last; None while the seat is connected. `back` is None for a seat that has not come back from being gone.
    `sides` are the sides with a seat connected.
    """

    left: tuple[float | None, ...]
    back: tuple[int | None, ...]
    sides: tuple[int, ...]

    def returned(self, streaks: Sequence[int]) -> tuple[int, ...]:
        """Return the seats that were gone, have come back, and have missed no decision since."""
        if not any(self.back):
            return ()
        pairs = enumerate(zip(self.back, streaks, strict=True))
        return tuple(seat for seat, (back, streak) in pairs if back == streak)


def everybody_away(seats: int, now: float) -> Attendance:
    """Return the attendance of a match that nobody has come to."""
    return Attendance((now,) * seats, (None,) * seats, ())


def attended(attendance: Attendance, ledger: Ledger, online: Collection[int], now: float) -> Attendance:
    """Return the attendance with these seats connected."""
    return Attendance(
        tuple(_left(left, now, online=seat in online) for seat, left in enumerate(attendance.left)),
        tuple(_back(attendance, ledger, seat, online=seat in online) for seat in range(ledger.seats)),
        tuple({seat % 2 for seat in online}),
    )


def answered(attendance: Attendance, ledger: Ledger, seat: int) -> Attendance:
    """Return the attendance after an act of a seat that is no decision: it is there, whether connected or not."""
    missed, before = ledger.streaks[seat], attendance.back[seat]
    # play.md, "Who is there, and time": to ask for a pause is to come back, and counts once, too
    if not 0 < ledger.setup.terms.opts.gone_after <= missed or (before is not None and missed >= before):
        return attendance
    back = (*attendance.back[:seat], missed, *attendance.back[seat + 1 :])
    return attendance._replace(back=back)


def counted_anew(attendance: Attendance, seats: Collection[int], now: float) -> Attendance:
    """Return the attendance in which the wait for these seats is counted from now, if they have no connection."""
    pairs = enumerate(attendance.left)
    return attendance._replace(
        left=tuple(now if left is not None and seat in seats else left for seat, left in pairs)
    )


def _left(left: float | None, now: float, *, online: bool) -> float | None:
    if online:
        return None
    return now if left is None else left


def _back(attendance: Attendance, ledger: Ledger, seat: int, *, online: bool) -> int | None:
    """Return how many decisions a seat had missed when it came back; until it acts, only its first return counts."""
    missed, before = ledger.streaks[seat], attendance.back[seat]
    if before is not None and missed >= before:
        return before
    # only somebody who had no connection comes back: a second connection is no return
    comes = online and attendance.left[seat] is not None
    return missed if comes and 0 < ledger.setup.terms.opts.gone_after <= missed else None


class SeatClock(NamedTuple):
    """The time of one seat, in ms.

    Attributes:
        bank: what it has left for the game.
        decision: what it has left for the decision that it holds, its bank included; None if it holds none.
        release: what it has left for the release, or in mode blind the step, that is awaited from it; None if none is.
        alone: until it has kept the others waiting without a connection for as long as the host allows; None if
            that is not counted.
    """

    bank: int
    decision: int | None
    release: int | None
    alone: int | None


def claim_in_ms(ledger: Ledger, seat: int, clock: SeatClock, *, is_back: bool) -> int | None:
    """Return the shortest time until a seat counts as gone or may be claimed against; None for never."""
    opts, ways = ledger.setup.terms.opts, [clock.alone]
    if opts.gone != GONE_WAIT:
        if is_gone(ledger, seat) and not is_back:
            return 0
        # a void at the draw costs nobody the match (specification.md, "Voids")
        release = clock.release if ledger.match is not None else None
        # who has come back has one decision more to miss
        missed = ledger.streaks[seat] if not is_back else opts.gone_after - 1
        ways += [release, missing_in_ms(opts, missed, clock)]
    return min((way for way in ways if way is not None), default=None)


def missing_in_ms(opts: Opts, missed: int, clock: SeatClock) -> int | None:
    """Return how long it takes a seat to miss enough decisions to be gone, if every one to come is its own."""
    if not (opts.gone_after and opts.decision_ms):
        return None
    others = max(0, opts.gone_after - missed - 1)
    # the earliest that can be: the bank is counted as used up with the first decision
    first = clock.decision if clock.decision is not None else opts.decision_ms + clock.bank
    return first + others * opts.decision_ms


class SeatPresence(NamedTuple):
    """What `away` tells of a seat, except the time."""

    online: bool = True
    missed: int = 0


_THERE: Final = SeatPresence()  # of a seat that there is nothing to tell about


class AwayNews(NamedTuple):
    """What is new about who is away: for the seats, and for those who watch."""

    to_seats: tuple[Away, ...]
    to_watchers: tuple[Away, ...]


class MatchPresence:
    """The attendance of one match; its clock knows where the match stands, and who is waited for.

    Attributes:
        attendance: who is there, and since when others are not.
    """

    def __init__(self, table: str, clock: MatchClock, *, alone_s: float) -> None:
        seats = clock.here.ledger.seats
        self.attendance = everybody_away(seats, trio.current_time())
        self._clock = clock
        self._alone_s = alone_s
        self._table = table
        self._everybody = self._told = self._shown = (_THERE,) * seats

    @property
    def is_calm(self) -> bool:
        """Whether every seat is there, has missed nothing, and everybody was told so: then a seat's record changes nothing here."""
        # a seat that was gone and is back is no calm one: its next missed decision counts
        return self._told == self._shown == self._everybody and not any(self.attendance.back)

    def note_online(self, online: tuple[int, ...]) -> None:
        """Note who is connected."""
        self.attendance = attended(self.attendance, self._clock.here.ledger, online, trio.current_time())

    def note(self, body: AnyBody) -> None:
        """Note what a record that was taken says about who is there."""
        ledger = self._clock.here.ledger
        if isinstance(body, Act | Proxy):
            self.attendance = answered(self.attendance, ledger, body.seat)
            # the wait for the other side begins when this side has acted: until then it was not kept waiting
            waited_for = range(1 - body.seat % 2, ledger.seats, 2)
        elif isinstance(body, Rule) and body.ruling == "resume":
            waited_for = range(ledger.seats)
        else:
            return
        self.attendance = counted_anew(self.attendance, waited_for, trio.current_time())

    def news(self, *, is_hushed: bool) -> AwayNews:
        """Return what to tell of the seats that stand differently from what was told, while the match goes on.

        It counts as told; while watchers are hushed, they are told later how the seats stand then.
        """
        if self._clock.here.ledger.phase is Phase.ENDED:
            return AwayNews((), ())
        now = self._presences()
        told, self._told = self._told, now
        to_seats = self._messages(now, told)
        if is_hushed:
            return AwayNews(to_seats, ())
        shown, self._shown = self._shown, now
        return AwayNews(to_seats, self._messages(now, shown))

    def away(self) -> tuple[Away, ...]:
        """Return what a connection that has just come is told of every seat that is away, if the match goes on."""
        if self._clock.here.ledger.phase is Phase.ENDED:
            return ()  # from now on only the table's state says who comes and goes
        return self._messages(self._presences(), self._everybody)

    def _presences(self) -> tuple[SeatPresence, ...]:
        pairs = zip(self.attendance.left, self._clock.here.ledger.streaks, strict=True)
        return tuple(SeatPresence(left is None, streak) for left, streak in pairs)

    def _messages(self, now: Sequence[SeatPresence], before: Sequence[SeatPresence]) -> tuple[Away, ...]:
        """Return what to tell of the seats that stand differently."""
        return tuple(
            Away(
                table=self._table,
                match=self._clock.here.ledger.setup.mid,
                seat=seat,
                online=presence.online,
                missed=presence.missed,
                # no claim threatens a seat that is there and has missed nothing
                claim_in_ms=None if presence == _THERE else self.claim_in_ms(seat),
            )
            for seat, presence in enumerate(now)
            if presence != before[seat]
        )

    def claim_in_ms(self, seat: int) -> int | None:
        """Return the shortest time until a seat counts as gone or may be claimed against; None for never."""
        clock, ledger = self._clock, self._clock.here.ledger
        seat_clock = SeatClock(
            bank=clock.clocks.banks[seat],
            decision=clock.left_ms_of("decision", seat=seat),
            release=clock.left_ms_of("release", *STEPS, seat=seat),
            alone=self._alone_ms(seat),
        )
        return claim_in_ms(ledger, seat, seat_clock, is_back=seat in self.attendance.returned(ledger.streaks))

    def alone(self, seats: Collection[int]) -> tuple[int, ...]:
        """Return the seats that have kept the others waiting without a connection for longer than the host allows."""
        return tuple(seat for seat in seats if self._alone_ms(seat) == 0)

    def _alone_ms(self, seat: int) -> int | None:
        """Return how long until then; None with a connection, or where the clock of decisions says who is gone."""
        left = self.attendance.left[seat]
        # with a limit for decisions the clock alone decides who is gone (play.md, "What follows")
        if left is None or self._clock.here.ledger.setup.terms.opts.decision_ms:
            return None
        # in a pause nobody is kept waiting
        began = max(left, self._clock.rests_until or left)
        return max(0, int((began + self._alone_s - trio.current_time()) * 1000))

    def claimable_in_ms(self, seats: Collection[int]) -> int | None:
        """Return how long until a claim against any of the seats may be granted, if that is known.

        What is waited for comes first. Releases come in full time only if one is owed by a seat that is not there:
        from those who are there they come at once.
        """
        wait = self._clock.wait
        if wait is None:
            return None  # the match is over
        ways = map(self.claim_in_ms, seats)
        earliest = min((way for way in ways if way is not None), default=None)
        if earliest != 0:
            return earliest
        left = self.attendance.left
        comes_at_once = wait.what in ("release", *STEPS) and all(left[seat] is None for seat in wait.seats)
        return None if comes_at_once else self._clock.left_ms
