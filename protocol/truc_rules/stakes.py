"""The main stake: ask, accept, decline, ask again; and the question to a side at its last point.

One machine for every system of rules.md 1.6. An ask is an offer on the stack; while it is open nobody plays a card,
except to accept it implicitly. Declining pays the stake before the ask. A side at its last point (rules.md 2, "Eleven
points") plays for a raised stake, or declines.
"""

from functools import cache, lru_cache
from typing import assert_never

from truc_rules.positions.actions import REST, TRUT, Action, Kind, valued_action, yes_or_no
from truc_rules.positions.events import (
    Event,
    GameStaked,
    LastPointAsked,
    LastPointDeclined,
    LastPointTaken,
    PlayedBlind,
    StakeAccepted,
    StakeAsked,
    StakeDeclined,
)
from truc_rules.positions.match import (
    Bets,
    Hand,
    HandPhase,
    LastPointAsk,
    Match,
    Offer,
    Score,
    StakeAsk,
    Step,
    governor,
)
from truc_rules.scoring import AWARD_DECLINED, hand_won
from truc_rules.seats import SIDES, Seat, Side, opponents_from, other_side, side_after, side_of
from truc_rules.variants.variant import Ladder, Variant

# looked up once: a lookup in an Enum is costly in the engine's loops
_PLAYING = HandPhase.PLAY


def opening_bets(variant: Variant) -> Bets:
    """Return the stake of a hand in which nobody has asked."""
    return Bets(variant.base_stake, locked=None, right=SIDES, offered=())


def is_ask_moment(match: Match, seat: Seat) -> bool:
    """Tell whether `seat` is to act, or has just played and may still ask after its card."""
    row = match.hand.row
    return row.to_act == seat or (match.variant.ask_window == "ba" and row.last == seat)


def stakes_open(match: Match, bets: Bets, side: Side) -> tuple[int | str, ...]:
    """Return every stake that `side` may ask for over `bets`, the remainder last, whatever the moment."""
    return _stakes_over(match, bets.stake, side) if side in bets.right else ()


def _stakes_over(match: Match, stake: int, side: Side) -> tuple[int | str, ...]:
    variant = match.variant
    limit = variant.scoring.target if variant.cap == "target" else _highest_by_number(match, stake, side)
    return _ladder_steps(variant.ladder, variant.remainder, stake, limit)


def _highest_by_number(match: Match, stake: int, side: Side) -> int:
    """Return the highest stake that `side` may ask for by number, where the target is not the only bound."""
    target = match.variant.scoring.target
    # rules.md 4, "Cap": the stake may not take the leading side beyond the target
    if match.variant.cap == "strict":
        return target - max(match.score[0].points, match.score[1].points)
    # no_overkill, rules.md 13b.9: nothing above the stake for a side that already wins the game with it
    return stake if match.score[side].points + stake >= target else target


@lru_cache(maxsize=4096)
def _ladder_steps(ladder: Ladder, remainder: str, stake: int, limit: int) -> tuple[int | str, ...]:
    match ladder:
        case "trut":
            return (TRUT,)
        case "any":
            steps = list(range(stake + 1, limit + 1))
        case "game":
            steps = []
        case "x2":
            steps = [2 * stake]
        # rules.md 5: from 1 to 2, then two more each time
        case "+2":
            steps = [stake + 2 if stake > 1 else 2]
        # rules.md 18.3: one step at a time
        case rungs:
            steps = [rung for rung in rungs if rung > stake][:1]
    by_number = [step for step in steps if step <= limit]
    # rules.md 18.3, 19.3: with "last" the whole game is the rung above the numbers
    if remainder == "none" or (remainder == "last" and by_number):
        return tuple(by_number)
    return (*by_number, REST)


def askable_stakes(match: Match, seat: Seat) -> tuple[int | str, ...]:
    """Return the stakes `seat` may ask for now, with no offer open."""
    return turn_stakes(match, seat) if is_ask_moment(match, seat) else ()


