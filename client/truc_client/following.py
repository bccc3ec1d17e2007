"""What the server says about a table, as it comes: records to check, gaps to fill, terms to sign.

The connection hands in every message; nothing here waits. Whatever fails a check ends this table with
`CheckFailedError`, raised where the player next waits. Invariant: what is sent was stored before.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, assert_never

from truc_client.errors import (
    ClientError,
    NotPlayedError,
    RefusedError,
    TakenOverError,
    UnboundError,
)
from truc_client.happenings import (
    Away,
    Happening,
    Interrupted,
    PhraseSaid,
    Resumed,
    SeatTakenOver,
    ServerDraining,
    TableChanged,
    TableClosed,
)
from truc_client.lobby import TableChat
from truc_client.matches.agreement import Agreement
from truc_client.matches.catching_up import CatchingUp
from truc_client.matches.doubts import Doubts
from truc_client.matches.playing import Playing
from truc_client.matches.seatmatch import SeatMatch
from truc_client.matches.setting_up import MatchMaker
from truc_client.matches.standing import Standing, Wish
from truc_client.reports import Reports
from truc_protocol import messages
from truc_protocol.errors import Code
from truc_protocol.messages import (
    ChatLine,
    Join,
    MatchRecord,
    Ok,
    Refusal,
    Resume,
    SeatHeld,
    ServerMessage,
    Setup,
    SignedAct,
    Snapshot,
    TableState,
    Terms,
    Watch,
)

if TYPE_CHECKING:
    from truc_client.session import Session

_Notice = messages.SeatTakenOver | messages.Said | ChatLine | messages.Away | messages.Draining
_FROM_THE_START: Final = -1
_TERMS_GONE: Final = (Code.TERMS_REFUSED, Code.NOT_NOW, Code.TABLE_NOT_OPEN)


class Following:
    """One table followed, with or without a seat."""

    def __init__(self, session: "Session", code: str, seat: int | None) -> None:
        self.code = code
        self.seat = seat
        self.state: TableState | None = None
        self.reports = Reports[Happening]()
        self.agreement = Agreement()
        self.maker = MatchMaker(session.account, code, self.reports.say)
        self.playing = Playing(session, code, self.reports, self.fail, self.guard)
        self._session = session
        self._say = self.reports.say
        self._chat = TableChat()
        self._doubts = Doubts(self.playing, self.maker, self.fail)
        self._catching_up = CatchingUp(session, self._say, self.guard, self._caught_up)
        self._resuming = False
        self._has_joined = False
        self._terms: Terms | None = None
        self._wish = Wish.LOOK_ON

    def seated(self, answer: Ok) -> None:
        """Note which seat this player has; terms that come right after are for it."""
        self.take_back(answer.seat)
        self._has_joined = True

    def take_back(self, seat: int | None) -> None:
        """Have a seat, even one that another connection had taken over."""
        if self.match is not None and self.match.is_yielded:
            self.match.take_back()
        self.seat = seat

    @property
    def match(self) -> SeatMatch | None:
        """The match followed now."""
        return self.playing.match

    def handle(self, message: ServerMessage) -> None:
        """Take a message about this table; what fails a check ends it."""
        self.guard(lambda: self._take(message))

    def guard(self, step: Callable[[], None]) -> None:
        """Take a step; what fails a check ends this table."""
        if self.reports.failure is not None:
            return
        try:
            step()
        except UnboundError as error:
            self._doubts.meet(error)  # this drops the connection
        except ClientError as error:
            self.fail(error)

    def _take(self, message: ServerMessage) -> None:
        match message:
            case TableState():
                self._show(message)
            case Terms():
                self._terms = message
                self._sign()
            case Setup():
                self._begin(message)
            case Snapshot() if self.seat is None:
                self._take_snapshot(message)
            case _ if isinstance(message, _Notice):
                self._hear(message)
            case messages.TableClosed():
                self.maker.drop_unbegun(self._session)
                self._say(TableClosed(message.reason, self.code))
                self._finish()
            case _:
                self._take_of(self.match, message)

    def _hear(self, message: _Notice) -> None:
        match message:
            case messages.SeatTakenOver():
                self._yield_seat(message.seat)
            case messages.Said():
                self._say(PhraseSaid(message.seat, message.phrase))
            case ChatLine():
                self._say(*self._chat.news(message))
            case messages.Away():
                self._tell_away(message)
            case messages.Draining():
                self._say(ServerDraining(message.left_ms))
            case _:
                assert_never(message)

    def _tell_away(self, away: messages.Away) -> None:
        """Tell who is away; once the match is over nobody is, whatever notices were still on their way."""
        match = self.match
        if match is None or match.mid != away.match or not match.is_over:
            self._say(Away(away.seat, away.online, away.missed, away.claim_in_ms))

    def _yield_seat(self, seat: int) -> None:
        """Go on as a watcher: another connection or a substitute has the seat."""
        self._say(SeatTakenOver(seat))
        if seat == self.seat:
            self.seat = None
            self.agreement.withdraw()
            self.playing.yield_seat()

    def _show(self, state: TableState) -> None:
        before, self.state = self.state, state
        self.agreement.show(state)
        self._say(TableChanged(state))
        self._sign()
        has_joined, self._has_joined = self._has_joined, False
        is_shown_again = has_joined or (before is not None and before.match == state.match)
        if is_shown_again and self._is_missed(state, has_joined=has_joined):
            self.come_back(state.match or b"")
        is_vacant = any(seat.vacant and seat.seat == self.seat for seat in state.seats)
        self.playing.note_vacant(is_vacant=is_vacant)

    def _is_missed(self, state: TableState, *, has_joined: bool) -> bool:
        """Tell whether a match is on that this seat was not told of: a setup comes right after its first notice."""
        if state.state != "playing" or self.seat is None or self._resuming:
            return False
        is_known = self.match is not None and self.match.mid == state.match
        return not is_known or (has_joined and self.match is not None and not self.match.is_live)

    def _take_of(self, match: SeatMatch | None, message: ServerMessage) -> None:
        if match is None or getattr(message, "match", None) != match.mid:
            shown = self.state if isinstance(message, MatchRecord) else None
            if shown is not None and self._is_missed(shown, has_joined=False):
                self.come_back(shown.match or b"")  # its setup has not come
        elif isinstance(message, MatchRecord) and self._catching_up.is_under_way:
            self._catching_up.hold(match, message)
        elif isinstance(message, MatchRecord) and match.is_ahead(message):
            self._resume(match)
        else:
            self.playing.take(match, message)

    def _take_snapshot(self, snapshot: Snapshot) -> None:
        """Begin at a snapshot, or go on from it; the records missing before it are fetched."""
        match = self.match
        if match is None or match.mid != snapshot.match:
            self.playing.drop_match()
            setup = Setup(table=self.code, match=snapshot.match, doc=snapshot.doc, records=snapshot.records)
            match = self.maker.begin(setup, self._session, None, Wish.LOOK_ON, None)
            self.playing.begin(match, is_live=False)
        self._catching_up.begin(match, snapshot)

    def _caught_up(self, match: SeatMatch, held: list[MatchRecord]) -> None:
        """Go on with the records that came while those before them were fetched."""
        match.go_on()
        self.playing.go_on(match, self.step_in)
        for message in held:
            self._take_of(match, message)

    def step_in(self) -> None:
        """Arrange to take the seat over before the next deal, if this player stands by and agreed to it."""
        match = self.match
        if match is not None and self.playing.stands_by and self.agreement.has_vacancy(match.mid, self.seat):
            self.maker.check_agreed(match, self._session, self.agreement)
            self.playing.step_in(match)

    def _sign(self) -> None:
        """Sign the pending terms. On a return they come before the table is shown, and wait for that."""
        terms, session = self._terms, self._session
        if terms is None or self.agreement.waits:
            return
        self._terms = None
        if session.account.is_guest or self.seat is None or not self.agreement.stands:
            return
        body, sig = self.maker.accept(terms, session, self.agreement, self.seat)
        session.post(lambda n: SignedAct(id=n, table=self.code, body=body, sig=sig), self._signed)

    def _signed(self, answer: Ok | Refusal) -> None:
        """Take the answer to the seat's record; terms that have lapsed are followed by new ones."""
        if isinstance(answer, Refusal) and not answer.retryable and answer.code not in _TERMS_GONE:
            self.fail(RefusedError(answer.code, answer.msg))

    def _begin(self, message: Setup) -> None:
        if self.match is not None and self.match.mid == message.match:
            return
        if not self._resuming and self.maker.has_begun(message.match, self.seat):
            if self.match is None or self.match.is_finished:
                self.come_back(message.match, self._wish)
            return
        self._catching_up.stop()
        self.playing.drop_match()
        agreement = None if self._resuming and not self.agreement.stands else self.agreement
        try:
            match = self.maker.begin(message, self._session, self.seat, self._wish, agreement)
        except NotPlayedError:
            if not self._resuming:
                raise
            return  # the table is joined once the rest of the match has come
        if match.standing is not Standing.ANOTHERS:
            self.agreement.withdraw()
        self.playing.begin(match, is_live=not self._resuming)

    def come_back(self, mid: bytes, wish: Wish = Wish.LOOK_ON) -> None:
        """Go on with a match that this client may have kept in part."""
        self._wish = wish
        if self.match is None or self.match.mid != mid:
            self.playing.drop_match()
            try:
                self.playing.match = self.maker.reopen(mid, self._session, self.seat, wish)
            except NotPlayedError:
                self._join()
                return
            except ClientError as error:
                self.fail(error)
                return
            if self.match is not None:
                self._say(*self.match.begun_again())
        self._resume_from(mid, _FROM_THE_START if self.match is None else self.match.next)

    def ask_again(self) -> None:
        """Ask for the match from here on, if it waits for this seat and the options have not come."""
        if self.match is not None and self.match.lacks_options:
            self._resume(self.match)

    def _resume(self, match: SeatMatch) -> None:
        if self._resuming:
            return
        match.pause_sending()
        if self.seat is None:
            self._watch()
        else:
            self._resume_from(match.mid, match.next)

    def _resume_from(self, mid: bytes, position: int) -> None:
        self._resuming = True
        self._session.post(lambda n: Resume(id=n, table=self.code, match=mid, next=position), self._resumed)

    def _resumed(self, answer: Ok | Refusal) -> None:
        self._resuming = False
        self.guard(lambda: self._go_on(answer))

    def _go_on(self, answer: Ok | Refusal) -> None:
        match = self.match
        if isinstance(answer, Refusal) and self.seat is None:
            raise TakenOverError
        if isinstance(answer, Refusal):
            self._not_resumed(match, RefusedError(answer.code, answer.msg))
        elif match is None:
            self._join()  # it was never this player's
        else:
            self.take_back(match.seat)
            match.reached(answer.k)
            self._say(Resumed(match.next))
            try:
                self.playing.go_on(match, self.step_in)
            except NotPlayedError:
                self.playing.drop_match()
                self._join()

    def _not_resumed(self, match: SeatMatch | None, error: RefusedError) -> None:
        is_gone = error.code == Code.NO_SUCH_MATCH and self.seat is not None
        if not is_gone and not (match is not None and match.is_over):
            raise error
        if match is not None:
            self.playing.finish(match)  # only acks are missing, or the rest will never come
        if is_gone:
            self._join()

    def interrupted(self, reason: str) -> None:
        """Note that the connection is gone for now."""
        self._resuming = False
        self._catching_up.stop()
        self.playing.interrupted()
        self._say(Interrupted(reason))

    def reconnected(self, held: tuple[SeatHeld, ...]) -> None:
        """Take the seat again on the new connection, and ask for the missing records."""
        if self.reports.failure is not None:
            return
        if self.seat is None:
            self._watch()
            return
        own = next((seat for seat in held if seat.table == self.code), None)
        newest = None if own is None else own.match
        if own is None and self.match is not None and self.match.standing is Standing.ANOTHERS:
            self._join()  # to stand by again
        elif self.match is not None and not self.match.is_finished:
            self._resume_from(self.match.mid, self.match.next)
        elif newest is not None and (self.match is None or self.match.mid != newest):
            self.come_back(newest)
        else:
            self._join()

    def _watch(self) -> None:
        """Watch again, from the first missing record."""
        match = None if self.match is None or self.match.is_finished else self.match

        def build(n: int) -> Watch:
            if match is None:
                return Watch(id=n, table=self.code)
            return Watch(id=n, table=self.code, match=match.mid, next=match.next)

        self._resuming = self._session.post(build, self._watched)

    def _watched(self, answer: Ok | Refusal) -> None:
        self._resuming = False
        self.guard(lambda: self._look_on(answer))

    def _look_on(self, answer: Ok | Refusal) -> None:
        match = self.match
        if isinstance(answer, Refusal):
            raise RefusedError(answer.code, answer.msg)
        if match is None or match.is_finished or self._catching_up.is_under_way:
            return
        match.reached(match.next if answer.k is None else answer.k)
        self._say(Resumed(match.next))
        self.playing.go_on(match, self.step_in)

    def _join(self) -> None:
        self._session.post(lambda n: Join(id=n, table=self.code, seat=self.seat), self._joined)

    def _joined(self, answer: Ok | Refusal) -> None:
        if isinstance(answer, Refusal):
            self.fail(RefusedError(answer.code, answer.msg))
        else:
            self.seated(answer)

    def fail(self, error: ClientError) -> None:
        """End this table with an error: nothing is signed or sent for it any more."""
        if self.match is not None:
            self.match.close()
        self._session.drop(self.code)
        self._catching_up.stop()
        self.playing.stop()
        self.reports.fail(error)

    def _finish(self) -> None:
        self._catching_up.stop()
        self.playing.stop()
        self.reports.finish()

    def close(self) -> None:
        """Stop following: close the transcript and end the iteration."""
        self.playing.drop_match()
        self._finish()
