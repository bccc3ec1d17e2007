"""The stakes of a game that is no preset, as a house variant has them: rules.md 1.6, row Venezuela: 1, 3, 6, 9, game."""

from dataclasses import replace

import pytest
from rules.played import dealt, events, options, played

from truc_rules import preset
from truc_rules.positions.events import PointsScored

TARGET = 24
VENEZUELA = replace(
    preset("truco-argentino"),
    name="venezuela",
    ladder=(1, 3, 6, 9, TARGET),
    envido=None,
    scoring=replace(preset("truco-argentino").scoring, target=TARGET),
)
HANDS = ("1e 4o 5c", "3o 6c 10b")
ASKS = ("0 raise 3", "1 raise 6", "0 raise 9", f"1 raise {TARGET}")


def asked(number):
    return played(dealt(VENEZUELA, *HANDS), *ASKS[:number])


@pytest.mark.parametrize(("number", "stake"), [(1, 3), (2, 6), (3, 9), (4, TARGET)])
def test_an_accepted_ask_makes_the_stake_of_its_row(number, stake):
    assert played(asked(number), f"{number % 2} accept").hand.bets.stake == stake


@pytest.mark.parametrize(("number", "points"), [(1, 1), (2, 3), (3, 6), (4, 9)])
def test_a_refused_ask_pays_the_stake_before(number, points):
    scored = [
        event for event in events(asked(number), f"{number % 2} decline") if isinstance(event, PointsScored)
    ]
    assert [(event.side, event.points) for event in scored] == [((number - 1) % 2, points)]


def test_only_the_side_that_accepted_asks_next():
    match = played(asked(1), "1 accept")
    assert not [line for line in options(match, 0) if line.startswith("raise")]
    match = played(match, "0 play 4o")
    assert [line for line in options(match, 1) if line.startswith("raise")] == ["raise 6"]


def test_the_game_is_the_last_stake():
    assert options(asked(4), 0) == ["accept", "decline"]