def turn_stakes(match: Match, seat: Seat) -> tuple[int | str, ...]:
    """Return the stakes `seat` may ask for on its turn; none if it has already made its one offer of the turn."""
    bets, side = match.hand.bets, SIDES[seat % 2]
    may_ask = side in bets.right and seat not in bets.offered
    return _stakes_over(match, bets.stake, side) if may_ask else ()


@cache
def ask_actions(seat: Seat, stakes: tuple[int | str, ...]) -> tuple[Action, ...]:
    """Return the asks of `seat` for each of these stakes; built once."""
    return tuple(valued_action(seat, Kind.RAISE, stake) for stake in stakes)


def answerers(match: Match, ask: StakeAsk) -> tuple[Seat, ...]:
    """Return the seats that may answer `ask`, in order of play after the asker; one where governors answer."""
    if match.variant.answerer == "governor":
        return (governor(match, other_side(ask.side)),)
    return opponents_from(ask.seat, match.hand.row.stride, match.seats)


def answers(match: Match, seat: Seat, ask: StakeAsk) -> tuple[Action, ...]:
    """Return the answers of `seat` to `ask`, except the cards that accept it."""
    if seat not in answerers(match, ask):
        return ()
    found = yes_or_no(seat)
    # rules.md 5, "Mon reste": taken by saying it too, never by a plain yes
    if ask.stake == REST and match.variant.remainder == "counter":
        return valued_action(seat, Kind.RAISE, REST), found[1]
    if isinstance(ask.stake, str):
        return found
    # the side that accepts has the right to ask, unless there is only one ask
    if not match.variant.raise_in_answer or match.variant.alternate == "once":
        return found
    higher = _stakes_over(match, ask.stake, side_of(seat))
    return (*found, *ask_actions(seat, higher))


def accepted_by_card(match: Match, seat: Seat, offer: Offer) -> bool:
    """Tell whether a card played by `seat`, which is to act, accepts `offer`."""
    if match.variant.accept == "explicit" or not isinstance(offer, StakeAsk):
        return False
    return seat in answerers(match, offer)


def ask(hand: Hand, seat: Seat, stake: int | str) -> Step:
    """Open an ask by `seat`, its only one of the turn."""
    bets = hand.bets
    # rules.md 4, 13b.7: one offer a turn, or a seat could ask on and on before one card
    return _ask(hand, Bets(bets.stake, bets.locked, bets.right, (*bets.offered, seat)), seat, stake)


def _ask(hand: Hand, bets: Bets, seat: Seat, stake: int | str) -> Step:
    offers = (*hand.offers, StakeAsk(seat, side_of(seat), stake))
    rest = (None, hand.contests, hand.orders, hand.earlier_duels)
    return Hand(hand.phase, hand.dealt, hand.row, bets, offers, *rest), (StakeAsked(seat, stake),)


def answer(match: Match, action: Action, open_ask: StakeAsk) -> Step:
    """Accept `open_ask`, decline it, or accept it and ask again."""
    seat = action.seat
    if action.kind is Kind.DECLINE:
        return _decline(match, seat, open_ask)
    hand, events = accept(match, seat, open_ask)
    # rules.md 1.7: to ask for the remainder against an ask for it is to take it.
    # An answer is not the one offer of a seat's turn, so that `offered` stays as it is.
    if action.value is not None and open_ask.stake != REST:
        hand, asked = _ask(hand, hand.bets, seat, action.value)
        events += asked
    return hand, events


def accept(match: Match, seat: Seat, open_ask: StakeAsk) -> Step:
    """Make the stake asked for the stake of the hand."""
    hand = match.hand
    bets = _accepted(match, open_ask)
    rest = (None, hand.contests, hand.orders, hand.earlier_duels)
    accepted = Hand(hand.phase, hand.dealt, hand.row, bets, hand.offers[:-1], *rest)
    return accepted, (StakeAccepted(seat, open_ask.stake),)


