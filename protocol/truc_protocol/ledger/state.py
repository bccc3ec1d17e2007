"""What a match amounts to after some of its records: the values, and the questions asked of them.

A `Ledger` is never changed; each record yields the next one. It holds only what the records say (and, where the
caller knows more, cards it has been told): no secret of any party, no clock.
"""

from collections.abc import Iterable
from enum import Enum
from typing import Final, NamedTuple

import msgspec

from truc_protocol.blind_mode.sealed_pack import (
    GrantedRedeal,
    LendStep,
    PackStage,
    PlayedUnseen,
    SealedPack,
    take_step,
    turned_up,
)
from truc_protocol.bodies import Call, Deal, Guest, Open, SeatTaken, Share, SideScore
from truc_protocol.checks import CheckError
from truc_protocol.records import BLIND, Phase
from truc_protocol.setup import GONE_FORFEIT, GONE_SUBSTITUTE, MatchSetup, commitments
from truc_rules import (
    Action,
    Event,
    HandPhase,
    Match,
    Seat,
    awaits_deal,
    deciders,
    is_blind,
    is_hand_over,
    owed_shares,
    owed_shows,
)

Commitment = tuple[str, bytes]
"""A key, an anchor or a box key, after its name."""


class Commitments(msgspec.Struct, frozen=True):
    """What nobody may bring again: keys, anchors and box keys.

    They lie in layers, of which each is at least twice as large as the next.
    """

    # one set would be copied whole for each new chain: 8 MB of voids and rekeys took 20 seconds to audit, not
    # 9. So each item is copied only as often as their number has binary digits
    layers: tuple[frozenset[Commitment], ...] = ()

    def __contains__(self, one: Commitment) -> bool:
        return any(one in layer for layer in self.layers)

    def __or__(self, new: Iterable[Commitment]) -> "Commitments":
        """Return these with some new ones."""
        added = frozenset(new)
        kept, size = len(self.layers), len(added)
        while kept and len(self.layers[kept - 1]) < 2 * size:
            kept -= 1
            size += len(self.layers[kept])
        return Commitments((*self.layers[:kept], added.union(*self.layers[kept:])))


_NOBODY: Final[frozenset[int]] = frozenset()
# looked up once: an Enum lookup is expensive
_HAND, _BETWEEN, _CALLED, _OVER = Phase.HAND, Phase.BETWEEN, Phase.CALLED, Phase.OVER
_HAND_OVER, _AWAITS_DEAL = HandPhase.OVER, HandPhase.DEAL
Events = tuple[Event, ...]
"""What happened in the rules, in order."""
Place = tuple[int, bytes]
Links = tuple[tuple[int, bytes], ...]
Shown = tuple[int, tuple[int, ...]]
"""A seat and slots of its newest deal."""


class Contributor(msgspec.Struct, frozen=True):
    """Who adds entropy to the deals: the key and chain in force for one role.

    Attributes:
        public: the Ed25519 key that signs.
        x: the X25519 key that cards are sealed to.
        first: the number of the chain's anchor; it serves deals first to first + N - 1.
        known: number and value of the newest link that is open.
        rekeys: new chains taken before the old one was exhausted.
    """

    public: bytes
    x: bytes
    first: int
    known: tuple[int, bytes]
    rekeys: int = 0


class LoggedMove(msgspec.Struct, frozen=True):
    """A move of the rules within a hand; `ruled` if a ruling made it."""

    action: Action
    ruled: bool


class HandLog(msgspec.Struct, frozen=True):
    """What the audit of one deal index needs.

    Attributes:
        call: what was fixed before the deal.
        links: the contributors' links of this index, ascending by role; the server's comes first once it is open.
        start: the rules' state that awaits the first deal.
        deals: the deal records, by sub-deal.
        shares: the share records.
        steps: what the rules were told since, in order.
        opened_slots: (d, seat, slot) of the cards opened so far.
        unseen: the play of a card that its seat has not seen, until the card is opened.
        opens: the cards opened at the end because the rules force their seats to show them.
        known: how many of the deals were told to the rules with every card as soon as they came.
    """

    call: Call
    links: Links
    start: Match
    deals: tuple[Deal, ...] = ()
    shares: tuple[Share, ...] = ()
    steps: tuple[LoggedMove, ...] = ()
    opened_slots: frozenset[tuple[int, int, int]] = frozenset()
    unseen: LoggedMove | None = None
    opens: tuple[Open, ...] = ()
    known: int = 0

    @property
    def is_known(self) -> bool:
        """Whether no card was ever unknown here: what the rules were told has been checked in full."""
        return self.known == len(self.deals)

    def still_closed(self, shown: tuple[Shown, ...]) -> tuple[Shown, ...]:
        """Return these cards of the newest deal, without those that are open already."""
        d = len(self.deals) - 1
        # only cards of the newest deal are in play: a redeal takes all others out
        left = (
            (seat, tuple(slot for slot in slots if (d, seat, slot) not in self.opened_slots))
            for seat, slots in shown
        )
        return tuple((seat, slots) for seat, slots in left if slots)


