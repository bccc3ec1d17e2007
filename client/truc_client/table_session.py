"""What the server says about a table, as it comes: records to check, gaps to fill, terms to sign.

The connection hands in every message; nothing here waits. Whatever fails a check ends this table with
`CheckFailedError`, raised where the player next waits. Invariant: what is sent was stored before.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, assert_never

from truc_client.errors import ClientError, NotPlayedError, RefusedError, TakenOverError, UnboundError
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
from truc_client.matches.accepting import Accepting
from truc_client.matches.agreement import Agreement
from truc_client.matches.catching_up import CatchingUp
from truc_client.matches.playing import Playing
from truc_client.matches.retry_limit import Doubts
from truc_client.matches.seatmatch import SeatMatch
from truc_client.matches.setting_up import MatchMaker
from truc_client.matches.standing import Standing, Wish
from truc_client.reports import Reports, chat_said
from truc_protocol import messages
from truc_protocol.errors import Code
from truc_protocol.messages import Away as AwayNotice
from truc_protocol.messages import (
    ChatLine,
    Draining,
    Join,
    MatchRecord,
    Ok,
    Refusal,
    Resume,
    Said,
    SeatHeld,
    ServerMessage,
    Setup,
    Snapshot,
    TableState,
    Terms,
    Watch,
)

if TYPE_CHECKING:
    from truc_client.session import Session

Aside = Said | ChatLine | AwayNotice | Draining
_BESIDE = TableState | messages.SeatTakenOver | Aside  # they tell nothing of what a match may lack
_FROM_THE_START: Final = -1


class Following:
    """One table followed, with or without a seat."""

    def __init__(
        self, session: "Session", among: "dict[str, Following]", code: str, seat: int | None
    ) -> None:
        self.code = code
        self.seat = seat
        self.state: TableState | None = None
        self.reports = Reports[Happening]()
        self.agreement = Agreement()
        self.maker = MatchMaker(session.account, code, self.reports.say)
        self.playing = Playing(session, code, self.reports, self.fail, self.guard)
        self._accepting = Accepting(session, code, self.agreement, self.maker, self.fail)
        self._session = session
        self._among = among
        self._say = self.reports.say
        self._beside = Beside(self.reports.say)
        self._doubts = Doubts(self.playing, self.maker, self.fail)
        self._catching_up = CatchingUp(session, self._say, self.guard, self._caught_up)
        self._resuming = False
        self._is_silent = False
        self._asked_from: int | None = None
        self._has_joined = False
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
        self._is_silent = self._is_silent and isinstance(message, _BESIDE)
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
                self._accepting.take(message, self.seat)
            case Setup():
                self._begin(message)
            case Snapshot() if self.seat is None:
                self._take_snapshot(message)
            case _ if isinstance(message, Aside):
                self._beside.hear(message, self.match)
            case messages.SeatTakenOver():
                self._yield_seat(message.seat)
            case messages.TableClosed():
                self.maker.drop_unbegun(self._session)
                self._say(TableClosed(message.reason, self.code))
                self.playing.close()
                self._give_up()
            case _:
                self._take_of(self.match, message)

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
        self._accepting.sign(self.seat)
        has_joined, self._has_joined = self._has_joined, False
        is_shown_again = has_joined or (before is not None and before.match == state.match)
        if is_shown_again and self._is_missed(state, has_joined=has_joined):
            self.come_back(state.match or b"")
        self.playing.note_vacant(is_vacant=any(it.vacant and it.seat == self.seat for it in state.seats))

    def _is_missed(self, state: TableState, *, has_joined: bool) -> bool:
        """Tell whether a match is on that this seat was not told of: a setup comes right after its first notice."""
        if state.state != "playing" or self.seat is None or self._resuming:
            return False
        is_known = self.match is not None and self.match.mid == state.match
        return not is_known or (has_joined and self.match is not None and not self.match.is_live)

    def _take_of(self, match: SeatMatch | None, message: ServerMessage) -> None:
        if match is None or getattr(message, "match", None) != match.mid:
            if isinstance(message, MatchRecord):
                self._miss_setup(message.match)
        elif isinstance(message, MatchRecord) and self._catching_up.is_under_way:
            self._catching_up.hold(match, message)
        elif isinstance(message, MatchRecord) and match.is_ahead(message):
            self._resume(match)
        else:
            self.playing.take(match, message)

    def _miss_setup(self, mid: bytes) -> None:
        """Come back to the match shown, if its setup has not come; or, as an old table may be shown, to that of a record."""
        state, match = self.state, self.match
        if state is not None and self._is_missed(state, has_joined=False):
            self.come_back(state.match or b"")
        elif (match is None or match.is_finished) and self.seat is not None and not self._resuming:
            self.come_back(mid)

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
        """Ask for what may be lost, if nothing has come of the match since this was called last; then not the next time."""
        was_silent, self._is_silent = self._is_silent, not self._is_silent
        match = self.match
        if not was_silent or self._resuming:
            return
        if match is None or match.is_finished:
            self._ask_for_setup()
        elif match.is_live and not match.is_yielded:
            self._asked_from = match.next
            match.ask_again()
            self._resume(match)

    def _ask_for_setup(self) -> None:
        """Ask for the table and any terms, or agree again after those have lapsed, if this player had agreed."""
        if self.agreement.has_lapsed(self.seat):
            self._accepting.agree_again()
        elif self.seat is not None and (self.agreement.stands or self.state is None):
            self._join()

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
        answered = partial(self._answered, self._go_on)
        self._session.post(lambda n: Resume(id=n, table=self.code, match=mid, next=position), answered)

    def _answered(self, go_on: Callable[[Ok | Refusal], None], answer: Ok | Refusal) -> None:
        self._resuming = False
        self.guard(lambda: go_on(answer))

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
            self._tell_resumed(match)
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
        self._resuming, self._asked_from = False, None
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
        mid, k = (None, None) if match is None else (match.mid, match.next)
        answered = partial(self._answered, self._look_on)
        self._resuming = self._session.post(
            lambda n: Watch(id=n, table=self.code, match=mid, next=k), answered
        )

    def _look_on(self, answer: Ok | Refusal) -> None:
        match = self.match
        if isinstance(answer, Refusal):
            raise RefusedError(answer.code, answer.msg)
        if match is None or match.is_finished or self._catching_up.is_under_way:
            return
        match.reached(match.next if answer.k is None else answer.k)
        self._tell_resumed(match)
        self.playing.go_on(match, self.step_in)

    def _tell_resumed(self, match: SeatMatch) -> None:
        """Tell that nothing is missing, unless nothing was: this client has only asked again."""
        asked_from, self._asked_from = self._asked_from, None
        if match.next != asked_from:
            self._say(Resumed(match.next))

    def _join(self) -> None:
        self._session.post(lambda n: Join(id=n, table=self.code, seat=self.seat), self._joined)

    def _joined(self, answer: Ok | Refusal) -> None:
        if isinstance(answer, Refusal):
            self.fail(RefusedError(answer.code, answer.msg))
        else:
            self.seated(answer)

    def fail(self, error: ClientError) -> None:
        """End this table with an error: nothing is signed or sent for it any more."""
        self.reports.fail(error)
        self._give_up()

    def drop(self) -> None:
        """Be followed no longer."""
        self._among.pop(self.code, None)

    def _give_up(self) -> None:
        self.drop()
        if self.match is not None:
            self.match.close()
        self._finish()

    def _finish(self) -> None:
        self._catching_up.stop()
        self.playing.stop()
        self.reports.finish()

    def close(self) -> None:
        """Stop following: close the transcript and end the iteration."""
        self.playing.drop_match()
        self._finish()


class Beside:
    """What one table hears; lines of chat that a server repeats on a new connection are told once."""

    def __init__(self, say: Callable[[Happening], None]) -> None:
        self._say = say
        self._newest = -1  # line of the chat

    def hear(self, aside: Aside, match: SeatMatch | None) -> None:
        """Tell what was said; `match` is the one followed now."""
        match aside:
            case Said():
                self._say(PhraseSaid(aside.seat, aside.phrase))
            case ChatLine():
                self._chat(aside)
            case AwayNotice():
                self._tell_away(aside, match)
            case Draining():
                self._say(ServerDraining(aside.left_ms))
            case _:
                assert_never(aside)

    def _chat(self, line: ChatLine) -> None:
        """Tell a line of chat that is news: they have ascending numbers."""
        if line.n is None or line.n > self._newest:
            self._newest = self._newest if line.n is None else line.n
            self._say(chat_said(line))

    def _tell_away(self, away: AwayNotice, match: SeatMatch | None) -> None:
        """Tell who is away; once the match is over nobody is, whatever notices were still on their way."""
        if match is None or match.mid != away.match or not match.is_over:
            self._say(Away(away.seat, away.online, away.missed, away.claim_in_ms))
