"""A transcript record by record: what each means, and every commitment it opens, checked.

One auditor reads the records in order, so that everything here has passed every check up to that point; the first
record that fails is the last one. Cards are shown with the record that opens them: a play opens its own card, a close
or the end whole hands.
"""

from collections.abc import Iterator
from typing import NamedTuple, assert_never

from truc_client.happenings import Fact
from truc_protocol import dealing
from truc_protocol.acts import SlotOpening, read_act
from truc_protocol.audit import (
    AuditError,
    Auditor,
    ClosedHand,
    Finding,
    Refutation,
    Verdict,
    is_preset,
    server_links,
)
from truc_protocol.bodies import (
    Act,
    AnyBody,
    Close,
    Deal,
    Draw,
    End,
    Guest,
    Open,
    Proxy,
    Rekey,
    Release,
    Rule,
    SeatTaken,
    Sub,
    TableTerms,
    Void,
)
from truc_protocol.checks import CheckError
from truc_protocol.dealing import Opening
from truc_protocol.ledger import Ledger
from truc_protocol.ledger.facts import means
from truc_protocol.records import SERVER, Phase, Record, kind_of, parse
from truc_protocol.setup import MatchTerms
from truc_protocol.transcript import read_document_item, read_records
from truc_rules import View, view


class CommittedHand(NamedTuple):
    """The leaves of a seat's cards, by slot, and the digest by which people see them."""

    j: int
    d: int
    seat: int
    digest: bytes
    leaves: tuple[bytes, ...]


class OpenedCard(NamedTuple):
    """A card that, with its salt, hashes to its leaf; None where the key of each seat opens its place, in mode blind."""

    j: int
    d: int
    seat: int
    slot: int
    card: str
    salt: bytes | None
    leaf: bytes


class CoveredCard(NamedTuple):
    """A card played face down: only its place is known."""

    seat: int
    slot: int


class BegunChain(NamedTuple):
    """A chain of secret numbers that a role commits to by its anchor; it serves the deals from `first`."""

    role: int
    first: int
    anchor: bytes


class OpenedLink(NamedTuple):
    """A link of a role's chain, which hashes down to the links already open, and finally to the anchor."""

    role: int
    number: int
    first: int
    link: bytes


class OpenedDeal(NamedTuple):
    """A deal recomputed from everybody's links: the seed, the pack in its order after the cut, and who held what.

    In mode blind no seed gives the cards, and most of the pack stays closed: `seed` is None and `pack` empty.

    Attributes:
        hands: the cards by sub-deal, seat and slot.
        unplayed: the cards of the newest sub-deal that were not laid open in the hand, by seat.
        up: the cards turned up.
    """

    j: int
    seed: bytes | None
    pack: tuple[str, ...]
    hands: tuple[tuple[tuple[str, ...], ...], ...]
    unplayed: tuple[tuple[str, ...], ...]
    up: tuple[str, ...]


class OpenedSecret(NamedTuple):
    """The server's X25519 secret, from which every box was recomputed."""

    secret: bytes


Commitment = CommittedHand | OpenedCard | BegunChain | OpenedLink | OpenedDeal | OpenedSecret


class Annotated(NamedTuple):
    """A record with all that it says.

    Attributes:
        place: its position; in the setup its number there, counted from the table record.
        is_setup: whether it belongs to the setup.
        signer: the role that signs it, 0 for the server; its signature has been checked, unless it has a `refutation`.
        is_signed: whether it has a signature: a guest's act has none.
        names: the players by seat after it, as far as they are seated.
        words: the game's set of local words.
        seat: the seat that acts, or that is ruled for; None for the server's own records.
        covered: the card that it lays face down, if it does.
        is_unseen: whether it plays a card that nobody has seen, which the next record opens.
        view: after it, the hand as everybody may see it; None between two hands.
        pack: the names of the cards.
        refutation: why it failed, if it did.
    """

    place: int
    is_setup: bool
    kind: str
    signer: int
    is_signed: bool
    names: tuple[str, ...] = ()
    words: str = ""
    facts: tuple[Fact, ...] = ()
    commitments: tuple[Commitment, ...] = ()
    seat: int | None = None
    covered: CoveredCard | None = None
    is_unseen: bool = False
    refutation: Refutation | None = None
    view: View | None = None
    pack: tuple[str, ...] = ()


