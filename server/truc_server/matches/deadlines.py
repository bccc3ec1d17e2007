"""What a match waits for, for how much longer, and which seats have asked for time to rekey.

Time runs from the newest record; the time of a seat only once that record is stored, and so may leave, and only while
any seat is connected. The clocks, in milliseconds, are stored beside every record, and wishes for time between the
records, so that a restarted server goes on from them; the outage costs nobody anything. What happens when time is over is
decided elsewhere. Invariants: a seat pays from its bank only what it needs beyond the time for a decision; a bank is never
below zero; which wishes stand, and how many came to nothing, follows from records and wishes alone; a call is held back
only where nothing else is to be decided and the match does not rest; and, from the newest record (while the server drains,
from the wish), no longer than the terms give for a rekey or, where they make the match wait for an exhausted chain, for a
pause; time that stands still costs nobody anything.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final, Literal

import trio
from msgspec import Struct
from msgspec.structs import replace

from truc_protocol.bodies import (
    Act,
    AnyBody,
    Call,
    Keys,
    Lend,
    Lock,
    Mask,
    Proxy,
    Rekey,
    Release,
    Rule,
    Share,
    Sub,
)
from truc_protocol.codec import dec
from truc_protocol.errors import Code
from truc_protocol.ledger import (
    Due,
    Ledger,
    StepsDue,
    due,
    is_exhausted,
    is_gone,
    may_show,
    must_end,
    seats_missing,
    seats_owing,
    steps_due,
)
from truc_protocol.messages import Waiting
from truc_protocol.records import Phase
from truc_protocol.setup import GONE_SUBSTITUTE, GONE_WAIT, Opts
from truc_rules import Kind
from truc_server.matches.choices import Position
from truc_server.net.peer import RefusedRequestError


class Clocks(Struct, frozen=True, array_like=True):
    """The bank of each seat, and the time used for the decision that is open."""

    banks: tuple[int, ...]
    used: int = 0

    @classmethod
    def from_bytes(cls, stored: bytes) -> "Clocks":
        """Read clocks as they are stored."""
        banks, used = dec(stored)
        return cls(tuple(banks), used)


def full_clocks(opts: Opts, seats: int) -> Clocks:
    """Return the clocks at the start of a game."""
    return Clocks((opts.bank_ms,) * seats)


def charged(banks: tuple[int, ...], used: int, opts: Opts, seat: int) -> Clocks:
    """Return the clocks after a decision for which `seat` has `used` this much time."""
    over = used - opts.decision_ms
    if not opts.decision_ms or over <= 0:
        return Clocks(banks)
    return Clocks((*banks[:seat], max(0, banks[seat] - over), *banks[seat + 1 :]))


def left_ms(clocks: Clocks, opts: Opts, seat: int) -> int | None:
    """Return how long `seat` still has; None if it has no clock."""
    if not opts.decision_ms:
        return None
    left = opts.decision_ms + clocks.banks[seat] - clocks.used
    return left if left > 0 else 0


# None of these restarts a clock, or a seat could take time by sending one after another.
_BESIDE_DECISIONS = frozenset({Kind.PAUSE, Kind.RESUME, Kind.ORDER, Kind.CLAIM})
# looked up once: a lookup in an Enum is slow
_OVER, _ENDED, _CALLED, _BETWEEN = Phase.OVER, Phase.ENDED, Phase.CALLED, Phase.BETWEEN

What = Literal[
    "pause", "rest", "release", "window", "decision", "rekey", "sub", "mask", "lock", "keys", "opening"
]
RETRY_S: Final = 5.0  # until an expired wait is looked at again, if no answers could be taken
STEPS: Final[tuple[What, ...]] = ("mask", "lock", "keys", "opening")
"""What mode blind waits for beside decisions."""
# Decision 14: these stand still while nobody is connected. The others end by themselves.
_OF_SEATS: Final = ("release", "decision", "rekey", "sub", *STEPS)
Told = Literal["decision", "rekey", "sub", "mask", "lock", "keys", "opening"]
_TOLD: Final[Mapping[What, Told]] = {
    "decision": "decision",
    "window": "decision",  # nobody is told yet that there may be none
    "rekey": "rekey",
    "sub": "sub",
    "mask": "mask",
    "lock": "lock",
    "keys": "keys",
    "opening": "opening",
}
"""What `waiting` says is waited for; the records tell of the rest."""


class Wait(Struct, frozen=True):
    """What is waited for, from which seats, and for how long after the newest record; None is for ever."""

    what: What
    seats: tuple[int, ...]
    ms: int | None


class MatchClock:
    """The time of one match.

    Attributes:
        here: the newest position.
        wait: what is waited for; None if a record of the server is due, or nothing more will come.
        clocks: what each seat has left after the newest record.
        offer: the position of the record that opened the present decision.
        is_over: whether the time to wait at this position is over.
        is_window: whether seats may have something to say at this position, and nobody has been told yet whether they
            do.
        returned: the seats that were gone and have come back: nobody else is offered them.
        has_failed: whether a step with the pack that is due has come and failed its checks.
    """

    def __init__(self, here: Position, *, between_ms: int) -> None:
        ledger = here.ledger
        self._ledger, self.here = ledger, here
        self._opts = ledger.setup.terms.opts
        self.clocks = full_clocks(self._opts, ledger.seats)
        self.offer = 0
        self.is_over = self.has_failed = False
        self.returned: Collection[int] = ()
        self._between_ms = between_ms
        self._holder: int | None = None
        self._steps: StepsDue | None = None
        self._since = trio.current_time()
        self._asked_at: float | None = None
        self._halted_at: float | None = None
        self._wishes: set[int] = set()
        self._vain: Counter[int] = Counter()
        self._spent: dict[int, int] = {}  # ms for masks and locks of the open index, by seat
        self.is_window = False
        self.wait = self._next()

    def _next(self) -> Wait | None:
        ledger = self._ledger
        if self._steps is not None:
            return self._of_steps(ledger, self._steps)
        if ledger.phase is _OVER or ledger.phase is _ENDED:
            return None
        if ledger.pause.active or self.is_window or self._between_ms:
            pacing = self._pacing(ledger)
            if pacing is not None:
                return pacing
        if self._holder is not None:
            left = left_ms(self.clocks, self._opts, self._holder)
            return Wait("decision", self.here.in_view, left)
        if ledger.blind_hand is None and (silent := seats_missing(ledger)):
            return Wait("release", silent, self._opts.release_ms)
        return self._hold()

    def _of_steps(self, ledger: Ledger, steps: StepsDue) -> Wait | None:
        """Return how long seats have for what they owe in mode blind; None where that time is over and cannot come again."""
        opts, what = self._opts, steps.what
        if ledger.pause.active and ledger.phase is not _OVER:
            return Wait("pause", (), opts.pause_ms)
        # nothing voids the deal any more; where a seat that is gone is waited for, it is here too
        if ledger.phase is not _OVER and seats_owing(ledger):
            ms = max(opts.release_ms, opts.pause_ms) if opts.gone == GONE_WAIT else opts.release_ms
            return None if self.is_over else Wait(what, steps.seats, ms)
        # one time for all that a seat has to mask and lock in a deal, or each lock would begin it anew
        if what in ("mask", "lock"):
            return Wait(what, steps.seats, max(0, opts.release_ms - self._spent.get(steps.seats[0], 0)))
        if what == "keys" and not opts.decision_ms:  # cards to be lent: no ruling can play on without them
            return Wait(what, steps.seats, None)
        return None if self.is_over else Wait(what, steps.seats, opts.release_ms)

    @property
    def ends_at(self) -> float | None:
        """When the time for what is waited for is over; None if it has no end, or stands still."""
        wait = self.wait
        if wait is None or wait.ms is None or (self._halted_at is not None and wait.what in _OF_SEATS):
            return None
        return self._since + wait.ms / 1000

    @property
    def vacant_ms(self) -> int | None:
        """How much longer vacant seats are offered, if that has an end."""
        return self.left_ms if self.wait is not None and self.wait.what == "sub" else None

    @property
    def rests_until(self) -> float | None:
        """When the match's pause is over; None if it has none."""
        return self.ends_at if self.wait is not None and self.wait.what == "pause" else None

    def awaits(self, seat: int) -> bool:
        """Tell whether the match waits for a seat or its partners, as far as that seat can tell."""
        # `wait` names only whom everybody can tell; a seat knows of itself that it holds the decision
        seats = () if self.wait is None else self.wait.seats
        return seat in self.here.holders or any(other % 2 == seat % 2 for other in seats)

    @property
    def left_ms(self) -> int | None:
        """How much is left of the time for what is waited for."""
        if self.wait is None or self.wait.ms is None:
            return None
        if self._asked_at is not None:  # nobody has been shown yet what to answer: time has not begun
            return self.wait.ms
        left = self.wait.ms - self._elapsed_ms(trio.current_time())
        return left if left > 0 else 0

    def notice(self, table: str) -> Waiting | None:
        """Return what is told to everybody who has no choice now."""
        wait = self.wait
        if wait is None or wait.what not in _TOLD:
            return None
        # decision 11: an open window names no seat and has no deadline
        match, at, left = self._ledger.setup.mid, self._ledger.k, self.left_ms if wait.seats else None
        return Waiting(
            table=table, match=match, at=at, seats=wait.seats, what=_TOLD[wait.what], deadline_ms=left
        )

    def left_ms_of(self, *what: What, seat: int) -> int | None:
        """Return the time a seat has left for any of these; None if, as far as everybody can tell, it is not waited for."""
        wait = self.wait
        return self.left_ms if wait is not None and wait.what in what and seat in wait.seats else None

    def _elapsed_ms(self, now: float) -> int:
        until = now if self._halted_at is None else self._halted_at
        return int((until - self._since) * 1000) if until > self._since else 0

    @property
    def is_halted(self) -> bool:
        """Whether the time of the seats stands still."""
        return self._halted_at is not None

    def halt(self) -> None:
        """Let the time of the seats stand still, as while nobody is connected."""
        if self._halted_at is None:
            self._halted_at = trio.current_time()

    def go_on(self) -> None:
        """Let the time of the seats go on from where it stood."""
        halted_at, self._halted_at = self._halted_at, None
        if halted_at is not None and self.wait is not None and self.wait.what in _OF_SEATS:
            # after a window time begins in the future: only what has passed of it stood still
            self._since += max(0.0, trio.current_time() - max(halted_at, self._since))

    def note_returned(self, returned: Collection[int]) -> None:
        """Note which seats were gone and are back."""
        if returned != self.returned:
            self.returned = returned
            self.wait = self._next()

    def end_wait(self) -> None:
        """Stop waiting at this position."""
        self.is_over, self.is_window = True, False
        self.wait = self._next()

    def _pacing(self, ledger: Ledger) -> Wait | None:
        """Return the wait that only time ends, if there is one."""
        if ledger.pause.active:
            return Wait("pause", (), self._opts.pause_ms)
        if self.is_window:
            return Wait("window", (), 0)  # time is counted from its end, for what comes after it too
        return Wait("rest", (), self._between_ms) if self._rests(ledger) else None

    def _rests(self, ledger: Ledger) -> bool:
        """Tell whether the server holds a record back to give people time to look: the deal, or what ends a hand."""
        if self._between_ms == 0 or self.is_over:
            return False
        return _deals_unasked(ledger) or _may_be_shown(self.here)

    def _hold(self) -> Wait | None:
        """Return for whom the next call is held back."""
        ledger, opts = self._ledger, self._opts
        if not _awaits_call(ledger):
            return None
        gone = () if self.is_over else vacant(ledger, self.returned)
        if gone:
            return Wait("sub", gone, opts.release_ms)
        seats = tuple(
            seat
            for seat in range(ledger.seats)
            if is_exhausted(ledger, seat + 1) or (not self.is_over and seat in self._wishes)
        )
        # play.md, "New chains": where `gone` is wait nobody forfeits for a chain: it is waited for longer
        longest = max(opts.release_ms, opts.pause_ms)
        return Wait("rekey", seats, longest if self.is_over else opts.release_ms) if seats else None

    def wish(self, seat: int) -> bool:
        """Give a seat time to rekey before the next call; return whether that is new, and so to be stored.

        Raises:
            RefusedError: It has no chain, or may not start another.
        """
        ledger = self._ledger
        if ledger.contributors[seat + 1] is None or ledger.phase in (Phase.OVER, Phase.ENDED):
            raise RefusedRequestError(Code.NOT_NOW, "expected a seat with a key, in a match that goes on")
        if seat in self._wishes:
            return False
        if not self.note_wish(seat):
            # a seat without a link for the next call is waited for anyhow: its wish is taken, and costs nothing
            if _ends_before_call(ledger, seat):
                return False
            message = f"expected at most {self._opts.rekeys} new chains of a seat, and as many wishes"
            raise RefusedRequestError(Code.ILLEGAL_ACTION, message)
        if self.wait is None:
            # a server that drains leaves a call that is due to its next start: the hold begins now
            self._since = trio.current_time()
        self.wait = self._next()
        return True

    def note_wish(self, seat: int) -> bool:
        """Note that a seat has asked for time at this position; return False if it may not."""
        may_wish = _rekeys_left(self._ledger, seat) > self._vain[seat]
        if may_wish:
            self._wishes.add(seat)
        return may_wish

    def clocks_after(self, after: Ledger, body: AnyBody, now: float, *, opens: bool) -> Clocks:
        """Return the clocks after a record taken at this moment; `opens` says whether it opens a new decision."""
        before, banks = self._ledger.match, self.clocks.banks
        # play.md, "Who is there, and time": the bank is full again with each game
        if before is not None and after.match is not None and before.games != after.match.games:
            return full_clocks(self._opts, after.seats)
        if type(body) is Sub and body.seat == self._holder:
            return Clocks(banks)  # the newcomer has had no time yet
        if self._holder is None:
            return Clocks(banks, 0 if opens else self.clocks.used)
        used = self.clocks.used + self._elapsed_ms(now)
        if not opens:
            return Clocks(banks, used)
        if used <= self._opts.decision_ms:
            return Clocks(banks)
        return charged(banks, used, self._opts, self._holder)

    def start(self, now: float) -> float | None:
        """Let time run from now: the record that starts it is stored, and can be shown; return when it is over."""
        # decision 14: time begins when the question is stored, so a slow disk costs no player anything
        asked_at, self._asked_at = self._asked_at, None
        if asked_at is not None:
            self._since += now - asked_at
        return self.ends_at

    def note(
        self,
        here: Position,
        body: AnyBody,
        clocks: Clocks,
        now: float,
        *,
        opens: bool,
        window_ms: int | None = None,
    ) -> None:
        """Go on from a record that is taken at this moment; with `window_ms` it opens a window of that length."""
        ledger = here.ledger
        self._ledger, self.here, self.clocks = ledger, here, clocks
        self.is_window = bool(window_ms)
        had_time = self.is_over and self._steps is not None and self._steps.what == "opening"
        # a ruling because a hand was not opened in time gives no more time to open it
        self.is_over = had_time and ledger.phase is _OVER
        self.has_failed = False
        self._steps = None
        if ledger.blind_hand is not None:
            # before `_since` moves on: what the seat has taken for this step counts towards its next one
            self._note_sealed(ledger, body, now)
        self._holder = here.holders[0] if here.holders and self._steps is None else None
        if opens:
            self.offer = ledger.k - 1
        # what comes in a pause does not make it longer; a ruling begins or ends one
        goes_on = ledger.pause.active
        match body:
            case Rule():
                goes_on = False
            # they come in any order: the time of those still missing runs from what asked for them
            case Release() | Keys():
                goes_on = True
            case Rekey() | Sub():
                self._end_wish(body)
            case Call() if self._wishes:
                # decision 7: a wish that came to nothing counts as a new chain, or it could hold up every call
                self._vain.update(self._wishes)
                self._wishes.clear()
            case _:
                pass
        if not goes_on:
            self._asked_at = now
            self._since = now + (window_ms or 0) / 1000
        self.wait = self._next()

    def _end_wish(self, body: Rekey | Sub) -> None:
        """Note that a seat needs no more time before the call: it has named a new chain, or somebody else sits there."""
        match body:
            case Rekey(role=role):
                self._wishes.discard(role - 1)
            case Sub(seat=seat):
                self._wishes.discard(seat)
                # new chains count anew for who has taken the seat over, so wishes do too
                del self._vain[seat]

    def _note_sealed(self, ledger: Ledger, body: AnyBody, now: float) -> None:
        """Note which steps are due in mode blind, and what a seat has used of the time for its masks and locks."""
        self._steps = steps_due(ledger)
        match body:
            case Call():
                self._spent.clear()
            case Mask() | Lock():
                self._spent[body.seat] = self._spent.get(body.seat, 0) + self._elapsed_ms(now)
            case _:
                pass

    def restore(self) -> None:
        """Go on after a restart, when all records and wishes have been taken: time runs at once."""
        self._asked_at = None
        self.wait = self._next()


