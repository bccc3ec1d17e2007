"""What a seat sees, may do and is told depends on no card that is hidden from it.

Two deals that differ only in cards hidden from a seat, played alike and with the same public events, look the same to it.
Where flor is played a hidden flor may be waited for, and that is public: such deals are set aside.
"""

import random

from rows import each_row
from rules.candidates import candidates_of
from rules.chance import chance_for, games, random_hand

from truc_rules import IllegalActionError, Kind, Seat, apply, deal, deciders, legal, preset, view

_TRIES = 6
_TRIED = 40


def hidden_slots(match, seat):
    """Return the (seat, slot) of every card that `seat` has not seen."""
    dealt, left = match.hand.dealt, match.hand.row.left
    shown = {(owner, dealt.cards[owner].index(card)) for owner, card in dealt.shown}
    covered = {place for place in dealt.covered if place[0] != seat}
    unplayed = {
        (owner, slot) for owner, slots in enumerate(left) for slot in slots if owner != seat or dealt.blind
    }
    return (unplayed | covered) - shown


def other_deals(steps, seat, chance):
    """Return the cards of every deal of a hand, those that `seat` never saw drawn again."""
    begins = [place for place, step in enumerate(steps) if step.action is None]
    ends = [*begins[1:], len(steps)]
    deals = [steps[begin].after.hand.dealt.cards for begin in begins]
    hidden = [hidden_slots(_with_cards(steps, end), seat) for end in ends]
    seen = {
        card
        for cards, unseen in zip(deals, hidden, strict=True)
        for owner, held in enumerate(cards)
        for slot, card in enumerate(held)
        if (owner, slot) not in unseen
    }
    last = steps[-1].after
    pool = sorted({*range(len(last.variant.pack))} - seen - {*last.hand.dealt.up})
    chance.shuffle(pool)
    return [
        [
            [pool.pop() if (owner, slot) in unseen else card for slot, card in enumerate(held)]
            for owner, held in enumerate(cards)
        ]
        for cards, unseen in zip(deals, hidden, strict=True)
    ]


def _with_cards(steps, end):
    """Return the last state before `end` in which the cards of the deal are not thrown in."""
    last = steps[end - 1]
    return last.after if last.after.hand.dealt.cards else last.before


def replayed(steps, seat, chance):
    """Return where the same actions lead with other hidden cards; None if they are not the same in public."""
    match, others = steps[0].before, iter(other_deals(steps, seat, chance))
    for step in steps:
        try:
            match, told = _repeated(match, step, others)
        except IllegalActionError:
            return None
        if told != step.events or (match.variant.flor and deciders(match) != deciders(step.after)):
            return None
    return match


def _repeated(match, step, others):
    if step.action is None:
        up = () if match.hand.dealt.redeals else step.after.hand.dealt.up
        return deal(match, next(others), up)
    action = step.action
    if action.kind is Kind.COVER:
        slot = step.before.hand.dealt.cards[action.seat].index(action.cards[0])
        action = action._replace(cards=(match.hand.dealt.cards[action.seat][slot],))
    return apply(match, action)


def said_to(match, action):
    try:
        apply(match, action)
    except IllegalActionError as refused:
        return refused.code, refused.message
    return "taken"


@each_row("seed, seats, variant", games(at_tables=3, options=1, parameters=2))
def test_a_seat_sees_nothing_of_hidden_cards(seed, seats, variant):
    chance = chance_for(variant, seats, seed)
    steps = random_hand(variant, seats, chance)
    steps = steps[: chance.randrange(1, len(steps) + 1)]
    match, seat = steps[-1].after, Seat(chance.randrange(seats))
    if not match.hand.dealt.cards:
        return
    for _ in range(_TRIES):
        other = replayed(steps, seat, chance)
        if other is not None:
            assert view(other, seat) == view(match, seat)
            assert view(other, None) == view(match, None)
            assert legal(other, seat) == legal(match, seat)
            tried = chance.sample([*candidates_of(match, seat)], _TRIED)
            assert [said_to(other, action) for action in tried] == [
                said_to(match, action) for action in tried
            ]


@each_row("name", ["truc-catalan", "truco-paulista", "truco-argentino-flor", "truc-partnership"])
def test_hidden_cards_do_differ_in_these_tests(name):
    found = 0
    for seed in range(20):
        chance = random.Random(seed)
        steps = random_hand(preset(name), 4, chance)[:6]
        other = replayed(steps, Seat(0), chance) if steps[-1].after.hand.dealt.cards else None
        found += other is not None and other.hand.dealt.cards != steps[-1].after.hand.dealt.cards
    assert found > 5
