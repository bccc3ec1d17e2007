"""From the server's terms to a match that can be followed: what a client accepts, and what it goes on with.

A keyed client signs only the terms its player agreed to, once per table record, and checks that the closed setup is the
one it signed (C9). What the player is to the seat shows in the records, and is judged when all of them are there.
Invariant: no transcript that can be used is written over.
"""

from typing import TYPE_CHECKING, Final, NoReturn

from truc_client.account import Account
from truc_client.agreement import Agreement
from truc_client.errors import CheckFailedError, ClientError, HomeError, StoppedError
from truc_client.offers import BoxedReader, ClearReader
from truc_client.seatmatch import SeatMatch
from truc_client.signer import Entry, Signer, join_terms
from truc_client.standing import Standing, Wish, check_standing
from truc_client.store import HeldChain, Joined, Slot, Statement
from truc_client.transcripts import (
    Evidence,
    TranscriptFile,
    create,
    keep_evidence,
    path_of,
    reopen,
    stopped,
)
from truc_client.witness import Mark, Witness
from truc_protocol.audit import OwnSeat
from truc_protocol.bodies import SeatTaken
from truc_protocol.checks import CheckError
from truc_protocol.keys import box_key, generate_box_key
from truc_protocol.messages import Setup, Terms
from truc_protocol.records import Record, body_hash
from truc_protocol.setup import GONE_SUBSTITUTE, close_setup, open_terms
from truc_protocol.setup import Setup as ClosedSetup

if TYPE_CHECKING:
    from truc_client.connection import Connection


