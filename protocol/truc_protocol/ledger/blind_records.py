"""The records of mode blind: masks, locks, keys, lends, claims of a garbled hand, and the links that open a hand.

Every seat's link opens when the hand is over. A seat whose link shows that it did something else is *exposed*: that is no
failure of a record, but a proof, after which only its forfeit, or an abandoned match, may stand.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final, Literal, NamedTuple, assert_never

from msgspec.structs import replace

from truc_protocol.acts import SlotOpening
from truc_protocol.blind_mode.sealed_pack import (
    KeysStep,
    LendStep,
    LockStep,
    MaskStep,
    PackPlan,
    PackStage,
    SeatStep,
    begin,
    check_step,
    due_to_all,
    find_card,
    leaves,
    opened_to_all,
    take_step,
    turned_up,
)
from truc_protocol.blind_mode.seat_steps import cards_of, differences, first_difference
from truc_protocol.bodies import (
    AnyBody,
    Call,
    Close,
    Deal,
    Garbled,
    Keys,
    Lend,
    Lock,
    Mask,
    Release,
    Resign,
    Rule,
)
from truc_protocol.checks import CheckError, role_name
from truc_protocol.dealing import DealtCards, Opening
from truc_protocol.ledger.chain_links import open_link
from truc_protocol.ledger.play import CardElsewhereError, moved, open_slots
from truc_protocol.ledger.replay import apply_logged, replayed
from truc_protocol.ledger.state import (
    BlindHand,
    ExposedSeat,
    HandLog,
    Ledger,
    Links,
    Taken,
    check_index,
    is_opened,
    next_share,
    owes_forfeit,
    sealed_pack,
    seats_unopened,
    unseen_slot,
)
from truc_protocol.records import Phase
from truc_rules import Card, Match, RulesError, awaits_deal, is_blind, is_hand_over

StepBody = Mask | Lock | Keys | Lend
# what may come while something is due: always a ruling too, by which whoever keeps a step back loses
_TO_OPEN: Final = (Release, Rule)
_TO_CLOSE: Final = (*_TO_OPEN, Close)
_TO_LEND: Final = (Lend, Garbled, Rule, Resign)
_TO_SHOW: Final = (Keys, Rule, Resign, Garbled)
StepKind = Literal["mask", "lock", "keys", "opening"]
_KIND_OF: Final[Mapping[PackStage, StepKind]] = {
    PackStage.MASK: "mask",
    PackStage.LOCK: "lock",
    PackStage.KEYS: "keys",
}


def begin_blind_hand(ledger: Ledger, body: Call, match: Match) -> BlindHand:
    """Return what the seats begin with when a hand is called."""
    xs = tuple(each.x for each in ledger.contributors[1:] if each is not None)
    table = ledger.setup.terms.table
    return BlindHand(
        begin(
            PackPlan(
                mid=ledger.setup.mid,
                j=body.j,
                deck=table.deck,
                seats=ledger.seats,
                dealer=body.dealer,
                ncards=body.ncards,
                cut=body.cut,
                turned=match.variant.turn_count,
                unseen=is_blind(match),
                xs=xs,
            )
        )
    )


def check_due(ledger: Ledger, body: AnyBody, culprit: str | None) -> None:
    """Check that nothing else has to come before this record.

    Raises:
        CheckError: C23, C24, C43, C48, C52.
    """
    # a ruling passes them all but C52: whether it may stand is C22 (blind.md, "Checks")
    for check, message, kinds in _demands(ledger):
        if not isinstance(body, kinds):
            raise CheckError(check, message, culprit, refusal="not_now")


def _demands(ledger: Ledger) -> Iterator[tuple[str, str, tuple[type[AnyBody], ...]]]:
    """Yield what must come next, and the kinds of record that may: the first that a record is not of refuses it."""
    blind, hand, match = ledger.blind_hand, ledger.hand, ledger.match
    if blind is None or match is None or (ledger.phase is Phase.OVER and not owes_forfeit(ledger)):
        return
    if blind.exposed is not None:
        yield "C52", f"expected the forfeit of seat {blind.exposed.seat}, who is exposed", _TO_OPEN
    elif blind.garbled:
        yield "C48", "the hand is garbled, expected links to be opened", _TO_OPEN
    elif hand is not None:
        if hand.unseen is not None:
            yield "C23", "expected the keys of the card that was played unseen", _TO_SHOW
        elif next_share(ledger) is not None:
            yield "C43", "expected cards to be lent right after the deal", _TO_LEND
        elif is_hand_over(match):
            yield "C24", "the hand is over, expected links to be opened, or its close", _TO_CLOSE


def take_seat_step(ledger: Ledger, body: StepBody, *, is_known: bool) -> Taken:
    """Take what a seat does with the pack; what `is_known` was checked before.

    Raises:
        CheckError: C12, C43 to C46; the culprit is the seat.
    """
    author = role_name(body.seat + 1)
    check_index(ledger, body.j, author)
    blind = _called_hand(ledger, author)
    pack, step = sealed_pack(ledger), _step_of(body)
    if pack is None or (isinstance(body, Lend) and next_share(ledger) != (body.seat, body.receiver)):
        raise CheckError("C43", "expected no cards to be lent, or those of another seat", author)
    # the check of its points is most of a step: without it a hand takes 1 to 6 ms instead of 20 to 130
    if not is_known:
        check_step(pack, step)
    after = replace(ledger, blind_hand=replace(blind, pack=take_step(pack, step)))
    if ledger.hand is not None and ledger.hand.unseen is not None and not _waits_for_steps(after):
        return _play_unseen_card(after, ledger.hand)
    return after, ()


def find_cards_shown(ledger: Ledger, keys: Sequence[Keys]) -> None:
    """Find the cards that keys of a round show to all, if they are those of every seat, so that taking the keys is quick."""
    # nothing is returned: `find_card` remembers what it has found. A card takes up to a millisecond, which is
    # to be spent in the thread that checks the keys, not where the ledger is folded
    pack = sealed_pack(ledger)
    by_seat = {body.seat: body.opened for body in keys}
    if pack is None or len(by_seat) < pack.plan.seats:
        return
    for at, p in enumerate(due_to_all(pack)):
        find_card(pack.places[p], tuple(by_seat[seat][at] for seat in range(pack.plan.seats)), pack.plan.deck)


def _waits_for_steps(ledger: Ledger) -> bool:
    return ledger.blind_hand is not None and ledger.blind_hand.pack.stage is not PackStage.READY


def _called_hand(ledger: Ledger, author: str | None) -> BlindHand:
    if ledger.blind_hand is None:
        raise CheckError("C43", "expected no step with the pack, as no hand is called", author)
    return ledger.blind_hand


def _step_of(body: StepBody) -> SeatStep:
    match body:
        case Mask():
            return MaskStep(body.seat, body.points)
        case Lock():
            return LockStep(body.d, body.seat, body.nonce, body.points, body.commitments)
        case Keys():
            return KeysStep(body.d, body.seat, body.box, body.opened, body.boxes)
        case Lend():
            return LendStep(body.d, body.seat, body.receiver, body.box)
        case _:
            assert_never(body)


def _play_unseen_card(ledger: Ledger, hand: HandLog) -> Taken:
    """Let a card be played that nobody had seen: everybody has given its keys."""
    blind, step, match = ledger.blind_hand, hand.unseen, ledger.match
    if blind is None or step is None or match is None or blind.pack.unseen_place is None:
        raise ValueError("no card is played unseen")
    pack, p = blind.pack, blind.pack.unseen_place
    keys = opened_to_all(pack, p)
    card = find_card(pack.places[p], keys, pack.plan.deck)
    # its owner played it without having seen it: neither here nor below is that seat to blame
    if card is None:
        return garbled_by(ledger, None), ()
    seat, (slot,) = unseen_slot(step)
    try:
        opened, match = open_slots(hand, match, seat, (SlotOpening(slot, card, keys),), None, pack=pack)
    except CardElsewhereError:
        return garbled_by(ledger, None), ()
    decided, events = apply_logged(match, step)
    return moved(ledger, opened, decided, step, 0), events


def garbled_by(ledger: Ledger, claimant: int | None) -> Ledger:
    """Return the ledger of a hand that is garbled, by a seat's claim or as everybody sees."""
    if ledger.blind_hand is None:
        raise ValueError("no hand of mode blind is called")
    return replace(ledger, blind_hand=replace(ledger.blind_hand, garbled=True, claimant=claimant))


