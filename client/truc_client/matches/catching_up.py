"""The records of a match that a watcher has missed: fetched by `history` and checked, while newer ones wait.

A snapshot begins in the middle; a record is reported as checked only once every record before it was. If the server
does not give out the missing ones, those that come are reported as unchecked, and the verdict is that the match is
incomplete.
"""

from typing import Final

from truc_client.errors import LostError
from truc_client.happenings import RecordUnchecked
from truc_client.matches.seat_match import SeatMatch
from truc_client.paging import records_of
from truc_protocol.bodies import End
from truc_protocol.checks import CheckError
from truc_protocol.messages import MatchRecord, Ok, Snapshot
from truc_protocol.records import Record, parse, tag_of
from truc_words import Sentence

MAX_HELD: Final = 4096
"""How many records may wait for those before them."""
_TAG: Final = "truc/1/"


class CatchingUp:
    """What the watcher of a match lacks before a snapshot; `is_given_up` if the server does not give it out."""

    def __init__(self, match: SeatMatch, snapshot: Snapshot) -> None:
        self.match = match
        self.snapshot = snapshot
        self.held: list[MatchRecord] = []
        self.is_given_up = False

    def hold(self, message: MatchRecord) -> None:
        """Let a record wait that has come after the snapshot.

        Raises:
            LostError: Too many wait already; everything begins again on a new connection.
        """
        if len(self.held) >= MAX_HELD:
            raise LostError(Sentence("failures.records_missing", most=MAX_HELD))
        self.held.append(message)

    @property
    def is_done(self) -> bool:
        """Whether nothing is missing any more.

        Raises:
            UnboundError: The records lead to another head than the snapshot has.
        """
        match, snapshot = self.match, self.snapshot
        if match.next == snapshot.k and match.ledger.head != snapshot.head:
            match.audit.doubt(
                "C33", f"the snapshot has another head at {snapshot.k} than the records before it"
            )
        return match.next >= snapshot.k

    def take(self, page: Ok) -> None:
        """Take missing records.

        Raises:
            CheckFailedError: One fails a check, and somebody is to blame.
            UnboundError: One fails a check and nobody has signed it, or none has come.
        """
        match, first = self.match, self.match.next
        for past in records_of(page, first)[: self.snapshot.k - first]:
            match.take_past(Record(past.signer, past.body, past.sig))
        if match.next == first:
            match.audit.doubt(
                "C33", f"the records from {first} on are not given out, but were said to be there"
            )

    def unchecked(self, message: MatchRecord) -> tuple[RecordUnchecked, bool]:
        """Return how a record is reported that cannot be checked, and whether it ends the match by what it says.

        Raises:
            UnboundError: It is no record.
        """
        try:
            body = parse(Record(message.signer, message.body, message.sig))
        except CheckError as error:
            self.match.audit.doubt(error.check, error.message)
        kind = tag_of(body).removeprefix(_TAG)
        return RecordUnchecked(message.k, kind, message.means), isinstance(body, End)
