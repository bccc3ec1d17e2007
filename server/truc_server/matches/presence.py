"""Who is connected to one match, and what everybody has been told of the seats whose players are away.

Synchronous. Invariant: what was last told of a seat is how it stood at the newest call of `tell`; to those who watch,
at the newest one when they were told anything.
"""

from collections.abc import Collection

import trio

from truc_protocol.bodies import Act, AnyBody, Proxy, Rule
from truc_protocol.ledger import Ledger
from truc_protocol.messages import Away
from truc_protocol.records import Phase
from truc_protocol.wire.connection import broadcast_frame
from truc_server.house import House
from truc_server.matches import absence
from truc_server.matches.absence import Clock, Standing
from truc_server.matches.deadlines import Waits
from truc_server.net.peer import Peer
from truc_server.spectating.spectator_feed import Showing


class RollCall:
    """The attendance of one match.

    Attributes:
        attendance: who is there, and since when others are not.
    """

    def __init__(self, house: House, table: str, showing: Showing, ledger: Ledger) -> None:
        seats = ledger.seats
        self.attendance = absence.everybody_away(seats, trio.current_time())
        self._standing = Standing((), ())
        self._alone_s = house.settings.tables.expiry_s
        self._table = table
        self._showing = showing
        self._told = self._shown = Standing(tuple(range(seats)), (0,) * seats)

    def call(self, ledger: Ledger) -> bool:
        """Note who is connected; tell whether anybody is."""
        online = self._showing.audience.online
        standing = Standing(online, ledger.streaks)
        if standing != self._standing:
            self._standing = standing
            self.attendance = absence.attended(self.attendance, ledger, online, trio.current_time())
        return bool(online)

    def note(self, ledger: Ledger, body: AnyBody) -> None:
        """Note what a record that was taken says about who is there."""
        if isinstance(body, Act | Proxy):
            self.attendance = absence.answered(self.attendance, ledger, body.seat)
            self._count_anew(ledger, 1 - body.seat % 2, 2)
        elif isinstance(body, Rule) and body.ruling == "resume":
            self._count_anew(ledger)

    def _count_anew(self, ledger: Ledger, first: int = 0, step: int = 1) -> None:
        if not self.attendance.is_full:
            seats = range(first, ledger.seats, step)
            self.attendance = absence.counted_anew(self.attendance, seats, trio.current_time())

    def tell(self, ledger: Ledger, waits: Waits) -> None:
        """Tell everybody of the seats that stand differently from what was told, while the match goes on."""
        standing = self._standing_in(ledger)
        if standing == self._told == self._shown or ledger.phase is Phase.ENDED:
            return
        told, self._told = self._told, standing
        for seat in standing.changed(told):
            self._showing.audience.tell_seats(self._message(ledger, waits, seat))
        if not self._showing.is_hushed:
            shown, self._shown = self._shown, standing
            for seat in standing.changed(shown):
                self._showing.note(broadcast_frame(self._message(ledger, waits, seat)))

    def tell_one(self, peer: Peer, ledger: Ledger, waits: Waits) -> None:
        """Tell a connection that has just come about every seat that is away, if the match goes on."""
        if ledger.phase is Phase.ENDED:
            return  # from now on only the table's state tells who comes and goes
        for seat in range(ledger.seats):
            if self._standing_in(ledger).of(seat).is_away:
                peer.send(self._message(ledger, waits, seat))

    def _standing_in(self, ledger: Ledger) -> Standing:
        return Standing(self._standing.online, ledger.streaks)

    def _message(self, ledger: Ledger, waits: Waits, seat: int) -> Away:
        presence = self._standing_in(ledger).of(seat)
        return absence.away_message(
            self._table, ledger, seat, presence, self.claim_in_ms(ledger, waits, seat)
        )

    def claim_in_ms(self, ledger: Ledger, waits: Waits, seat: int) -> int | None:
        """Return the shortest time until a seat counts as gone or may be claimed against; None for never."""
        clock = Clock(
            bank=waits.clocks.banks[seat],
            decision=waits.left_of("decision", seat),
            release=waits.left_of("release", seat),
            alone=self._alone_ms(ledger, waits, seat),
        )
        return absence.claim_in_ms(
            ledger, seat, clock, is_back=seat in self.attendance.returned(ledger.streaks)
        )

    def alone(self, ledger: Ledger, waits: Waits, seats: Collection[int]) -> tuple[int, ...]:
        """Return the seats that have kept the others waiting without a connection for longer than the host allows."""
        return tuple(seat for seat in seats if self._alone_ms(ledger, waits, seat) == 0)

    def _alone_ms(self, ledger: Ledger, waits: Waits, seat: int) -> int | None:
        """Return how long until then; None with a connection, or where the clock of decisions says who is gone."""
        left = self.attendance.left[seat]
        if left is None or ledger.setup.terms.opts.decision_ms:
            return None
        began = max(left, waits.rests_until or left)
        return max(0, int((began + self._alone_s - trio.current_time()) * 1000))

    def claimable_in_ms(self, ledger: Ledger, waits: Waits, seats: Collection[int]) -> int | None:
        """Return how long until a claim against any of the seats may be granted, if that is known.

        What is waited for comes first. Releases come in full time only if one is owed by a seat that is not there:
        from those who are there they come at once.
        """
        wait = waits.now
        if wait is None:
            return None  # the match is over
        ways = (self.claim_in_ms(ledger, waits, seat) for seat in seats)
        earliest = min((way for way in ways if way is not None), default=None)
        if earliest != 0:
            return earliest
        left = self.attendance.left
        comes_at_once = wait.what == "release" and all(left[seat] is None for seat in wait.seats)
        return None if comes_at_once else waits.left_ms
