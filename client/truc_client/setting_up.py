"""From the server's terms to a match that can be followed: what a client accepts, and what it goes on with.

A keyed client signs only the terms its player saw at the table, once per table record, and checks that the closed setup
is the one it signed (C9). Invariant: no match is followed with a seat whose secrets are not in the store.
"""

from typing import TYPE_CHECKING, NoReturn

from truc_client.account import Account
from truc_client.errors import CheckFailedError, ClientError
from truc_client.offers import BoxedReader, ClearReader, OfferReader
from truc_client.seatmatch import SeatMatch
from truc_client.signer import Entry, Signer, join_terms
from truc_client.store import Joined, Slot, Statement
from truc_client.transcripts import Evidence, TranscriptFile, create, keep_evidence, path_of, reopen
from truc_client.witness import Mark, Witness
from truc_protocol.audit import OwnSeat
from truc_protocol.checks import CheckError
from truc_protocol.keys import box_key
from truc_protocol.messages import Setup, TableState, Terms
from truc_protocol.records import Record, body_hash
from truc_protocol.setup import Terms as CheckedTerms
from truc_protocol.setup import open_terms

if TYPE_CHECKING:
    from truc_client.connection import Connection

_MOVED = "this seat's secrets are not here: it was taken on another machine, or its home was lost"


class MatchMaker:
    """Makes the matches of one table."""

    def __init__(self, account: Account, code: str) -> None:
        self._account = account
        self._code = code

    def accept(
        self, message: Terms, connection: "Connection", state: TableState | None, seat: int
    ) -> Statement:
        """Return the seat record that answers the server's terms, stored.

        Raises:
            CheckFailedError: They are not what the player saw, or served before.
        """
        record = Record(*message.record)
        try:
            terms = open_terms(message.doc, record)
            _check_accepted(terms, state, connection.spk)
            key = self._account.key(connection.first_spk)
            entry = Entry(key, connection.first_spk, self._code, seat, self._account.name)
            return join_terms(terms, entry, self._account.store)
        except CheckError as error:
            self._stop(error.check, error.message, error.culprit, message.doc, (record,))

    def begin(self, message: Setup, connection: "Connection", seat: int | None) -> SeatMatch:
        """Check a closed setup, begin its transcript and return the match.

        Raises:
            CheckFailedError: A check failed, or it is not the setup this client signed.
            ClientError: The seat's secrets are not in this home.
        """
        records = tuple(Record(*record) for record in message.records)
        joined = self._signed(message, records, seat)
        file = create(path_of(self._account.home.transcripts, message.match), message.doc)
        return self._follow(file, joined, connection, seat, records)

    def _signed(self, message: Setup, records: tuple[Record, ...], seat: int | None) -> Joined | None:
        if seat is None or self._account.is_guest:
            return None
        th = body_hash(records[0]) if records else b""
        joined = self._account.store.joined(th)
        if joined is None:
            raise ClientError(_MOVED)
        kept = self._account.store.statement(th, Slot("seat"))
        mine = records[1 + seat].body if len(records) > 1 + seat else None
        if kept is None or kept.body != mine or joined.seat != seat:
            self._stop("C9", "the setup does not hold the seat record signed", "server", message.doc, records)
        if joined.mid not in (None, message.match):
            self._stop("C36", "a second match on one table record", "server", message.doc, records)
        return joined

    def reopen(self, mid: bytes, connection: "Connection", seat: int | None) -> SeatMatch | None:
        """Go on with the transcript kept of a match; None if there is none that can be used.

        Raises:
            CheckFailedError: What was kept fails a check.
            ClientError: The seat's secrets are not in this home.
        """
        file = reopen(path_of(self._account.home.transcripts, mid))
        joined = None if self._account.is_guest else self._account.store.playing(mid)
        if file is None or not file.records:
            return None
        if joined is None and not self._account.is_guest and seat is not None:
            raise ClientError(_MOVED)
        try:
            return self._follow(file, joined, connection, seat, ())
        except ValueError:
            file.close()  # torn within the setup: ask for everything
            return None

    def _follow(
        self,
        file: TranscriptFile,
        joined: Joined | None,
        connection: "Connection",
        seat: int | None,
        records: tuple[Record, ...],
    ) -> SeatMatch:
        own = _own_seat(joined)
        witness = Witness(file, self._account.home.evidence, own, _mark(joined))
        if records:
            witness.begin(records)
        else:
            witness.replay()
        mid = witness.ledger.setup.mid
        if joined is None or joined.secret is None:
            return SeatMatch(witness, seat, None, _guest_reader(seat, joined))
        self._account.store.begin(joined.th, mid)
        begun = self._account.store.playing(mid)
        if begun is None:
            raise ClientError(_MOVED)
        key = self._account.key(connection.first_spk)
        signer = Signer(key, begun, links=witness.ledger.setup.terms.table.links, store=self._account.store)
        reader = BoxedReader(box_key(joined.secret), witness.ledger, begun.seat, begun.counter)
        return SeatMatch(witness, begun.seat, signer, reader)

    def _stop(
        self, check: str, message: str, culprit: str | None, document: bytes, records: tuple[Record, ...]
    ) -> NoReturn:
        evidence = Evidence(check, message, culprit, document, records)
        name = f"{body_hash(records[0]).hex()[:16]}-setup" if records else "setup"
        kept = keep_evidence(self._account.home.evidence, name, evidence)
        raise CheckFailedError(check, message, culprit, kept)


def _own_seat(joined: Joined | None) -> OwnSeat | None:
    if joined is None or joined.secret is None:
        return None
    return OwnSeat(joined.seat, box_key(joined.secret))


def _mark(joined: Joined | None) -> Mark | None:
    if joined is None or joined.k is None or joined.head is None:
        return None
    return Mark(joined.k, joined.head)


def _guest_reader(seat: int | None, joined: Joined | None) -> OfferReader | None:
    return ClearReader() if seat is not None and joined is None else None


def _check_accepted(terms: CheckedTerms, state: TableState | None, spk: bytes) -> None:
    """Check that signed terms are those of the server and table that the player chose."""
    table = terms.table
    if table.spk != spk:
        raise CheckError("C9", "the terms are signed by another key than the server's", "server")
    if state is None:
        raise CheckError("C9", "terms came before the table was shown", "server")
    accepted = (state.variant, state.rules, state.n, state.policy)
    if (terms.variant.name, table.rules, table.seats, table.policy) != accepted:
        raise CheckError("C9", "the terms are not those shown at the table", "server")
    if tuple(terms.opts) != tuple(type(terms.opts)(*state.opts)):
        raise CheckError("C9", "the terms' numbers are not those shown at the table", "server")
