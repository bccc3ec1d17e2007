"""A transcript as far as it passes, audited once: what evidence and comparison with other transcripts need of it.

Every record here has been checked by an auditor of its own list, so what is shown by it rests on valid signatures
under the keys in force; the one that fails is kept too if the server has signed it, as signing alone binds it. Ledgers
are kept only for the deals and shares that somebody asks for, not for each record.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from truc_protocol.audit.auditor import Auditor, Finding, feed_all
from truc_protocol.bodies import Act, AnyBody, Close, Deal, End, MatchStart, Placed, Resign, Share, TableTerms
from truc_protocol.checks import CheckError
from truc_protocol.codec import sha256
from truc_protocol.crypto.keys import is_admissible, verify
from truc_protocol.evidence_file import Complaint, EvidenceItem
from truc_protocol.ledger import Ledger, hangs_on_cards, opened_hands
from truc_protocol.records import SERVER, Record, parse
from truc_protocol.transcript import Transcript
from truc_rules import Seat


class PassedRecord(NamedTuple):
    """A record that passed, with its body, its position (None in the setup) and the key it was signed under.

    Attributes:
        is_sure: whether the rules allow it whatever cards the list does not open.
    """

    record: Record
    body: AnyBody
    k: int | None
    key: bytes | None
    is_sure: bool = True


class DealSpot(NamedTuple):
    """A deal or a share, with the ledger before it."""

    item: PassedRecord
    before: Ledger


class EvidenceWanted(NamedTuple):
    """What evidence asks of a transcript: deals and shares by match and position, bodies by their SHA-256."""

    places: frozenset[tuple[bytes, int]] = frozenset()
    bodies: frozenset[bytes] = frozenset()


def wanted(items: Sequence[EvidenceItem]) -> EvidenceWanted:
    """Return what items of evidence ask of transcripts."""
    complaints = [each for each in items if isinstance(each, Complaint)]
    refusals = [each.body.body for each in items if not isinstance(each, Complaint)]
    return EvidenceWanted(frozenset((each.mid, each.k) for each in complaints), frozenset(refusals))


class PassedRecords(NamedTuple):
    """The records of a list that pass, in order, with the spots and bodies among them that were wanted.

    Attributes:
        failed: the record behind them, which fails, if the server has signed it; `k` is the position that it names.
    """

    items: tuple[PassedRecord, ...] = ()
    spots: Mapping[tuple[bytes, int], DealSpot] = {}
    bodies: Mapping[bytes, PassedRecord] = {}
    failed: PassedRecord | None = None

    @property
    def signed(self) -> Sequence[PassedRecord]:
        """The records that pass, and what the server has signed although it fails."""
        return self.items if self.failed is None else (*self.items, self.failed)

    @property
    def vouched(self) -> Sequence[PassedRecord]:
        """The records up to the last one that the server has signed."""
        # what stands behind it may have been put there by whoever wrote the list
        last = max((at for at, item in enumerate(self.items) if _is_servers(item.record)), default=-1)
        return self.items[: last + 1]


class PassedRecorder:
    """Notes what an auditor lets pass; call `note` with every record that has passed."""

    def __init__(self, asked: EvidenceWanted) -> None:
        self._asked = asked
        self._items: list[PassedRecord] = []
        self._spots: dict[tuple[bytes, int], DealSpot] = {}
        self._bodies: dict[bytes, int] = {}
        self._failed: PassedRecord | None = None
        self._unsure: list[int] = []

    def note(self, before: Ledger | None, record: Record, finding: Finding) -> None:
        """Note a record that passed after `before`."""
        author = before.contributors[record.signer] if before is not None and record.sig else None
        at, key = len(self._items), None if author is None else author.public
        item = PassedRecord(record, finding.body, finding.k, key)
        match item.body:
            case Deal() | Share() if before is not None:
                place = before.setup.mid, before.k
                if place in self._asked.places:
                    self._spots[place] = DealSpot(item, before)
            case Act() | Resign() if before is not None and _hangs_on_cards(before, item.body):
                self._unsure.append(at)
                item = item._replace(is_sure=False)
            case Close() | End() if before is not None and self._unsure:
                self._judge_unsure(before, item.body)
            case _:
                pass
        self._items.append(item)
        if self._asked.bodies and (digest := sha256(record.body)) in self._asked.bodies:
            self._bodies[digest] = at

    def _judge_unsure(self, before: Ledger, body: Close | End) -> None:
        """Note which unsure decisions the rules have allowed, now that their hands were played again with all cards."""
        opened = _replays_closed_hands(before, body)
        for earlier in self._unsure if opened else ():
            self._items[earlier] = self._items[earlier]._replace(is_sure=True)
        # in mode blind no later record opens a hand that its seats have not
        if opened or before.is_dealerless:
            self._unsure.clear()

    def fail(self, record: Record) -> None:
        """Note the record that fails, if the server has signed it."""
        self._failed = servers_word(self._items[0].record if self._items else record, record)

    def passed(self) -> PassedRecords:
        """Return what was noted."""
        bodies = {digest: self._items[at] for digest, at in self._bodies.items()}
        return PassedRecords(tuple(self._items), self._spots, bodies, self._failed)


def servers_word(terms: Record, record: Record) -> PassedRecord | None:
    """Return a record of any list as what the server of a table record has signed; None if it has not."""
    if not _is_servers(record):
        return None
    try:
        table, body = parse(terms), parse(record)
    except CheckError:
        return None
    if not isinstance(table, TableTerms) or not isinstance(body, Placed | TableTerms | MatchStart):
        return None
    # the table record may be what fails, and under a key of small order anybody's signature would pass
    if not is_admissible(table.spk) or not verify(table.spk, record.body, record.sig):
        return None
    return PassedRecord(record, body, body.k if isinstance(body, Placed) else None, table.spk)


def _is_servers(record: Record) -> bool:
    return record.signer == SERVER and bool(record.sig)


def _replays_closed_hands(before: Ledger, body: Close | End) -> bool:
    """Tell whether the hands that were still closed were played again with this record, with every card."""
    if before.is_dealerless:
        # the seats' links open a hand of mode blind, before its close; the end opens no card of theirs. Where a move is
        # what exposes its seat, the cards deny it and nothing behind it was played again
        is_exposed = before.blind_hand is not None and before.blind_hand.exposed is not None
        return isinstance(body, Close) and not is_exposed and opened_hands(before) is not None
    return isinstance(body, End) or body.link is not None


def _hangs_on_cards(before: Ledger, body: Act | Resign) -> bool:
    if before.hand is None or before.match is None:
        return False
    return hangs_on_cards(before.match, Seat(body.seat), body.kind if isinstance(body, Act) else "resign")


def passed(transcript: Transcript, items: Sequence[EvidenceItem] = ()) -> PassedRecords:
    """Audit a transcript as far as it passes, and keep what items of evidence ask of it."""
    recorder = PassedRecorder(wanted(items))
    feed_all(Auditor(transcript.document), transcript.records, recorder.note, note_failed=recorder.fail)
    return recorder.passed()
