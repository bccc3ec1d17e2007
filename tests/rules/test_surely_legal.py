"""What a seat finds out for itself is what whoever sees all cards would offer it, and never more."""

from rows import each_row
from rules.chance import chance_for, games, random_hand

from truc_rules import Kind, Seat, apply, deal, deciders_in_view, described, know, legal, surely_legal


def masked(cards, seat, *, is_blind):
    return [held if own == seat and not is_blind else [None] * len(held) for own, held in enumerate(cards)]


def seen(match, step, seat):
    """Return a match after a step as a seat knows it: its own cards, and what has been laid open."""
    if step.action is None:
        dealt = step.after.hand.dealt
        up = () if step.before.hand.dealt.redeals else dealt.up
        return deal(match, masked(dealt.cards, seat, is_blind=dealt.blind), up)[0]
    action, held = step.action, step.before.hand.dealt.cards
    if action.kind is Kind.COVER and action.seat != seat:
        action = action._replace(cards=(), value=held[action.seat].index(action.cards[0]))
    elif action.kind is Kind.BLIND:
        match = know(match, action.seat, action.value, held[action.seat][action.value])
    for card in action.cards:
        match = know(match, action.seat, held[action.seat].index(card), card)
    return apply(match, action)[0]


@each_row("seed, seats, variant", games(at_tables=10, options=3))
def test_own_options_are_those_of_who_sees_all_cards(seed, seats, variant):
    chance = chance_for(variant, seats, seed)
    seat = Seat(chance.randrange(seats))
    steps = random_hand(variant, seats, chance)
    match = steps[0].before
    for step in steps:
        match, truth = seen(match, step, seat), step.after
        offered, awaited = legal(truth, seat), deciders_in_view(truth)
        assert set(surely_legal(match, seat, ())[1]) <= set(offered)
        here, found = surely_legal(match, seat, awaited)
        if seat in awaited or not variant.flor:
            # after a flor nobody can be sure of a partner's to keep silent for, nor of whose can still be claimed
            unsure = (Kind.SILENT, Kind.CLAIM) if match.hand.contests.flores else ()
            assert found == tuple(each for each in offered if each in found or each.kind not in unsure)
        assert set(found) <= set(offered)
        if not variant.flor:
            assert described(here, found) == described(truth, offered)
