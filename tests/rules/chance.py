"""Play at random, the same for the same seed: tables, deals, matches, states in the middle of a hand.

Every test that uses it runs a few examples in the ordinary suite. The long run has many times as many, new ones each
time: `TRUC_EXAMPLES=100 python -m pytest tests/rules` has a hundred times as many.
"""

import os
import random
import tomllib
from functools import cache
from math import ceil
from typing import NamedTuple

from truc_rules import (
    Action,
    Kind,
    Match,
    Score,
    Seat,
    VariantError,
    apply,
    awaits_deal,
    deal,
    is_hand_over,
    legal,
    new_match,
    next_hand,
    preset,
    presets,
    variant_from_fields,
    with_options,
)
from truc_rules.positions.match import HandPhase
from truc_words.house_variants import variant_file

TABLES = [(name, seats) for name in presets() for seats in preset(name).players]
SETTINGS = {
    "reveal": ("match",),
    "end_check": ("hand_end",),
    "match": (1, 3, 5),
    "target": (7, 21),
    "order": ("es40-moll", "fr32", "fr32-rational", "fr32-8low", "fr32-ace", "br24-vira"),
    "ladder": ("x2", "+2", "any"),
    "redeals": (0, 2, "pack"),
    "pica": ("on", "off"),
    "flor": ("on", "off"),
    "falta": ("malas-game", "malas-15"),
    "fold_bonus": (0,),
    "cover_from_trick": (2,),
    "blind": ("on",),
    "signals": ("off", "table"),
    "show": ("none",),
}
"""By table option of rules.md 14b: values that are not what every game has already."""

PARAMETERS = (
    ("truco-argentino", "remainder", "last"),
    ("truco-argentino", "envido.settle", "hand_end"),
    ("truco-argentino", "absent", "concede"),
    ("truco-argentino-flor", "flor.kind", "run"),
    ("truco-argentino-flor", "flor.challenge", False),
    ("truco-argentino-flor", "flor.pays", "own"),
    ("truco-uruguayo", "flor.reserved", True),
    ("truco-uruguayo", "flor.claims", False),
    ("truco-venezolano", "remainder", "none"),
    ("truco-venezolano", "flor.challenge", True),
    ("truco-venezolano", "flor.claims", True),
    ("truco-venezolano", "flor.pays", "all"),
    ("truco-venezolano", "flor.reserved", False),
    ("truc-valencia", "remainder", "none"),
    ("truc-valencia", "envido.settle", "said"),
)
"""Of the games, a parameter that no table option changes, and another value of it."""

_TIMES = int(os.environ.get("TRUC_EXAMPLES", "1"))
_A_FEW = 6
_LONGEST = 50_000
_GIVING_UP = frozenset({Kind.CONCEDE, Kind.DECLINE})
_SUITED = 0.3
_PATIENCE = 0.8
_SHOWING = 0.3
_SECOND = 0.5


def games(*, at_tables, options=0, parameters=0):
    """Return what makes the rows of a test that plays at random: (seed, seats, variant).

    The numbers say how often each game is played at each of its tables, with each option, with each parameter of another
    game; many times as often in the long run.
    """

    def rows():
        dice = random.Random(1 if _TIMES == 1 else None)
        played = [(preset(name), (seats,)) for name, seats in TABLES] * at_tables
        changed = [
            with_options(preset(name), {option: value}) for name, option, value in optioned()
        ] * options
        changed += parametered() * parameters
        played += [(variant, variant.players) for variant in changed]
        return [(dice.getrandbits(32), dice.choice(seats), variant) for variant, seats in played * _TIMES]

    return rows


@cache
def optioned():
    """Return every value of every option with a few of the presets that take it, with all in the long run: (preset, option, value)."""
    return [*_optioned(_A_FEW if _TIMES == 1 else len(presets()))]


def _optioned(most):
    for option, values in SETTINGS.items():
        for number, value in enumerate(values):
            names = [name for name in presets() if changes(name, option, value)]
            step = max(1, ceil(len(names) / most))
            for name in names[(len(option) + number) % step :: step]:  # not always the same games
                yield name, option, value


def with_each_option():
    """Yield every preset's every option as a game for most players: (variant, seats, option, value)."""
    for name, option, value in _optioned(len(presets())):
        variant = with_options(preset(name), {option: value})
        yield variant, variant.players[-1], option, value


