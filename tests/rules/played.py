"""Matches written as players write them, for the tests of the rules."""

from contextlib import suppress

import pytest

from truc_rules import (
    IllegalActionError,
    Score,
    Seat,
    Variant,
    apply,
    card_named,
    check_sign,
    deal,
    know,
    legal,
    move_line,
    new_match,
    next_hand,
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


def duel(variant, *hands):
    """Return the first duel of the second hand of a game for six: seat 0 against seat 3."""
    match = played(dealt(variant, *hands, score=(6, 6), dealer=4), "5 concede")
    return given(next_hand(match), *hands)


def learnt(match, seat, names):
    """Return the match in which what is named by `names`, by slot, is known."""
    for slot, name in enumerate(names.split()):
        if name != "?":
            match = know(match, Seat(seat), slot, known(match.variant, name))
    return match


def refused(match, chosen):
    """Return the code and the words with which an action is refused."""
    with pytest.raises(IllegalActionError) as caught:
        apply(match, chosen)
    assert caught.value.message == str(caught.value)
    return caught.value.code, str(caught.value)


def signs(match, seat):
    """Return the words that a seat may sign now, in the order of the game's list."""
    signals, found = match.variant.signals, []
    for word in signals.vocabulary if signals else ():
        with suppress(IllegalActionError):
            check_sign(match, Seat(seat), word)
            found.append(word)
    return tuple(found)


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
