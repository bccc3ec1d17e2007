"""Sharp: samples hidden cards, plays each of its options out with them, and mixes options that are about as good.

Each round halves the options, so that most of the effort goes to those that are close. One of those left is drawn, the
likelier the better it did (softmax): the same cards are not always played alike, and an ask may be a bluff.

The rest of a hand is played by a quick player in every seat, which sees only its own cards. It is quick, not good: it takes
tricks cheaply, folds with weak cards and asks with strong ones, sometimes with weak ones, so that asking, accepting and
bluffing are worth about what they are worth against people.
"""

import time
from collections.abc import Callable, Sequence
from math import exp
from random import Random
from statistics import fmean
from typing import Final, NamedTuple

from truc_bots.strength import beats_table, game_chance, hand_chance, is_ahead, points_ahead, strengths
from truc_bots.worlds import as_seen, shuffled_deal, world
from truc_rules import (
    Action,
    Card,
    Kind,
    Match,
    MoveError,
    Seat,
    Side,
    apply,
    awaits_deal,
    deal,
    deciders,
    is_hand_over,
    legal,
    parse_move,
    side_of,
    without_unknown_flor,
)
from truc_rules.contests.values import envido_value
from truc_rules.positions.match import EnvidoAsk, StakeAsk

_MIXING: Final = 0.1
"""A difference in the chance of winning the game that hardly matters to it, times the target. With less it plays better,
and is easier to read."""
_DEALS: Final = 100
"""How many deals are imagined in search of one in which the options are open."""
_COMPARED: Final = 2
"""How many options are compared to the end."""

Clock = Callable[[], float]


class Effort(NamedTuple):
    """How long it thinks about a choice: until either is spent, but once through all options in any case."""

    rollouts: int
    seconds: float


# a bot answers within a second (docs/playing.md, "Bots")
LIVE: Final = Effort(600, 0.6)


class Rollout(NamedTuple):
    """What became of an option in one deal: the chance of winning the game after the hand, and the gain in it."""

    chance: float
    gain: float


class OptionResult(NamedTuple):
    """What became of an option in the deals imagined.

    Attributes:
        deals: how many they were.
        chance: about how likely it is to win the game, 0 to 1.
        ahead: in how many of them its side gained more points in the hand than the other.
        points: how many more it gained on average; fewer if negative.
        is_certain: whether it was the same number in each.
    """

    deals: int
    chance: float
    ahead: int
    points: float
    is_certain: bool


