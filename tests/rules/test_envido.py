"""Envido, where scenarios do not reach: house variants, and what is told (rules.md 8.2, 8.4, 8.5)."""

from dataclasses import replace

from rows import each_row
from rules.played import dealt, events, options, played

from truc_rules import Envido, Kind, LastPoint, preset, with_options
from truc_rules.contests.envido import _raises, accepted_points, fold_bonus
from truc_rules.positions.events import (
    EnvidoAccepted,
    EnvidoCalled,
    EnvidoDeclined,
    PointsScored,
    ValueSaid,
    ValueYielded,
)

ARGENTINE = preset("truco-argentino")
TWO = ("7e 6e 2b", "7o 1o 4b")
"""33 and 28."""


def calls(match, seat):
    return [line for line in options(match, seat) if "envido" in line]


def last_point(stake):
    return replace(ARGENTINE, last_point=LastPoint(at=1, stake=stake, decline=1, share=False))


@each_row(
    "variant, score, moves, seat, offered",
    [
        # rules.md 8.4, "Who / when"; 2, "Eleven points": no betting
        (last_point(1), (29, 3), ("0 accept",), 0, []),
        (last_point(3), (29, 3), ("0 accept",), 0, []),
        (replace(ARGENTINE, envido=Envido(1, 0, "leader", 1)), (0, 0), (), 0, ["envido", "falta-envido"]),
        # rules.md 8.2 and 8.3
        (replace(ARGENTINE, remainder="accept"), (0, 0), ("0 raise rest", "1 accept"), 0, []),
        # rules.md 8.4, "Calls and answers" and "Limits"; 13.24
        (
            replace(ARGENTINE, envido=Envido(2, 2, "leader", 1)),
            (0, 0),
            ("0 real-envido",),
            1,
            ["real-envido", "falta-envido"],
        ),
    ],
)
def test_only_what_the_game_allows_may_be_called_now(variant, score, moves, seat, offered):
    assert calls(played(dealt(variant, *TWO, score=score), *moves), seat) == offered


# rules.md 8.4, the table


@each_row(
    "hands, moves, line, told",
    [
        (TWO, (), "0 real-envido", (EnvidoCalled(0, "real-envido"),)),
        (TWO, ("0 envido", "1 real-envido"), "0 accept", (EnvidoAccepted(0, 5),)),
        (TWO, ("0 envido", "1 real-envido"), "0 decline", (EnvidoDeclined(0), PointsScored(1, 2, "envido"))),
        (
            TWO[::-1],
            ("0 envido", "1 accept", "0 points 28"),
            "1 points 33",
            (ValueSaid(1, 33), PointsScored(1, 2, "envido")),
        ),
        (
            TWO,
            ("0 real-envido", "1 accept", "0 points 33"),
            "1 good",
            (ValueYielded(1), PointsScored(0, 3, "envido")),
        ),
    ],
)
def test_calls_answers_and_values_are_told_with_their_points(hands, moves, line, told):
    assert events(played(dealt(ARGENTINE, *hands), *moves), line) == told


# rules.md 8.4, "Falta"; 13.25; 14b


@each_row(
    "falta, at, points",
    [
        ("malas-game", (15, 4), (15, 26)),
        ("malas-game", (16, 4), (14, 14)),
        ("malas-15", (4, 9), (6, 6)),
        ("malas-15", (15, 15), (1, 1)),
        ("malas-15", (16, 9), (14, 14)),
        ("leader", (4, 9), (21, 21)),
    ],
)
def test_falta_has_local_forms_while_both_sides_are_in_malas(falta, at, points):
    variant = with_options(ARGENTINE, {"falta": falta})
    assert accepted_points(dealt(variant, *TWO, score=at), (Kind.FALTA_ENVIDO,)) == points


# rules.md 8.5, 13b.2


NO_ENVIDO = dealt("truc-french", "7s 8s 9s", "7d 8d 9d")


@each_row("match, seat", [(NO_ENVIDO, 0), (dealt(ARGENTINE, *TWO), 1)])
def test_there_is_no_bonus_without_envido_nor_from_a_seat_that_is_not_to_act(match, seat):
    assert fold_bonus(match, seat) == 0


def test_rows_of_calls_are_not_kept_without_end():
    assert _raises.cache_info().maxsize == 1024
