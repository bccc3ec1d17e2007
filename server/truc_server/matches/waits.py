"""What a match waits for, how long still, and which seats have asked for time to rekey.

Time runs since the newest record; the time of a seat only from when that record is stored, and only while any seat is
connected. What happens when it is over is decided elsewhere. Invariants: a call is held back only where nothing else is
to be decided and the match does not rest, and since the newest record no longer than the terms give for a rekey, or,
where they say that the match waits for a chain that is exhausted, for a pause; a time that stands still costs nobody.
"""

from collections import Counter
from collections.abc import Collection
from typing import Final, Literal, NamedTuple

import trio

from truc_protocol.bodies import Act, AnyBody, Proxy, Rekey, Release, Rule, Share, Sub
from truc_protocol.errors import Code
from truc_protocol.ledger import Due, Ledger, due, is_exhausted, is_gone, missing, must_end
from truc_protocol.messages import Waiting
from truc_protocol.records import Phase
from truc_protocol.setup import GONE_SUBSTITUTE
from truc_rules import Kind
from truc_server.connections.peer import RefusedError
from truc_server.matches import clocks
from truc_server.matches.choices import holders, holders_in_view, may_show, open_actions
from truc_server.matches.clocks import Clocks

_BESIDE_DECISIONS = (Kind.PAUSE, Kind.RESUME, Kind.ORDER, Kind.CLAIM)

What = Literal["pause", "rest", "release", "window", "decision", "rekey", "sub"]
AGAIN_S: Final = 5.0  # until a time that is over is looked at again, where no answers were taken
_OF_SEATS: Final = ("release", "decision", "rekey", "sub")  # the others pass in any case


class Wait(NamedTuple):
    """What is waited for, of which seats, and for how long since the newest record; None is for ever."""

    what: What
    seats: tuple[int, ...]
    ms: int | None


