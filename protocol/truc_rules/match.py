"""The match: hands, games and the score around them, and the entry point of every action.

`apply` refuses exactly what `legal` does not yield. The score changes only through the events of a hand.
"""

from collections.abc import Collection, Iterable, Sequence

from truc_rules import deals, machines, refusals, stakes
from truc_rules.cards import Card
from truc_rules.contests import flor
from truc_rules.deals import Hands, KnownCard, deal_cards, with_cards_known
from truc_rules.errors import MatchError
from truc_rules.positions.actions import Action, Kind
from truc_rules.positions.events import Event, GameWon, MatchWon
from truc_rules.positions.match import (
    ContraflorAsk,
    FlorRound,
    Hand,
    HandPhase,
    Match,
    Saying,
    Score,
    Step,
)
from truc_rules.scoring import count_points, ended, more_duels
from truc_rules.seats import Seat, Side, seat_after
from truc_rules.variants.variant import Scoring, Variant

NextMatch = tuple[Match, tuple[Event, ...]]

_NOTHING = Score(0, 0)
# looked up once: a lookup in an Enum is costly in the engine's loops
_DEAL, _PLAY, _OVER = HandPhase.DEAL, HandPhase.PLAY, HandPhase.OVER
# builds a NamedTuple without calling its constructor: hands are played by the thousand
_new = tuple.__new__


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
        MatchError: The variant is not played with this many seats, or the score belongs to a match that is over.
    """
    if seats not in variant.players:
        raise MatchError(f"seats: expected one of {variant.players} for {variant.name}, got {seats}")
    if not 0 <= dealer < seats:
        raise MatchError(f"dealer: expected a seat of 0 to {seats - 1}, got {dealer}")
    if max(games) >= variant.games_to_win or min(games) < 0:
        raise MatchError(f"games: expected less than {variant.games_to_win} each, got {games}")
    if not _may_stand(variant.scoring, score):
        raise MatchError(f"score: expected less than {variant.scoring.target} each, got {score}")
    return _before_hand(variant, seats=seats, dealer=dealer, games=games, score=score, number=1)


def _may_stand(rule: Scoring, score: tuple[Score, Score]) -> bool:
    """Tell whether a game goes on at this score."""
    if min(min(side) for side in score) < 0 or (max(score).upper and not rule.points_per_unit):
        return False
    if rule.points_per_unit:
        below = max(side.points for side in score) < rule.points_per_unit
        return below and max(side.upper for side in score) < rule.target
    # rules.md 8.1: at the end of a hand equal scores decide nothing, even beyond the target
    level = rule.end_check == "hand_end" and score[0] == score[1]
    return level or max(side.points for side in score) < rule.target


def _before_hand(
    variant: Variant,
    *,
    seats: int,
    dealer: Seat,
    games: tuple[int, int],
    score: tuple[Score, Score],
    number: int,
) -> Match:
    hand = deals.waiting_hand(variant, seats=seats, dealer=dealer, score=score, number=number)
    return Match(variant, seats, dealer, games, score, number, hand, None, None)


def next_hand(match: Match) -> Match:
    """Return the match before its next hand: the deal passes on, and a won game leaves no points behind.

    Raises:
        MatchError: The hand is not over, or the match is won.
    """
    if match.hand.phase is not _OVER or match.winner is not None:
        raise MatchError("expected a match that goes on after a hand that is over")
    goes_on = match.game_winner is None
    score = match.score if goes_on else (_NOTHING, _NOTHING)
    return _before_hand(
        match.variant,
        seats=match.seats,
        # rules.md 13b.15: also between games
        dealer=seat_after(match.dealer, match.seats),
        games=match.games,
        score=score,
        number=match.hand_number + 1 if goes_on else 1,
    )


_newest_legal: dict[Seat, tuple[Match, tuple[Action, ...]]] = {}
"""By seat, the newest answer of `legal`, from which most actions are chosen: to look them up here, instead of going
through the machines again, makes playouts faster by a quarter."""


def legal(match: Match, seat: Seat) -> tuple[Action, ...]:
    """Return every action open to `seat`, in a fixed order."""
    found = machines.legal(match, seat)
    if match.variant.flor is not None and flor.waits_for_unknown(match):
        # not remembered: some of these are moves in the match after the round, which `apply` has to work out
        after, _ = without_unknown_flor(match)
        found = (*found, *(action for action in machines.legal(after, seat) if action not in found))
    elif found:
        _newest_legal[seat] = match, found
    return found


def surely_legal(match: Match, seat: Seat, awaited: Collection[int]) -> tuple[Match, tuple[Action, ...]]:
    """Return what `seat` may do whatever the cards are that it does not see, and the match as it then stands.

    `awaited` are the seats for which, as everybody is told, the hand waits.
    """
    if seat in awaited:
        # nobody else has a flor to declare first: a seat is not awaited before that is known (rules.md 13b.3)
        here, _ = without_unknown_flor(match)
        return here, _unclaimed(here, machines.legal(flor.without_unheard(here), seat))
    offer = match.hand.offers[-1] if match.hand.offers else None
    if seat in machines.deciders(match):
        # nobody else can tell that it is waited for
        is_hidden = isinstance(offer, FlorRound | ContraflorAsk)
        return match, machines.legal(match, seat) if is_hidden else ()
    if match.variant.flor is None or match.hand.phase is not _PLAY:
        return match, machines.legal(match, seat)
    # a flor not yet heard of may have ended the game, or others may hold one to be declared first
    is_open = isinstance(offer, FlorRound) or (isinstance(offer, Saying) and offer.contest is Kind.FLOR)
    is_sure = not is_open and bool(awaited) and tuple(awaited) == machines.deciders_in_view(match)
    return match, _unclaimed(match, machines.legal(match, seat)) if is_sure else ()


def _unclaimed(match: Match, actions: tuple[Action, ...]) -> tuple[Action, ...]:
    """Leave claims out once a flor was declared: those of others may have counted without a word, and are not claimed."""
    if not match.hand.contests.flores:
        return actions
    return tuple(action for action in actions if action.kind is not Kind.CLAIM)


def apply(match: Match, action: Action) -> NextMatch:
    """Carry out `action`.

    Raises:
        IllegalActionError: `legal` does not yield it; `match` is as it was.
    """
    seat = action.seat
    if seat in _newest_legal:
        # the same match, not an equal one: a match never changes, so what was legal in it still is
        of, offered = _newest_legal[seat]
        if of is match and action in offered:
            return carry_out(match, machines.step(match, action))
    step = machines.attempt(match, action)
    if step is not None:
        return carry_out(match, step)
    # to a reader without the cards a flor round is over as soon as somebody does something else
    # (specification.md, "Unknown cards")
    if flor.waits_for_unknown(match):
        after, told = without_unknown_flor(match)
        step = machines.attempt(after, action)
        if step is not None:
            done, events = carry_out(after, step)
            return done, told + events
    raise refusals.refusal(match, action)


def carry_out(match: Match, step: Step) -> NextMatch:
    """Put a hand's step into the match: count the points, and see whether game and match are won or a duel follows."""
    hand, events = step
    before = match.hand
    # within a hand only a side bet scores, and then the contests have changed
    # once it is over only cards are shown: game and match are as they were
    if before.phase is _OVER or (hand.phase is not _OVER and hand.contests is before.contests):
        return _with_hand(match, hand), events
    events, score, winner = count_points(match, hand, events)
    # before the next duel: one that ends the game ends the deal (rules.md 8.7)
    if winner is not None:
        return _game_won(match, hand, events, score, winner)
    if hand.phase is _OVER and more_duels(match, hand):
        hand = deals.next_duel(match, hand, stakes.opening_bets(match.variant))
        events = (*events, *deals.duel_begun(hand.row, match.seats))
    return match._replace(score=score, hand=hand), events