class Annotator:
    """Reads a transcript file once; `verdict` judges all of it once the last record has been read."""

    def __init__(self, file: bytes) -> None:
        self._file = file
        self._auditor = Auditor(b"")
        self._names: tuple[str, ...] = ()
        self._setup = 0
        self.unreadable: Refutation | None = None

    @property
    def terms(self) -> MatchTerms | None:
        """The terms of the table, with its rules; None before the first record."""
        return self._auditor.terms

    def verdict(self) -> Verdict:
        """Return the verdict on the records read so far."""
        return self._auditor.verdict()

    def records(self) -> Iterator[Annotated]:
        """Yield the records that pass, up to and including the first that fails."""
        try:
            document, rest = read_document_item(self._file)
            self._auditor = Auditor(document)
            for record in read_records(self._file, rest):
                annotated = self._annotated(record)
                yield annotated
                if annotated.refutation is not None:
                    return
        except CheckError as error:
            self.unreadable = self._auditor.refute(error)

    def _annotated(self, record: Record) -> Annotated:
        # What a record opens was bound before it, by chains and leaves of the ledger as it was.
        before = self._auditor.ledger
        try:
            finding = self._auditor.feed(record)
        except AuditError as error:
            # Nothing else is told of a record that fails: whatever it says has not been checked.
            return self._blank(record, before)._replace(refutation=error.refutation)
        annotated = self._blank(record, before)
        if finding.k is None:
            self._setup += 1
        self._note_names(finding.body)
        ledger = self._auditor.ledger
        facts = (
            self._setup_facts(finding.body)
            if before is None or ledger is None
            else self._facts(ledger, finding)
        )
        variant = ledger.setup.terms.variant if ledger else None
        opened = tuple(self._commitments(before, finding.body))
        return annotated._replace(
            names=self._names,
            words=variant.words if variant else "",
            facts=facts,
            commitments=opened,
            seat=_seat(finding.body),
            covered=_covered(finding.body),
            is_unseen=getattr(finding.body, "kind", None) == "blind",
            view=None if ledger is None else _view(ledger),
            pack=variant.pack if variant else (),
        )

    def _blank(self, record: Record, before: Ledger | None) -> Annotated:
        place = self._setup if before is None else before.k
        return Annotated(place, before is None, _kind(record), record.signer, bool(record.sig), self._names)

    def _note_names(self, body: AnyBody) -> None:
        match body:
            case SeatTaken() | Guest():
                self._names = (*self._names, body.name.decode(errors="replace"))
            case Sub(seat=seat):
                name = body.name.decode(errors="replace")
                self._names = (*self._names[:seat], name, *self._names[seat + 1 :])
            case _:
                pass

    def _setup_facts(self, body: AnyBody) -> tuple[Fact, ...]:
        """Return what a record of the setup says, in the form of the facts of a match."""
        terms, ledger = self._auditor.terms, self._auditor.ledger
        match body:
            case TableTerms() if terms is not None:
                name = terms.table.name.decode(errors="replace")
                said = {
                    "variant": terms.variant.name,
                    "is_preset": is_preset(terms.variant),
                    "seats": terms.table.seats,
                    "reveal": terms.table.policy,
                    "mode": terms.table.mode,
                }
                return ({"what": "table_offered", "server": name, **said, **terms.opts._asdict()},)
            case SeatTaken():
                return ({"what": "seat_taken", "seat": body.seat, "key": body.pk},)
            case Guest():
                return ({"what": "guest_seated", "seat": body.seat},)
            case _ if ledger is not None:
                return ({"what": "match_begun", "match": ledger.setup.mid, "level": ledger.setup.level},)
            case _:
                return ()

    def _facts(self, ledger: Ledger, finding: Finding) -> tuple[Fact, ...]:
        hand = self._auditor.last_hand if isinstance(finding.body, Close) else None
        dealt = hand.dealt[-1] if hand is not None and hand.dealt else None
        return tuple(means(finding.body, ledger, finding.events, dealt))

    def _commitments(self, before: Ledger | None, body: AnyBody) -> Iterator[Commitment]:
        match body:
            case TableTerms():
                yield BegunChain(SERVER, 0, body.anchor)
            case SeatTaken():
                yield BegunChain(body.seat + 1, 0, body.anchor)
            case Rekey():
                yield BegunChain(body.role, body.first, body.anchor)
            case Sub():
                yield BegunChain(body.seat + 1, body.first, body.anchor)
            case _ if before is not None:
                yield from self._opened(before, body)
            case _:
                return

    def _opened(self, before: Ledger, body: AnyBody) -> Iterator[Commitment]:
        match body:
            case Deal():
                yield from _committed(body)
            case Release():
                yield _link(before, body.seat + 1, body.link)
            case Draw() | Void() | Close() if body.link is not None:
                yield _link(before, SERVER, body.link)
                if isinstance(body, Close) and (closed := self._auditor.last_hand) is not None:
                    yield _opened_deal(before, closed, body.link)
            # No link of the server's deals there: the cards are those that the seats' links have given.
            case Close() if before.is_dealerless and (closed := self._auditor.last_hand) and closed.dealt:
                yield _who_held_what(closed, before.setup.terms.variant.pack, None, ())
            case End():
                yield from _opened_at_end(before, body, self._auditor.hands)
            case Act() | Proxy() | Rule() | Open():
                yield from _opened_cards(before, body)
            case _:
                return


