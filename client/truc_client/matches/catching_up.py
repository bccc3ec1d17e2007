"""The records of a match that a watcher has missed: fetched by `history` and checked, while newer ones wait.

A snapshot begins in the middle; a record is reported as checked only once every record before it was. If the server
does not give out the missing ones, those that come are reported as unchecked, and the verdict is that the match is
incomplete.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from truc_client.errors import LostError
from truc_client.happenings import Happening, RecordUnchecked, Resumed, SnapshotTaken
from truc_client.matches.seatmatch import SeatMatch
from truc_client.past import records_of
from truc_protocol.bodies import End
from truc_protocol.checks import CheckError
from truc_protocol.messages import History, MatchRecord, Ok, Refusal, Snapshot
from truc_protocol.records import Record, parse, tag_of
from truc_words import Sentence

if TYPE_CHECKING:
    from truc_client.session import Session

MAX_HELD: Final = 4096
"""How many records may wait for those before them."""
_TAG: Final = "truc/1/"


class CatchingUp:
    """What the watcher of one table has missed.

    `guard` runs a step that may fail a check; `go_on` takes the records that waited, once none is missing.
    """

    def __init__(
        self,
        session: "Session",
        say: Callable[[Happening], None],
        guard: Callable[[Callable[[], None]], None],
        go_on: Callable[[SeatMatch, list[MatchRecord]], None],
    ) -> None:
        self._session = session
        self._say = say
        self._guard = guard
        self._go_on = go_on
        self._snapshot: Snapshot | None = None
        self._held: list[MatchRecord] = []
        self._is_given_up = False

    @property
    def is_under_way(self) -> bool:
        """Whether records are still missing."""
        return self._snapshot is not None

    def begin(self, match: SeatMatch, snapshot: Snapshot) -> None:
        """Go on from a snapshot, with as much of the match as was kept."""
        self.stop()
        self._snapshot = snapshot
        match.pause_sending()
        self._say(SnapshotTaken(match.mid, snapshot.k, snapshot.view, snapshot.skipped))
        self._step(match, snapshot)

    def stop(self) -> None:
        """Fetch nothing more: the connection or the table is gone."""
        self._snapshot, self._held, self._is_given_up = None, [], False

    def hold(self, match: SeatMatch, message: MatchRecord) -> None:
        """Take a record that has come after the snapshot.

        Raises:
            LostError: Too many wait already; everything begins again on a new connection.
        """
        if self._is_given_up:
            self._tell(match, message)
        elif len(self._held) >= MAX_HELD:
            raise LostError(Sentence("failures.records_missing", most=MAX_HELD))
        else:
            self._held.append(message)

    def _step(self, match: SeatMatch, snapshot: Snapshot) -> None:
        if match.next < snapshot.k:
            self._ask(match, snapshot)
            return
        if match.next == snapshot.k and match.ledger.head != snapshot.head:
            match.witness.doubt(
                "C33", f"the snapshot has another head at {snapshot.k} than the records before it"
            )
        held = self._held
        self.stop()
        self._say(Resumed(match.next))
        self._go_on(match, held)

    def _ask(self, match: SeatMatch, snapshot: Snapshot) -> None:
        def answered(answer: Ok | Refusal) -> None:
            if self._snapshot is snapshot:
                self._guard(lambda: self._answered(match, snapshot, answer))

        self._session.post(lambda n: History(id=n, match=match.mid, first=match.next), answered)

    def _answered(self, match: SeatMatch, snapshot: Snapshot, answer: Ok | Refusal) -> None:
        match answer:
            case Refusal():
                self._give_up(match)
            case Ok():
                self._take(match, snapshot, answer)

    def _take(self, match: SeatMatch, snapshot: Snapshot, page: Ok) -> None:
        first = match.next
        for past in records_of(page, first)[: snapshot.k - first]:
            match.take_past(Record(past.signer, past.body, past.sig))
        if match.next == first:
            match.witness.doubt(
                "C33", f"the records from {first} on are not given out, but were said to be there"
            )
        self._step(match, snapshot)

    def _give_up(self, match: SeatMatch) -> None:
        self._is_given_up = True
        held, self._held = self._held, []
        for message in held:
            self._tell(match, message)

    def _tell(self, match: SeatMatch, message: MatchRecord) -> None:
        try:
            body = parse(Record(message.signer, message.body, message.sig))
        except CheckError as error:
            match.witness.doubt(error.check, error.message)
        self._say(RecordUnchecked(message.k, tag_of(body).removeprefix(_TAG), message.means))
        if isinstance(body, End):
            self.stop()
            self._say(match.finish())