class Pause(msgspec.Struct, frozen=True):
    """Who has asked for a pause or for its end, who has had one this hand, and whether the match rests."""

    active: bool = False
    asked: frozenset[int] = frozenset()
    spent: frozenset[int] = frozenset()


class ServerChain(msgspec.Struct, frozen=True):
    """A chain that the server has had, and the one before it: nothing is copied as they grow."""

    first: int
    anchor: bytes
    before: "ServerChain | None" = None

    def all(self) -> Links:
        """Return (first, anchor) of this chain and all before it, the oldest first."""
        found: list[tuple[int, bytes]] = []
        at: ServerChain | None = self
        while at is not None:
            found.append((at.first, at.anchor))
            at = at.before
        return tuple(reversed(found))


class Outcome(NamedTuple):
    """How a match is decided: the side that wins, or None, and the reason as `end` gives it."""

    winner: int | None
    reason: str

    def __str__(self) -> str:
        winner = "nobody" if self.winner is None else f"side {self.winner}"
        return f"{winner} to win, {self.reason!r}"


class ExposedSeat(NamedTuple):
    """A seat that its own link, or all cards together, convict: of a "cheat" with the pack, or of "false" moves."""

    seat: int
    kind: str


class BlindHand(msgspec.Struct, frozen=True):
    """What the seats have made of the open index in mode blind.

    Attributes:
        pack: the steps with the pack so far.
        opened: the links by which the hand is opened, ascending by role.
        garbled: whether some place gives no card, as a seat claims or everybody sees.
        claimant: the seat that claims it.
        exposed: the seat that the links have exposed first.
    """

    pack: SealedPack
    opened: Links = ()
    garbled: bool = False
    claimant: int | None = None
    exposed: ExposedSeat | None = None


class Ledger(msgspec.Struct, frozen=True):
    """The fold of a match's records; `k` to `covered` are its place, which every record changes.

    Attributes:
        k: position of the next record.
        head: the head before it.
        parallel: (k0, T0) that releases and acks carry.
        covered: per seat, the position whose head its newest signature binds; None before it signs one.
        deal_index: the open deal index, or the next one.
        contributors: by role; None for a guest's seat.
        chain: the server's newest chain, and through it every one it has had.
        commitments: those of the setup, and of every chain since.
        match: the rules' state; None before the draw.
        cut: cards the next call moves from top to bottom.
        call: the call of the open index.
        released: links of the open index, ascending by role.
        hand: the open hand.
        voids: deals voided so far.
        silent: seats named by the void just before, without those that have a substitute.
        streaks: per seat, `move` rulings since it last acted.
        blind_hand: in mode blind, what the seats have made of the open index once a hand is called.
    """

    setup: MatchSetup
    k: int
    head: bytes
    parallel: Place
    covered: tuple[int | None, ...]
    phase: Phase
    deal_index: int
    contributors: tuple[Contributor | None, ...]
    chain: ServerChain
    commitments: Commitments
    match: Match | None
    cut: int
    call: Call | None
    released: Links
    hand: HandLog | None
    voids: int
    silent: tuple[int, ...]
    streaks: tuple[int, ...]
    pause: Pause
    outcome: Outcome | None
    acks: frozenset[int]
    blind_hand: BlindHand | None = None

    @property
    def seats(self) -> int:
        """Number of seats."""
        return self.setup.terms.table.seats

    @property
    def opens_at_close(self) -> bool:
        """Whether every card of a hand is open when it is closed (reveal = hand)."""
        return self.setup.terms.table.policy == "hand"

    @property
    def is_dealerless(self) -> bool:
        """Whether the seats shuffle and seal the pack among themselves (mode blind)."""
        return self.setup.terms.table.mode == BLIND

    @property
    def link_at_close(self) -> bool:
        """Whether close and void open the server's link: it deals, and cards are opened hand by hand."""
        table = self.setup.terms.table
        # not by `is_dealerless`, which would be one call more a hand (decision 19)
        return table.policy == "hand" and table.mode != BLIND