def _view(ledger: Ledger) -> View | None:
    is_on = ledger.hand is not None or ledger.phase is Phase.CALLED
    return view(ledger.match, None) if is_on and ledger.match is not None else None


def _kind(record: Record) -> str:
    try:
        return kind_of(parse(record))
    except CheckError:
        return "unknown"


def _seat(body: AnyBody) -> int | None:
    # An open is the server's record, about a seat that does nothing.
    return None if isinstance(body, Open) else getattr(body, "seat", None)


def _covered(body: AnyBody) -> CoveredCard | None:
    match body:
        case Act(kind="cover") | Proxy(kind="cover") | Rule(kind="cover", ruling="move") if body.args:
            return CoveredCard(int(body.seat or 0), int(body.args[0]))
        case _:
            return None


def _committed(body: Deal) -> Iterator[CommittedHand]:
    for seat, leaves in enumerate(body.leaves):
        digest = dealing.hand_digest(body.mid, j=body.j, d=body.d, seat=seat, leaves=leaves)
        yield CommittedHand(body.j, body.d, seat, digest, leaves)


def _link(before: Ledger, role: int, link: bytes) -> OpenedLink:
    contributor = before.contributors[role]
    first = 0 if contributor is None else contributor.first
    # specification.md, "Chains": deal j opens link j + 1.
    return OpenedLink(role, before.deal_index + 1, first, link)


def _opened_cards(before: Ledger, body: Act | Proxy | Rule | Open) -> Iterator[OpenedCard]:
    """Yield the cards that a record lays open; the ledger has compared them with their leaves."""
    if before.hand is None or body.seat is None:
        return
    deal, pack = before.hand.deals[-1], before.setup.terms.variant.pack
    for slot, card, proof in _openings(body, len(pack), before.setup.terms.table.mode):
        leaf, salt = deal.leaves[body.seat][slot], proof if isinstance(proof, bytes) else None
        yield OpenedCard(deal.j, deal.d, body.seat, slot, pack[card], salt, leaf)


def _openings(body: Act | Proxy | Rule | Open, deck: int, mode: str) -> tuple[SlotOpening, ...]:
    match body:
        case Open():
            return tuple(SlotOpening(*opening) for opening in body.openings)
        case Rule(ruling="move", kind=str(kind), seat=int(seat)):
            return read_act(seat, kind, body.args, deck=deck, mode=mode).openings
        case Act() | Proxy() if body.kind != "resign":
            return read_act(body.seat, body.kind, body.args, deck=deck, mode=mode).openings
        case Act() | Proxy() | Rule():
            return ()
        case _:
            assert_never(body)


def _opened_deal(before: Ledger, hand: ClosedHand, link: bytes) -> OpenedDeal:
    call, setup = hand.log.call, before.setup
    pack = setup.terms.variant.pack
    seed = dealing.seed(setup.mid, call.j, ((SERVER, link), *hand.log.links))
    order = dealing.deck_order(seed, size=setup.terms.table.deck, cut=call.cut)
    return _who_held_what(hand, pack, seed, tuple(pack[card] for card in order))


def _who_held_what(
    hand: ClosedHand, pack: tuple[str, ...], seed: bytes | None, order: tuple[str, ...]
) -> OpenedDeal:
    dealt = hand.dealt or ()
    newest = len(dealt) - 1
    unplayed = tuple(
        tuple(
            pack[opening.card]
            for slot, opening in enumerate(cards)
            if (newest, seat, slot) not in hand.log.opened_slots
        )
        for seat, cards in enumerate(dealt[-1].hands if dealt else ())
    )
    hands = tuple(tuple(_named(cards, pack) for cards in each.hands) for each in dealt)
    up = tuple(pack[card] for card in (dealt[0].up if dealt else ()))
    return OpenedDeal(hand.log.call.j, seed, order, hands, unplayed, up)


def _named(cards: tuple[Opening, ...], pack: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(pack[opening.card] for opening in cards)


def _opened_at_end(before: Ledger, body: End, hands: tuple[ClosedHand, ...]) -> Iterator[Commitment]:
    """Yield the server's chains and secret, and the hands that no close had opened."""
    table = before.setup.terms.table
    for first, link in body.links:
        # specification.md, "End": of each chain the last link that any deal has used, or could have.
        yield OpenedLink(SERVER, min(body.next_index, first + table.links), first, link)
    if before.is_dealerless:
        return  # nothing is sealed by the server, and its links deal nothing: those of the seats have opened each hand
    yield OpenedSecret(body.xsec)
    links = server_links(before, body)
    for hand in hands:
        # All others were opened by their close (`reveal` = `hand`).
        if hand.close.link is None:
            yield _opened_deal(before, hand, links[hand.log.call.j + 1])
