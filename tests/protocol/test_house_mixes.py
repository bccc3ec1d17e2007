"""Games mixed of those there are: each is refused, or it can be played to the end and proven."""

import random
import tomllib
from functools import cache
from itertools import islice

import pytest
from protocol.peers import Table
from rules.chance import random_match, random_steps

from truc_protocol.audit import Result, verify
from truc_rules import VariantError, preset, presets, variant_from_fields
from truc_words.house_variants import variant_file

CARDS = ("pack", "order", "turnup")
MIXES = 30
PROVEN = 4


@cache
def fields() -> dict[str, dict]:
    return {name: tomllib.loads(variant_file(preset(name))) for name in presets()}


def mix(chance: random.Random):
    """Return a preset with some fields as in another, or None if they contradict each other."""
    other = fields()[chance.choice(presets())]
    free = [name for name in other if name not in ("name", "version", *CARDS)]
    changed = {name: other[name] for name in chance.sample(free, 4)}
    if chance.random() < 0.3:
        changed |= {name: other[name] for name in CARDS}
    try:
        return variant_from_fields({"name": "mix", "version": 1, **changed}, preset(chance.choice(presets())))
    except VariantError:
        return None


@cache
def mixes(seed: int, count: int) -> list:
    chance = random.Random(seed)
    found = (variant for _ in range(100 * count) if (variant := mix(chance)) is not None)
    return [*islice(found, count)]


@pytest.mark.parametrize("at", range(MIXES))
def test_mix_that_is_not_refused_is_played_to_the_end(at):
    variant, chance = mixes(1, MIXES)[at], random.Random(at)
    match = random_match(variant, chance.choice(variant.players), chance)
    last = [*random_steps(match, chance)][-1].after
    assert last.games[last.winner] == variant.games_to_win


@pytest.mark.slow
@pytest.mark.parametrize("at", range(PROVEN))
def test_match_of_a_mix_is_proven(at):
    variant = mixes(2, PROVEN)[at]
    table = Table(variant, seats=variant.players[-1], seed=at, links=512).run()
    assert verify(table.file()).result is Result.PROVEN
