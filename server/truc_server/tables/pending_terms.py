"""The terms of a match while the seats sign them, from the table record to the closed setup.

Synchronous; the only I/O is a look at the clock. Invariants: what comes out has passed every check that an auditor
makes of a setup, except those of what the server itself has just signed; a seat's record is in the journal before it
is answered.
"""

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from truc_protocol.bodies import Guest, SeatTaken
from truc_protocol.checks import CheckError
from truc_protocol.crypto.keys import unseal_at_rest
from truc_protocol.dealer import Dealer
from truc_protocol.errors import Code
from truc_protocol.match_secrets import MatchSecrets, new_secrets
from truc_protocol.records import Record, body_hash
from truc_protocol.setup import MatchSetup, MatchTerms, check_seat, check_seats, commitments, open_terms
from truc_server.identity.identity import Identity
from truc_server.matches.acceptance import RefusedBodyError, check_name, code_of, parsed
from truc_server.matches.game import save_secrets
from truc_server.net.peer import RefusedRequestError
from truc_server.settings.settings import Settings
from truc_server.storage import DropTerms, PlayerKind, SaveTerms, StoredTerms, Write
from truc_server.table_data.board import Blueprint, Seated


class SeatRecord(NamedTuple):
    """A seat's record that was checked, or made here."""

    record: Record
    body: SeatTaken | Guest


class PendingTerms:
    """The terms of a match, while they wait for the signatures of the keyed seats."""

    def __init__(
        self, at_rest: bytes, table: str, terms: MatchTerms, dealer: Dealer, seats: Sequence[Seated | None]
    ) -> None:
        self._at_rest = at_rest
        self._table = table
        self.terms = terms
        self.dealer = dealer
        self._keyed = dict(_of_kind(seats, PlayerKind.KEY))
        self._guests = dict(_of_kind(seats, PlayerKind.GUEST))
        self._signed: dict[int, SeatRecord] = {}

    @property
    def missing(self) -> tuple[int, ...]:
        """The keyed seats that have not signed."""
        return tuple(seat for seat in sorted(self._keyed) if seat not in self._signed)

    def rows(self) -> tuple[Write, ...]:
        """Return what is stored of terms before they go out, in place of any earlier ones."""
        secrets = save_secrets(self._at_rest, self.terms.th, self.dealer.secrets)
        return (secrets, DropTerms(self._table), self.row(self.terms.record))

    def row(self, record: Record) -> SaveTerms:
        """Return what is stored of a record."""
        return SaveTerms(self._table, self.terms.th, *record)

    def sign(self, seat: int, record: Record) -> bool:
        """Take a seat's record, which the caller stores; False if the very same was taken before.

        Raises:
            RefusedError: It does not answer these terms, or its signature is not valid.
        """
        before = self._signed.get(seat)
        if before is not None:
            if before.record == record:
                return False
            raise RefusedRequestError(Code.TERMS_REFUSED, f"seat {seat} has signed these terms already")
        try:
            self._signed[seat] = SeatRecord(record, self._checked(seat, record))
        except CheckError as error:
            raise RefusedBodyError(code_of(error), str(error)) from error
        return True

    def restore(self, records: Sequence[Record]) -> None:
        """Take what was signed before a restart."""
        for record in records:
            self.sign(record.signer - 1, record)

    def _checked(self, seat: int, record: Record) -> SeatTaken:
        body = parsed(record)
        if not isinstance(body, SeatTaken):
            raise RefusedRequestError(Code.NOT_NOW, "expected a seat record: the match has not begun")
        if body.th != self.terms.th:
            raise CheckError("C6", "the record joins other terms than these", f"seat {seat}")
        player = self._keyed[seat].player
        if body.pk != player.id:
            raise CheckError("C6", "expected the key that is logged in", f"seat {seat}")
        check_name(body.name, player.name)
        used = self._used()
        for name, public in commitments(body):
            if (name, public) in used:
                raise CheckError("C7", f"expected a fresh {name}, got one used before", f"seat {seat}")
        check_seat(self.terms, record)  # keys and signature are last: they cost a hundred times the rest
        return body

    def _used(self) -> set[tuple[str, bytes]]:
        table = self.terms.table
        # C7: all keys, anchors and box keys of a match differ, those of the server and of guests included
        used = {("key", table.spk), ("anchor", table.anchor), ("box key", table.x)}
        used.update(item for signed in self._signed.values() for item in commitments(signed.body))
        used.update(("box key", guest.x) for guest in self._guests.values() if guest.x is not None)
        return used

    def close(self) -> MatchSetup:
        """Return the setup; nobody may be missing. Each seat's keys were looked at when it sat down or signed."""
        seats = tuple(
            self._signed[seat] if seat in self._keyed else self._guest(seat)
            for seat in range(self.terms.table.seats)
        )
        bodies, records = tuple(seat.body for seat in seats), tuple(seat.record for seat in seats)
        check_seats(self.terms, bodies)
        start = self.dealer.match_record(self.terms, records)
        return MatchSetup(self.terms, bodies, (self.terms.record, *records, start), body_hash(start))

    def _guest(self, seat: int) -> SeatRecord:
        seated = self._guests[seat]
        guest = Guest(self.terms.th, seat, seated.x, seated.player.name.encode())
        return SeatRecord(self.dealer.guest_record(guest), guest)


def fresh_terms(
    identity: Identity, settings: Settings, blueprint: Blueprint, seats: Sequence[Seated | None]
) -> PendingTerms:
    """Return fresh terms for a match of these seats, under secrets of its own."""
    dealer = Dealer(identity.key, new_secrets(), links=settings.match.links)
    terms = dealer.terms(
        blueprint.chosen.variant,
        seats=blueprint.seats,
        opts=blueprint.chosen.opts,
        name=settings.name,
        opened_at=int(time.time()),
        mode=blueprint.chosen.mode,
    )
    return PendingTerms(identity.at_rest, blueprint.code, terms, dealer, seats)


def restored_terms(
    identity: Identity,
    blueprint: Blueprint,
    document: bytes,
    seats: Sequence[Seated | None],
    stored: StoredTerms,
) -> PendingTerms:
    """Return the terms that were out when the server stopped, with what was signed.

    Raises:
        CheckError: They are not as they were stored, their secrets are gone, or the server has another key by now:
            players sign for the present one alone.
        SealError: Their secrets do not open.
        RefusedError: A record is not by the player who has the seat.
    """
    opened = open_terms(document, stored.records[0])
    if stored.sealed is None or opened.table.spk != identity.key.public:
        raise CheckError("C6", "the secrets or the key of these terms are gone", "server")
    secrets = MatchSecrets.from_bytes(unseal_at_rest(identity.at_rest, stored.sealed, stored.th))
    dealer = Dealer(identity.key, secrets, links=opened.table.links)
    pending = PendingTerms(identity.at_rest, blueprint.code, opened, dealer, seats)
    pending.restore(stored.records[1:])
    return pending


def _of_kind(seats: Sequence[Seated | None], kind: PlayerKind) -> Iterator[tuple[int, Seated]]:
    for i, seated in enumerate(seats):
        if seated is not None and seated.player.kind is kind:
            yield i, seated