Taken = tuple[Ledger, Events]
"""What comes of a record: the ledger after it, and what happened in the rules."""


def start_ledger(setup: MatchSetup) -> Ledger:
    """Return the ledger of a match that has only its setup."""
    table = setup.terms.table
    server = Contributor(table.spk, table.x, 0, (0, table.anchor))
    seats = (
        Contributor(seat.pk, seat.x, 0, (0, seat.anchor)) if isinstance(seat, SeatTaken) else None
        for seat in setup.seats
    )
    # for C7: nobody may copy another's anchor or box key, or sit on two seats with one key (threats.md)
    used = {("key", table.spk), ("anchor", table.anchor), ("box key", table.x)}
    used.update(item for seat in setup.seats for item in commitments(seat))
    return Ledger(
        setup=setup,
        k=0,
        head=setup.mid,
        parallel=(0, setup.mid),
        covered=(None,) * table.seats,
        phase=Phase.BETWEEN,
        deal_index=0,
        contributors=(server, *seats),
        chain=ServerChain(0, table.anchor),
        commitments=Commitments((frozenset(used),)),
        match=None,
        cut=0,
        call=None,
        released=(),
        hand=None,
        voids=0,
        silent=(),
        streaks=(0,) * table.seats,
        pause=Pause(),
        outcome=None,
        acks=_NOBODY,
    )


class Due(Enum):
    """What must come next: a record of the server, or a decision, release or ack of somebody else."""

    CALL = "call"
    DRAW = "draw"
    DEAL = "deal"
    SHARE = "share"
    OPEN = "open"
    CLOSE = "close"
    END = "end"
    REKEY = "rekey"
    CONSEQUENCE = "consequence"
    PLAYERS = "players"


_PLAYERS: Final = Due.PLAYERS


def due(ledger: Ledger) -> Due:
    """Tell what the match waits for."""
    phase = ledger.phase
    # a match that is over may still have a cheat in it: its forfeit comes before the close and the end (C52)
    if ledger.blind_hand is not None and (phase is not _OVER or owes_forfeit(ledger)):
        return _due_blind(ledger, ledger.blind_hand)
    if phase is _HAND:
        return _due_in_hand(ledger)
    if phase is _BETWEEN:
        return _due_between(ledger)
    if phase is _CALLED and not seats_missing(ledger):
        return Due.DRAW if ledger.match is None else Due.DEAL
    if phase is _OVER:
        return Due.END if ledger.hand is None else Due.CLOSE
    return Due.PLAYERS


def deciding_match(ledger: Ledger) -> Match | None:
    """Return the rules' state, if the rules say what comes next."""
    phase = ledger.phase
    if not (phase is _HAND or phase is _BETWEEN) or ledger.pause.active:
        return None
    if ledger.blind_hand is not None and _waits_for_steps(ledger, ledger.blind_hand):
        return None
    return ledger.match if due(ledger) is _PLAYERS else None


def _waits_for_steps(ledger: Ledger, blind: BlindHand) -> bool:
    """Tell whether seats owe keys, locks, links or cards to be lent in mode blind, which no rule decides."""
    if ledger.match is None or (pack := sealed_pack(ledger)) is None:
        return False
    if blind.garbled or pack.stage is not PackStage.READY or is_hand_over(ledger.match):
        return True
    return next_share(ledger) is not None


def _due_blind(ledger: Ledger, blind: BlindHand) -> Due:
    pack, match = sealed_pack(ledger), ledger.match
    if blind.exposed is not None or (blind.garbled and is_opened(ledger)):
        return Due.CONSEQUENCE
    if blind.garbled or pack is None or match is None or pack.stage is not PackStage.READY:
        return _PLAYERS
    if ledger.hand is None or awaits_deal(match):
        # with a card turned up that is none, no deal can be made: some seat has to call the hand garbled
        return _PLAYERS if None in turned_up(pack) else Due.DEAL
    return Due.CLOSE if is_hand_over(match) and is_opened(ledger) else _PLAYERS