def _with_hand(match: Match, hand: Hand) -> Match:
    """Return `match` with another state of its hand, which changes nothing around it."""
    # unpacked, as one field by its name costs a third as much as all of them: this is done with every move
    variant, seats, dealer, games, score, hand_number, _, game_winner, winner = match
    return _new(Match, (variant, seats, dealer, games, score, hand_number, hand, game_winner, winner))


def _game_won(
    match: Match, hand: Hand, events: tuple[Event, ...], score: tuple[Score, Score], winner: Side
) -> NextMatch:
    # a side bet can win the game in the middle of a hand, which then has no winner
    last = hand if hand.phase is _OVER else ended(hand, None)
    games = (match.games[0] + (winner == 0), match.games[1] + (winner == 1))
    champion = winner if games[winner] >= match.variant.games_to_win else None
    told = (GameWon(winner),) if champion is None else (GameWon(winner), MatchWon(champion))
    won = match._replace(games=games, score=score, hand=last, game_winner=winner, winner=champion)
    return won, (*events, *told)


def awaits_deal(match: Match) -> bool:
    """Tell whether the hand waits for cards."""
    return match.hand.phase is _DEAL


def is_hand_over(match: Match) -> bool:
    """Tell whether the hand is over."""
    return match.hand.phase is _OVER


def deal(match: Match, cards: Hands, turn: Sequence[Card] = ()) -> NextMatch:
    """Give every seat its cards, by slot; None for a card that is unknown here.

    Raises:
        MatchError: The hand does not wait for cards.
        CardError: A wrong number of cards, or a card that is not in the pack or comes twice.
    """
    return carry_out(match, deal_cards(match, cards, turn))


def know(match: Match, seat: Seat, slot: int, card: Card) -> Match:
    """Return the match in which it is known that `seat` holds `card` in `slot`.

    Raises:
        CardError: The slot holds another card, `card` is elsewhere, or there is no such slot or card.
    """
    return know_all(match, ((seat, slot, card),))


def know_all(match: Match, known: Iterable[KnownCard]) -> Match:
    """Return the match in which all these cards are known, as `know` does for one."""
    hand = with_cards_known(match, known)
    return match if hand is match.hand else _with_hand(match, hand)


def without_unknown_flor(match: Match) -> NextMatch:
    """Return the match in which a flor that only unknown cards could make is taken not to exist."""
    events: tuple[Event, ...] = ()
    while (step := flor.presume_no_flor(match)) is not None:
        match, told = carry_out(match, step)
        events += told
    return match, events
