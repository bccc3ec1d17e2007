"""The deal: what comes before the cards, the cards in and out of a hand, and cards that are dealt anew.

Before them stand cut or tap, and the dealer's choice of a short deal (rules.md 2, "Cut and deal"). A redeal is proposed by
eldest, others consent, new cards come from the rest of the pack (rules.md 3, 4, 5). In pica-pica, or punta y hacha, a deal
for six is played as three duels, one after the other (rules.md 8.7).
"""

from collections.abc import Iterable, Sequence
from itertools import chain

from truc_rules import orders, stakes
from truc_rules.cards import CARDS_EACH, Card
from truc_rules.errors import CardError, MatchError
from truc_rules.positions.actions import Action, Kind, plain_actions, valued_action, yes_or_no
from truc_rules.positions.events import (
    CardCountChosen,
    CutMade,
    Dealt,
    DuelBegun,
    Event,
    RedealAgreed,
    RedealGranted,
    RedealProposed,
    RedealRefused,
    Stood,
    Tapped,
    TurnedUp,
)
from truc_rules.positions.match import (
    NO_CONTESTS,
    NO_ORDERS,
    Bets,
    Hand,
    HandCards,
    HandPhase,
    Match,
    RedealAsk,
    Score,
    Step,
    TrickRow,
)
from truc_rules.seats import Seat, seat_after, seats_after
from truc_rules.variants.variant import Variant

Hands = Sequence[Sequence[Card | None]]
KnownCard = tuple[Seat, int, Card]
"""A seat, one of its slots, and the card that it holds there."""

# rules.md 8.7: six seats, each against the one opposite
_DUELLISTS = 6
_DUEL_STRIDE = _DUELLISTS // 2
# looked up once: a lookup in an Enum is costly in the engine's loops
_COVER = Kind.COVER
_SHORT_COUNT = 1
_COUNTS = (CARDS_EACH, _SHORT_COUNT)
_TOO_CLOSE = 1
"""A side that is this many points short of the target rules out a short deal."""


def waiting_hand(
    variant: Variant, *, seats: int, dealer: Seat, score: tuple[Score, Score], number: int
) -> Hand:
    """Return a hand without cards: at the cut if the variant has one, else at the deal."""
    eldest = seat_after(dealer, seats)
    row = TrickRow(eldest, duel_stride(variant, seats, score, number), eldest, eldest, (), (), None, ())
    phase = HandPhase.CUT if variant.short_deal else HandPhase.DEAL
    # settled before the deal: the deals of a blind hand seal no box (specification.md, "Blind hands")
    dealt = _nothing_dealt(CARDS_EACH, blind=variant.blind and stakes.decides_game(variant, score))
    bets = stakes.opening_bets(variant)
    return Hand(phase, dealt, row, bets, (), None, NO_CONTESTS, NO_ORDERS, ())


def _nothing_dealt(each: int, *, blind: bool) -> HandCards:
    return HandCards(each, taken=0, redeals=0, thrown=(), cards=(), up=(), shown=(), covered=(), blind=blind)


def cutter(match: Match) -> Seat:
    """Return the seat before the dealer."""
    # rules.md 2, "Cut and deal": left of the dealer, as play runs to the right; an opponent at every table
    return seat_after(match.dealer, match.seats, steps=match.seats - 1)


def cut_actions(match: Match, seat: Seat) -> tuple[Action, ...]:
    """Return cut and tap for the cutter."""
    return plain_actions(seat, Kind.CUT, Kind.TAP) if seat == cutter(match) else ()


def count_actions(match: Match, seat: Seat) -> tuple[Action, ...]:
    """Return the numbers of cards the dealer may deal."""
    return tuple(valued_action(seat, Kind.DEAL, count) for count in _COUNTS) if seat == match.dealer else ()


def cut(match: Match, action: Action) -> Step:
    """Cut, or tap: after a tap the dealer chooses, unless a side is one point short of the target."""
    if action.kind is Kind.CUT:
        return match.hand._replace(phase=HandPhase.DEAL), (CutMade(action.seat),)
    # rules.md 2, "Cut and deal": near the target three cards are dealt whatever was cut or tapped
    offered = max(score.points for score in match.score) < match.variant.scoring.target - _TOO_CLOSE
    return match.hand._replace(phase=HandPhase.COUNT if offered else HandPhase.DEAL), (Tapped(action.seat),)


def choose_count(match: Match, action: Action) -> Step:
    """Set how many cards each seat gets."""
    count = _SHORT_COUNT if action.value == _SHORT_COUNT else CARDS_EACH
    dealt = _nothing_dealt(count, blind=match.hand.dealt.blind)
    return match.hand._replace(phase=HandPhase.DEAL, dealt=dealt), (CardCountChosen(action.seat, count),)


