"""From the server's terms to a match that can be followed: what a client accepts, and what it goes on with.

A keyed client signs only the terms its player agreed to, once per table record, and checks that the closed setup is the
one it signed (C9). Invariants: no match is followed with a seat whose secrets are not in the store; no transcript that
can be used is written over.
"""

from typing import TYPE_CHECKING, NoReturn

from truc_client.account import Account
from truc_client.agreement import Agreement
from truc_client.errors import CheckFailedError, ClientError, HomeError, NotPlayedError
from truc_client.offers import BoxedReader, ClearReader, OfferReader
from truc_client.seatmatch import SeatMatch
from truc_client.signer import Entry, Signer, join_terms
from truc_client.store import Joined, Slot, Statement
from truc_client.transcripts import Evidence, TranscriptFile, create, keep_evidence, path_of, reopen
from truc_client.witness import Mark, Witness
from truc_protocol.audit import OwnSeat
from truc_protocol.bodies import SeatTaken
from truc_protocol.checks import CheckError
from truc_protocol.keys import box_key
from truc_protocol.messages import Setup, Terms
from truc_protocol.records import Record, body_hash, parse
from truc_protocol.setup import close_setup, open_terms

if TYPE_CHECKING:
    from truc_client.connection import Connection

_MOVED = "this seat's secrets are not here: it was taken on another machine, or its home was lost"
_NOT_PLAYED = "another player had this seat in that match"


class MatchMaker:
    """Makes the matches of one table."""

    def __init__(self, account: Account, code: str) -> None:
        self._account = account
        self._code = code

    def accept(self, message: Terms, connection: "Connection", agreement: Agreement, seat: int) -> Statement:
        """Return the seat record that answers the server's terms, stored.

        Raises:
            CheckFailedError: They are not what the player agreed to, or served before.
        """
        record = Record(*message.record)
        try:
            terms = open_terms(message.doc, record)
            agreement.check(terms, connection.spk)
            key = self._account.key(connection.first_spk)
            entry = Entry(key, connection.first_spk, self._code, seat, self._account.name)
            return join_terms(terms, entry, self._account.store)
        except CheckError as error:
            self._stop(error.check, error.message, error.culprit, message.doc, (record,))

    def begin(self, message: Setup, connection: "Connection", seat: int | None) -> SeatMatch:
        """Check a closed setup, begin its transcript and return the match.

        Raises:
            CheckFailedError: A check failed, or it is not the setup this client signed.
            NotPlayedError: Another player had this seat in that match.
            ClientError: The seat's secrets are not in this home.
        """
        records = tuple(Record(*record) for record in message.records)
        if not records or body_hash(records[-1]) != message.match:
            self._stop(
                "C8", "the setup's last record does not make its match id", "server", message.doc, records
            )
        joined = self._signed(message, records, seat, connection)
        try:
            close_setup(open_terms(message.doc, records[0]), records[1:-1], records[-1])
        except CheckError as error:
            self._stop(error.check, error.message, error.culprit, message.doc, records)
        kept = self._kept(message.match, joined, connection, seat)
        if kept is not None:
            return kept
        file = create(path_of(self._account.home.transcripts, message.match), message.doc)
        return self._follow(file, joined, connection, seat, records)

    def _signed(
        self, message: Setup, records: tuple[Record, ...], seat: int | None, connection: "Connection"
    ) -> Joined | None:
        if seat is None or self._account.is_guest:
            return None
        th = body_hash(records[0])
        joined = self._account.store.joined(th)
        if joined is None:
            self._explain_missing(records, seat, connection)
        kept = self._account.store.statement(th, Slot("seat"))
        mine = records[1 + seat].body if len(records) > 1 + seat else None
        if kept is None or kept.body != mine or joined.seat != seat:
            self._stop("C9", "the setup does not hold the seat record signed", "server", message.doc, records)
        if joined.mid not in (None, message.match):
            self._stop("C36", "a second match on one table record", "server", message.doc, records)
        return joined

    def _explain_missing(self, records: tuple[Record, ...], seat: int, connection: "Connection") -> NoReturn:
        """Tell a match that another player had this seat in from one whose secrets are lost."""
        try:
            taken = parse(records[1 + seat])
        except (IndexError, CheckError):
            raise NotPlayedError(_NOT_PLAYED) from None
        if isinstance(taken, SeatTaken) and taken.pk == self._account.key(connection.first_spk).public:
            raise ClientError(_MOVED)
        raise NotPlayedError(_NOT_PLAYED)

    def reopen(self, mid: bytes, connection: "Connection", seat: int | None) -> SeatMatch | None:
        """Go on with the transcript kept of a match; None if there is none that can be used.

        Raises:
            CheckFailedError: What was kept fails a check.
            NotPlayedError: Another player had this seat in that match.
            ClientError: The seat's secrets are not in this home.
        """
        joined = None if self._account.is_guest else self._account.store.playing(mid)
        return self._kept(mid, joined, connection, seat)

    def _kept(
        self, mid: bytes, joined: Joined | None, connection: "Connection", seat: int | None
    ) -> SeatMatch | None:
        file = reopen(path_of(self._account.home.transcripts, mid))
        if file is None or not file.records:
            return None
        if joined is None and not self._account.is_guest and seat is not None:
            file.close()
            self._explain_missing(tuple(file.records), seat, connection)
        try:
            match = self._follow(file, joined, connection, seat, ())
        except ValueError:
            file.close()  # torn within the setup: ask for everything
            return None
        if match.mid != mid:
            file.close()
            raise HomeError(f"{file.path} holds another match than its name says")
        return match

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