def claim_garbled(ledger: Ledger, body: Garbled) -> Ledger:
    """Take a seat's word that its keys open no hand of cards; the links will show whose doing that is.

    Raises:
        CheckError: C12, C43 another sub-deal, C48 not all keys are in.
    """
    author = role_name(body.seat + 1)
    check_index(ledger, body.j, author)
    # with what was granted or played since its last step: new cards, and a card played unseen, wait for keys
    pack = sealed_pack(ledger)
    if pack is None or body.d != pack.d:
        raise CheckError("C43", f"expected a claim of the newest sub-deal, got one of {body.d}", author)
    if pack.stage is not PackStage.READY:
        raise CheckError("C48", "a hand is garbled only where all keys are in", author)
    return garbled_by(ledger, body.seat)


def check_places(ledger: Ledger, body: Deal) -> None:
    """Check that a deal repeats the places as they are locked.

    Raises:
        CheckError: C47.
    """
    pack = sealed_pack(ledger)
    if pack is None:
        return
    if pack.stage is not PackStage.READY:
        raise CheckError("C15", f"steps of seats {list(pack.owing())} are missing", "server")
    # the keys of what is turned up are in clear: the server has no say in which cards lie there
    up = turned_up(pack) if pack.d == 0 else ()
    if (body.leaves, body.up) != (leaves(pack, pack.d), up):
        raise CheckError("C47", "the deal is not that of the places as they are locked", "server")