_UNKNOWN_KEY: Final = "the match began under an older key of the server, which this client has never seen: whose it is cannot be told"


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
            agreement.check(terms, {connection.spk})
            key = self._account.key(connection.first_spk)
            entry = Entry(key, connection.first_spk, self._code, seat, self._account.name)
            return join_terms(terms, entry, self._account.store)
        except CheckError as error:
            self._stop(error.check, error.message, error.culprit, message.doc, (record,))

    def begin(self, message: Setup, connection: "Connection", seat: int | None, wish: Wish) -> SeatMatch:
        """Check a closed setup, begin its transcript and return the match.

        Raises:
            CheckFailedError: A check failed, or it is not the setup this client signed.
            NotPlayedError: Another player had this seat in that match.
            ClientError: The seat's secrets are not in this home.
        """
        self._check_goes_on(message.match)
        records = tuple(Record(*record) for record in message.records)
        if not records or body_hash(records[-1]) != message.match:
            self._stop(
                "C8", "the setup's last record does not make its match id", "server", message.doc, records
            )
        try:
            setup = close_setup(open_terms(message.doc, records[0]), records[1:-1], records[-1])
        except CheckError as error:
            self._stop(error.check, error.message, error.culprit, message.doc, records)
        self._check_signed(message, setup, seat)
        kept = self._kept(message.match, connection, seat, wish)
        if kept is not None:
            return kept
        self._check_seat(setup, connection, seat, wish)
        file = create(path_of(self._account.home.transcripts, message.match), message.doc)
        return self._follow(file, connection, seat, records, wish)

    def _check_signed(self, message: Setup, setup: ClosedSetup, seat: int | None) -> None:
        """Check that a setup that this client has signed is the one it signed, and the only one."""
        records, th, store = setup.records, setup.terms.th, self._account.store
        joined, kept = store.joined(th), store.statement(th, Slot("seat"))
        if seat is None or joined is None or kept is None or self._account.is_guest:
            return
        if seat != joined.seat or kept.body != records[1 + joined.seat].body:
            self._stop("C9", "the setup does not hold the seat record signed", "server", message.doc, records)
        if joined.mid not in (None, message.match):
            self._stop("C36", "a second match on one table record", "server", message.doc, records)

    def _check_seat(self, setup: ClosedSetup, connection: "Connection", seat: int | None, wish: Wish) -> None:
        """Check that a match can be this player's to play, as far as its setup and the store tell.

        Raises:
            NotPlayedError: Another player had this seat in that match.
            ClientError: The seat's secrets are not in this home.
        """
        if seat is None or self._account.is_guest or self._account.store.joined(setup.terms.th) is not None:
            return
        taken = setup.seats[seat] if seat < len(setup.seats) else None
        is_own = isinstance(taken, SeatTaken) and taken.pk == self._account.key(connection.first_spk).public
        may_change = setup.terms.opts.gone == GONE_SUBSTITUTE
        if taken is None or not may_change or (is_own and wish is Wish.LOOK_ON):
            check_standing(Standing.LOST if is_own else Standing.ANOTHERS, wish, has_held=False)

    def reopen(self, mid: bytes, connection: "Connection", seat: int | None, wish: Wish) -> SeatMatch | None:
        """Go on with the transcript kept of a match; None if there is none that can be used.

        Raises:
            CheckFailedError: What was kept fails a check.
            NotPlayedError: Another player had this seat in that match.
            ClientError: The seat's secrets are not in this home.
        """
        self._check_goes_on(mid)
        return self._kept(mid, connection, seat, wish)

    def _kept(self, mid: bytes, connection: "Connection", seat: int | None, wish: Wish) -> SeatMatch | None:
        file = reopen(path_of(self._account.home.transcripts, mid))
        if file is None or not file.records:
            return None
        try:
            match = self._follow(file, connection, seat, (), wish)
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
        connection: "Connection",
        seat: int | None,
        records: tuple[Record, ...],
        wish: Wish,
    ) -> SeatMatch:
        store = self._account.store
        th = body_hash((records or file.records)[0])
        held = () if self._account.is_guest else store.chains(th)
        own = None if seat is None or self._account.is_guest else _own_seat(seat, held)
        mark = None if own is None else _mark(store.joined(th))
        witness = Witness(file, self._account.home.evidence, own, mark, store.refusals)
        for chain in held[1:]:
            witness.add_box_key(box_key(chain.secret))
        if records:
            witness.begin(records)
        else:
            witness.replay()
        store.begin(th, witness.ledger.setup.mid)
        if seat is None or own is None:
            return SeatMatch(witness, seat, None, None if seat is None else ClearReader())
        key = self._account.key(connection.first_spk)
        entry = Entry(key, connection.first_spk, self._code, seat, self._account.name)
        setup = witness.ledger.setup
        signer = Signer(entry, setup.terms, setup.mid, store)
        signer.wish = wish
        return SeatMatch(witness, seat, signer, BoxedReader(signer, seat))

    def check_agreed(self, match: SeatMatch, connection: "Connection", agreement: Agreement) -> None:
        """Check that a match that is being played is the one that its table was shown as, before stepping in.

        A match keeps the key that its server had when it began, which may be older than the present one.

        Raises:
            CheckFailedError: It is not what the player agreed to.
            ClientError: It began under a key that this client does not know.
        """
        terms = match.ledger.setup.terms
        if terms.table.spk not in connection.keys:
            raise ClientError(_UNKNOWN_KEY)
        try:
            agreement.check(terms, connection.keys)
        except CheckError as error:
            match.witness.fail(error.check, error.message, error.culprit)

    def _check_goes_on(self, mid: bytes) -> None:
        """Check that a match was not stopped for good.

        Raises:
            StoppedError: A check has failed in it.
        """
        evidence = stopped(self._account.home.evidence, mid)
        if evidence is not None:
            raise StoppedError(evidence)

    def _stop(
        self, check: str, message: str, culprit: str | None, document: bytes, records: tuple[Record, ...]
    ) -> NoReturn:
        name = f"{body_hash(records[0]).hex()[:16]}-setup" if records else "setup"
        kept = keep_evidence(self._account.home.evidence, name, Evidence(document, records))
        raise CheckFailedError(check, message, culprit, kept)


def _own_seat(seat: int, held: tuple[HeldChain, ...]) -> OwnSeat:
    """Return the seat with the first key made for it; a client that has made none yet opens nothing."""
    return OwnSeat(seat, box_key(held[0].secret) if held else generate_box_key())


def _mark(joined: Joined | None) -> Mark | None:
    if joined is None or joined.k is None or joined.head is None:
        return None
    return Mark(joined.k, joined.head)
