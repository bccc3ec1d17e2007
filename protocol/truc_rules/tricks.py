"""A turn: a card, face up, covered or unseen, with an ask or without, or the hand given up; and whose trick it is.

The rule of rules.md 1.5: two tricks win the hand; once a trick is tied, the first that is not. Play stops as soon as
the result is known. What an ask means for the stake is in stakes.py.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Literal

from truc_rules import orders, stakes
from truc_rules.cards import COVERED, Card
from truc_rules.contests.envido import fold_bonus
from truc_rules.errors import CardError
from truc_rules.positions.actions import PLAIN_PLAYS, Action, Kind, card_action, valued_action
from truc_rules.positions.events import CardCovered, Conceded, Event, card_played, trick_told
from truc_rules.positions.match import (
    NO_ORDERS,
    Bets,
    Hand,
    HandCards,
    HandPhase,
    Match,
    StakeAsk,
    Step,
    Trick,
    TrickRow,
    governor,
    players,
)
from truc_rules.scoring import AWARD_CONCEDED, AWARD_HAND, hand_drawn, hand_won
from truc_rules.seats import Seat, Side, other_side, side_of
from truc_rules.variants.variant import Variant

HandResult = Side | Literal["open", "tied"]

_TRICKS_TO_WIN = 2


def trick_result(
    variant: Variant,
    strengths: Sequence[int],
    table: Sequence[Card],
    *,
    leader: Seat,
    stride: int,
    seats: int,
) -> tuple[Side | None, Seat]:
    """Return who takes the trick whose cards lie on the table, None if it is tied, and who leads the next."""
    strength = [strengths[card] for card in table]
    top = max(strength)
    first = strength.index(top)
    if strength.count(top) == 1:
        winner = Seat((leader + first * stride) % seats)
        return side_of(winner), winner
    best = [
        Seat((leader + place * stride) % seats)
        for place in range(first, len(table))
        if strength[place] == top
    ]
    sides = {side_of(seat) for seat in best}
    # rules.md 6.3: equal cards of partners take the trick only if the first of them was led; rules.md 7: the
    # last to play a tying card is the spoiler
    if len(sides) > 1 or (first > 0 and variant.partner_tie == "leader_only"):
        return None, best[-1] if variant.tie_leader == "spoiler" else leader
    # rules.md 1.4: of equal partners the one who played earlier leads next
    return side_of(best[0]), best[0]


@cache
def hand_result(hand_rule: str, winners: tuple[Side | None, ...], count: int) -> HandResult:
    """Return who has won the hand after tricks with these winners, of at most `count`; "tied" if nobody has."""
    if hand_rule == "put":
        return _put_result(winners, count)
    won = [side for side in winners if side is not None]
    tied = len(won) < len(winners)
    # rules.md 1.5: once a trick is tied, the first that is not decides, be it before or after the tie
    if won and (tied or len(winners) == count):
        return won[0] if tied or count < _TRICKS_TO_WIN else _majority(won)
    if len(won) == _TRICKS_TO_WIN and won[0] == won[1]:
        return won[0]
    return "tied" if len(winners) == count else "open"


def _majority(won: Sequence[Side]) -> Side:
    return won[0] if won.count(won[0]) >= _TRICKS_TO_WIN else won[1]


def _put_result(winners: Sequence[Side | None], count: int) -> HandResult:
    # rules.md 1.5, "Put rule": a tie decides nothing; of three tricks the most win, and equally many draw
    ours, theirs = winners.count(Side(0)), winners.count(Side(1))
    if len(winners) < count and max(ours, theirs) < _TRICKS_TO_WIN:
        return "open"
    if ours == theirs:
        return "tied"
    return Side(0) if ours > theirs else Side(1)


# looked up once: a lookup in an Enum is costly in the engine's loops
PLAYING = HandPhase.PLAY
_PLAY, _COVER, _BLIND = Kind.PLAY, Kind.COVER, Kind.BLIND
# builds a NamedTuple without calling its constructor
_new = tuple.__new__


def may_play(match: Match, seat: Seat) -> bool:
    """Tell whether `seat` may put a card down: it is to act, and no offer is open except an ask that a card accepts."""
    hand = match.hand
    if hand.phase is not PLAYING or hand.row.to_act != seat:
        return False
    return not hand.offers or stakes.accepted_by_card(match, seat, hand.offers[-1])


def turn_actions(match: Match, seat: Seat) -> list[Action]:
    """Return what `seat` may do with no offer open: asks, and its cards, each alone and with every ask."""
    row, asks_after = match.hand.row, match.variant.ask_window == "ba"
    is_to_act = row.to_act == seat
    if not is_to_act and not (asks_after and row.last == seat):
        return []
    raises = stakes.turn_stakes(match, seat)
    found = [*stakes.ask_actions(seat, raises)] if raises else []
    if is_to_act:
        found += _with_cards(match, seat, raises if asks_after else ())
    return found


def accepting_cards(match: Match, seat: Seat) -> list[Action]:
    """Return the cards with which `seat` accepts the open offer; a card with an ask is no answer."""
    # rules.md 2: `play(card, ask)` is a move of a turn without an open ask
    return _with_cards(match, seat, ()) if may_play(match, seat) else []


def _with_cards(match: Match, seat: Seat, raises: tuple[int | str, ...]) -> list[Action]:
    hand, plain = match.hand, PLAIN_PLAYS[seat]
    dealt = hand.dealt
    held = dealt.cards[seat]
    slots = hand.row.left[seat] if hand.orders is NO_ORDERS else orders.open_slots(match, seat)
    # slots instead of cards, which nobody has seen; and there is no betting in such a hand (rules.md 9)
    if dealt.blind:
        return [valued_action(seat, _BLIND, slot) for slot in slots]
    found = [plain[card] for slot in slots if (card := held[slot]) is not None]
    # a card unknown here is offered by its slot, which is all that an act to cover names
    if match.variant.cover_from_trick and _may_cover(match):
        found += [
            valued_action(seat, _COVER, slot)
            if (card := held[slot]) is None
            else card_action(seat, _COVER, card)
            for slot in slots
        ]
    if raises:
        cards = [card for slot in slots if (card := held[slot]) is not None]
        # rules.md 2, "Turn": no ask after the card that decided the hand
        if _may_end_hand(match):
            cards = [card for card in cards if not _ends_hand(match, card)]
        found += [card_action(seat, _PLAY, card, asked) for card in cards for asked in raises]
    return found


def _may_cover(match: Match) -> bool:
    """Tell whether a card may be played face down in this trick (rules.md 9)."""
    first = match.variant.cover_from_trick
    return 0 < first <= len(match.hand.row.tricks) + 1


def allows(match: Match, action: Action) -> bool:
    """Tell whether `action`, the play of a card, is among the legal ones, without building them all."""
    seat, hand = action.seat, match.hand
    if action.kind is not _PLAY:
        return may_play(match, seat) and action in _with_cards(match, seat, ())
    if len(action.cards) != 1 or hand.dealt.blind or not may_play(match, seat):
        return False
    card, held = action.cards[0], hand.dealt.cards[seat]
    slots = hand.row.left[seat] if hand.orders is NO_ORDERS else orders.open_slots(match, seat)
    # None in `held` is an unknown card, which cannot be played
    if card is None or card not in held or held.index(card) not in slots:
        return False
    if action.value is None:
        return True
    if match.variant.ask_window != "ba" or hand.offers:
        return False
    ends = _may_end_hand(match) and _ends_hand(match, card)
    return not ends and action.value in stakes.turn_stakes(match, seat)


def _may_end_hand(match: Match) -> bool:
    """Tell whether the next card completes a trick that may decide the hand."""
    hand = match.hand
    row = hand.row
    last = (len(row.table) + 1) * row.stride == match.seats
    return last and (bool(row.tricks) or hand.dealt.each == 1)


def _ends_hand(match: Match, card: Card) -> bool:
    row = match.hand.row
    side, _ = _trick_result(match, (*row.table, card))
    return _hand_result(match, side) != "open"


def _trick_result(match: Match, table: tuple[Card, ...]) -> tuple[Side | None, Seat]:
    variant, row, up = match.variant, match.hand.row, match.hand.dealt.up
    strengths = variant.strengths_by_turn_up[up[0]] if up else variant.strengths
    return trick_result(variant, strengths, table, leader=row.leader, stride=row.stride, seats=match.seats)


def _hand_result(match: Match, side: Side | None) -> HandResult:
    hand = match.hand
    winners = (*[trick.side for trick in hand.row.tricks], side)
    return hand_result(match.variant.hand_rule, winners, hand.dealt.each)


def play(match: Match, action: Action) -> Step:
    """Play a card; this first accepts an open ask, and afterwards asks for a stake if one is named.

    Raises:
        CardError: A card to be played unseen is not known here yet.
    """
    hand = match.hand
    offer = hand.offers[-1] if hand.offers else None
    if isinstance(offer, StakeAsk):
        hand, accepted = stakes.accept(match, action.seat, offer)
        hand, events = _put_down(match, hand, action)
        return hand, accepted + events
    if action.value is None or action.kind is not _PLAY:
        return _put_down(match, hand, action)
    hand, events = _put_down(match, hand, action)
    hand, asked = stakes.ask(hand, action.seat, action.value)
    return hand, events + asked


def _put_down(match: Match, hand: Hand, action: Action) -> Step:
    # unpacked, as one field by its name costs a third as much as all of them: most moves are cards
    phase, dealt, row, bets, _, _, contests, standing, proven = hand
    eldest, stride, leader, _, table, tricks, _, left = row
    seat = action.seat
    slot, face = _face(dealt, action)
    left = _without(left, seat, slot)
    table = (*table, face)
    if standing is not NO_ORDERS:
        standing = orders.carried_out(match, seat)
    played: Event
    if face == COVERED:
        played, dealt = CardCovered(seat), dealt._replace(covered=(*dealt.covered, (seat, slot)))
    else:
        played = card_played(seat, face)
    if len(table) * stride < match.seats:
        to_act = (seat + stride) % match.seats
        row = _new(TrickRow, (eldest, stride, leader, to_act, table, tricks, seat, left))
        if bets.offered:
            bets = _next_turn(bets, seat, None)
        return _new(Hand, (phase, dealt, row, bets, (), None, contests, standing, proven)), (played,)
    side, leads = _trick_result(match, table)
    tricks = (*tricks, _new(Trick, (leader, table, side)))
    row = _new(TrickRow, (eldest, stride, leads, leads, (), tricks, seat, left))
    if bets.offered:
        bets = _next_turn(bets, seat, leads)
    done = _new(Hand, (phase, dealt, row, bets, (), None, contests, standing, proven))
    told = trick_told(side, leads)
    over = _hand_result(match, side)
    if over == "open":
        return done, (played, told)
    done, final = _decided(match, done, over)
    return done, (played, told, *final)


@lru_cache(maxsize=8192)
def _without(left: tuple[tuple[int, ...], ...], seat: Seat, slot: int) -> tuple[tuple[int, ...], ...]:
    """Return the slots that are left, by seat, after one was played."""
    mine = left[seat]
    at = mine.index(slot)
    return (*left[:seat], mine[:at] + mine[at + 1 :], *left[seat + 1 :])


def _face(dealt: HandCards, action: Action) -> tuple[int, Card]:
    """Return the slot that is played from, and the card as it then lies on the table."""
    held = dealt.cards[action.seat]
    if action.cards:
        card = action.cards[0]
        return held.index(card), COVERED if action.kind is _COVER else card
    slot = action.value if isinstance(action.value, int) else 0
    if action.kind is _COVER:
        return slot, COVERED
    seen = held[slot]
    if seen is None:
        raise CardError(
            f"expected the card in slot {slot} of seat {action.seat} to be known before it is played"
        )
    return slot, seen


def _next_turn(bets: Bets, seat: Seat, leader: Seat | None) -> Bets:
    """Forget the offers of past turns; that of `seat` still counts after its card, unless it leads the next trick."""
    kept = (seat,) if seat in bets.offered and seat != leader else ()
    return Bets(bets.stake, bets.locked, bets.right, kept)


def _decided(match: Match, hand: Hand, over: Side | Literal["tied"]) -> Step:
    if over == "tied":
        if match.variant.all_tied == "draw":
            return hand_drawn(match, hand)
        # rules.md 1.5: eldest is never of the dealer's side
        over = side_of(hand.row.eldest)
    return hand_won(match, hand, over, points=hand.bets.stake, reason=AWARD_HAND)


def may_concede(match: Match, seat: Seat) -> bool:
    """Tell whether `seat` may give the hand up, in the play or before it, without being asked; no offer may be open."""
    concede, hand = match.variant.concede, match.hand
    if concede == "vs_ask" or hand.offers:
        return False
    if concede == "on_turn":
        return hand.phase is PLAYING and hand.row.to_act == seat
    if concede == "any":
        # rules.md 8.7: in a duel only its two players act
        return hand.row.stride == 1 or seat in players(hand.row, match.seats)
    # rules.md 6.2: the governor alone, but at any time
    return governor(match, side_of(seat)) == seat


def concede(match: Match, seat: Seat) -> Step:
    """Give the hand up for one's side; while envido could still be called, its fold bonus is paid too."""
    hand = match.hand
    bonus = 0 if match.variant.envido is None else fold_bonus(match, seat)
    points = hand.bets.stake + bonus
    over, events = hand_won(match, hand, other_side(side_of(seat)), points=points, reason=AWARD_CONCEDED)
    return over, (Conceded(seat), *events)