def deal_cards(match: Match, hands: Hands, turn: Sequence[Card]) -> Step:
    """Give every seat its cards and begin what comes before the lead.

    Raises:
        MatchError: The hand does not wait for cards.
        CardError: A wrong number of cards, or a card that is not in the pack or comes twice.
    """
    hand = match.hand
    if hand.phase is not HandPhase.DEAL:
        raise MatchError(f"expected a hand that waits for cards, got one in phase {hand.phase.name.lower()}")
    _check(match, hands, turn)
    dealt = _dealt(match, hands, turn)
    old = hand.row
    left = (tuple(range(dealt.each)),) * match.seats
    row = TrickRow(old.eldest, old.stride, old.leader, old.leader, (), (), None, left)
    told = (Dealt(dealt.each), *map(TurnedUp, dealt.up), *duel_begun(row, match.seats))
    with_cards = Hand(
        HandPhase.REDEAL, dealt, row, hand.bets, (), None, hand.contests, hand.orders, hand.earlier_duels
    )
    if may_redeal(match, dealt):
        return with_cards, told
    begun, further = stakes.begin_play(match, with_cards)
    return begun, (*told, *further)


def _dealt(match: Match, hands: Hands, turn: Sequence[Card]) -> HandCards:
    before = match.hand.dealt
    taken = before.taken + match.seats * before.each + len(turn)
    return before._replace(taken=taken, cards=tuple(map(tuple, hands)), up=tuple(turn) or before.up)


def _check(match: Match, hands: Hands, turn: Sequence[Card]) -> None:
    pack, count = match.variant.pack, match.hand.dealt.each
    if len(hands) != match.seats or any(len(cards) != count for cards in hands):
        sizes = [len(cards) for cards in hands]
        raise CardError(f"expected {count} cards for each of {match.seats} seats, got {sizes}")
    expected = 0 if match.hand.dealt.redeals else match.variant.turn_count
    if len(turn) != expected:
        raise CardError(f"expected {expected} cards to be turned up, got {len(turn)}")
    # rules.md 3: new cards come from the rest of the pack, so that none thrown in comes back
    seen = set(match.hand.dealt.thrown)
    for card in (card for cards in (turn, *hands) for card in cards if card is not None):
        if not 0 <= card < len(pack):
            raise CardError(f"expected a card of 0 to {len(pack) - 1}, got {card}")
        if card in seen:
            raise CardError(f"expected every card once in a hand, got {pack[card]} again")
        seen.add(card)


def with_cards_known(match: Match, known: Iterable[KnownCard]) -> Hand:
    """Return the hand in which these cards are known to be in these slots.

    Raises:
        CardError: A slot holds another card, a card is elsewhere, or there is no such slot or card.
    """
    hand, pack = match.hand, match.variant.pack
    dealt = hand.dealt
    cards: Sequence[Sequence[Card | None]] = dealt.cards
    learnt: list[list[Card | None]] = []
    out: set[Card | None] = set()
    seats, each, size = len(cards), dealt.each, len(pack)
    for seat, slot, card in known:
        if not (0 <= seat < seats and 0 <= slot < each and 0 <= card < size):
            raise CardError(
                f"expected a slot and a card of this deal, got slot {slot} of seat {seat} and card {card}"
            )
        held = cards[seat][slot]
        if held == card:
            continue
        if held is not None:
            raise CardError(f"expected {pack[held]} in slot {slot} of seat {seat}, got {pack[card]}")
        # copied only for a card that is new here: a close opens every card, most of which were played
        if not learnt:
            cards = learnt = [list(mine) for mine in dealt.cards]
            out = {*dealt.thrown, *dealt.up, *chain.from_iterable(learnt)}
        if card in out:
            raise CardError(
                f"expected every card once in a hand, got {pack[card]} again in slot {slot} of seat {seat}"
            )
        learnt[seat][slot] = card
        out.add(card)
    return hand._replace(dealt=dealt._replace(cards=tuple(map(tuple, learnt)))) if learnt else hand


def with_known_card(match: Match, action: Action) -> Action:
    """Return the play of a card face down with the card in it, if that is known here; other actions unchanged."""
    if action.kind is not _COVER:
        return action
    # an act to play face down names only the slot; where the card is known, `legal` yields it by its card
    slot, cards = action.value, match.hand.dealt.cards
    if not isinstance(slot, int) or not 0 <= action.seat < len(cards):
        return action
    card = cards[action.seat][slot] if 0 <= slot < len(cards[action.seat]) else None
    return action if card is None else Action(action.seat, Kind.COVER, (card,))


