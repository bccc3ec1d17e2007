"""When those who watch a table are shown what happens there: at once, with each hand's close, or some seconds late.

The seats are told everything by others; here is what goes to the rest. At a table that is shown late, whatever is said
of a match comes as late as its records, matches come one after the other, and the table's state waits until nothing is
held back. Invariants: every record is shown once, in order, and none before the table's terms allow; what is told of the
table in the meantime says no more than the records shown.
"""

from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

import structlog
import trio

from truc_protocol.bodies import AnyBody
from truc_protocol.connection import broadcast_frame
from truc_protocol.messages import ServerMessage, TableClosed, TableState
from truc_protocol.records import Record, parse
from truc_protocol.setup import Setup as MatchSetup
from truc_server.audience import Audience
from truc_server.house import House, label, now_ms
from truc_server.late import Line, Notice
from truc_server.options import HAND, LATE
from truc_server.peer import Peer
from truc_server.seats import setup_message
from truc_server.shown import Shown
from truc_server.store import AddRecord
from truc_server.tail import Tail, stored_frame
from truc_server.timers import Alarm

_S: Final = 1_000  # milliseconds

log = structlog.get_logger()


class Made(NamedTuple):
    """A record that was made: with the frame that carries it, and the time of the store."""

    record: Record
    body: AnyBody
    frame: bytes
    at_ms: int


