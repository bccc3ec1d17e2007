"""From the server's terms to a match that can be followed: what a client accepts, and what it goes on with.

A keyed client signs only the terms its player agreed to, once per table record, and checks that the closed setup is the
one it signed (C9). What the player is to the seat follows from the records, and is judged when all of them are there.
Invariants: no usable transcript is overwritten; none is touched on the word of a server that is not its own.
"""

from typing import TYPE_CHECKING, NamedTuple, NoReturn

from truc_client.errors import CheckFailedError, ClientError, HomeError, StoppedError, UnboundError
from truc_client.happenings import TranscriptSetAside
from truc_client.home.store import AcceptedPlace, HeldChain, Joined, Slot, Statement
from truc_client.home.transcripts import (
    Evidence,
    TranscriptFile,
    create,
    evidence_of,
    keep_evidence,
    path_of,
    read_kept,
    reopen,
    set_aside,
    watched_path,
)
from truc_client.matches.agreement import TableAgreement
from truc_client.matches.live_audit import LiveAudit
from truc_client.matches.offers import BoxedReader, ClearReader
from truc_client.matches.seat_match import SeatMatch
from truc_client.matches.signer import Intent, SeatKey, Signer, Tenure, check_tenure, join_terms, links_of
from truc_protocol.audit import OwnSeat
from truc_protocol.bodies import SeatTaken, TableTerms
from truc_protocol.checks import CheckError
from truc_protocol.crypto.chains import Chain
from truc_protocol.crypto.keys import box_key, generate_box_key
from truc_protocol.messages import Setup, Terms
from truc_protocol.records import BLIND, Record, body_hash, parse
from truc_protocol.setup import GONE_SUBSTITUTE, MatchSetup, MatchTerms, close_setup, open_terms
from truc_words import Sentence

if TYPE_CHECKING:
    from pathlib import Path

    from truc_client.session import Session


class OpenedMatch(NamedTuple):
    """A match that can be followed, if there is one, and the transcript of it that was set aside, if one was."""

    match: SeatMatch | None = None
    aside: TranscriptSetAside | None = None


