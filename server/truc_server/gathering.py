"""The terms of a match while the seats sign them: from the table record to the closed setup.

Synchronous and without I/O but for a look at the clock. Invariant: what comes out has passed every check that an auditor makes of a setup.
"""

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from truc_protocol.bodies import SeatTaken
from truc_protocol.checks import CheckError
from truc_protocol.errors import Code
from truc_protocol.records import Record, parse
from truc_protocol.setup import Setup, Terms, check_seat, close_setup, commitments, open_terms
from truc_server.dealer import Dealer
from truc_server.house import House
from truc_server.match_secrets import new_secrets
from truc_server.peer import RefusedError
from truc_server.seats import Made, Seated
from truc_server.signed import RefusedBodyError, code_of
from truc_server.store import PlayerKind


class GuestSeat(NamedTuple):
    """A guest as the match will know them."""

    name: str
    x: bytes | None


class Signed(NamedTuple):
    """A seat's record, checked."""

    record: Record
    body: SeatTaken


class Gathering:
    """Terms that wait for the signatures of the keyed seats."""

    def __init__(self, terms: Terms, dealer: Dealer, seats: Sequence[Seated | None]) -> None:
        self.terms = terms
        self.dealer = dealer
        self._keyed = {i: seated.player.id for i, seated in _of_kind(seats, PlayerKind.KEY)}
        self._guests = {
            i: GuestSeat(seated.player.name, seated.x) for i, seated in _of_kind(seats, PlayerKind.GUEST)
        }
        self._signed: dict[int, Signed] = {}

    @property
    def missing(self) -> tuple[int, ...]:
        """The keyed seats that have not signed."""
        return tuple(seat for seat in sorted(self._keyed) if seat not in self._signed)

    def sign(self, seat: int, record: Record) -> bool:
        """Take a seat's record; False if the very same was taken before.

        Raises:
            RefusedError: It does not answer these terms, or its signature is not valid.
        """
        before = self._signed.get(seat)
        if before is not None:
            if before.record == record:
                return False
            raise RefusedError(Code.TERMS_REFUSED, f"seat {seat} has signed these terms already")
        try:
            self._signed[seat] = Signed(record, self._checked(seat, record))
        except CheckError as error:
            raise RefusedBodyError(code_of(error), str(error)) from error
        return True

    def _checked(self, seat: int, record: Record) -> SeatTaken:
        body = parse(record)
        if not isinstance(body, SeatTaken):
            raise RefusedError(Code.NOT_NOW, "expected a seat record: the match has not begun")
        if body.th != self.terms.th:
            raise CheckError("C6", "the record joins other terms than these", f"seat {seat}")
        if body.pk != self._keyed[seat]:
            raise CheckError("C6", "expected the key that is logged in", f"seat {seat}")
        check_seat(self.terms, record)
        used = self._used()
        for name, public in commitments(body):
            if (name, public) in used:
                raise CheckError("C7", f"expected a {name} of its own, got one used before", f"seat {seat}")
        return body

    def _used(self) -> set[tuple[str, bytes]]:
        table = self.terms.table
        used = {("key", table.spk), ("anchor", table.anchor), ("box key", table.x)}
        used.update(item for signed in self._signed.values() for item in commitments(signed.body))
        used.update(("box key", guest.x) for guest in self._guests.values() if guest.x is not None)
        return used

    def close(self) -> Setup:
        """Return the setup; nobody may be missing.

        Raises:
            CheckError: A guest's box key is not sound, or used twice.
        """
        seats = tuple(
            self._signed[seat].record if seat in self._keyed else self._guest(seat)
            for seat in range(self.terms.table.seats)
        )
        return close_setup(self.terms, seats, self.dealer.match_record(self.terms, seats))

    def _guest(self, seat: int) -> Record:
        name, x = self._guests[seat]
        return self.dealer.guest_record(self.terms, seat=seat, x=x, name=name)


def gather(house: House, made: Made, document: bytes, seats: Sequence[Seated | None]) -> Gathering:
    """Return fresh terms for a match of these seats, under secrets of its own."""
    settings = house.settings
    dealer = Dealer(house.identity.key, new_secrets(), links=settings.match.links)
    record = dealer.table_record(
        made.chosen.variant,
        seats=made.seats,
        opts=made.chosen.opts,
        name=settings.name,
        opened=int(time.time()),
    )
    return Gathering(open_terms(document, record), dealer, seats)


def _of_kind(seats: Sequence[Seated | None], kind: PlayerKind) -> Iterator[tuple[int, Seated]]:
    for i, seated in enumerate(seats):
        if seated is not None and seated.player.kind is kind:
            yield i, seated