def lowest_slot(match: Match, seat: Seat) -> int:
    """Return the lowest slot that `seat`, which has a card left, may play from."""
    # a ruling obeys an order too (specification.md, "Rulings")
    return orders.open_slots(match, seat)[0]


def is_blind(match: Match) -> bool:
    """Tell whether nobody sees a card of this hand before it is played."""
    return match.hand.dealt.blind


def may_redeal(match: Match, dealt: HandCards) -> bool:
    """Tell whether a redeal may be proposed over `dealt`: one more is allowed, and the pack can supply a whole deal."""
    rule = match.variant.redeal
    # rules.md 3: no redeal is proposed that the rest of the pack could not supply
    if rule is None or len(match.variant.pack) - dealt.taken < match.seats * dealt.each:
        return False
    return rule.max == "pack" or dealt.redeals < rule.max


def redeal_actions(match: Match, seat: Seat) -> tuple[Action, ...]:
    """Return stand and redeal for eldest."""
    is_eldest = seat == seat_after(match.dealer, match.seats)
    return plain_actions(seat, Kind.REDEAL, Kind.STAND) if is_eldest else ()


def redeal_answers(seat: Seat, question: RedealAsk) -> tuple[Action, ...]:
    """Return the answers of `seat`, if it is the one that is asked."""
    return yes_or_no(seat) if seat == question.waiting[0] else ()


def decide_redeal(match: Match, action: Action) -> Step:
    """Propose a redeal, or begin the play."""
    hand, seat = match.hand, action.seat
    if action.kind is Kind.STAND:
        begun, events = stakes.begin_play(match, hand)
        return begun, (Stood(seat), *events)
    question = RedealAsk(seat, _asked(match, seat))
    return hand._replace(offers=(question,)), (RedealProposed(seat),)


def _asked(match: Match, eldest: Seat) -> tuple[Seat, ...]:
    rule = match.variant.redeal
    # rules.md 3: all others are asked, in seat order; the dealer alone in the other games (rules.md 13.10)
    if rule is not None and rule.consent == "all":
        return seats_after(eldest, match.seats)[:-1]
    return (match.dealer,)


def answer_redeal(match: Match, action: Action, question: RedealAsk) -> Step:
    """Consent or refuse; one refusal ends it, the last consent grants it."""
    hand, seat = match.hand, action.seat
    if action.kind is Kind.DECLINE:
        begun, events = stakes.begin_play(match, hand)
        return begun, (RedealRefused(seat), *events)
    still = question.waiting[1:]
    if still:
        asked = RedealAsk(question.seat, still)
        return hand._replace(offers=(asked,)), (RedealAgreed(seat),)
    return hand._replace(phase=HandPhase.DEAL, dealt=_thrown_in(hand.dealt), offers=()), (
        RedealGranted(seat),
    )


def _thrown_in(dealt: HandCards) -> HandCards:
    # a reader keeps those that it knows; C25 deals the hand again with every card known
    known = tuple(card for cards in dealt.cards for card in cards if card is not None)
    return dealt._replace(redeals=dealt.redeals + 1, thrown=dealt.thrown + known, cards=())


def duel_stride(variant: Variant, seats: int, score: tuple[Score, Score], number: int) -> int:
    """Return the stride of a new deal: half the table if it is played as duels, else 1.

    Every other hand of a game is so played, if one side has enough points and neither has too many.
    """
    rule = variant.pica
    # rules.md 8.7: the first hand is an ordinary one, and duels that the score rules out count as a step too:
    # the number of the hand says whether they are due
    if rule is None or seats != _DUELLISTS or number % 2:
        return 1
    points = [side.points for side in score]
    return _DUEL_STRIDE if max(points) >= rule.min and max(points) <= rule.max else 1


def duel_begun(row: TrickRow, seats: int) -> tuple[Event, ...]:
    """Return the event with which a duel begins; none in an ordinary hand."""
    if row.stride == 1:
        return ()
    return (DuelBegun(row.eldest, seat_after(row.eldest, seats, steps=row.stride)),)


def next_duel(match: Match, hand: Hand, bets: Bets) -> Hand:
    """Return the hand in which the next pair begins; what the last pair must prove is kept."""
    row = hand.row
    # rules.md 8.7: the pairs play one after the other, eldest's first; each has its own stake and side bets
    eldest = Seat((row.eldest + 1) % match.seats)
    earlier_duels = (*hand.earlier_duels, (row.eldest, hand.contests))
    return hand._replace(
        phase=HandPhase.PLAY,
        row=TrickRow(eldest, row.stride, eldest, eldest, (), (), None, row.left),
        bets=bets,
        offers=(),
        winner=None,
        contests=NO_CONTESTS,
        earlier_duels=earlier_duels,
    )
