"""Where a hand seems to wait for seats that may have nothing to say (rules.md 13b.3: a flor must be declared)."""

import pytest
from rows import each_row
from rules.played import action, dealt, played

from truc_rules import Seat, apply, has_windows, is_window, new_match, preset, presets, unseen

GAME = preset("truco-argentino-flor")
F27, F36, PLAIN = "1b 2b 4b", "3c 6c 7c", "7o 6o 1c"


def opens(match, line):
    return is_window(apply(unseen(match), action(match, line))[0])


@pytest.mark.parametrize("theirs", [F36, PLAIN])
def test_a_first_flor_leaves_everybody_waiting_whether_or_not_another_has_one(theirs):
    assert opens(dealt(GAME, F27, theirs), "0 flor")


def test_the_last_flor_that_can_be_declared_opens_nothing():
    assert not opens(played(dealt(GAME, F27, F36), "0 flor"), "1 flor")


@pytest.mark.parametrize("line", ["0 envido", "0 raise 2"])
def test_what_anybody_can_do_opens_nothing(line):
    assert not opens(dealt(GAME, F27, F36), line)


def test_a_flor_declared_after_the_others_have_played_opens_nothing():
    match = played(dealt(GAME, PLAIN, F36), "0 play 7o")
    assert not opens(match, "1 flor")


def test_a_window_stays_open_while_a_partner_of_the_holder_is_unheard():
    match = dealt(GAME, F27, PLAIN, "3o 4c 12b", "2o 5c 11b")
    assert opens(match, "0 flor")


@each_row("name", presets())
def test_only_games_with_flor_have_windows(name):
    game = preset(name)
    match = new_match(game, seats=min(game.players), dealer=Seat(0))
    assert has_windows(match) == (game.flor is not None)
