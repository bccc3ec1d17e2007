"""What the rules force open at the end of a hand, and what proves it to those who see no more (rules.md 8.4, 8.6, 13b.14)."""

from dataclasses import replace

from rows import each_row
from rules.played import dealt, learnt, played

from truc_rules import Flor, owed_shows, preset, unproven_seats

GAME = preset("truco-argentino-flor")
ENVIDO = preset("truco-argentino")
RUNS = replace(GAME, flor=Flor("run", claims=True))
COVERED = replace(ENVIDO, cover_from_trick=2)
BARE = "3o 4c 12b"
HIDDEN = "? ? ?"


def test_what_was_played_face_down_is_opened_and_nothing_is_owed_before_the_hand_is_over():
    match = played(dealt(COVERED, "7o 1o 4b", BARE), "0 envido", "1 accept", "0 points 28", "1 good")
    assert (owed_shows(match), unproven_seats(match)) == ((), ())
    match = played(match, "0 play 7o", "1 play 4c", "0 cover 1o", "1 concede")
    assert owed_shows(match) == ((0, (1,)),)


def test_of_equal_pairs_the_one_that_lies_open_or_was_shown_by_choice_is_taken():
    variant = replace(ENVIDO, show="owner")
    match = played(dealt(variant, "10e 7e 12e", BARE), "0 envido", "1 accept", "0 points 27", "1 good")
    open_pair = played(match, "0 play 12e", "1 play 3o", "1 play 4c", "0 concede")
    assert owed_shows(open_pair) == ((0, (1,)),)
    match = played(match, "0 play 7e", "1 play 3o", "0 concede")
    assert owed_shows(match) == ((0, (0,)),)
    assert owed_shows(played(match, "0 show 12e")) == ()


def test_who_was_claimed_to_have_kept_a_run_shows_as_few_cards_as_are_enough():
    match = played(dealt(RUNS, "1e 2e 4e", "5b 7b 1b"), "0 play 2e", "1 claim 0", "1 play 7b", "0 concede")
    assert owed_shows(match) == ((0, (0, 2)),)


def test_a_declared_flor_is_owed_whatever_is_known_and_what_depends_on_unknown_cards_is_left_out():
    assert owed_shows(flor_declared(HIDDEN)) == ((0, (0, 1, 2)),)
    assert owed_shows(value_said(HIDDEN)) == ()


def flor_declared(names):
    return learnt(played(dealt(GAME, HIDDEN, BARE), "0 flor", "0 concede"), 0, names)


def value_said(names):
    match = played(dealt(ENVIDO, HIDDEN, BARE), "0 envido", "1 accept", "0 points 28", "1 good", "0 concede")
    return learnt(match, 0, names)


def claimed(names):
    match = learnt(dealt(GAME, HIDDEN, "5b 6b 1b"), 0, "7e ? ?")
    return learnt(played(match, "0 play 7e", "1 claim 0", "1 play 5b", "0 concede"), 0, names)


@each_row(
    "match_of, names, is_proven",
    [
        (flor_declared, "1b 2b 4b", True),
        (flor_declared, "1b 2b 4o", False),
        (flor_declared, "1b 2b ?", False),
        (value_said, "7o ? 1o", True),
        (value_said, "7o ? 4b", False),
        (value_said, "7o 6o 1o", False),  # a better pair
        (value_said, HIDDEN, False),
        (claimed, "7e 6e 5e", True),
        (claimed, "7e ? 4o", True),
        (claimed, "7e 6e ?", False),
    ],
)
def test_cards_prove_what_was_declared_said_or_claimed_or_do_not(match_of, names, is_proven):
    assert unproven_seats(match_of(names)) == (() if is_proven else (0,))
