"""Actions a second of the rules engine, by random playouts: `python tests/benchmarks/engine.py [--rounds N]`.

Each action costs one `legal` and one `apply`. The playouts of a variant are the same in every round (fixed seed); the
figure is the median round, with the slowest and fastest beside it, and what it should be: at least `must`, better `goal`.
Shuffling and dealing are not counted.
"""

import argparse
import random
import statistics
import time

from truc_rules import (
    Match,
    Seat,
    Variant,
    apply,
    awaits_deal,
    deal,
    deciders,
    is_hand_over,
    legal,
    new_match,
    next_hand,
    preset,
    presets,
)

SEED = 20_000
ACTIONS = 20_000
PLAIN = (100_000, 200_000)
"""What a game without side bets must reach, and the goal: actions a second on one core."""
WITH_SIDE_BETS = (80_000, 150_000)
"""The same for games with envido, with flor or without."""


def targets(variant: Variant) -> tuple[int, int]:
    """Return what `variant` must reach, and the goal."""
    return PLAIN if variant.envido is None and variant.flor is None else WITH_SIDE_BETS


def dealt(match: Match, dice: random.Random) -> Match:
    """Deal random cards that have not been thrown in, and turn up what the variant turns up."""
    pack = [card for card in range(len(match.variant.pack)) if card not in match.hand.dealt.thrown]
    dice.shuffle(pack)
    each, up = match.hand.dealt.each, 0 if match.hand.dealt.redeals else match.variant.turn_count
    hands = [tuple(pack[up + seat * each : up + (seat + 1) * each]) for seat in range(match.seats)]
    return deal(match, hands, pack[:up])[0]


def playout(variant: Variant, seats: int) -> float:
    """Return the actions a second of one round."""
    dice = random.Random(SEED)
    match, done, spent = new_match(variant, seats=seats, dealer=Seat(0)), 0, 0.0
    while done < ACTIONS:
        if match.winner is not None:
            match = new_match(variant, seats=seats, dealer=Seat(0))
        elif is_hand_over(match):
            match = next_hand(match)
        elif awaits_deal(match):
            match = dealt(match, dice)
        else:
            pick, seat = dice.random(), deciders(match)[0]
            begun = time.perf_counter()
            options = legal(match, seat)
            match, _ = apply(match, options[int(pick * len(options))])
            spent += time.perf_counter() - begun
            done += 1
    return done / spent


def row(variant: Variant, seats: int, rounds: int) -> str:
    """Measure `rounds` rounds of a variant; return them as a row of the table."""
    rates = [playout(variant, seats) for _ in range(rounds)]
    figure, (must, goal) = statistics.median(rates), targets(variant)
    reached = "goal" if figure >= goal else "must" if figure >= must else "-"
    least, most = min(rates), max(rates)
    return f"{variant.name:24} {seats:5} {figure:9.0f} {least:9.0f} {most:9.0f} {must:8} {goal:8}  {reached}"


def main() -> None:
    """Print a row for each variant and number of seats."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("variants", nargs="*", default=presets(), help="all presets, unless some are named")
    arguments = parser.parse_args()
    print(f"actions a second on one core, {arguments.rounds} rounds of {ACTIONS} actions")
    names = ("median", "slowest", "fastest")
    print(
        f"{'variant':24} {'seats':>5} {names[0]:>9} {names[1]:>9} {names[2]:>9} {'must':>8} {'goal':>8}  reached"
    )
    for name in arguments.variants:
        for seats in preset(name).players:
            print(row(preset(name), seats, arguments.rounds), flush=True)


if __name__ == "__main__":
    main()