def release(ledger: Ledger, body: Release, *, is_known: bool = False) -> Taken:
    """Take a seat's link of a hand that is over, and judge the seat; with the last one, play the hand again.

    Raises:
        CheckError: C12, C14, C15, C49; the culprit is the seat.
    """
    opened, blind = _open_seat_link(ledger, body)
    exposed = blind.exposed
    # whoever was exposed first stays the one (blind.md, "Exposed")
    if exposed is None and not is_known:
        # nobody is exposed yet, so all have done as these say
        true_links = _by_seat(blind.opened)
        if first_difference(blind.pack, body.seat, body.link, true_links) is not None:
            exposed = ExposedSeat(body.seat, "cheat")
    # ascending by role, as `dealt_hands` takes them by seat
    links = tuple(sorted((*blind.opened, (body.seat + 1, body.link))))
    after = replace(opened, blind_hand=replace(blind, opened=links, exposed=exposed))
    return _judge_opened(after) if is_opened(after) else (after, ())


def _open_seat_link(ledger: Ledger, body: Release) -> tuple[Ledger, BlindHand]:
    """Check that a seat may open this link now, and that it is of its chain; return what the ledger was of the hand, too."""
    role = body.seat + 1
    author = role_name(role)
    check_index(ledger, body.j, author)
    blind = _called_hand(ledger, author)
    if body.seat not in seats_unopened(ledger):
        # the same link twice may be the doing of whoever wrote the list, as in mode dealt
        culprit = None if (role, body.link) in blind.opened else author
        raise CheckError(
            "C15", f"expected links of seats {list(seats_unopened(ledger))}, got seat {body.seat}", culprit
        )
    # by its link a seat could show its whole hand while it is played (threats.md, "Mode blind")
    if not _may_open(ledger, blind):
        raise CheckError("C49", "a link opened before the hand is over", author)
    return open_link(ledger, role, body.link), blind


def _by_seat(links: Links) -> dict[int, bytes]:
    return {role - 1: link for role, link in links}


def seats_true_to_links(ledger: Ledger, bodies: Sequence[Release]) -> frozenset[int]:
    """Return the seats that have done what these links of theirs say, all judged in one go (C50).

    None is returned of which `release` would not judge: a link that may not be opened, or any once a seat is exposed.
    """
    # half the time of one after the other: with the links of earlier masks points are multiples of G
    blind, links = ledger.blind_hand, dict[int, bytes]()
    if blind is None or blind.exposed is not None:
        return frozenset()
    for body in bodies:
        with suppress(CheckError):
            _open_seat_link(ledger, body)
            links[body.seat] = body.link
    return frozenset(links).difference(differences(blind.pack, links, _by_seat(blind.opened)))


def _may_open(ledger: Ledger, blind: BlindHand) -> bool:
    if ledger.phase is Phase.OVER or blind.garbled or blind.exposed is not None:
        return True
    return ledger.hand is not None and ledger.match is not None and is_hand_over(ledger.match)


