"""Turns: a card to the trick, a card with an ask, giving up; and what a card brings about."""

from . import ending, stake
from .actions import Action, ask_for, play_card
from .cards import Card
from .events import CardPlayed, Conceded, Event, TrickTied, TrickWon
from .seats import Seat, Side, other_side, seat_after, side_of
from .state import Bets, Dealt, Hand, Phase, Row, StakeAsk, Step
from .table import Match
from .tricks import Verdict, completed, verdict, with_card

PLAYING = Phase.PLAY
"""Looked up once: a lookup in an Enum is dear in the engine's loops."""


def may_play(match: Match, seat: Seat) -> bool:
    """Tell whether `seat` may put a card down: it is to act, and no offer is open but an ask that a card accepts."""
    hand = match.hand
    row = hand.row
    if hand.phase is not PLAYING or (row.leader + len(row.table)) % match.seats != seat:
        return False
    return not hand.offers or stake.accepted_by_card(match, seat, hand.offers[-1])


def turn_actions(match: Match, seat: Seat) -> tuple[Action, ...]:
    """Return what `seat` may do with no offer open: asks, and its cards, each alone and with every ask."""
    stakes = stake.asks(match, seat)
    found = [ask_for(seat, asked) for asked in stakes]
    if may_play(match, seat):
        found += _with_cards(match, seat, stakes if match.variant.ask_window == "ba" else ())
    return tuple(found)


def accepting_cards(match: Match, seat: Seat) -> tuple[Action, ...]:
    """Return the cards with which `seat` accepts the open offer; a card with an ask is no answer."""
    # rules.md 2: `play(card, ask)` is a move of a turn without an open ask
    return tuple(_with_cards(match, seat, ())) if may_play(match, seat) else ()


def _with_cards(match: Match, seat: Seat, stakes: tuple[int | str, ...]) -> list[Action]:
    dealt = match.hand.dealt
    held = dealt.cards[seat]
    cards = [card for slot in dealt.left[seat] if (card := held[slot]) is not None]
    alone = [play_card(seat, card, None) for card in cards]
    if not stakes:
        return alone
    open_after = [card for card in cards if not _ends_hand(match, seat, card)]
    return alone + [play_card(seat, card, asked) for card in open_after for asked in stakes]


def allows(match: Match, action: Action) -> bool:
    """Tell whether `action`, the play of a card, is among `card_actions`, without building them all."""
    seat, dealt = action.seat, match.hand.dealt
    if len(action.cards) != 1 or not may_play(match, seat):
        return False
    card, held = action.cards[0], dealt.cards[seat]
    if card is None or card not in held or held.index(card) not in dealt.left[seat]:
        return False
    if action.value is None:
        return True
    if match.variant.ask_window != "ba" or match.hand.offers:
        return False
    return action.value in stake.asks(match, seat) and not _ends_hand(match, seat, card)


def _ends_hand(match: Match, seat: Seat, card: Card) -> bool:
    hand = match.hand
    if len(hand.row.table) < match.seats - 1 or (not hand.row.tricks and hand.dealt.each > 1):
        return False
    trick, _ = completed(match.variant, with_card(hand.row, seat, card), match.seats)
    return _verdict(match, trick.side) != "open"


def _verdict(match: Match, side: Side | None) -> Verdict:
    hand = match.hand
    winners = [*(trick.side for trick in hand.row.tricks), side]
    return verdict(match.variant, winners, hand.dealt.each)


def play(match: Match, action: Action) -> Step:
    """Play a card; with an ask open this accepts it first, and with a stake named it asks for that afterwards."""
    accepted: tuple[Event, ...] = ()
    hand = match.hand
    if hand.offers and isinstance(hand.offers[-1], StakeAsk):
        hand, accepted = stake.accept(match, action.seat, hand.offers[-1])
    hand, events = _put_down(match, hand, action)
    if action.value is not None:
        hand, asked = stake.ask(hand, action.seat, action.value)
        events += asked
    return hand, accepted + events


def _put_down(match: Match, hand: Hand, action: Action) -> Step:
    seat, (card,) = action.seat, action.cards
    dealt = _without(hand.dealt, seat, card)
    row = with_card(hand.row, seat, card)
    played = CardPlayed(seat, card)
    if len(row.table) < match.seats:
        return Hand(hand.phase, dealt, row, _next_turn(hand.bets, seat, None), (), None), (played,)
    trick, leader = completed(match.variant, row, match.seats)
    over = _verdict(match, trick.side)
    next_row = Row(leader, (), (*row.tricks, trick), seat)
    done = Hand(hand.phase, dealt, next_row, _next_turn(hand.bets, seat, leader), (), None)
    told = TrickTied(leader) if trick.side is None else TrickWon(trick.side, leader)
    done, ended = _settled(match, done, over)
    return done, (played, told, *ended)


def _without(dealt: Dealt, seat: Seat, card: Card) -> Dealt:
    slot = dealt.cards[seat].index(card)
    left, mine = dealt.left, dealt.left[seat]
    place = mine.index(slot)
    left = (*left[:seat], mine[:place] + mine[place + 1 :], *left[seat + 1 :])
    return Dealt(dealt.each, dealt.taken, dealt.redeals, dealt.thrown, dealt.cards, left)


def _next_turn(bets: Bets, seat: Seat, leader: Seat | None) -> Bets:
    """Forget the offers of past turns; that of `seat` counts after its card too, unless it leads the next trick."""
    if not bets.offered:
        return bets
    kept = (seat,) if seat in bets.offered and seat != leader else ()
    return Bets(bets.stake, bets.locked, bets.right, kept)


def _settled(match: Match, hand: Hand, over: Verdict) -> Step:
    match over:
        case "open":
            return hand, ()
        case "tied" if match.variant.all_tied == "draw":
            return ending.drawn(hand)
        case "tied":
            # rules.md 1.5: eldest is never of the dealer's side
            side = side_of(seat_after(match.dealer, match.seats))
        case _:
            side = over
    return ending.won(match, hand, side, points=hand.bets.stake, reason=ending.AWARD_HAND)


def concede(match: Match, seat: Seat) -> Step:
    """Give the hand up for one's side."""
    hand = match.hand
    side = other_side(side_of(seat))
    over, events = ending.won(match, hand, side, points=hand.bets.stake, reason=ending.AWARD_CONCEDED)
    return over, (Conceded(seat), *events)