class MatchOpener:
    """Makes the matches of one table."""

    def __init__(self, session: "Session", code: str) -> None:
        self._session = session
        self._account = session.account
        self._store = session.account.store
        self._code = code
        self._aside: dict[Path, Path] = {}

    def accept(self, message: Terms, agreement: TableAgreement, seat: int) -> Statement:
        """Store and return the seat record that answers the server's terms.

        Raises:
            CheckFailedError: They are not what the player agreed to, or were used before.
        """
        record = Record(*message.record)
        try:
            terms = open_terms(message.doc, record)
            # first: two signed statements show more than that this one was not agreed to
            self._check_nonce(terms)
            agreement.check(terms, {self._session.spk})
            self._check_goes_on(terms.th)
            _check_is_there(seat, terms)
            return join_terms(terms, self._own(seat), self._store)
        except CheckError as error:
            self._stop(error, Evidence(message.doc, (record,)))

    def _own(self, seat: int) -> SeatKey:
        first_spk = self._session.first_spk
        return SeatKey(self._account.key(first_spk), first_spk, self._code, seat, self._session.name)

    def _check_nonce(self, terms: MatchTerms) -> None:
        """Check that no other table of this server has the nonce; both records together show who is to blame."""
        known = self._store.joined_with(self._session.first_spk, terms.table.tn)
        if known is None or known.th == terms.th:
            return
        first = self._first_records(known.mid, terms.document)
        in_play = (terms.th, known.th, known.mid)
        error = CheckError("C36", "the table's nonce has served before", "server")
        self._stop(error, Evidence(terms.document, (terms.record,), first), in_play=in_play)

    def begin(
        self, message: Setup, seat: int | None, intent: Intent, agreement: TableAgreement | None
    ) -> tuple[SeatMatch, TranscriptSetAside | None]:
        """Check a closed setup, begin its transcript and return the match, with a transcript that was set aside.

        `agreement` is None for a match that is resumed without any agreement given here.

        Raises:
            CheckFailedError: A check failed, or it is not the setup this client signed or its player agreed to.
            NotPlayedError: Another player had this seat in that match.
            ClientError: The seat's secrets are not in this home, or the match belongs to another server.
        """
        self._check_goes_on(message.match)
        records = tuple(Record(*record) for record in message.records)
        if not records or body_hash(records[-1]) != message.match:
            error = CheckError("C8", "the setup's last record does not make its match id")
            self._stop(error, Evidence(message.doc, records))
        try:
            setup = close_setup(open_terms(message.doc, records[0]), records[1:-1], records[-1])
            _check_is_there(seat, setup.terms)
        except CheckError as error:
            self._stop(error, Evidence(message.doc, records))
        self._check_server(setup.terms, message.match)
        self._check_goes_on(setup.terms.th)
        self._check_signed(message, setup, seat)
        if seat is not None and agreement is not None:
            self._check_accepted(setup, agreement)
        kept = self._kept(message.match, seat, intent)
        if kept.match is not None:
            return kept.match, kept.aside
        self._check_seat(setup, seat, intent)
        file = create(self._path(message.match, seat), message.doc, alone=seat is None)
        return self._follow(file, seat, records, intent), kept.aside

    def _check_signed(self, message: Setup, setup: MatchSetup, seat: int | None) -> None:
        """Check that the setup, if this client signed for it, is the one it signed, and the only one."""
        records, th, store = setup.records, setup.terms.th, self._store
        joined, kept = store.joined(th), store.statement(th, Slot("seat"))
        if seat is None or joined is None or kept is None or self._account.is_guest:
            return
        # a setup that the server has signed, without the record that this player signed for it
        if kept.body != records[1 + joined.seat].body:
            error = CheckError("C9", "the setup does not hold the seat record signed", "server")
            self._stop(error, Evidence(message.doc, records), in_play=(th, message.match))
        # one table record, two matches: both setups are kept, as together they show who is to blame
        if joined.mid not in (None, message.match):
            first, in_play = self._first_records(joined.mid, message.doc), (th, message.match, joined.mid)
            error = CheckError("C36", "a second match on one table record", "server")
            self._stop(error, Evidence(message.doc, records, first), in_play=in_play)
        if seat != joined.seat:
            error = CheckError("C9", "the seat said is not the one signed for")
            self._stop(error, Evidence(message.doc, records))

    def _first_records(self, mid: bytes | None, document: bytes) -> tuple[Record, ...]:
        """Return the kept setup of a match under a rule document, to compare a second one with."""
        path = None if mid is None else path_of(self._account.home.transcripts, mid)
        kept = None if path is None else read_kept(path)
        if kept is None or kept.document != document:
            return ()
        # the setup ends with the record whose hash names the match
        closed = (at for at, record in enumerate(kept.records, 1) if body_hash(record) == mid)
        return kept.records[: next(closed, 0)]

    def _check_accepted(self, setup: MatchSetup, agreement: TableAgreement) -> None:
        """Check that a match is played under the terms agreed to; terms signed with a key were checked when signed.

        Raises:
            CheckFailedError: C9, the terms differ, or a guest, who signs nothing, has agreed to none.
        """
        is_guest = self._account.is_guest
        has_signed = not is_guest and self._store.joined(setup.terms.th) is not None
        # what was signed has been compared before it was
        if has_signed or not (is_guest or agreement.stands):
            return
        try:
            agreement.check(setup.terms, self._session.keys)
        except CheckError as error:
            self._stop(error, Evidence(setup.terms.document, setup.records))

    def _check_server(self, terms: MatchTerms, mid: bytes) -> None:
        """Check that a match belongs to the server of this connection; nobody is to blame if it does not.

        Raises:
            ClientError: It began at another server, or under a key that this one does not show.
        """
        self._check_home(mid)
        if terms.table.spk not in self._session.keys:
            raise ClientError(Sentence("failures.unknown_key"))

    def _check_home(self, mid: bytes) -> None:
        known = self._store.playing(mid)
        if known is not None and known.server != self._session.first_spk:
            raise ClientError(Sentence("failures.begun_elsewhere"))

    def has_begun(self, mid: bytes, seat: int | None) -> bool:
        """Tell whether a match was played from here before: then it is resumed, never begun anew."""
        has_seat = seat is not None and not self._account.is_guest
        return has_seat and self._store.playing(mid) is not None

    def _check_seat(self, setup: MatchSetup, seat: int | None, intent: Intent) -> None:
        """Check that this player may be the one to play the seat, as far as the setup and the store tell.

        Raises:
            NotPlayedError: Another player had this seat in that match.
            ClientError: The seat's secrets are not in this home.
        """
        if seat is None or self._account.is_guest or self._store.joined(setup.terms.th) is not None:
            return
        taken = setup.seats[seat] if seat < len(setup.seats) else None
        is_own = isinstance(taken, SeatTaken) and taken.pk == self._own(seat).key.public
        may_change = setup.terms.opts.gone == GONE_SUBSTITUTE
        if taken is None or not may_change or (is_own and intent is Intent.LOOK_ON):
            check_tenure(Tenure.LOST if is_own else Tenure.ANOTHERS, intent, has_held=False)

    def reopen(self, mid: bytes, seat: int | None, intent: Intent) -> OpenedMatch:
        """Go on with the transcript kept of a match, if there is a usable one.

        Raises:
            CheckFailedError: The kept transcript fails a check.
            NotPlayedError: Another player had this seat in that match.
            ClientError: The seat's secrets are not in this home, or the match belongs to another server.
        """
        self._check_goes_on(mid)
        self._check_belongs(mid, seat)
        return self._kept(mid, seat, intent)

    def _check_belongs(self, mid: bytes, seat: int | None) -> None:
        """Check that a kept match belongs to this server, and has the seat, before its transcript is opened to go on with it."""
        self._check_home(mid)
        kept = read_kept(path_of(self._account.home.transcripts, mid))
        if kept is None or not kept.records:
            return
        try:
            terms = open_terms(kept.document, kept.records[0])
        except CheckError:
            return  # the file was changed here: the replay will show it
        self._check_server(terms, mid)
        self._check_goes_on(terms.th)
        try:
            _check_is_there(seat, terms)
        except CheckError as error:
            raise CheckFailedError(error.check, error.message, error.culprit) from error

    def _kept(self, mid: bytes, seat: int | None, intent: Intent) -> OpenedMatch:
        path = self._path(mid, seat)
        # a watcher has a file of their own, as they may play in
        # that match too, and another watcher may be writing it
        file = reopen(path, alone=seat is None)
        if file is None:
            unreadable = Sentence("failures.unreadable")
            return OpenedMatch(aside=self.set_aside(path, unreadable) if path.exists() else None)
        if not file.records:
            file.close()
            return OpenedMatch()
        try:
            match = self._follow(file, seat, (), intent)
        except ValueError:
            file.close()  # torn within the setup: everything is asked for
            return OpenedMatch()
        except UnboundError as error:
            file.close()
            return OpenedMatch(aside=self.set_aside(path, str(error)))
        # the file is whole, and another match's: no usable transcript is overwritten
        if match.mid != mid:
            file.close()
            raise HomeError(Sentence("failures.other_match", path=file.path))
        return OpenedMatch(match)

    def _path(self, mid: bytes, seat: int | None) -> "Path":
        """Return where the transcript is kept: a watcher has a separate one, as they may play in that match too."""
        where = watched_path if seat is None else path_of
        return where(self._account.home.transcripts, mid)

    def set_aside(self, path: "Path", reason: str) -> TranscriptSetAside:
        """Rename a kept transcript, so that all of it is asked for again; what comes is compared with it.

        Raises:
            HomeError: It cannot be renamed.
        """
        self._aside[path] = set_aside(path)
        return TranscriptSetAside(self._aside[path], reason)

    def _follow(
        self, file: TranscriptFile, seat: int | None, records: tuple[Record, ...], intent: Intent
    ) -> SeatMatch:
        """Audit a match from its setup's records, or from what the file holds; what follows is audited as it comes."""
        store = self._store
        th = body_hash((records or file.records)[0])
        held = () if self._account.is_guest else store.chains(th)
        links = self._links(held, (records or file.records)[0])
        own = None if seat is None or self._account.is_guest else _own_seat(seat, held, links)
        mark = None if own is None else _mark(store.joined(th))
        aside = self._aside.get(file.path)
        audit = LiveAudit(file, self._account.home.evidence, store, own, mark, aside=aside)
        # the first is the seat's own key at the setup; those
        # of later chains come into force by a rekey or a sub
        for chain, its_links in list(zip(held, links, strict=True))[1:]:
            audit.auditor.add_box_key(box_key(chain.secret), its_links)
        if records:
            audit.begin(records)
        else:
            audit.replay()
        store.begin(th, audit.ledger.setup.mid)
        if seat is None or own is None:
            return SeatMatch(audit, seat, reader=None if seat is None else ClearReader())
        signer = Signer(self._own(seat), audit.seen, store, intent)
        return SeatMatch(audit, seat, signer, BoxedReader(signer, seat))

    def _links(self, held: tuple[HeldChain, ...], first: Record) -> tuple[Chain | None, ...]:
        """Return the links of the chains of this client in a match that begins with this record.

        In mode blind the seat's hands are read with them; in mode dealt a box key is enough.
        """
        try:
            table = parse(first) if held else None
        except CheckError:
            table = None  # the audit will say so
        if not isinstance(table, TableTerms) or table.mode != BLIND:
            return (None,) * len(held)
        public = self._account.key(self._session.first_spk).public
        return tuple(links_of(chain, public, table) for chain in held)

    def check_agreed(self, match: SeatMatch, agreement: TableAgreement) -> None:
        """Check, before stepping in, that a running match is played under the terms that its table was shown with.

        A match keeps the key that its server had when it began, which may be older than the present one.

        Raises:
            CheckFailedError: It is not what the player agreed to.
            ClientError: It began under a key that this client does not know.
        """
        terms = match.ledger.setup.terms
        if terms.table.spk not in self._session.keys:
            raise ClientError(Sentence("failures.unknown_key"))
        try:
            agreement.check(terms, self._session.keys)
        except CheckError as error:
            raise CheckFailedError(error.check, error.message, error.culprit) from error

    def _check_goes_on(self, which: bytes) -> None:
        """Check that a match or table record was not stopped for good.

        Raises:
            StoppedError: It was: a check has failed in it.
        """
        why = self._store.stopped(which)
        if why is not None:
            raise StoppedError(why, evidence_of(self._account.home.evidence, which))

    def _stop(
        self, error: CheckError, evidence: Evidence, *, in_play: tuple[bytes | None, ...] = ()
    ) -> NoReturn:
        """Refuse a setup or its terms, and stop the matches and table records `in_play` for good."""
        check, message, culprit = error.check, error.message, error.culprit
        # before the evidence: after a crash in between they must still be stopped (specification.md, 13)
        for which in in_play:
            if which is not None:
                self._store.stop(which, f"{check}: {message}")
        records, folder = evidence.records, self._account.home.evidence
        name = f"{body_hash(records[0]).hex()[:16]}-setup" if records else "setup"
        if culprit is None:
            raise UnboundError(check, message, lambda: keep_evidence(folder, name, evidence))
        raise CheckFailedError(check, message, culprit, keep_evidence(folder, name, evidence))


def _check_is_there(seat: int | None, terms: MatchTerms) -> None:
    """Check that a match has the seat that the server says this player has: nobody has signed that.

    Raises:
        CheckError: C9, it has fewer.
    """
    if seat is not None and seat >= terms.table.seats:
        raise CheckError("C9", f"the seat said is {seat}, and the match has {terms.table.seats}")


def _own_seat(seat: int, held: tuple[HeldChain, ...], links: tuple[Chain | None, ...]) -> OwnSeat:
    """Return the seat with the first key made for it; a client that has made none yet cannot open anything."""
    return OwnSeat(seat, box_key(held[0].secret), links[0]) if held else OwnSeat(seat, generate_box_key())


def _mark(joined: Joined | None) -> AcceptedPlace | None:
    if joined is None or joined.k is None or joined.head is None:
        return None
    return AcceptedPlace(joined.k, joined.head)
