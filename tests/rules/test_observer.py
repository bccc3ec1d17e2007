"""Who knows no card follows every hand, and what is opened at its end proves the score.

The observer deals unknown cards, learns a card when it is played face up, and takes every action as it comes. The cards
that the rules force open decide the score as all cards do.
"""

from rows import each_row
from rules.chance import chance_for, games, random_hand

from truc_rules import (
    Kind,
    apply,
    deal,
    is_hand_over,
    know,
    owed_shows,
    unproven_seats,
    with_known_card,
    without_unknown_flor,
)

OPENED = (Kind.PLAY, Kind.SHOW)


def dealt_unknown(match, step):
    """Return the match with a deal of which nothing is known but the card turned up."""
    each = match.hand.dealt.each
    return deal(match, [(None,) * each] * match.seats, turned(match, step))[0]


def turned(match, step):
    return () if match.hand.dealt.redeals else step.after.hand.dealt.up


def as_seen(step):
    """Return an action as everybody else sees it: a card played face down has only its slot."""
    action = step.action
    if action.kind is not Kind.COVER:
        return action
    slot = step.before.hand.dealt.cards[action.seat].index(action.cards[0])
    return action._replace(cards=(), value=slot)


def learnt(match, step):
    """Return the match in which the cards that an action opens are known."""
    action, held = step.action, step.before.hand.dealt.cards
    slots = ()
    if action.kind in OPENED:
        slots = [held[action.seat].index(card) for card in action.cards]
    elif action.kind is Kind.BLIND:
        slots = [action.value]
    for slot in slots:
        match = know(match, action.seat, slot, held[action.seat][slot])
    return match


def followed(steps):
    """Return the match as who knows no card follows it."""
    match = steps[0].before
    for step in steps:
        if step.action is None:
            match, _ = without_unknown_flor(match)
            match = dealt_unknown(match, step)
        else:
            match, _ = apply(learnt(match, step), as_seen(step))
    return without_unknown_flor(match)[0]


def replayed(steps, cards_of):
    """Return the match with the actions of a hand over deals whose cards `cards_of` gives."""
    match = steps[0].before
    for step in steps:
        if step.action is None:
            match, _ = deal(match, cards_of(step), turned(match, step))
        else:
            match, _ = apply(match, with_known_card(match, as_seen(step)))
    return without_unknown_flor(match)[0]


def force_open(last):
    """Return the (seat, slot) of what lies open when the hand is over: played face up, and owed."""
    dealt, left = last.hand.dealt, last.hand.row.left
    owed = {(seat, slot) for seat, slots in owed_shows(last) for slot in slots}
    return owed | {
        (seat, slot)
        for seat in range(last.seats)
        for slot in range(dealt.each)
        if slot not in left[seat] and (seat, slot) not in dealt.covered
    }


def only_open(last):
    """Return the cards of the last deal with None for what is not forced open."""
    shown = force_open(last)
    return [
        [card if (seat, slot) in shown else None for slot, card in enumerate(held)]
        for seat, held in enumerate(last.hand.dealt.cards)
    ]


@each_row("seed, seats, variant", games(at_tables=5, options=1))
def test_who_knows_no_card_follows_every_hand(seed, seats, variant):
    steps = random_hand(variant, seats, chance_for(variant, seats, seed))
    last, observed = steps[-1].after, followed(steps)
    if variant.flor is None:
        # a flor of which nothing was heard scores, and may win the game, by cards that the observer has not seen yet
        assert is_hand_over(observed)
        assert observed.hand.row == last.hand.row
    if not variant.is_settled_late:  # as may an envido that all cards settle
        assert (observed.score, observed.games) == (last.score, last.games)
    openly = replayed(steps, lambda step: step.after.hand.dealt.cards)
    assert openly == last
    final = [step for step in steps if step.action is None][-1]
    proven = replayed(
        steps,
        lambda step: only_open(last) if step is final else [(None,) * step.after.hand.dealt.each] * seats,
    )
    assert (proven.score, proven.games, proven.winner) == (last.score, last.games, last.winner)
    assert unproven_seats(proven) == ()