class Sharp:
    """A player that chooses by rollouts; the same seed, with the same effort, chooses the same."""

    def __init__(self, seed: int, effort: Effort = LIVE, clock: Clock = time.monotonic) -> None:
        self._dice = Random(seed)
        self._effort = effort
        self._clock = clock

    def choose(self, match: Match, seat: int, lines: Sequence[str]) -> int | None:
        """Return the place of a choice among the move lines offered to `seat`; None if it can judge none of them.

        Other seats' cards that were not shown are not looked at, even if they are known in `match`.
        """
        results = self.compare(match, seat, lines)
        if not results:
            return next(iter(_places(as_seen(match, Seat(seat)), Seat(seat), lines).values()), None)
        best = max(each.chance for each in results.values())
        mixing = _MIXING / match.variant.scoring.target
        shares = [exp((each.chance - best) / mixing) for each in results.values()]
        return self._dice.choices([*results], shares)[0]

    def compare(self, match: Match, seat: int, lines: Sequence[str]) -> dict[int, OptionResult]:
        """Return what became of the options that were compared to the end, by their places, the best first.

        It is empty if it can judge fewer than two, or imagine no deal in which they are open to it. Nothing is looked at that `choose` would not look at.
        """
        seen = as_seen(match, Seat(seat))
        places = _places(seen, Seat(seat), lines)
        if len(places) < _COMPARED:
            return {}
        return {places[action]: each for action, each in self._compare(seen, Seat(seat), [*places]).items()}

    def _compare(self, seen: Match, seat: Seat, options: Sequence[Action]) -> dict[Action, OptionResult]:
        """Return the options worth comparing to the end, the best first, and what became of them in the same deals.

        Once the time is up no deal is begun except the first.
        """
        until = self._clock() + self._effort.seconds
        rollouts: dict[Action, list[Rollout]] = {option: [] for option in options}
        alive = [*options]
        # after so many halvings the last stage compares two; each stage has an equal share of the rollouts
        stages = max(1, (len(alive) - 1).bit_length())
        for _ in range(stages):
            for _ in range(max(1, self._effort.rollouts // stages // len(alive))):
                if rollouts[alive[0]] and self._clock() > until:
                    break
                whole = self._imagined(seen, options)
                if whole is None:
                    break
                for option in alive:
                    end = _played_out(apply(whole, option)[0], self._dice)
                    rollouts[option].append(_rollout(seen, end, side_of(seat)))
            alive.sort(key=lambda option: -sum(each.chance for each in rollouts[option]))
            alive = alive[: max(_COMPARED, (len(alive) + 1) // 2)]
        return {option: _summed(rollouts[option]) for option in alive if rollouts[option]}

    def _imagined(self, seen: Match, options: Sequence[Action]) -> Match | None:
        """Return a deal in which all options are open to their seat; None if none was found.

        In others somebody else would have a flor to declare first.
        """
        for _ in range(_DEALS):
            whole = world(seen, self._dice)
            if seen.variant.flor is None or {*options} <= {*legal(whole, options[0].seat)}:
                return whole
        return None


def _places(seen: Match, seat: Seat, lines: Sequence[str]) -> dict[Action, int]:
    """Return the places of the lines that the rules allow now, by the actions that they stand for.

    Giving up is not considered beside other choices: it costs no more once the other side asks. Nor is an order in
    place of one that stands: one for a card is enough.
    """
    places = {action: place for place, line in enumerate(lines) if (action := _read(seen, seat, line))}
    is_ordered = seen.hand.orders[side_of(seat)] is not None
    passed_over = (Kind.CONCEDE, Kind.ORDER) if is_ordered else (Kind.CONCEDE,)
    return {action: place for action, place in places.items() if action.kind not in passed_over} or places


def _read(seen: Match, seat: Seat, line: str) -> Action | None:
    try:
        action = parse_move(seen.variant, seat, line)
    except MoveError:
        return None
    return action if action in legal(seen, seat) else None


def _rollout(seen: Match, end: Match, side: Side) -> Rollout:
    return Rollout(game_chance(end, side), points_ahead(end, side) - points_ahead(seen, side))


def _summed(rollouts: Sequence[Rollout]) -> OptionResult:
    gains = [each.gain for each in rollouts]
    return OptionResult(
        deals=len(rollouts),
        chance=fmean(each.chance for each in rollouts),
        ahead=sum(gain > 0 for gain in gains),
        points=fmean(gains),
        is_certain=min(gains) == max(gains),
    )


_MOST_MOVES: Final = 120
_ACCEPTS: Final = 0.38
"""The strength, 0 to 1, from which on the quick player accepts."""
_RAISES: Final = 0.72
"""The strength from which on it raises and asks."""
_NOISE: Final = 0.2
"""How far off it may judge its own strength."""
_EAGER: Final = 0.4
"""How often it asks with strong cards."""
_BLUFFS: Final = 0.05
"""How often it asks with others."""
_LEADS_HIGH: Final = 0.5
"""How often it leads its best card for sure."""
_FAIR_ENVIDO: Final = 25
"""The envido that it just accepts."""

_ASKS: Final = frozenset({Kind.RAISE, Kind.ENVIDO, Kind.REAL_ENVIDO, Kind.FALTA_ENVIDO})
_GIVES_UP: Final = frozenset(
    {Kind.CONCEDE, Kind.DECLINE, Kind.FLOR_FOLD, Kind.GOOD, Kind.CLAIM, Kind.SILENT, Kind.REDEAL}
)
_PLAY, _ACCEPT, _DECLINE, _RAISE = Kind.PLAY, Kind.ACCEPT, Kind.DECLINE, Kind.RAISE


def _played_out(match: Match, dice: Random) -> Match:
    """Return the match at the end of its hand."""
    for _ in range(_MOST_MOVES):
        if match.variant.flor is not None:
            # seats without a flor in this world are not waited for
            match, _ = without_unknown_flor(match)
        if is_hand_over(match):
            break
        if awaits_deal(match):
            match, _ = deal(match, *shuffled_deal(match, dice))
            continue
        seat = deciders(match)[0]
        match, _ = apply(match, quick_move(match, seat, legal(match, seat), dice))
    return match


def quick_move(match: Match, seat: Seat, options: tuple[Action, ...], dice: Random) -> Action:
    """Return a move of `seat`, for which the hand waits."""
    offer = match.hand.offers[-1] if match.hand.offers else None
    if isinstance(offer, StakeAsk):
        return _answer(options, hand_chance(match, seat), dice)
    if isinstance(offer, EnvidoAsk):
        return _answer(options, _envido_strength(match, seat), dice)
    asked = _ask(match, seat, options, dice)
    if asked is not None:
        return asked
    cards = [option for option in options if option.kind is _PLAY and option.value is None]
    if cards:
        return _card(match, seat, cards, dice)
    willing = [option for option in options if option.kind not in _ASKS and option.kind not in _GIVES_UP]
    return dice.choice(willing or options)


def _envido_strength(match: Match, seat: Seat) -> float:
    cards = [card for card in match.hand.dealt.cards[seat] if card is not None]
    return (
        0.4 + (envido_value(match.variant, cards, match.hand.dealt.up) - _FAIR_ENVIDO) / 16 if cards else 0.0
    )


def _answer(options: tuple[Action, ...], strong: float, dice: Random) -> Action:
    """Accept, decline or raise, by how strong the hand seems, with some noise so that no threshold is certain."""
    seems = strong + dice.uniform(-_NOISE, _NOISE)
    # it raises only where it would without the noise
    wanted = _RAISE if seems > _RAISES + _NOISE else _ACCEPT if seems > _ACCEPTS else _DECLINE
    found = [option for option in options if option.kind is wanted]
    if found:
        return found[0]
    answers = [option for option in options if option.kind is (_DECLINE if wanted is _DECLINE else _ACCEPT)]
    return answers[0] if answers else options[0]


def _ask(match: Match, seat: Seat, options: tuple[Action, ...], dice: Random) -> Action | None:
    """Ask for more where the cards are good, and now and then where they are not."""
    asks = [option for option in options if option.kind in _ASKS]
    if not asks:
        return None
    # the first two, the smallest: where any stake may be asked for there are dozens
    ask = asks[0] if len(asks) == 1 else dice.choice(asks[:2])
    strong = hand_chance(match, seat) if ask.kind is _RAISE else _envido_strength(match, seat) + 0.15
    likely = _EAGER if strong > _RAISES else _BLUFFS
    return ask if dice.random() < likely else None


def _card(match: Match, seat: Seat, options: list[Action], dice: Random) -> Action:
    """Take the trick as cheaply as possible; if it cannot, or is ahead, throw the lowest; lead high or at random."""
    by_card = strengths(match)
    ranked = sorted(options, key=lambda option: by_card[_the_card(option)])
    if not match.hand.row.table:
        return ranked[-1] if dice.random() < _LEADS_HIGH else dice.choice(ranked)
    if is_ahead(match, seat):
        return ranked[0]
    return next((option for option in ranked if beats_table(match, _the_card(option))), ranked[0])


def _the_card(option: Action) -> Card:
    return option.cards[0]
