"""How often one style of bot wins against another: `PYTHONPATH=tests python tests/benchmarks/bots.py [--games N]`.

Two seats, each pair of styles in each game; deals and choices follow from the seed, and sharp is held to a fixed number of
rollouts, so that a run can be repeated. The interval is Wilson's, at 95 %. The rules alone are used: no server, no key.
"""

import argparse
import os
import random
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from math import inf, sqrt
from typing import NamedTuple

from benchmarks.engine import dealt

from truc_bots import Effort, Sharp
from truc_client.bots import Chooser, careful, careless
from truc_client.happenings import Choice, YourTurn
from truc_rules import (
    Action,
    Match,
    Seat,
    apply,
    awaits_deal,
    deciders,
    hand_over,
    hints,
    legal,
    move_line,
    new_match,
    next_hand,
    preset,
    with_options,
)

GAMES = ("truc-catalan", "truc-french", "truco-argentino", "truco-paulista")
PAIRS = (("careful", "careless"), ("sharp", "careful"))
LEAST = 0.65
"""What the first of each pair must win."""
ROLLOUTS = 96
_Z = 1.96

Mover = Callable[[Match, Seat, tuple[Action, ...]], Action]


class Rate(NamedTuple):
    """Games won of those played, and Wilson's interval."""

    won: int
    played: int

    @property
    def share(self) -> float:
        """The share that was won."""
        return self.won / self.played

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
            Choice(move_line(match.variant, each), str(each.kind), dict(hints(match, each)))
            for each in options
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


def mover(style: str, seed: int, rollouts: int) -> Mover:
    """Return a bot of a style."""
    if style == "sharp":
        return by_rules(Sharp(seed, Effort(rollouts, inf)))
    return by_options({"careless": careless, "careful": careful}[style](seed))


def wins(name: str, styles: tuple[str, str], rollouts: int, number: int) -> bool:
    """Play one game; tell whether the first style wins. It deals first in every other game."""
    dice = random.Random(number)
    match = new_match(with_options(preset(name), {"match": 1}), seats=2, dealer=Seat(number % 2))
    movers = [mover(style, number, rollouts) for style in styles]
    while match.winner is None:
        if hand_over(match):
            match = next_hand(match)
        elif awaits_deal(match):
            match = dealt(match, dice)
        else:
            seat = deciders(match)[0]
            match, _ = apply(match, movers[seat](match, seat, legal(match, seat)))
    return match.winner == 0


def measure(name: str, styles: tuple[str, str], games: int, rollouts: int) -> Rate:
    """Play `games` games on every core."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        won = pool.map(partial(wins, name, styles, rollouts), range(games), chunksize=4)
        return Rate(sum(won), games)


def row(name: str, styles: tuple[str, str], rate: Rate) -> str:
    """Return a row of the table."""
    least, most = rate.interval
    reached = "must" if rate.share >= LEAST else "-"
    return f"{name:24} {styles[0]:9} {styles[1]:9} {rate.played:5} {rate.share:6.1%} {least:6.1%} {most:6.1%}  {reached}"


def main() -> None:
    """Print a row for each game and pair of styles."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=400, help="games for each pair of styles")
    parser.add_argument("--rollouts", type=int, default=ROLLOUTS, help="what sharp may spend on a choice")
    parser.add_argument("variants", nargs="*", default=GAMES, help="all four games, unless some are named")
    arguments = parser.parse_args()
    print(f"games won by the first of two styles, sharp with {arguments.rollouts} rollouts for a choice")
    print(
        f"{'variant':24} {'style':9} {'against':9} {'games':>5} {'won':>6} {'least':>6} {'most':>6}  reached"
    )
    for name in arguments.variants:
        for styles in PAIRS:
            print(row(name, styles, measure(name, styles, arguments.games, arguments.rollouts)), flush=True)


if __name__ == "__main__":
    main()
