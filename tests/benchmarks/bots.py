"""How often one style of bot wins against another: `PYTHONPATH=tests python tests/benchmarks/bots.py [--games N]`.

Two seats, each pair of styles in each game; deals and choices follow from the seed, and sharp is held to a fixed number of
rollouts, so that a run can be repeated. The interval is Wilson's, at 95 %. The rules alone are used: no server, no key.

The last two columns tell how the first style asks for more: in how many of 100 chances with weak cards, which is a bluff, and with
strong ones. Who never bluffs, or always does, is read.
"""

import argparse
import os
import random
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from math import inf, sqrt
from typing import NamedTuple

from benchmarks.engine import dealt
from benchmarks.exploiters import HABITS, Mover, Reader, by_habit

from truc_bots import Effort, Sharp
from truc_bots.strength import hand_chance
from truc_client.bots import Chooser, careful, careless
from truc_client.happenings import MoveChoice, YourTurn
from truc_rules import (
    Action,
    Kind,
    Match,
    Seat,
    apply,
    awaits_deal,
    deciders,
    described,
    is_hand_over,
    legal,
    move_line,
    new_match,
    next_hand,
    preset,
    with_options,
)

GAMES = ("truc-catalan", "truc-french", "truco-argentino", "truco-paulista")
LEAST = {
    ("careful", "careless"): 0.65,
    ("sharp", "careful"): 0.65,
    ("sharp", "caller"): 0.5,
    ("sharp", "folder"): 0.5,
    ("sharp", "raiser"): 0.5,
    ("sharp", "reader"): 0.5,
}
"""The pairs of styles, and what the first of each must win."""
ROLLOUTS = 96
WEAK, STRONG = 0.4, 0.6
"""Cards that lose more often than not, and that win more often, as a chance."""
_Z = 1.96


class Rate(NamedTuple):
    """Games won of those played, and Wilson's interval."""

    won: int
    played: int

    @property
    def share(self) -> float:
        """The share that was won; nothing of nothing."""
        return self.won / max(1, self.played)

    @property
    def interval(self) -> tuple[float, float]:
        """Between which shares the true one lies, in 95 of 100 runs."""
        n, share, z2 = self.played, self.share, _Z**2
        middle = (share + z2 / (2 * n)) / (1 + z2 / n)
        half = _Z / (1 + z2 / n) * sqrt(share * (1 - share) / n + z2 / (4 * n * n))
        return middle - half, middle + half


def by_options(choose: Chooser) -> Mover:
    """Return the moves of a bot that sees what a client is offered, and nothing else."""

    def move(match: Match, _seat: Seat, options: tuple[Action, ...]) -> Action:
        shown = [
            MoveChoice(line, str(each.kind), dict(hints))
            for each, (line, hints) in zip(options, described(match, options), strict=True)
        ]
        return options[shown.index(choose(YourTurn(0, 0, tuple(shown), must=True, deadline_ms=None)))]

    return move


def by_rules(player: Sharp) -> Mover:
    """Return the moves of a bot that knows the rules, and of the match what its seat sees."""

    def move(match: Match, seat: Seat, options: tuple[Action, ...]) -> Action:
        place = player.choose(match, seat, [move_line(match.variant, each) for each in options])
        if place is None:
            raise ValueError(f"expected one of {options} to be chosen, got none")
        return options[place]

    return move


def mover(style: str, seed: int, rollouts: int, reader: Reader) -> Mover:
    """Return a bot of a style; what a reader knows of the other player is in `reader`."""
    match style:
        case "sharp":
            return by_rules(Sharp(seed, Effort(rollouts, inf)))
        case "reader":
            return by_habit(seed, reader.accepts, reader.asks)
        case "careless" | "careful":
            return by_options({"careless": careless, "careful": careful}[style](seed))
        case _:
            return by_habit(seed, *HABITS[style])


class Asking(NamedTuple):
    """A chance to ask for more, with cards that are far from even: whether they were strong, and whether it was taken."""

    strong: bool
    taken: bool


class Game(NamedTuple):
    """Whether the first style won a game, and how it asked in it."""

    won: bool
    asking: tuple[Asking, ...]


def asking(match: Match, seat: Seat, options: tuple[Action, ...], action: Action) -> Iterator[Asking]:
    """Yield the chance to ask that a decision was, if it was one."""
    may_ask = not match.hand.offers and any(option.kind is Kind.RAISE for option in options)
    if may_ask and not WEAK < (cards := hand_chance(match, seat)) < STRONG:
        yield Asking(cards >= STRONG, action.kind is Kind.RAISE)


def played(name: str, styles: tuple[str, str], rollouts: int, number: int) -> Game:
    """Play one game. The first style deals first in every other game."""
    dice, reader, asked = random.Random(number), Reader(), list[Asking]()
    match = new_match(with_options(preset(name), {"match": 1}), seats=2, dealer=Seat(number % 2))
    movers = [mover(style, number, rollouts, reader) for style in styles]
    while match.winner is None:
        if is_hand_over(match):
            match = next_hand(match)
        elif awaits_deal(match):
            match = dealt(match, dice)
        else:
            seat = deciders(match)[0]
            options = legal(match, seat)
            action = movers[seat](match, seat, options)
            if seat == 0:
                reader.saw(match, seat, action)
                asked += asking(match, seat, options, action)
            match, _ = apply(match, action)
    return Game(match.winner == 0, tuple(asked))


def measure(name: str, styles: tuple[str, str], games: int, rollouts: int) -> tuple[Rate, Rate, Rate]:
    """Play `games` games on every core; return those won, and of the chances with weak and strong cards those taken."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        seen = [*pool.map(partial(played, name, styles, rollouts), range(games), chunksize=4)]
    chances = [chance for game in seen for chance in game.asking]
    weak, strong = ([each.taken for each in chances if each.strong is kind] for kind in (False, True))
    return (
        Rate(sum(game.won for game in seen), games),
        Rate(sum(weak), len(weak)),
        Rate(sum(strong), len(strong)),
    )


def row(name: str, styles: tuple[str, str], won: Rate, weak: Rate, strong: Rate) -> str:
    """Return a row of the table."""
    least, most = won.interval
    reached = "must" if won.share >= LEAST[styles] else "-"
    figures = f"{won.played:5} {won.share:6.1%} {least:6.1%} {most:6.1%}  {reached:7}"
    return f"{name:24} {styles[0]:9} {styles[1]:9} {figures} {weak.share:6.1%} {strong.share:6.1%}"


def main() -> None:
    """Print a row for each game and pair of styles."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=400, help="games for each pair of styles")
    parser.add_argument("--rollouts", type=int, default=ROLLOUTS, help="what sharp may spend on a choice")
    parser.add_argument("variants", nargs="*", default=GAMES, help="all four games, unless some are named")
    arguments = parser.parse_args()
    print(f"games won by the first of two styles, sharp with {arguments.rollouts} rollouts for a choice")
    print(
        f"{'variant':24} {'style':9} {'against':9} {'games':>5} {'won':>6} {'least':>6} {'most':>6}  {'reached':7}"
        f" {'bluffs':>6} {'asks':>6}"
    )
    for name in arguments.variants:
        for styles in LEAST:
            print(row(name, styles, *measure(name, styles, arguments.games, arguments.rollouts)), flush=True)


if __name__ == "__main__":
    main()
