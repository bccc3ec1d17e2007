"""Matches written as players write them, for the tests of the rules."""

from truc_rules import (
    Score,
    Seat,
    Variant,
    apply,
    card_named,
    deal,
    legal,
    move_line,
    new_match,
    parse_move,
    preset,
)


def dealt(variant, *hands, score=(0, 0), games=(0, 0), dealer=None, before=(), turn=""):
    """Return a match with these cards dealt, and `turn` turned up; `before` are the moves of the cut."""
    variant = variant if isinstance(variant, Variant) else preset(variant)
    seats = len(hands)
    points = (Score(0, score[0]), Score(0, score[1]))
    seat = Seat(seats - 1 if dealer is None else dealer)
    match = new_match(variant, seats=seats, dealer=seat, score=points, games=games)
    match = played(match, *before)
    return given(match, *hands, turn=turn)


def given(match, *hands, turn=""):
    """Return a match that waited for cards with these dealt; `?` is a card that is not known."""
    variant = match.variant
    cards = [[known(variant, name) for name in hand.split()] for hand in hands]
    return deal(match, cards, [known(variant, name) for name in turn.split()])[0]


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


def flores(match, seat):
    """Return what a seat may do about a flor."""
    return [line for line in options(match, seat) if "flor" in line]


def score(match):
    """Return the points of both sides."""
    return tuple(side.points for side in match.score)