def _accepted(match: Match, open_ask: StakeAsk) -> Bets:
    bets = match.hand.bets
    if isinstance(open_ask.stake, str):
        return Bets(bets.stake, locked=open_ask.stake, right=(), offered=bets.offered)
    match match.variant.alternate:
        case "yes":
            right: tuple[Side, ...] = (other_side(open_ask.side),)
        case "once":
            right = ()
        case "no":
            right = SIDES
        case _:
            assert_never(match.variant.alternate)
    return Bets(open_ask.stake, locked=None, right=right, offered=bets.offered)


def _decline(match: Match, seat: Seat, open_ask: StakeAsk) -> Step:
    hand = match.hand
    # rules.md 1.6: the stake before the ask, in every game
    over, events = hand_won(match, hand, open_ask.side, points=hand.bets.stake, reason=AWARD_DECLINED)
    return over, (StakeDeclined(seat), *events)


def begin_play(match: Match, hand: Hand) -> Step:
    """Begin the play: ask the side that is at its last point, or let the hand decide the game if both are."""
    rule, bets = match.variant.last_point, hand.bets
    at_last = _sides_at_last_point(match.variant, match.score)
    offers: tuple[Offer, ...] = ()
    told: tuple[Event, ...] = ()
    # rules.md 2, "Eleven points": with both sides there nobody is asked, and nobody can bet
    if len(at_last) == len(SIDES):
        bets = Bets(bets.stake, locked=REST, right=(), offered=())
        told = (GameStaked(), PlayedBlind()) if hand.dealt.blind else (GameStaked(),)
    elif rule is not None and at_last:
        offers = (LastPointAsk(at_last[0], rule.stake, rule.decline),)
        told = (LastPointAsked(at_last[0]),)
    rest = (None, hand.contests, hand.orders, hand.earlier_duels)
    return Hand(HandPhase.PLAY, hand.dealt, hand.row, bets, offers, *rest), told


def decides_game(variant: Variant, score: tuple[Score, Score]) -> bool:
    """Tell whether both sides are at their last point."""
    return len(_sides_at_last_point(variant, score)) == len(SIDES)


def _sides_at_last_point(variant: Variant, score: tuple[Score, Score]) -> tuple[Side, ...]:
    rule = variant.last_point
    if rule is None:
        return ()
    least = variant.scoring.target - rule.at
    return tuple(side for side in SIDES if score[side].points >= least)


def last_point_deciders(match: Match, question: LastPointAsk) -> tuple[Seat, ...]:
    """Return the seats that may answer, in order of play after the dealer."""
    return side_after(match.dealer, question.side, match.seats)


def last_point_answers(seat: Seat, question: LastPointAsk) -> tuple[Action, ...]:
    """Return the answers of `seat`."""
    return yes_or_no(seat) if side_of(seat) == question.side else ()


def answer_last_point(match: Match, action: Action, question: LastPointAsk) -> Step:
    """Play for the raised stake without betting, or pay for declining."""
    hand, seat = match.hand, action.seat
    if action.kind is Kind.ACCEPT:
        # rules.md 2, 9: no betting in such a hand
        bets = Bets(question.stake, locked=None, right=(), offered=())
        return hand._replace(bets=bets, offers=()), (LastPointTaken(seat, question.stake),)
    side = other_side(question.side)
    over, events = hand_won(match, hand, side, points=question.decline, reason=AWARD_DECLINED)
    return over, (LastPointDeclined(seat), *events)


def owed_shares(match: Match) -> tuple[tuple[Seat, Seat], ...]:
    """Return, right after the deal, pairs of a seat and the partner who must be shown its cards, ascending."""
    rule = match.variant.last_point
    if rule is None or not rule.share:
        return ()
    offers = match.hand.offers
    if not offers or not isinstance(offers[-1], LastPointAsk):
        return ()
    # ascending, as the records have to stand (specification.md, "Shares")
    asked = sorted(last_point_deciders(match, offers[-1]))
    return tuple((giver, taker) for giver in asked for taker in asked if giver != taker)
