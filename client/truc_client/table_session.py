"""One table followed, with or without a seat: messages in; happenings and requests out.

The connection hands in every message; nothing here waits. Whatever fails a check ends this
table with `CheckFailedError`, raised where the player next waits. Invariants: what is sent was stored before; every
new record is followed by a check that the seat is played from here, and nothing goes out for a seat that is not.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from truc_client.errors import (
    ClientError,
    LostError,
    NotPlayedError,
    RefusedError,
    TakenOverError,
    UnboundError,
)
from truc_client.happenings import (
    Happening,
    HostSaid,
    Interrupted,
    PhraseSaid,
    PresenceChanged,
    Resumed,
    SeatLost,
    ServerDraining,
    SnapshotTaken,
    TableChanged,
    TableGone,
    YourTurn,
)
from truc_client.line.single_connection import Answer, Build
from truc_client.matches.agreement import TableAgreement
from truc_client.matches.catching_up import CatchingUp, NextTry, RetryCount
from truc_client.matches.choosing import Sendable
from truc_client.matches.pack_steps import PackWork
from truc_client.matches.seat_match import SeatMatch
from truc_client.matches.sending import Sending
from truc_client.matches.setting_up import MatchOpener
from truc_client.matches.signer import Intent, Tenure
from truc_client.matches.telling import match_started, told_again
from truc_client.reports import Reports, chat_said
from truc_protocol import messages
from truc_protocol.blind_mode.sealed_pack import SeatStep
from truc_protocol.errors import Code
from truc_protocol.messages import MatchRecord, Ok, Refusal, ServerMessage, Setup, Snapshot, TableState, Terms
from truc_words import Sentence

if TYPE_CHECKING:
    from truc_client.session import Session

_Notice = messages.Said | messages.ChatLine | messages.Away | messages.Draining | messages.HostSays
_OF_THE_TABLE: Final = TableState | messages.SeatTakenOver | _Notice
"""They tell nothing of what a match may lack."""
_OPTIONS: Final = messages.BoxedOptions | messages.OpenOptions
_TO_THE_SEAT: Final = messages.OwnCards | messages.Waiting | messages.BoxedSignSeen | messages.OpenSignSeen
# asks for the setup too (session.md, "Coming back")
_FROM_THE_START: Final = -1


class TableSession:
    """One table followed.

    Attributes:
        code: the table's code.
        seat: one's own seat; None for a watcher.
        state: the table as last shown.
        match: the match followed now.
        reports: what has happened, for the player to read.
        agreement: what the player has agreed to play here.
        sending: what goes out for the seat.
        is_asked_for: whether the first request for it has no answer yet; on a new connection that alone is made again.
    """

    def __init__(
        self, session: "Session", among: "dict[str, TableSession]", code: str, seat: int | None
    ) -> None:
        self.code = code
        self.seat = seat
        self.state: TableState | None = None
        self.match: SeatMatch | None = None
        self.reports = Reports[Happening]()
        self.agreement = TableAgreement()
        self.is_asked_for = False
        self.sending = Sending(code, self._post, self._make)
        self._session = session
        self._among = among
        self._opener = MatchOpener(session, code)
        self._say = self.reports.say
        self._retries = RetryCount()
        self._catching_up: CatchingUp | None = None
        self._last_chat = -1
        self._is_resuming = False
        self._is_silent = False
        self._has_joined = False
        self._asked_from: int | None = None
        self._intent = Intent.LOOK_ON

    def handle(self, message: ServerMessage) -> None:
        """Take a message about this table; what fails a check ends it."""
        # what tells of the table alone shows nothing of the match: its records may be lost all the same
        self._is_silent = self._is_silent and isinstance(message, _OF_THE_TABLE)
        self.guard(self._take, message)

    def guard(self, step: Callable[..., None], *values: Any) -> None:
        """Take a step; what fails a check ends this table."""
        if self.reports.failure is not None:
            return
        try:
            step(*values)
        except UnboundError as error:
            self._try_again(error)  # this drops the connection
        except ClientError as error:
            self.fail(error)

    def _post(self, build: Build, take: Callable[[Answer], None]) -> bool:
        """Send a request; tell whether the connection was open. What its answer makes fail ends this table."""
        return self._session.post(build, partial(self.guard, take))

    def _make(self, work: PackWork, take: Callable[[SeatStep], None]) -> None:
        """Make a step with the pack in a thread; what taking it makes fail ends this table."""
        self._session.in_thread(work.made, partial(self.guard, take))

    def _take(self, message: ServerMessage) -> None:
        match message:
            case TableState():
                self._show(message)
            case Terms():
                self.agreement.offer(message)
                self._sign_terms()
            case Setup():
                self._begin(message)
            case Snapshot() if self.seat is None:
                self._take_snapshot(message)
            case _ if isinstance(message, _Notice):
                self._tell(message)
            case messages.SeatTakenOver():
                self._yield_seat(message.seat)
            case messages.TableClosed():
                self._close_table(message.reason)
            case _:
                self._take_of_match(message)

    def _take_of_match(self, message: ServerMessage) -> None:
        match = self.match
        if match is None or getattr(message, "match", None) != match.mid:
            if isinstance(message, MatchRecord):
                self._miss_setup(message.match)
        elif not isinstance(message, MatchRecord):
            self._take_notice(match, message)
        elif self._catching_up is not None:
            self._catching_up.hold(message)
        # a server says nothing of what was lost on the way: only the next position shows it
        elif message.k > match.next:
            self._resume(match)  # records are missing before this one
        else:
            self._take_record(match, message)

    def _take_record(self, match: SeatMatch, message: MatchRecord) -> None:
        self._say(*match.take_record(message))
        if match.is_finished:
            self.sending.settle()
        # before anything goes out: with this record the seat may be somebody else's
        match.check_seat()
        self.sending.send_owed(match)

    def _take_notice(self, match: SeatMatch, message: ServerMessage) -> None:
        makes_options = self._session.makes_options or match.is_dealerless
        if isinstance(message, _OPTIONS):
            # options that were not asked for are passed over: those
            # found by the rules are all there are, and none is forbidden
            if not makes_options:
                self._take_turn(match, match.take_options(message))
        elif isinstance(message, _TO_THE_SEAT):
            # first, as `MatchWaits` is told only where there is nothing to choose
            if makes_options and isinstance(message, messages.Waiting):
                self._take_turn(match, match.find_options(message))
            self._say(*match.take_notice(message))
        self.sending.send_owed(match)

    def _take_turn(self, match: SeatMatch, answer: YourTurn | Sendable | None) -> None:
        if isinstance(answer, YourTurn):
            self._say(answer)
        elif answer is not None:
            self.sending.send(match, match.next, answer)

    def _tell(self, notice: _Notice) -> None:
        """Tell what was said, and who is away: once a match is over nobody is, whatever notices were still on their way."""
        match notice:
            case messages.Said():
                self._say(PhraseSaid(notice.seat, notice.phrase))
            # a server sends the newest lines of a table again on each
            # connection; by their numbers those that are news are known
            case messages.ChatLine(n=n) if n is None or n > self._last_chat:
                self._last_chat = self._last_chat if n is None else n
                self._say(chat_said(notice))
            case messages.Away() if not (self._is_of_match(notice.match) and self._is_over):
                self._say(PresenceChanged(notice.seat, notice.online, notice.missed, notice.claim_in_ms))
            case messages.Draining():
                self._say(ServerDraining(notice.left_ms))
            case messages.HostSays():
                self._say(HostSaid(notice.text))
            case _:
                pass  # a line of chat that was told already: a server repeats them on a new connection

    def _is_of_match(self, mid: bytes | None) -> bool:
        return self.match is not None and self.match.mid == mid

    @property
    def _is_over(self) -> bool:
        return self.match is not None and self.match.is_over

    def _show(self, state: TableState) -> None:
        before, self.state = self.state, state
        self.agreement.show(state)
        self._say(TableChanged(state))
        self._sign_terms()
        # the first notice of a match comes right before its setup, and
        # shows nothing missing; the answer to `join` has none behind it
        has_joined, self._has_joined = self._has_joined, False
        is_shown_again = has_joined or (before is not None and before.match == state.match)
        if is_shown_again and self._is_missed(state, has_joined=has_joined):
            self.come_back(state.match or b"")
        if self.match is not None:
            self.match.is_vacant = self.is_vacant
            self.match.check_wanted()

    @property
    def is_vacant(self) -> bool:
        """Whether the seat's player is gone from the match, as the table was last shown."""
        shown = () if self.state is None else self.state.seats
        return any(each.vacant and each.seat == self.seat for each in shown)

    def _is_missed(self, state: TableState, *, has_joined: bool) -> bool:
        """Tell whether a match is on that this seat was not told of: a setup comes right after its first notice."""
        if state.state != "playing" or self.seat is None or self._is_resuming:
            return False
        is_known = self._is_of_match(state.match)
        return not is_known or (has_joined and self.match is not None and not self.match.is_live)

    def _sign_terms(self) -> None:
        """Sign the server's terms, if the player has agreed to them.

        Raises:
            CheckFailedError: They are not what the player agreed to, or were used before.
        """
        terms = self.agreement.to_sign()
        # a guest signs nothing: the server writes down that they sit there
        if terms is None or self.seat is None or self._session.account.is_guest:
            return
        body, sig = self._opener.accept(terms, self.agreement, self.seat)
        signed = partial(messages.SignedAct, table=self.code, body=body, sig=sig)
        self._post(lambda n: signed(id=n), partial(self._agreed, terms))

    def _agree_again(self) -> None:
        """Say `ready` again, as the player has: terms that did not come in time have lapsed."""
        self._post(lambda n: messages.Ready(id=n, table=self.code), partial(self._agreed, None))

    def _agreed(self, terms: Terms | None, answer: Answer) -> None:
        if (
            isinstance(answer, Refusal)
            and not answer.retryable
            and not self.agreement.is_lapse(answer, terms)
        ):
            raise RefusedError(answer.code, answer.msg)

    def _begin(self, message: Setup) -> None:
        """Begin a match at its setup; one that was played from here before is resumed, never begun anew."""
        if self._is_of_match(message.match):
            return
        # this home goes on with what it has of the match, and compares what comes with it
        if not self._is_resuming and self._opener.has_begun(message.match, self.seat):
            if self.match is None or self.match.is_finished:
                self.come_back(message.match, self._intent)
            return
        self._catching_up = None
        self._drop_match()
        # who comes back in a running match has agreed to it
        # before a restart, and signed that where they have a key
        agreement = None if self._is_resuming and not self.agreement.stands else self.agreement
        try:
            match = self._follow(message, agreement, self._intent)
        except NotPlayedError:
            if not self._is_resuming:
                raise
            return  # the table is joined once the rest of the match has come
        # it was for this match; the next one is agreed to anew.
        # Whoever stands by keeps theirs until they step in
        if match.tenure is not Tenure.ANOTHERS:
            self.agreement.withdraw()
        self._say(match_started(match.audit, match.seat, resumed=self._is_resuming))
        if not self._is_resuming:
            match.is_live = True
            match.check_seat()

    def _follow(self, setup: Setup, agreement: TableAgreement | None, intent: Intent) -> SeatMatch:
        match, aside = self._opener.begin(setup, self.seat, intent, agreement)
        self._say(*filter(None, [aside]))
        match.is_vacant = self.is_vacant
        self.match = match
        return match

    def come_back(self, mid: bytes, intent: Intent = Intent.LOOK_ON) -> None:
        """Go on with a match that this client may have kept in part."""
        self._intent = intent
        if not self._is_of_match(mid):
            self._drop_match()
            try:
                self.match, aside = self._opener.reopen(mid, self.seat, intent)
            except NotPlayedError:
                self._join()
                return
            except ClientError as error:
                self.fail(error)
                return
            self._say(*filter(None, [aside]))
            if self.match is not None:
                self.match.is_vacant = self.is_vacant
                self._say(*told_again(self.match.audit, self.match.seat))
        self._resume_from(mid, _FROM_THE_START if self.match is None else self.match.next)

    def _go_on(self, match: SeatMatch) -> None:
        """Go on, now that no record is missing.

        Raises:
            NotPlayedError: The seat was never this player's.
            ClientError: It is not played from here.
        """
        match.check_seat()
        if match.is_settled:
            self._finish(match)
        self._ask_for_time(match)
        self.step_in()
        self.sending.go_on(match)

    def _finish(self, match: SeatMatch) -> None:
        """End the match as far as it has come, unless it has ended already."""
        if not match.is_finished:
            self._say(match.finish())
        self.sending.settle()

    def step_in(self) -> None:
        """Arrange to take the seat over before the next deal, if this player stands by and agreed to it."""
        match = self.match
        if match is None or not match.stands_by or match.signer is None:
            return
        if self.agreement.has_vacancy(match.mid, self.seat):
            self._opener.check_agreed(match, self.agreement)
            match.signer.intent = Intent.STEP_IN
            self.sending.send_owed(match)

    def _ask_for_time(self, match: SeatMatch) -> None:
        """Ask the server to hold the next call back until a seat that has lost its secrets has a new chain."""
        signer = match.signer
        if signer is None or signer.intent is not Intent.REKEY or match.is_over:
            return

        def answered(answer: Answer) -> None:
            if isinstance(answer, Refusal) and signer.tenure is Tenure.LOST:
                raise RefusedError(answer.code, answer.msg)

        if signer.tenure is Tenure.LOST:
            self._post(lambda n: messages.WantRekey(id=n, table=self.code, match=match.mid), answered)

    def _yield_seat(self, seat: int) -> None:
        """Go on as a watcher: another connection or a substitute has the seat."""
        if seat == self.seat:
            self._say(SeatLost(seat))
            # it is not taken back by itself, or two connections would take
            # it from each other for ever (session.md, "Taking a seat over")
            self.seat = None
            self.agreement.withdraw()
            if self.match is not None:
                self.match.yield_seat()
            self.sending.drop()

    def seated(self, answer: Ok) -> None:
        """Note which seat this player has; terms that come right after are for it."""
        self.take_back(answer.seat)
        self._has_joined = True

    def take_back(self, seat: int | None) -> None:
        """Have a seat, even one that another connection had taken over."""
        if self.match is not None and self.match.is_yielded:
            self.match.take_back()
        self.seat = seat

    def _miss_setup(self, mid: bytes) -> None:
        """Come back to the match shown, if its setup has not come; or, as an old table may be shown, to that of a record."""
        state, match = self.state, self.match
        if state is not None and self._is_missed(state, has_joined=False):
            self.come_back(state.match or b"")
        elif (match is None or match.is_finished) and self.seat is not None and not self._is_resuming:
            self.come_back(mid)

    def ask_again(self) -> None:
        """Ask for what may be lost, if nothing has come of the match since the call before; never in two calls in a row."""
        was_silent, self._is_silent = self._is_silent, not self._is_silent
        match = self.match
        if not was_silent or self._is_resuming:
            return
        if match is not None and not match.is_finished:
            if match.is_live and not match.is_yielded:
                self._asked_from = match.next
                match.ask_again()
                self._resume(match)
        elif self.agreement.has_lapsed(self.seat):
            self._agree_again()
        elif self.seat is not None and (self.agreement.stands or self.state is None):
            self._join()

    def _resume(self, match: SeatMatch) -> None:
        if self._is_resuming:
            return
        match.is_live = False
        if self.seat is None:
            self._watch()
        else:
            self._resume_from(match.mid, match.next)

    def _resume_from(self, mid: bytes, position: int) -> None:
        self._is_resuming = True
        self._post(lambda n: messages.Resume(id=n, table=self.code, match=mid, next=position), self._resumed)

    def _resumed(self, answer: Answer) -> None:
        match, self._is_resuming = self.match, False
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
                self._go_on(match)
            except NotPlayedError:
                self._drop_match()
                self._join()

    def _not_resumed(self, match: SeatMatch | None, error: RefusedError) -> None:
        # the table goes on without this match: whoever has a seat there joins it (session.md, "Coming back")
        is_gone = error.code == Code.NO_SUCH_MATCH and self.seat is not None
        if not is_gone and not (match is not None and match.is_over):
            raise error
        if match is not None:
            self._finish(match)  # only acks are missing, or the rest will never come
        if is_gone:
            self._join()

    def _tell_resumed(self, match: SeatMatch) -> None:
        """Tell that nothing is missing, unless nothing was: this client has only asked again."""
        asked_from, self._asked_from = self._asked_from, None
        if match.next != asked_from:
            self._say(Resumed(match.next))

    def _watch(self) -> None:
        """Watch again, from the first missing record."""
        match = None if self.match is None or self.match.is_finished else self.match
        mid, k = (None, None) if match is None else (match.mid, match.next)
        self._is_resuming = self._post(
            lambda n: messages.Watch(id=n, table=self.code, match=mid, next=k), self._watched
        )

    def _watched(self, answer: Answer) -> None:
        match, self._is_resuming = self.match, False
        if isinstance(answer, Refusal):
            raise RefusedError(answer.code, answer.msg)
        # after a snapshot that is told once the records before it have come
        if match is None or match.is_finished or self._catching_up is not None:
            return
        match.reached(match.next if answer.k is None else answer.k)
        self._tell_resumed(match)
        self._go_on(match)

    def _join(self) -> None:
        self._post(lambda n: messages.Join(id=n, table=self.code, seat=self.seat), self._joined)

    def _joined(self, answer: Answer) -> None:
        if isinstance(answer, Refusal):
            raise RefusedError(answer.code, answer.msg)
        self.seated(answer)

    def _take_snapshot(self, snapshot: Snapshot) -> None:
        """Begin at a snapshot, or go on from it; the records missing before it are fetched."""
        match = self.match
        if match is None or match.mid != snapshot.match:
            self._drop_match()
            setup = Setup(table=self.code, match=snapshot.match, doc=snapshot.doc, records=snapshot.records)
            match = self._follow(setup, None, Intent.LOOK_ON)
            self._say(match_started(match.audit, match.seat, resumed=True))
        match.is_live = False
        self._say(SnapshotTaken(match.mid, snapshot.k, snapshot.view, snapshot.skipped))
        missed = CatchingUp(match, snapshot, self._post, self._say, self._caught_up)
        self._catching_up = missed
        missed.go_on(lambda: self._catching_up is missed)

    def _caught_up(self, missed: CatchingUp) -> None:
        """Go on with the records that have come meanwhile; a match whose end could not be checked is over."""
        self._catching_up = None
        if missed.is_given_up:
            self._say(missed.match.finish())
            return
        self._say(Resumed(missed.match.next))
        missed.match.is_live = True
        self._go_on(missed.match)
        for message in missed.held:
            self._take_of_match(message)

    def _try_again(self, error: UnboundError) -> None:
        """Drop the connection that brought what fails: it is reopened automatically, and what is missing is asked for again.

        Raises:
            LostError: Always, unless the table has ended over it.
        """
        match = self.match
        position = None if match is None else (match.mid, match.next)
        step = self._retries.note(position, may_begin_anew=match is not None and error.is_record)
        if step is NextTry.END:
            self.fail(error.after(self._retries.count))
            return
        if step is NextTry.ANEW and match is not None:
            self._drop_match()
            try:
                self._say(self._opener.set_aside(match.audit.file.path, str(error)))
            except ClientError as unwritable:
                self.fail(unwritable)
        raise LostError(Sentence("failures.unsigned_fails", error=str(error)))

    def interrupted(self, reason: str) -> None:
        """Note that the connection is gone for now."""
        if self.is_asked_for:
            return
        self._is_resuming, self._asked_from = False, None
        self._catching_up = None
        if self.match is not None:
            self.match.interrupted()
        self._say(Interrupted(reason))

    def reconnected(self, held: tuple[messages.SeatHeld, ...]) -> None:
        """Take the seat again on the new connection, and ask for the missing records."""
        if self.reports.failure is not None or self.is_asked_for:
            return
        if self.seat is None:
            self._watch()
            return
        own = next((seat for seat in held if seat.table == self.code), None)
        newest = None if own is None else own.match
        if own is None and self.match is not None and self.match.tenure is Tenure.ANOTHERS:
            self._join()  # to stand by again
        elif self.match is not None and not self.match.is_finished:
            self._resume_from(self.match.mid, self.match.next)
        elif newest is not None and (self.match is None or self.match.mid != newest):
            self.come_back(newest)
        else:
            self._join()

    def _close_table(self, reason: str) -> None:
        """Note that the table is gone: no decision is waited for any more, and the player is told so."""
        self.drop_unbegun()
        self._say(TableGone(reason, self.code))
        self.sending.close()
        self._give_up()

    def drop_unbegun(self) -> None:
        """Drop the secrets for terms of this table that never became a match: the table was left or has closed."""
        self._session.account.store.drop_unbegun(self._session.first_spk, self.code)

    def fail(self, error: ClientError) -> None:
        """End this table with an error: nothing is signed or sent for it any more."""
        self.reports.fail(error)
        self._give_up()

    def drop(self) -> None:
        """Be followed no longer."""
        if self._among.get(self.code) is self:
            del self._among[self.code]

    def _give_up(self) -> None:
        """Be followed no longer; the match can still be looked at."""
        self.drop()
        if self.match is not None:
            self.match.close()
        self._stop()

    def close(self) -> None:
        """Close the transcript and end the iteration."""
        self._drop_match()
        self._stop()

    def _stop(self) -> None:
        self._catching_up = None
        self.sending.drop()
        self.reports.finish()

    def _drop_match(self) -> None:
        if self.match is not None:
            self.match.close()
            self.match = None
