"""What one's own seat does with the pack in mode blind: masks, locks, keys, lends, and the link that opens its hand.

What is due follows from the verified records alone, never from what the server says it waits for. Each secret serves once
(C51): a step is stored before it is sent, and what is sent again are the stored bytes. Where the match has gone on in a
hand before a step was taken, the very same step is signed for its new place. Asked for under another history it is
refused: two histories of one deal would show where the cards went.
"""

from typing import NamedTuple, NoReturn

from msgspec.structs import astuple

from truc_client.home.store import Slot, Statement
from truc_client.matches.live_audit import LiveAudit
from truc_client.matches.signer import Signer
from truc_protocol.blind_mode.sealed_pack import SeatStep
from truc_protocol.blind_mode.seat_secrets import SeatSecrets
from truc_protocol.blind_mode.seat_steps import CardWithKeys
from truc_protocol.bodies import Placed
from truc_protocol.ledger import Ledger, sealed_pack
from truc_protocol.own_steps import Duty, body_of_step, duty, garbled_body, make_step, place_of_step
from truc_protocol.records import Phase, Record, parse

_PLACE_FIELDS = 3
"""The fields of a body before its own: match, position and head."""


class PackWork(NamedTuple):
    """A step with the pack that is to be made. A mask takes some milliseconds: make it in a thread."""

    slot: Slot
    ledger: Ledger
    seat: int
    secrets: SeatSecrets
    hand: tuple[CardWithKeys, ...]
    wanted: Duty

    def __repr__(self) -> str:
        return f"PackWork({self.slot})"

    def made(self) -> SeatStep:
        """Make it."""
        return make_step(self.ledger, self.seat, self.secrets, self.hand, self.wanted)


class PackSteps:
    """The steps of one seat with the packs of one match.

    Attributes:
        work: the step that has to be made before `owed` can return it; whoever takes it on sets None.
    """

    def __init__(self, audit: LiveAudit, seat: int, signer: Signer) -> None:
        self.work: PackWork | None = None
        self._audit = audit
        self._seat = seat
        self._signer = signer
        self._begun: Slot | None = None
        self._made: tuple[Slot, SeatStep] | None = None

    def owed(self) -> Statement | None:
        """Return what this seat owes of the pack now, signed and stored; None too while it is still to be made.

        Raises:
            CheckFailedError: C51 or C15, it is asked for again under another history.
        """
        ledger = self._audit.ledger
        wanted = duty(ledger, self._seat, is_garbled=self._audit.auditor.is_garbled)
        secrets = None if wanted is None else self._signer.secrets()
        if wanted is None or secrets is None:
            return None
        match wanted:
            case Duty.LINK:
                return self._link(ledger)
            case Duty.GARBLED:
                return self._signer.keep(Slot("garbled", ledger.k), garbled_body(ledger, self._seat))
            case _:
                return self._step(ledger, wanted, secrets)

    def _link(self, ledger: Ledger) -> Statement | None:
        """Return the release; None if one was signed before the match was ended otherwise: it would be a second one (C34)."""
        kept = self._signer.kept_for(Slot("release", ledger.deal_index))
        if kept is None:
            return self._signer.release()
        place = self._place_of(kept)
        if place == ledger.parallel:
            return kept
        if not self._audit.has_head(*place):
            self._fail("C15", f"a release for deal {ledger.deal_index} is asked for again under another head")
        return None

    def _step(self, ledger: Ledger, wanted: Duty, secrets: SeatSecrets) -> Statement | None:
        # all seats give their keys at once: like a release they carry
        # the place before the first of them (specification.md, 5)
        here = ledger.parallel if wanted is Duty.KEYS else (ledger.k, ledger.head)
        slot = _slot(ledger, wanted)
        first = self._signer.kept_for(slot)
        # a hand may go on before a step is taken: the very same
        # step is then signed for its new place as well (blind.md)
        again = Slot(f"{slot.what} again", here[0])
        for kept in (first, self._signer.kept_for(again)):
            if kept is not None and self._place_of(kept) == here:
                return kept
            if kept is not None:
                self._check_history(ledger, wanted, kept)
        if self._made is None or self._made[0] != slot:
            self._begin(PackWork(slot, ledger, self._seat, secrets, self._hand, wanted))
            return None
        body = body_of_step(ledger, self._made[1])
        if first is None:
            return self._signer.keep(slot, body)
        # the secrets are the same, so that a step differs only if another deal is asked for
        if _own_fields(self._body(first)) != _own_fields(body):
            self._fail("C51", f"another {wanted} of deal {ledger.deal_index} is asked for")
        return self._signer.keep(again, body)

    def _check_history(self, ledger: Ledger, wanted: Duty, kept: Statement) -> None:
        """Check that a step was signed in this same history, elsewhere: in a call nothing can come in between."""
        if ledger.phase is not Phase.HAND or not self._audit.has_head(*self._place_of(kept)):
            self._fail(
                "C51", f"the {wanted} of deal {ledger.deal_index} is asked for again under another head"
            )

    @property
    def _hand(self) -> tuple[CardWithKeys, ...]:
        return tuple(held for held in self._audit.auditor.openings if isinstance(held, CardWithKeys))

    def _begin(self, work: PackWork) -> None:
        if work.slot != self._begun:
            self.work, self._begun = work, work.slot

    def take(self, work: PackWork, step: SeatStep) -> None:
        """Take a step that was made; one that came late is for a deal that was voided."""
        if work.slot == self._begun:
            self._made = work.slot, step

    def _body(self, kept: Statement) -> Placed:
        body = parse(Record(self._seat + 1, *kept))
        if not isinstance(body, Placed):
            raise TypeError("a step has a place in a match")
        return body

    def _place_of(self, kept: Statement) -> tuple[int, bytes]:
        body = self._body(kept)
        return body.k, body.head

    def _fail(self, check: str, message: str) -> NoReturn:
        self._audit.raise_check_failed(check, message, "server")


def _slot(ledger: Ledger, wanted: Duty) -> Slot:
    pack = sealed_pack(ledger)
    place = () if pack is None else place_of_step(ledger, pack, wanted)
    return Slot(" ".join((str(wanted), *map(str, place))), ledger.deal_index)


def _own_fields(body: Placed) -> tuple[object, ...]:
    """Return what a body says beside its place."""
    return astuple(body)[_PLACE_FIELDS:]
