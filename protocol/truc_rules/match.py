"""The match: hands, games and the score around them, and the door through which every action comes.

`apply` refuses exactly what `legal` does not yield. Points change only through the PointsScored events of a hand.
"""

from collections.abc import Sequence

from . import deals, lastpoint, predeal, refusals, stake
from . import hand as hands
from .actions import Action
from .cards import Card
from .errors import MatchError
from .events import Event, GameWon, MatchWon, PointsScored
from .seats import SIDES, Seat, Side, seat_after
from .state import Hand, Phase, Step
from .table import Match, Score
from .variant import Variant

Outcome = tuple[Match, tuple[Event, ...]]

_NOTHING = Score(0, 0)


def new_match(
    variant: Variant,
    *,
    seats: int,
    dealer: Seat,
    score: tuple[Score, Score] = (_NOTHING, _NOTHING),
    games: tuple[int, int] = (0, 0),
) -> Match:
    """Return a match before its next hand: at the cut, or waiting for cards.

    Raises:
        MatchError: The variant is not played with so many seats, or the score belongs to a match that is over.
    """
    if seats not in variant.players:
        raise MatchError(f"seats: expected one of {variant.players} for {variant.name}, got {seats}")
    if not 0 <= dealer < seats:
        raise MatchError(f"dealer: expected a seat of 0 to {seats - 1}, got {dealer}")
    if max(games) >= variant.games_to_win or min(games) < 0:
        raise MatchError(f"games: expected less than {variant.games_to_win} each, got {games}")
    level = variant.scoring.end_check == "hand_end" and score[0].points == score[1].points
    if min(side.points for side in score) < 0 or (
        max(side.points for side in score) >= variant.scoring.target and not level
    ):
        raise MatchError(f"score: expected less than {variant.scoring.target} each, got {score}")
    return _begun(variant, seats, dealer, games, score)


def _begun(
    variant: Variant, seats: int, dealer: Seat, games: tuple[int, int], score: tuple[Score, Score]
) -> Match:
    hand = predeal.waiting_hand(variant, seats, dealer, stake.opening_bets(variant))
    return Match(variant, seats, dealer, games, score, hand, None, None)


def next_hand(match: Match) -> Match:
    """Return the match before its next hand: the deal passes on, a won game leaves no points behind.

    Raises:
        MatchError: The hand is not over, or the match is won.
    """
    if match.hand.phase is not Phase.OVER or match.winner is not None:
        raise MatchError("expected a match that goes on after a hand that is over")
    score = match.score if match.game_winner is None else (_NOTHING, _NOTHING)
    return _begun(match.variant, match.seats, seat_after(match.dealer, match.seats), match.games, score)


def deciders(match: Match) -> tuple[Seat, ...]:
    """Return the seats that hold the decision the hand waits for; the first to be ruled for comes first."""
    return hands.deciders(match)


def legal(match: Match, seat: Seat) -> tuple[Action, ...]:
    """Return every action open to `seat`, in a fixed order."""
    return hands.legal(match, seat)


def apply(match: Match, action: Action) -> Outcome:
    """Carry out `action`.

    Raises:
        IllegalActionError: `legal` does not yield it; `match` is as it was.
    """
    if not hands.allows(match, action):
        raise refusals.refusal(match, action)
    return carry_out(match, hands.step(match, action))


def carry_out(match: Match, step: Step) -> Outcome:
    """Put a hand's step into the match: count the points, and see whether game and match are won."""
    hand, events = step
    over = hand.phase is Phase.OVER
    score = _scored(match.score, events) if over else match.score
    winner = _game_winner(match.variant, hand, score) if over else None
    if winner is None:
        return Match(match.variant, match.seats, match.dealer, match.games, score, hand, None, None), events
    games = (match.games[0] + (winner == 0), match.games[1] + (winner == 1))
    champion = winner if games[winner] >= match.variant.games_to_win else None
    told = (GameWon(winner),) if champion is None else (GameWon(winner), MatchWon(champion))
    won = Match(match.variant, match.seats, match.dealer, games, score, hand, winner, champion)
    return won, (*events, *told)


def _scored(score: tuple[Score, Score], events: Sequence[Event]) -> tuple[Score, Score]:
    points = [score[0].points, score[1].points]
    for event in events:
        if isinstance(event, PointsScored):
            points[event.side] += event.points
    return Score(score[0].upper, points[0]), Score(score[1].upper, points[1])


def _game_winner(variant: Variant, hand: Hand, score: tuple[Score, Score]) -> Side | None:
    if hand.bets.locked:
        return hand.winner
    best = max(SIDES, key=lambda side: score[side].points)
    if score[best].points < variant.scoring.target or score[0].points == score[1].points:
        return None
    return best


def awaits_deal(match: Match) -> bool:
    """Tell whether the hand waits for cards."""
    return match.hand.phase is Phase.DEAL


def hand_over(match: Match) -> bool:
    """Tell whether the hand is over."""
    return match.hand.phase is Phase.OVER


def deal(match: Match, cards: deals.Hands, turn: Sequence[Card] = ()) -> Outcome:
    """Give every seat its cards, by slot; None for a card that is unknown here.

    Raises:
        MatchError: The hand does not wait for cards.
        CardError: A wrong number of cards, or a card that is not in the pack or comes twice.
    """
    return carry_out(match, deals.deal_cards(match, cards, turn))


def know(match: Match, seat: Seat, slot: int, card: Card) -> Match:
    """Return the match in which it is known that `seat` holds `card` in `slot`.

    Raises:
        CardError: Another card stands there, or `card` stands elsewhere.
    """
    hand = deals.with_card_known(match, seat, slot, card)
    return Match(*match[:5], hand, match.game_winner, match.winner)


def owed_shares(match: Match) -> tuple[tuple[Seat, Seat], ...]:
    """Return, right after the deal, whose cards (first) must be shown to which partner (second), ascending."""
    return lastpoint.shares(match)
