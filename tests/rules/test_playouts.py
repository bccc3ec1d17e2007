"""What holds in every state that play can reach: random matches of every preset and seat count."""

import random
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rules.played import playout, shuffled_deal

from truc_rules import (
    REST,
    TRUT,
    Action,
    IllegalActionError,
    Kind,
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
    ruled,
    view,
)
from truc_rules.events import GameWon, HandDrawn, HandWon, MatchWon, PointsScored

TABLES = [(name, seats) for name in presets() for seats in preset(name).players]
SEEDS = st.integers(0, 2**32 - 1)


def candidates(match):
    """Every action worth trying: all kinds, all cards, all stakes in reach, and some that cannot be."""
    cards = [(card,) for card in range(len(match.variant.pack))]
    stakes = (*range(match.variant.scoring.target + 3), REST, TRUT)
    for seat in map(Seat, range(-1, match.seats + 1)):
        yield from (Action(seat, kind) for kind in Kind)
        yield from (Action(seat, Kind.RAISE, (), stake) for stake in stakes)
        yield from (Action(seat, Kind.DEAL, (), each) for each in (0, 1, 2, 3, 4))
        yield from (Action(seat, Kind.PLAY, card, None) for card in cards)
        yield from (
            Action(seat, Kind.PLAY, card, stake) for card, stake in product(cards[::5], (0, 2, 3, REST))
        )
        yield Action(seat, Kind.PLAY, (), None)
        yield Action(seat, Kind.PLAY, (0, 1), None)


def is_accepted(match, action):
    try:
        apply(match, action)
    except IllegalActionError:
        return False
    return True


def some_state(name, seats, seed):
    """Return a state in the middle of a hand."""
    chance = random.Random(seed)
    target = preset(name).scoring.target
    match = new_match(preset(name), seats=seats, dealer=Seat(chance.randrange(seats)))
    points = [side._replace(points=chance.choice((0, 3, target - 2, target - 1))) for side in match.score]
    match = match._replace(score=tuple(points))
    for _ in range(chance.randrange(16)):
        if awaits_deal(match):
            match, _ = shuffled_deal(match, chance)
            continue
        open_now = [each for seat in range(seats) for each in legal(match, Seat(seat))]
        if not open_now:
            break
        match, _ = apply(match, chance.choice(open_now))
    return match


@pytest.mark.parametrize(
    ("name", "seats"), [("truc-catalan", 2), ("truc-catalan", 4), ("truc-french", 2), ("truc-lanes", 4)]
)
@settings(max_examples=30, deadline=None)
@given(seed=SEEDS)
def test_apply_accepts_exactly_what_legal_yields(name, seats, seed):
    match = some_state(name, seats, seed)
    offered = {action for seat in range(-1, seats + 1) for action in legal(match, Seat(seat))}
    tried = offered.union(candidates(match))
    assert {action for action in tried if is_accepted(match, action)} == offered


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS, table=st.sampled_from(TABLES))
def test_a_refusal_names_its_code_and_its_seat(seed, table):
    name, seats = table
    match = some_state(name, seats, seed)
    offered = {action for seat in range(seats) for action in legal(match, Seat(seat))}
    for action in random.Random(seed).sample([each for each in candidates(match) if each not in offered], 25):
        with pytest.raises(IllegalActionError, match=f"^seat {action.seat} cannot ") as caught:
            apply(match, action)
        assert caught.value.code in ("not_your_turn", "illegal_action", "void_bet")


@pytest.mark.parametrize(("name", "seats"), TABLES)
@settings(max_examples=4, deadline=None)
@given(seed=SEEDS)
def test_every_match_ends_with_a_winner(name, seats, seed):
    match = playout(preset(name), seats, seed)
    assert match.games[match.winner] == preset(name).games_to_win


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_points_come_only_from_events(name, seats):
    def watch(before, _seat, _chosen, after, told):
        for side in (0, 1):
            scored = sum(
                event.points for event in told if isinstance(event, PointsScored) and event.side == side
            )
            assert after.score[side].points - before.score[side].points == scored

    playout(preset(name), seats, 7, watch)


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_the_end_of_hand_game_and_match_is_told(name, seats):
    def watch(before, _seat, _chosen, after, told):
        kinds = [type(event) for event in told]
        assert (HandWon in kinds or HandDrawn in kinds) == (hand_over(after) and not hand_over(before))
        assert (GameWon in kinds) == (after.game_winner is not None)
        assert (MatchWon in kinds) == (after.winner is not None)

    playout(preset(name), seats, 8, watch)


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_the_same_actions_lead_to_the_same_state(name, seats):
    taken, deals = [], []

    def watch(_before, _seat, chosen, after, _told):
        taken.append(chosen)
        deals.append(after.hand.dealt.cards)

    last = playout(preset(name), seats, 9, watch)
    first_dealer = random.Random(9).randrange(seats)
    match = new_match(preset(name), seats=seats, dealer=Seat(first_dealer))
    for chosen, cards in zip(taken, deals, strict=True):
        if hand_over(match):
            match = next_hand(match)
        match = deal(match, cards)[0] if chosen is None else apply(match, chosen)[0]
    assert match == last
    assert hash(match) == hash(last)


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_seats_that_decide_have_an_action_and_a_ruling(name, seats):
    def watch(_before, _seat, _chosen, after, _told):
        waiting = deciders(after)
        assert bool(waiting) != (hand_over(after) or awaits_deal(after))
        assert all(legal(after, seat) for seat in waiting)
        assert (ruled(after) in legal(after, waiting[0])) if waiting else (ruled(after) is None)

    playout(preset(name), seats, 10, watch)


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, table=st.sampled_from(TABLES))
def test_a_view_does_not_depend_on_hidden_cards(seed, table):
    name, seats = table
    match = some_state(name, seats, seed)
    hand = match.hand
    hidden = tuple(
        tuple(
            card if seat == 0 or slot not in hand.dealt.left[seat] else None
            for slot, card in enumerate(cards)
        )
        for seat, cards in enumerate(hand.dealt.cards)
    )
    blinded = match._replace(hand=hand._replace(dealt=hand.dealt._replace(cards=hidden)))
    assert view(match, Seat(0)) == view(blinded, Seat(0))
    assert legal(match, Seat(0)) == legal(blinded, Seat(0))