class Waits:
    """The time of one match.

    Attributes:
        clocks: what each seat has left after the newest record.
        returned: the seats that were gone and have come back: nobody else is offered them.
    """

    def __init__(self, ledger: Ledger, *, between_ms: int) -> None:
        self._opts = ledger.setup.terms.opts
        self.clocks = clocks.full(self._opts, ledger.seats)
        self._between_ms = between_ms
        self.returned: Collection[int] = ()
        self._holder: int | None = None
        self._since = trio.current_time()
        self._asked_at: float | None = None
        self._halted_at: float | None = None
        self._wishes: set[int] = set()
        self._vain: Counter[int] = Counter()
        self._over_at: int | None = None
        self._window_at: int | None = None
        self._restored_at: int | None = None

    def now(self, ledger: Ledger) -> Wait | None:
        """Return what is waited for; None where a record of the server is due, or nothing any more."""
        if ledger.phase in (Phase.OVER, Phase.ENDED):
            return None
        if ledger.pause.active:
            return Wait("pause", (), self._opts.pause_ms)
        if (pacing := self._pacing(ledger)) is not None:
            return pacing
        if silent := missing(ledger):
            return Wait("release", silent, self._opts.release_ms)
        if self._holder is None:
            return self._hold(ledger)
        return Wait(
            "decision", holders_in_view(ledger), clocks.left_ms(self.clocks, self._opts, self._holder)
        )

    def moment(self, wait: Wait | None) -> float | None:
        """Return when the time of a wait is over; None if it has no end, or stands still."""
        if wait is None or wait.ms is None or (self.is_halted and wait.what in _OF_SEATS):
            return None
        return self._since + wait.ms / 1000

    def rests_until(self, ledger: Ledger) -> float | None:
        """Return when the pause that the match has is over; None if it has none."""
        wait = self.now(ledger)
        return self.moment(wait) if wait is not None and wait.what == "pause" else None

    def awaits(self, ledger: Ledger, seat: int) -> bool:
        """Tell whether the match waits for a seat or its partners, as far as that seat can tell."""
        wait = self.now(ledger)
        seats = () if wait is None else wait.seats
        return seat in holders(ledger) or any(other % 2 == seat % 2 for other in seats)

    def left_ms(self, wait: Wait) -> int | None:
        """Return how much of the time of a seat is left in a wait."""
        return None if wait.ms is None else max(0, wait.ms - self._elapsed_ms())

    def notice(self, ledger: Ledger, table: str) -> Waiting | None:
        """Return what everybody is told who has no choice now."""
        wait, at = self.now(ledger), ledger.k
        match wait:
            case Wait("window", _) | Wait("decision", ()):
                return Waiting(table=table, match=ledger.setup.mid, at=at, seats=())
            case Wait("decision" | "rekey" | "sub" as what, seats):
                left, match = self.left_ms(wait), ledger.setup.mid
                return Waiting(table=table, match=match, at=at, seats=seats, what=what, deadline_ms=left)
            case _:
                return None

    def left_of(self, ledger: Ledger, what: What, seat: int) -> int | None:
        """Return how much is left of what is waited for of a seat; None if it is not, as far as everybody can tell."""
        wait = self.now(ledger)
        return self.left_ms(wait) if wait is not None and wait.what == what and seat in wait.seats else None

    def _elapsed_ms(self) -> int:
        until = trio.current_time() if self._halted_at is None else self._halted_at
        return max(0, int((until - self._since) * 1000))

    @property
    def is_halted(self) -> bool:
        """Whether the time of the seats stands still."""
        return self._halted_at is not None

    def halt(self) -> None:
        """Let the time of the seats stand still: nobody is connected."""
        if self._halted_at is None:
            self._halted_at = trio.current_time()

    def go_on(self, ledger: Ledger) -> None:
        """Let the time of the seats run on from where it stood."""
        halted_at, self._halted_at = self._halted_at, None
        wait = None if halted_at is None else self.now(ledger)
        if halted_at is not None and wait is not None and wait.what in _OF_SEATS:
            self._since += max(0.0, trio.current_time() - max(halted_at, self._since))

    def end(self, ledger: Ledger) -> None:
        """Wait no longer at this position; a wish for time that has not been used is forgotten."""
        self._over_at = ledger.k
        if ledger.phase is Phase.BETWEEN:
            self._vain.update(self._wishes)
            self._wishes.clear()

    def is_over(self, ledger: Ledger) -> bool:
        """Tell whether the time to wait at this position is over."""
        return self._over_at == ledger.k

    def _pacing(self, ledger: Ledger) -> Wait | None:
        """Return the time that passes in any case."""
        if self.is_window(ledger):
            return Wait("window", (), 0)  # the time of what comes after it begins with its end
        return Wait("rest", (), self._between_ms) if self.rests(ledger) else None

    def is_window(self, ledger: Ledger) -> bool:
        """Tell whether seats may have something to say at this position, and nobody is told yet whether they have."""
        return self._window_at == ledger.k and not self.is_over(ledger)

    def rests(self, ledger: Ledger) -> bool:
        """Tell whether the server holds back a record to give people time: the deal, or what ends a hand."""
        if self._between_ms == 0 or self.is_over(ledger):
            return False
        return _deals_unasked(ledger) or _may_be_shown(ledger)

    def _hold(self, ledger: Ledger) -> Wait | None:
        """Return for whom the next call is held back."""
        if not _awaits_call(ledger):
            return None
        is_over = self.is_over(ledger)
        gone = () if is_over else vacant(ledger, self.returned)
        if gone:
            return Wait("sub", gone, self._opts.release_ms)
        seats = tuple(
            seat
            for seat in range(ledger.seats)
            if is_exhausted(ledger, seat + 1) or (not is_over and self._asks(ledger, seat))
        )
        longest = max(self._opts.release_ms, self._opts.pause_ms)
        return Wait("rekey", seats, longest if is_over else self._opts.release_ms) if seats else None

    def _asks(self, ledger: Ledger, seat: int) -> bool:
        may = self._restored_at == ledger.k and _rekeys_left(ledger, seat) > 0
        return may or seat in self._wishes

    def wish(self, ledger: Ledger, seat: int) -> None:
        """Give a seat time to rekey before the next call.

        Raises:
            RefusedError: It has no chain, or may not start another.
        """
        if ledger.contributors[seat + 1] is None or ledger.phase in (Phase.OVER, Phase.ENDED):
            raise RefusedError(Code.NOT_NOW, "expected a seat with a key, in a match that goes on")
        if _rekeys_left(ledger, seat) > self._vain[seat]:
            self._wishes.add(seat)
        elif not _ends_before_call(ledger, seat):
            message = f"expected at most {self._opts.rekeys} new chains of a seat, and as many wishes"
            raise RefusedError(Code.ILLEGAL_ACTION, message)

    def timed(self, before: Ledger, after: Ledger, body: AnyBody) -> Clocks:
        """Return the clocks after a record."""
        if before.match is not None and after.match is not None and before.match.games != after.match.games:
            return clocks.full(self._opts, after.seats)
        timed = self.clocks._replace(used=self._used())
        if isinstance(body, Sub) and body.seat == self._holder:
            return timed._replace(used=0)  # the newcomer has had no time yet
        if not opens_decision(body):
            return timed
        return (
            timed._replace(used=0)
            if self._holder is None
            else clocks.decided(timed, self._opts, self._holder)
        )

    def start(self) -> None:
        """Let time run from now: the record from which it was to run is stored, and can be shown."""
        asked_at, self._asked_at = self._asked_at, None
        if asked_at is not None:
            self._since += trio.current_time() - asked_at

    def _used(self) -> int:
        return self.clocks.used + (0 if self._holder is None else self._elapsed_ms())

    def note(self, ledger: Ledger, body: AnyBody, timed: Clocks, *, window_ms: int | None = None) -> None:
        """Go on from a record that has been taken; with `window_ms` it opens a window for so long."""
        self.clocks = timed
        self._window_at = ledger.k if window_ms else None
        self._holder = next(iter(holders(ledger)), None)
        rests = ledger.pause.active and not isinstance(body, Rule)
        if not (rests or isinstance(body, Release)):
            self._asked_at = trio.current_time()
            self._since = self._asked_at + (window_ms or 0) / 1000
        match body:
            case Rekey(role=role):
                self._wishes.discard(role - 1)
            case Sub(seat=seat):
                self._wishes.discard(seat)
            case _:
                pass

    def is_unasked(self, ledger: Ledger) -> bool:
        """Tell whether the next call is due, and nobody has asked for it to be held back."""
        is_known = self._restored_at != ledger.k or self.is_over(ledger)
        return due(ledger) is Due.CALL and is_known and not self._wishes

    def restore(self, ledger: Ledger, *, is_unasked: bool) -> None:
        """Go on after a restart: a call that is due was held back for a wish, and unless nobody had one it is not known whose."""
        if ledger.k > 0 and due(ledger) is Due.CALL and not is_unasked:
            self._restored_at = ledger.k
        self._asked_at = None


