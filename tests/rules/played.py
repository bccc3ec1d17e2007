"""Matches written as players write them, for the tests of the rules."""

import random

from truc_rules import (
    Score,
    Seat,
    Variant,
    apply,
    awaits_deal,
    card_named,
    deal,
    deciders,
    hand_over,
    legal,
    move_line,
    new_match,
    next_hand,
    parse_move,
    preset,
)


def dealt(variant, *hands, score=(0, 0), games=(0, 0), dealer=None, before=()):
    """Return a match with these cards dealt; `before` are the moves of the cut."""
    variant = variant if isinstance(variant, Variant) else preset(variant)
    seats = len(hands)
    points = (Score(0, score[0]), Score(0, score[1]))
    seat = Seat(seats - 1 if dealer is None else dealer)
    match = new_match(variant, seats=seats, dealer=seat, score=points, games=games)
    match = played(match, *before)
    return deal(match, [[known(variant, name) for name in hand.split()] for hand in hands])[0]


def known(variant, name):
    return None if name == "?" else card_named(variant.pack, name)


def action(match, line):
    seat, _, move = line.partition(" ")
    return parse_move(match.variant, Seat(int(seat)), move)


def played(match, *lines):
    for line in lines:
        match, _ = apply(match, action(match, line))
    return match


def events(match, line):
    return apply(match, action(match, line))[1]


def options(match, seat):
    return [move_line(match.variant, each) for each in legal(match, Seat(seat))]


def shuffled_deal(match, chance):
    """Deal a hand from what is left of the pack."""
    pool = [card for card in range(len(match.variant.pack)) if card not in match.hand.dealt.thrown]
    each = match.hand.dealt.each
    cards = chance.sample(pool, match.seats * each)
    return deal(match, [cards[seat * each : (seat + 1) * each] for seat in range(match.seats)])


def playout(variant, seats, seed, watch=lambda before, seat, chosen, after, told: None):
    """Play a match at random; show every step to `watch`; return the last state."""
    chance = random.Random(seed)
    match = new_match(variant, seats=seats, dealer=Seat(chance.randrange(seats)))
    while match.winner is None:
        if hand_over(match):
            match = next_hand(match)
        elif awaits_deal(match):
            after, told = shuffled_deal(match, chance)
            watch(match, None, None, after, told)
            match = after
        else:
            open_now = [each for seat in range(seats) for each in legal(match, Seat(seat))]
            assert {each.seat for each in open_now} >= set(deciders(match))
            chosen = chance.choice(open_now)
            after, told = apply(match, chosen)
            watch(match, chosen.seat, chosen, after, told)
            match = after
    return match