def vacant(ledger: Ledger, returned: Collection[int]) -> tuple[int, ...]:
    """Return the seats that a substitute may take over now; one that is back is kept, unless a void names it."""
    gone = ledger.setup.terms.opts.gone
    if gone != GONE_SUBSTITUTE or ledger.phase is not _BETWEEN or must_end(ledger):
        return ()
    return tuple(
        seat
        for seat in range(ledger.seats)
        # play.md, "Who is there, and time": coming back does not help a seat that a void names
        if is_gone(ledger, seat) and (seat not in returned or seat in ledger.silent)
    )


def owes_chain(ledger: Ledger) -> bool:
    """Tell whether the server has to rekey: its chain has no link for the next call."""
    between = ledger.phase is _BETWEEN and not ledger.pause.active
    return between and not must_end(ledger) and is_exhausted(ledger, 0)


def opens_decision(body: AnyBody) -> bool:
    """Tell whether a record opens a new decision."""
    match body:
        case Act() | Proxy():
            return body.kind not in _BESIDE_DECISIONS
        case Rule():
            return body.ruling not in ("pause", "resume")
        case Share() | Rekey() | Sub() | Lend():
            return False
        case _:
            return True


def _awaits_call(ledger: Ledger) -> bool:
    """Tell whether the next call could come, if chains and seats allow."""
    if ledger.phase is not _BETWEEN or ledger.pause.active:
        return False
    return not must_end(ledger) and due(ledger) is not Due.PLAYERS


def _rekeys_left(ledger: Ledger, seat: int) -> int:
    contributor = ledger.contributors[seat + 1]
    return 0 if contributor is None else ledger.setup.terms.opts.rekeys - contributor.rekeys


def _ends_before_call(ledger: Ledger, seat: int) -> bool:
    """Tell whether a seat's chain has no link for the next call, so that the match waits for it whatever happens."""
    # while a deal is open the next call is that of the index after it
    following = replace(ledger, deal_index=ledger.deal_index + (ledger.call is not None))
    return is_exhausted(following, seat + 1)


def _deals_unasked(ledger: Ledger) -> bool:
    """Tell whether a deal is due without any release having been waited for, so that nobody had time."""
    # guests release nothing, so the server alone decides when the next hand lies there
    return ledger.phase is _CALLED and not any(ledger.contributors[1:]) and due(ledger) is Due.DEAL


def _may_be_shown(here: Position) -> bool:
    """Tell whether a hand is over and somebody may still show cards that its close leaves closed."""
    ledger = here.ledger
    return not ledger.opens_at_close and may_show(ledger) and any(here.find(range(ledger.seats)).values())