class Showing:
    """What the watchers of one table are shown.

    Attributes:
        audience: who follows the table.
        delay_s: how many seconds late they are shown it; 0 where it does not depend on time.
    """

    def __init__(
        self,
        house: House,
        table: str,
        *,
        seats: int,
        spectators: int,
        state: Callable[[], TableState],
        on_shown: Callable[[], None],
    ) -> None:
        self.audience = Audience(seats, on_return=self._show_again)
        self.delay_s = max(0, spectators - LATE)
        self._is_by_hand = spectators == HAND
        self._house = house
        self._table = table
        self._state = state
        self._on_shown = on_shown
        self._matches: deque[tuple[Shown, Line | None]] = deque()
        self._is_reading = False
        self._owes_state = False
        self._closed: TableClosed | None = None
        self._alarm = Alarm(house.timers, self._show_due)

    @property
    def match(self) -> Shown | None:
        """The match that is being shown."""
        return self._matches[0][0] if self._matches else None

    @property
    def holds_back(self) -> bool:
        """Whether there is anything that has not been shown yet."""
        return len(self._matches) > 1 or not all(shown.is_complete for shown, _ in self._matches)

    def begin(self, setup: MatchSetup, tail: Tail) -> Shown:
        """Take a match up, to be shown after those before it."""
        if not self.holds_back:
            self._matches.clear()
        shown = Shown(self._table, setup, tail)
        self._matches.append((shown, Line(self.delay_s) if self.delay_s else None))
        return shown

    def took(self, shown: Shown, made: Made, *, is_between: bool) -> None:
        """Show the next record that a match has taken, now or later; `is_between` tells that no hand is played now."""
        shown.made += 1
        if self.delay_s:
            self._put_off(shown, made)
        elif not self._is_by_hand:
            self._show(shown, made.record, made.frame, made.body)
        elif is_between:
            self._show_tail(shown, shown.made)

    def _put_off(self, shown: Shown, made: Made) -> None:
        left_ms = min(made.at_ms + self.delay_s * _S - now_ms(), self.delay_s * _S)
        line = self._line_of(shown)
        line.put_record(trio.current_time() + max(0, left_ms) / _S, shown.made)
        self._set_alarm()

    def _line_of(self, shown: Shown) -> Line:
        return next(line for other, line in self._matches if other is shown and line is not None)

    def _set_alarm(self) -> None:
        line = self._matches[0][1]
        if line is not None and not self._is_reading:
            self._alarm.set(line.next)

    def _show_due(self) -> None:
        """Show all that is due, as far as it is at hand."""
        while self._matches and not self._is_reading:
            shown, line = self._matches[0]
            mark = None if line is None else line.due(trio.current_time())
            if line is None or mark is None:
                break
            if self._show_before(shown, mark.k):
                line.pop()
                self._tell_owed_state()
                for notice in mark.notices:
                    self.audience.show_watchers(*notice)
                self._go_on()
        self._set_alarm()

    def _show_before(self, shown: Shown, k: int) -> bool:
        """Show the records before position `k`; False if they have to be read first."""
        if shown.k < min(k, shown.tail.first):
            self._is_reading = True
            self._house.pages.ask(shown.setup.mid, shown.k, self._show_page)
            return False
        self._show_tail(shown, k)
        return True

    def _show_page(self, rows: tuple[AddRecord, ...]) -> None:
        """Show what was read of what is due; the rest is not looked at."""
        self._is_reading = False
        shown, line = self._matches[0]
        mark = None if line is None else line.due(trio.current_time())
        for row in rows:
            if mark is not None and shown.k == row.k < mark.k:
                record = Record(row.signer, row.body, row.sig)
                self._show(shown, record, stored_frame(self._table, row), parse(record))
        self._show_due()

    def _show_tail(self, shown: Shown, k: int) -> None:
        for item in shown.tail.since(shown.k):
            if item.k < k:
                self._show(shown, item.record, item.frame, parse(item.record))

    def _show(self, shown: Shown, record: Record, frame: bytes, body: AnyBody) -> None:
        shown.add(record, frame, body)
        self.audience.show_watchers(frame)

    def _tell_owed_state(self) -> None:
        if self._owes_state and not self.holds_back:
            self._owes_state = False
            self.audience.tell_watchers(broadcast_frame(self._state()))

    def _go_on(self) -> None:
        """Go on to the next match, or to the end of the table, if nothing more is to be shown of this one."""
        if not self._matches[0][0].is_complete:
            return
        if len(self._matches) > 1:
            self._matches.popleft()
            self.audience.tell_watchers(broadcast_frame(self._state()))
            self.audience.show_watchers(
                broadcast_frame(setup_message(self._table, self._matches[0][0].setup))
            )
        elif self._closed is not None:
            self.audience.part(self._closed)

    def note(self, message: ServerMessage, *, of: str | None = None) -> None:
        """Show what belongs to the newest position: whom the match waits for, or a sign of the player of a tag."""
        notice = Notice(broadcast_frame(message), of)
        if self.delay_s:
            self._say_later(notice)
        elif not self.holds_back:
            self.audience.show_watchers(*notice)

    def say(self, message: ServerMessage, *, of: str) -> None:
        """Pass a phrase of the player of a tag on to those who watch."""
        notice = Notice(broadcast_frame(message), of)
        if self.delay_s and self._matches:
            self._say_later(notice)
        else:
            self.audience.tell_watchers(*notice)

    def _say_later(self, notice: Notice) -> None:
        for shown, line in list(self._matches)[-1:]:
            if line is not None:
                line.put_notice(trio.current_time() + self.delay_s, shown.made, notice)
                self._set_alarm()

    def tell_state(self) -> None:
        """Tell how the table stands, if nothing is held back; else when nothing is any more."""
        if self.delay_s and self.holds_back:
            self._owes_state = True
        else:
            self.audience.tell_watchers(broadcast_frame(self._state()))

    def greet(self, peer: Peer) -> None:
        """Tell one who comes to watch how the table stands; if something is held back, they hear of it again later."""
        self._owes_state |= self.holds_back
        peer.send(self._state())

    def tell(self, message: ServerMessage) -> None:
        """Tell everybody something of the table, but watchers nothing while something before it is held back."""
        self.audience.tell_seats(message)
        if not (self.delay_s and self.holds_back):
            self.audience.tell_watchers(broadcast_frame(message))

    def open(self, setup: MatchSetup) -> None:
        """Tell everybody that a match begins, watchers when they have seen the one before; the seats have it all."""
        message = setup_message(self._table, setup)
        self.audience.tell_seats(message)
        self.audience.seats_caught_up()
        if self.match is not None and self.match.setup is setup:
            self.audience.show_watchers(broadcast_frame(message))

    def mask(self, state: TableState) -> TableState:
        """Return a table's state as of what has been shown."""
        return state if self.match is None or not self.holds_back else self.match.mask(state)

    def close(self, notice: TableClosed) -> None:
        """Tell that the table is gone: who watches, when the rest has been shown."""
        self.audience.tell_seats(notice)
        if self.delay_s and self.holds_back:
            self._closed = notice
        else:
            self.audience.part(notice)

    def _show_again(self, peer: Peer) -> None:
        """Let a watcher whose outbox was full go on from the present hand."""
        shown = self.match
        messages: list[ServerMessage] = [self._state()]
        if shown is not None:
            messages.append(shown.snapshot(skipped=True))
        frames = [*map(broadcast_frame, messages), *(shown.hand() if shown is not None else ())]
        if self.audience.come_back(peer, frames):
            log.info("watcher_skipped", table=label(self._table), address=peer.address)