def sealed_pack(ledger: Ledger) -> SealedPack | None:
    """Return the open index in mode blind as it waits now: for new cards or a card played unseen, if one is granted."""
    blind, hand, match = ledger.blind_hand, ledger.hand, ledger.match
    if blind is None:
        return None
    pack = blind.pack
    if hand is None or match is None:
        return pack
    # a grant and a card played unseen follow from the rules, not from a step of a seat: they are added here
    if awaits_deal(match) and pack.d < len(hand.deals):
        return take_step(pack, GrantedRedeal(len(hand.deals)))
    if hand.unseen is not None:
        seat, (slot,) = unseen_slot(hand.unseen)
        p = pack.plan.place(pack.d, seat, slot)
        return pack if pack.unseen_place == p else take_step(pack, PlayedUnseen(p))
    return pack


def owes_forfeit(ledger: Ledger) -> bool:
    """Tell whether a seat is exposed and has not lost for it: where the match is over, it is its side that would have won."""
    exposed = None if ledger.blind_hand is None else ledger.blind_hand.exposed
    if exposed is None:
        return False
    return ledger.outcome is None or ledger.outcome.winner == exposed.seat % 2


def seats_unopened(ledger: Ledger) -> tuple[int, ...]:
    """Return the seats whose link of the blind hand is not open, ascending."""
    if ledger.blind_hand is None:
        return ()
    there = dict(ledger.blind_hand.opened)
    return tuple(seat for seat in range(ledger.seats) if seat + 1 not in there)


def is_opened(ledger: Ledger) -> bool:
    """Tell whether every link of the blind hand is open."""
    return ledger.blind_hand is not None and not seats_unopened(ledger)


def may_show(ledger: Ledger) -> bool:
    """Tell whether a hand is over but neither opened nor closed yet: seats may still show their cards."""
    hand = ledger.hand
    if hand is None or hand.opens or ledger.phase is not _HAND or ledger.pause.active:
        return False
    # in mode blind the links are about to show every card
    if ledger.blind_hand is not None:
        return False
    return ledger.match is not None and is_hand_over(ledger.match)


def _due_between(ledger: Ledger) -> Due:
    if must_end(ledger) or awaits_substitutes(ledger):
        return Due.CONSEQUENCE
    if ledger.pause.active or (ledger.match is not None and deciders(ledger.match)):
        return Due.PLAYERS
    spent = ledger.deal_index - ledger.setup.terms.table.links
    # each as `is_exhausted` has it, but without a call for each of them: this is asked after every record
    for contributor in ledger.contributors:
        if contributor is not None and contributor.first <= spent:
            return Due.REKEY
    return Due.CALL


def _due_in_hand(ledger: Ledger) -> Due:
    hand, match = ledger.hand, ledger.match
    if hand is None or match is None:
        return Due.PLAYERS
    if hand.unseen is not None:
        return Due.OPEN
    # in a pause too: the opens and the close of a hand that is over ask nobody to decide anything
    stage = match.hand.phase
    if stage is _HAND_OVER:
        return Due.CLOSE if next_open(ledger) is None else Due.OPEN
    if stage is _AWAITS_DEAL:
        return Due.DEAL
    # a share is owed only while the question to a side at its last point is open
    return Due.SHARE if match.hand.offers and next_share(ledger) is not None else Due.PLAYERS


def must_end(ledger: Ledger) -> bool:
    """Tell whether a void leaves nothing but a forfeit or an abandoned match (specification.md 6, "Voids")."""
    opts = ledger.setup.terms.opts
    # a void at the draw costs nobody the match by itself (specification.md 6)
    named = bool(ledger.silent) and ledger.match is not None
    return ledger.voids > opts.voids or (named and opts.gone == GONE_FORFEIT)


def awaits_substitutes(ledger: Ledger) -> bool:
    """Tell whether the seats named by a void must be substituted, or forfeit, before the next call."""
    named = bool(ledger.silent) and ledger.match is not None
    return named and ledger.setup.terms.opts.gone == GONE_SUBSTITUTE


