"""Actions a second of the rules engine, by random playouts: `python tests/benchmarks/engine.py [--rounds N]`.

Each action costs one `legal` and one `apply`. The playouts of a variant are the same in every round (fixed seed); the
figure is the median round, with the slowest and fastest beside it. Shuffling and dealing are not counted.
"""

import argparse
import random
import statistics
import time

from truc_rules import (
    Match,
    Seat,
    apply,
    awaits_deal,
    deal,
    deciders,
    hand_over,
    legal,
    new_match,
    next_hand,
    preset,
    presets,
    turn_count,
)

SEED = 20_000
ACTIONS = 20_000


def dealt(match: Match, dice: random.Random) -> Match:
    """Deal random cards that have not been thrown in, and turn up what the variant turns up."""
    pack = [card for card in range(len(match.variant.pack)) if card not in match.hand.dealt.thrown]
    dice.shuffle(pack)
    each, up = match.hand.dealt.each, turn_count(match.variant)
    hands = [tuple(pack[up + seat * each : up + (seat + 1) * each]) for seat in range(match.seats)]
    return deal(match, hands, pack[:up])[0]


def playout(name: str, seats: int) -> float:
    """Return the actions a second of one round."""
    dice, variant = random.Random(SEED), preset(name)
    match, done, spent = new_match(variant, seats=seats, dealer=Seat(0)), 0, 0.0
    while done < ACTIONS:
        if match.winner is not None:
            match = new_match(variant, seats=seats, dealer=Seat(0))
        elif hand_over(match):
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


def main() -> None:
    """Print a row for each variant and number of seats."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    print(f"{'variant':24} {'seats':>5} {'median':>9} {'min':>9} {'max':>9}  actions/s, {rounds} rounds")
    for name in presets():
        for seats in preset(name).players:
            rates = [playout(name, seats) for _ in range(rounds)]
            print(f"{name:24} {seats:5} {statistics.median(rates):9.0f} {min(rates):9.0f} {max(rates):9.0f}")


if __name__ == "__main__":
    main()