def _judge_opened(ledger: Ledger) -> Taken:
    """Say what a hand comes to, now that every link of it is open: false claims, then the moves under all cards."""
    blind, hand = ledger.blind_hand, ledger.hand
    if blind is None or blind.exposed is not None:
        return ledger, ()
    if blind.garbled:
        # every seat did as its link says, so the hand was sound, and who claimed otherwise has lied (C48)
        exposed = None if blind.claimant is None else ExposedSeat(blind.claimant, "cheat")
        return replace(ledger, blind_hand=replace(blind, exposed=exposed)), ()
    if hand is None:
        return ledger, ()
    hands = dealt_hands(blind, len(hand.deals))
    try:
        match, happened = replayed(hand, hands)
    except RulesError:
        # in mode dealt this is the server's doing (C25): it knows the cards, and let the move pass
        exposed = ExposedSeat(_first_denied_mover(hand, hands), "false")
        return replace(ledger, blind_hand=replace(blind, exposed=exposed)), ()
    # every card is known from here on, so that the close has nothing more to prove
    return replace(ledger, match=match, hand=replace(hand, known=len(hand.deals))), happened


def dealt_hands(blind: BlindHand, deals: int) -> tuple[tuple[tuple[Card, ...], ...], ...]:
    """Return the cards of each sub-deal, by seat and slot, from the links of every seat."""
    plan = blind.pack.plan
    cards = cards_of(blind.pack, [link for _, link in blind.opened])
    return tuple(
        tuple(
            tuple(Card(cards[plan.place(d, seat, slot)]) for slot in range(plan.ncards))
            for seat in range(plan.seats)
        )
        for d in range(deals)
    )


def opened_hands(ledger: Ledger) -> tuple[DealtCards, ...] | None:
    """Return the cards of the open hand, by sub-deal, if every seat has opened its link of it; they have no salts.

    None too where a seat has cheated with the pack: the links tell what should have been dealt, not what was.
    """
    blind, hand = ledger.blind_hand, ledger.hand
    if blind is None or hand is None or blind.garbled or not is_opened(ledger):
        return None
    if blind.exposed is not None and blind.exposed.kind == "cheat":
        return None
    return tuple(
        DealtCards(tuple(tuple(Opening(card, b"") for card in cards) for cards in each), deal.up, 0)
        for each, deal in zip(dealt_hands(blind, len(hand.deals)), hand.deals, strict=True)
    )


def _first_denied_mover(hand: HandLog, hands: tuple[tuple[tuple[Card, ...], ...], ...]) -> int:
    """Return whose move is the first that the cards deny."""
    for count in range(1, len(hand.steps) + 1):
        try:
            replayed(replace(hand, steps=hand.steps[:count]), hands)
        except RulesError:
            return hand.steps[count - 1].action.seat
    raise ValueError("the rules refuse no move")


def seats_owing(ledger: Ledger) -> frozenset[int]:
    """Return the seats that owe a step which nothing can void: keys, locks and keys of a redeal, the link of the hand."""
    blind, match = ledger.blind_hand, ledger.match
    pack = sealed_pack(ledger)
    if blind is None or pack is None or match is None:
        return frozenset()
    # a mask, or a lock before the deal, is no such step: a void names its seat, as nobody knows a card yet
    if not blind.garbled and (
        pack.stage is PackStage.KEYS or (ledger.hand is not None and pack.stage is PackStage.LOCK)
    ):
        return frozenset(pack.owing())
    is_over = ledger.hand is not None and not awaits_deal(match) and is_hand_over(match)
    return frozenset(seats_unopened(ledger)) if blind.garbled or is_over else frozenset()


class StepsDue(NamedTuple):
    """Which seats owe a step in mode blind, and of what kind: "mask", "lock", "keys" (cards to be lent, too) or "opening"."""

    what: StepKind
    seats: tuple[int, ...]


def steps_due(ledger: Ledger) -> StepsDue | None:
    """Return what seats owe of the pack or of a hand that is to be opened; None where a decision, or the server, is next."""
    blind, match, pack = ledger.blind_hand, ledger.match, sealed_pack(ledger)
    if blind is None or match is None or pack is None or ledger.phase is Phase.ENDED:
        return None
    if blind.exposed is not None or blind.garbled or ledger.phase is Phase.OVER:
        left = seats_unopened(ledger)
        return StepsDue("opening", left) if left else None
    if pack.stage is not PackStage.READY:
        return StepsDue(_KIND_OF[pack.stage], pack.owing())
    if (lend := next_share(ledger)) is not None:
        return StepsDue("keys", (lend[0],))
    if ledger.hand is None:
        # with a card turned up that is none, no deal can follow: anybody may say that the hand is garbled
        return StepsDue("opening", tuple(range(ledger.seats))) if None in turned_up(pack) else None
    left = seats_unopened(ledger) if is_hand_over(match) else ()
    return StepsDue("opening", left) if left else None