def vacant(ledger: Ledger, returned: Collection[int] = ()) -> tuple[int, ...]:
    """Return the seats that a substitute may take over now; who has come back keeps the seat, unless a void names it."""
    gone = ledger.setup.terms.opts.gone
    if gone != GONE_SUBSTITUTE or ledger.phase is not Phase.BETWEEN or must_end(ledger):
        return ()
    return tuple(
        seat
        for seat in range(ledger.seats)
        if is_gone(ledger, seat) and (seat not in returned or seat in ledger.silent)
    )


def owes_chain(ledger: Ledger) -> bool:
    """Tell whether the server has to rekey: its chain has no link for the next call."""
    between = ledger.phase is Phase.BETWEEN and not ledger.pause.active
    return between and not must_end(ledger) and is_exhausted(ledger, 0)


def opens_decision(body: AnyBody) -> bool:
    """Tell whether a record opens another decision than the one before it."""
    match body:
        case Share() | Rekey() | Sub() | Rule(ruling="pause" | "resume"):
            return False
        case Act(kind=kind) | Proxy(kind=kind) if kind in _BESIDE_DECISIONS:
            return False
        case _:
            return True


def _awaits_call(ledger: Ledger) -> bool:
    """Tell whether the next call could come but for chains and seats."""
    if ledger.phase is not Phase.BETWEEN or ledger.pause.active:
        return False
    return not must_end(ledger) and due(ledger) is not Due.PLAYERS


def _rekeys_left(ledger: Ledger, seat: int) -> int:
    contributor = ledger.contributors[seat + 1]
    return 0 if contributor is None else ledger.setup.terms.opts.rekeys - contributor.rekeys


def _ends_before_call(ledger: Ledger, seat: int) -> bool:
    """Tell whether a seat's chain has no link for the next call, so that it is waited for in any case."""
    following = ledger._replace(deal_index=ledger.deal_index + (ledger.call is not None))
    return is_exhausted(following, seat + 1)


def _deals_unasked(ledger: Ledger) -> bool:
    """Tell whether a deal is due for which no release was waited for, so that nobody had time."""
    keyless = not any(ledger.contributors[1:])
    return keyless and ledger.phase is Phase.CALLED and due(ledger) is Due.DEAL


def _may_be_shown(ledger: Ledger) -> bool:
    """Tell whether a hand is over of which somebody may still show cards that its close leaves closed."""
    if ledger.opens_at_close or not may_show(ledger):
        return False
    return any(open_actions(ledger, seat) for seat in range(ledger.seats))