def parametered():
    """Return the games with a parameter that is otherwise in others."""
    return [_with_parameter(preset(name), path.split("."), value) for name, path, value in PARAMETERS]


def _with_parameter(variant, path, value):
    *groups, field = path
    fields = tomllib.loads(variant_file(variant))
    changed = {groups[0]: {**fields[groups[0]], field: value}} if groups else {field: value}
    return variant_from_fields({"name": f"{variant.name}-{field}", "version": 1, **changed}, variant)


def changes(name, option, value):
    try:
        return with_options(preset(name), {option: value}) != preset(name)
    except VariantError:
        return False


class Step(NamedTuple):
    """One thing that happened in a match."""

    before: Match
    action: Action | None
    """None for a deal."""
    after: Match
    events: tuple


def cards_for(match, chance):
    """Return cards for a deal, and those turned up; three of a suit come oftener than by chance where flor is played."""
    variant, each = match.variant, match.hand.dealt.each
    pool = [card for card in range(len(variant.pack)) if card not in match.hand.dealt.thrown]
    chance.shuffle(pool)
    ups = 0 if match.hand.dealt.redeals else variant.turn_count
    up, pool = pool[:ups], pool[ups:]
    hands = []
    for _ in range(match.seats):
        given = pool[:each]
        if variant.flor is not None and chance.random() < _SUITED:
            suit = variant.suits[pool[0]]
            given = sorted(pool, key=lambda card, suit=suit: variant.suits[card] != suit)[:each]
        hands.append(tuple(given))
        pool = [card for card in pool if card not in given]
    return hands, up


def random_match(variant, seats, chance):
    """Return a match that has not begun, at any score."""
    target, per_unit = variant.scoring.target, variant.scoring.points_per_unit
    if per_unit:
        score = tuple(Score(chance.randrange(target), chance.randrange(per_unit)) for _ in range(2))
    else:
        within = (0, 3, target // 2, target - 2, target - 1)
        score = tuple(Score(0, max(0, chance.choice(within))) for _ in range(2))
    games = tuple(chance.randrange(variant.games_to_win) for _ in range(2))
    dealer = Seat(chance.randrange(seats))
    return new_match(variant, seats=seats, dealer=dealer, score=score, games=games)


def options_of(match):
    """Return all that anybody may do."""
    return [each for seat in range(match.seats) for each in legal(match, Seat(seat))]


def choice(match, options, chance):
    """Choose one of the actions that somebody may take: first its kind, seldom to give up; None if there is none."""
    kinds = list(dict.fromkeys(each.kind for each in options))
    if not kinds or (is_hand_over(match) and chance.random() > _SHOWING):
        return None
    lasting = [kind for kind in kinds if kind not in _GIVING_UP]
    kind = chance.choice(lasting if lasting and chance.random() < _PATIENCE else kinds)
    return chance.choice([each for each in options if each.kind is kind])


def random_steps(match, chance):
    """Yield every step of the rest of a match."""
    for _ in range(_LONGEST):
        if awaits_deal(match):
            action, (after, told) = None, deal(match, *cards_for(match, chance))
        elif (action := choice(match, options_of(match), chance)) is not None:
            after, told = apply(match, action)
        elif match.winner is None:
            match = next_hand(match)
            continue
        else:
            return
        yield Step(match, action, after, told)
        match = after
    raise AssertionError(f"expected {match.variant.name} to end within {_LONGEST} actions")


def random_hand(variant, seats, chance):
    """Return the steps of one hand, the first of a game or the second, at any score."""
    match = random_match(variant, seats, chance)
    if chance.random() < _SECOND:
        match = next_hand(match._replace(hand=match.hand._replace(phase=HandPhase.OVER)))
    found = []
    for step in random_steps(match, chance):
        found.append(step)
        if is_hand_over(step.after):
            break
    return found


def chance_for(variant, seats, seed):
    """Return where the chance of a test comes from: another for every table, even for the same seed."""
    return random.Random(f"{variant.name} {seats} {seed}")


def some_state(variant, seats, seed):
    """Return a state somewhere in a hand."""
    chance = chance_for(variant, seats, seed)
    return chance.choice(random_hand(variant, seats, chance)).after
