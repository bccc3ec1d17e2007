"""`apply` takes exactly what `legal` yields, and refuses the rest in words, in every state that play can reach."""

import random
from copy import deepcopy

import pytest
from rows import each_row
from rules.candidates import candidates
from rules.chance import games, some_state

from truc_rules import IllegalActionError, Kind, Seat, apply, legal


def is_taken(match, action):
    try:
        apply(match, action)
    except IllegalActionError:
        return False
    return True


def in_order(action):
    """Return a show with its cards ascending: they may be named in any order."""
    return action._replace(cards=tuple(sorted(action.cards))) if action.kind is Kind.SHOW else action


@each_row("seed, seats, variant", games(at_tables=2, options=1))
def test_apply_takes_exactly_what_legal_yields(seed, seats, variant):
    match = some_state(variant, seats, seed)
    kept = deepcopy(match)
    offered = {action for seat in range(-1, match.seats + 1) for action in legal(match, Seat(seat))}
    tried = offered.union(candidates(match))
    taken = {in_order(action) for action in tried if is_taken(match, action)}
    assert taken == {in_order(action) for action in offered}
    assert match == kept


@each_row("seed, seats, variant", games(at_tables=1))
def test_a_refusal_names_its_code_and_its_seat(seed, seats, variant):
    match = some_state(variant, seats, seed)
    offered = {action for seat in range(seats) for action in legal(match, Seat(seat))}
    refused = [each for each in candidates(match) if in_order(each) not in map(in_order, offered)]
    for action in random.Random(seed).sample(refused, 25):
        with pytest.raises(IllegalActionError, match=f"^seat {action.seat} cannot {action.kind}") as caught:
            apply(match, action)
        assert caught.value.code in ("not_your_turn", "illegal_action", "void_bet")
