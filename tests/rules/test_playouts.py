"""What holds of every match that is played at random: every preset with every seat count and every table option."""

from dataclasses import fields, is_dataclass
from functools import reduce
from typing import Literal, get_args, get_origin, get_type_hints

from rows import each_row
from rules.chance import chance_for, games, optioned, parametered, random_match, random_steps

from truc_rules import (
    Score,
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
    ruled,
    with_options,
)
from truc_rules.positions.events import GameWon, HandDrawn, HandWon, MatchWon, PointsScored, UnitScored


def steps(variant, seats, seed):
    chance = chance_for(variant, seats, seed)
    return [*random_steps(random_match(variant, seats, chance), chance)]


def folded(score, told):
    """Return the score after events: this is all a reader of events needs to know."""
    score = [*score]
    for event in told:
        if isinstance(event, PointsScored):
            mine = score[event.side]
            score[event.side] = Score(mine.upper, mine.points + event.points)
        elif isinstance(event, UnitScored):
            mine, theirs = score[event.side], score[1 - event.side]
            score[event.side] = Score(mine.upper + 1, event.kept)
            score[1 - event.side] = Score(theirs.upper, 0)
    return tuple(score)


@each_row("seed, seats, variant", games(at_tables=2, options=1, parameters=2))
def test_every_match_ends_with_a_winner(seed, seats, variant):
    last = steps(variant, seats, seed)[-1].after
    assert last.games[last.winner] == variant.games_to_win


@each_row("seed, seats, variant", games(at_tables=1))
def test_every_step_tells_its_points_and_ends_and_leaves_who_decides_an_action_and_a_ruling(
    seed, seats, variant
):
    for step in steps(variant, seats, seed):
        before, after, waiting = step.before, step.after, deciders(step.after)
        assert after.score == folded(before.score, step.events)
        kinds = [type(event) for event in step.events]
        assert (GameWon in kinds) == (after.game_winner is not None and before.game_winner is None)
        assert (MatchWon in kinds) == (after.winner is not None and before.winner is None)
        if is_hand_over(after) and not is_hand_over(before):
            assert HandWon in kinds or HandDrawn in kinds or GameWon in kinds
        assert bool(waiting) != (is_hand_over(after) or awaits_deal(after))
        assert all(legal(after, seat) for seat in waiting)
        assert (ruled(after) in legal(after, waiting[0])) if waiting else (ruled(after) is None)


@each_row("seed, seats, variant", games(at_tables=1))
def test_the_same_actions_lead_to_the_same_state(seed, seats, variant):
    taken = steps(variant, seats, seed)
    first = taken[0].before
    match = new_match(variant, seats=seats, dealer=first.dealer, score=first.score, games=first.games)
    for step in taken:
        if is_hand_over(match) and not is_hand_over(step.before):
            match = next_hand(match)
        if step.action is None:
            dealt = step.after.hand.dealt
            up = () if match.hand.dealt.redeals else dealt.up
            match, told = deal(match, dealt.cards, up)
        else:
            match, told = apply(match, step.action)
        assert told == step.events
    assert match == taken[-1].after
    assert hash(match) == hash(taken[-1].after)


def values_told_apart(hint):
    """Return the words that a type takes, or yes and no; none if it takes anything else."""
    kinds = (hint, *get_args(hint))
    words = (word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind))
    return (*words, *((True, False) if bool in kinds else ()))


def params_told_apart(group=Variant, path=()):
    """Yield the path of every param of words, or yes and no, with its values; those of groups too."""
    hints = get_type_hints(group)
    for name in (each.name for each in fields(group) if each.init):
        yield (*path, name), values_told_apart(hints[name])
        for inner in filter(is_dataclass, (hints[name], *get_args(hints[name]))):
            yield from params_told_apart(inner, (*path, name))


def held(own, name):
    """Return what a game or a group of it has; None where the game has no such group."""
    return getattr(own, name, None)


def test_every_value_of_a_param_is_in_a_game_that_is_played_at_random():
    optional = (with_options(preset(name), {option: value}) for name, option, value in optioned())
    games = [*map(preset, presets()), *optional, *parametered()]
    unplayed = {
        ".".join(path): missing
        for path, values in params_told_apart()
        if (missing := {*values} - {reduce(held, path, game) for game in games})
    }
    assert unplayed == {}
