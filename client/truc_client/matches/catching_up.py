"""What is asked for again: the records of a match that a watcher has missed, and what fails with nobody to blame.

The missing ones are fetched by `history` and checked, while newer ones wait.

A snapshot begins in the middle; a record is reported as checked only once every record before it was. If the server
does not give out the missing ones, those that come are reported as unchecked, and the verdict is that the match is
incomplete.

Where something unsigned fails, the line may be bad, or the server may cheat: a table starts again from where all was well.
If that does not help, the kept records may themselves be altered where no signature covers them: once, it asks for everything
anew. Invariant: every place is tried a limited number of times before a table ends.
"""

from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Final

from truc_client.errors import LostError
from truc_client.happenings import Happening, RecordUnchecked
from truc_client.line.single_connection import Answer
from truc_client.matches.seat_match import SeatMatch
from truc_client.matches.sending import Post
from truc_client.paging import records_of
from truc_protocol.bodies import End
from truc_protocol.checks import CheckError
from truc_protocol.messages import History, MatchRecord, Ok, Snapshot
from truc_protocol.records import Record, kind_of, parse
from truc_words import Sentence

MAX_HELD: Final = 4096
"""How many records may wait for those before them."""


class CatchingUp:
    """What the watcher of a match lacks before a snapshot.

    Attributes:
        match: the match.
        held: the records that have come since, and wait.
        is_given_up: the server does not give out what is missing.
    """

    def __init__(
        self,
        match: SeatMatch,
        snapshot: Snapshot,
        post: Post,
        say: Callable[[Happening], None],
        done: Callable[["CatchingUp"], None],
    ) -> None:
        self.match = match
        self.held: list[MatchRecord] = []
        self.is_given_up = False
        self._snapshot = snapshot
        self._post, self._say, self._done = post, say, done

    def hold(self, message: MatchRecord) -> None:
        """Let a record wait for those before it; if they will not come, tell it unchecked.

        Raises:
            LostError: Too many wait already; everything begins again on a new connection.
            UnboundError: It is no record.
        """
        if self.is_given_up:
            self._tell_unchecked(message)
            return
        if len(self.held) >= MAX_HELD:
            raise LostError(Sentence("failures.records_missing", most=MAX_HELD))
        self.held.append(message)

    def go_on(self, is_wanted: Callable[[], bool]) -> None:
        """Ask for the next page of what is missing, for as long as it is wanted; if nothing is, it is done.

        Raises:
            UnboundError: The records lead to another head than the snapshot has.
        """
        match = self.match
        if self._is_complete():
            self._done(self)
        else:
            page = partial(self._take_page, is_wanted)
            self._post(lambda n: History(id=n, match=match.mid, first=match.next), page)

    def _take_page(self, is_wanted: Callable[[], bool], answer: Answer) -> None:
        # a page of a match that is not followed any more
        if not is_wanted():
            return
        if isinstance(answer, Ok):
            self._take(answer)
            self.go_on(is_wanted)
            return
        self.is_given_up = True
        for message in self.held:
            self._tell_unchecked(message)

    def _is_complete(self) -> bool:
        match, snapshot = self.match, self._snapshot
        if match.next == snapshot.k and match.ledger.head != snapshot.head:
            match.audit.raise_unbound(
                "C33", f"the snapshot has another head at {snapshot.k} than the records before it"
            )
        return match.next >= snapshot.k

    def _take(self, page: Ok) -> None:
        """Take missing records.

        Raises:
            CheckFailedError: One fails a check, and somebody is to blame.
            UnboundError: One fails a check and nobody has signed it, or none has come.
        """
        match, first = self.match, self.match.next
        # from the snapshot on records come by themselves, and wait in `held`
        for past in records_of(page, first)[: self._snapshot.k - first]:
            match.take_past(Record(past.signer, past.body, past.sig))
        # an empty page would be asked for again without end
        if match.next == first:
            match.audit.raise_unbound(
                "C33", f"the records from {first} on are not given out, but were said to be there"
            )

    def _tell_unchecked(self, message: MatchRecord) -> None:
        """Tell of a record that cannot be checked; one that ends the match, by what it says, is the last."""
        try:
            body = parse(Record(message.signer, message.body, message.sig))
        except CheckError as error:
            self.match.audit.raise_unbound(error.check, error.message)
        kind = kind_of(body)
        self._say(RecordUnchecked(message.k, kind, message.means))
        if isinstance(body, End):
            self._done(self)


# specification.md, 13: after the third failure in one place
MAX_TRIES: Final = 3
"""How often in a row something may fail in one place."""


class NextTry(Enum):
    """What comes after a failure: ask again from the last good position, ask for everything anew, or end."""

    AGAIN = "again"
    ANEW = "anew"
    END = "end"


class RetryCount:
    """How often something has failed at one table with nobody to blame."""

    def __init__(self) -> None:
        self._position: tuple[bytes, int] | None = None
        self._is_anew = False
        self.count = 0

    def note(self, position: tuple[bytes, int] | None, *, may_begin_anew: bool) -> NextTry:
        """Note a failure at a position of a match, None before there is a match, and return what comes after it."""
        self.count = self.count + 1 if position == self._position else 1
        self._position = position
        if self.count < MAX_TRIES:
            return NextTry.AGAIN
        if self._is_anew or not may_begin_anew:
            return NextTry.END
        # once, and counted from there (specification.md, 13)
        self._is_anew, self.count = True, 0
        return NextTry.ANEW