def roles(ledger: Ledger) -> tuple[int, ...]:
    """Return the contributors' roles, ascending: the server and every keyed seat; to a hand in mode blind the seats alone."""
    # the server has no part in a pack that the seats seal (blind.md, "Records")
    first = 1 if ledger.match is not None and ledger.setup.terms.table.mode == BLIND else 0
    return tuple(
        [role for role, each in enumerate(ledger.contributors) if each is not None and role >= first]
    )


def seats_missing(ledger: Ledger) -> tuple[int, ...]:
    """Return the seats whose release, or in mode blind whose step with the pack, the open call waits for, ascending."""
    found: tuple[int, ...] = ()
    if ledger.call is None or ledger.phase is not _CALLED:
        return found
    if ledger.blind_hand is not None:
        return ledger.blind_hand.pack.owing()
    there = dict(ledger.released)
    for role in ledger.call.roles:
        if role > 0 and role not in there:
            found += (role - 1,)
    return found


def is_exhausted(ledger: Ledger, role: int) -> bool:
    """Tell whether a role's chain has no link for the next index."""
    contributor = ledger.contributors[role]
    return contributor is not None and contributor.first + ledger.setup.terms.table.links <= ledger.deal_index


def next_share(ledger: Ledger) -> tuple[Seat, Seat] | None:
    """Return (from, to) of the share record the rules demand next."""
    hand, match = ledger.hand, ledger.match
    if hand is None or match is None or not (owed := owed_shares(match)):
        return None
    newest = len(hand.deals) - 1
    # a redeal makes partners show each other their new cards
    given = sum(share.d == newest for share in hand.shares)
    # in mode blind partners lend their cards themselves: such a hand has no shares
    if ledger.blind_hand is not None:
        given = sum(isinstance(step, LendStep) and step.d == newest for step in ledger.blind_hand.pack.steps)
    return owed[given] if given < len(owed) else None


def next_open(ledger: Ledger) -> Shown | None:
    """Return the seat and slots of the open record the rules demand next, as far as cards are known here."""
    hand, match = ledger.hand, ledger.match
    if hand is None or match is None:
        return None
    # under both policies: only with the server's open is the card played (specification.md 8, "Blind hands")
    if hand.unseen is not None:
        return unseen_slot(hand.unseen)
    if ledger.opens_at_close:
        return None
    return next(iter(hand.still_closed(owed_shows(match))), None)


def unseen_slot(step: LoggedMove) -> Shown:
    """Return the seat and slot of a card played unseen."""
    slot = step.action.value
    return step.action.seat, (slot,) if isinstance(slot, int) else ()


def is_gone(ledger: Ledger, seat: int) -> bool:
    """Tell whether a seat counts as gone: silent at the call, or absent for opts[9] rulings in a row."""
    after = ledger.setup.terms.opts.gone_after
    return seat in ledger.silent or 0 < after <= ledger.streaks[seat]


def score(ledger: Ledger) -> tuple[SideScore, SideScore]:
    """Return [games, upper, points] of each side."""
    return ((0, 0, 0), (0, 0, 0)) if ledger.match is None else side_scores(ledger.match)


def side_scores(match: Match) -> tuple[SideScore, SideScore]:
    """Return [games, upper, points] of each side, as close and end write them."""
    (first, second), (games, others) = match.score, match.games
    return (games, first.upper, first.points), (others, second.upper, second.points)


def check_index(ledger: Ledger, index: int, culprit: str | None) -> None:
    """Check that a record is about the open, or next, deal index.

    Raises:
        CheckError: C12.
    """
    if index != ledger.deal_index:
        raise CheckError("C12", f"expected deal index {ledger.deal_index}, got {index}", culprit)


def box_public(ledger: Ledger, seat: int) -> bytes | None:
    """Return the X25519 key that a seat's cards are sealed to, or None for a guest without one."""
    contributor = ledger.contributors[seat + 1]
    if contributor is not None:
        return contributor.x
    match ledger.setup.seats[seat]:
        case Guest(x=x):
            return x
        case _:
            return None


def deal_public(ledger: Ledger, seat: int) -> bytes | None:
    """Return the X25519 key that a seat's boxes in this hand are sealed to; None if it has none, or no seat sees its cards.

    None in mode blind too, where the server has no cards to seal.
    """
    unseen = ledger.match is not None and is_blind(ledger.match)
    return None if unseen or ledger.setup.terms.table.mode == BLIND else box_public(ledger, seat)
