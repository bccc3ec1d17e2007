"""Flor, where scenarios do not reach: what is told of it, and duels (rules.md 8.6, 8.7, 13b.3)."""

from rows import each_row
from rules.played import dealt, duel, events, flores, played

from truc_rules import preset
from truc_rules.positions.events import (
    ContraflorAccepted,
    ContraflorCalled,
    FlorDeclared,
    FlorFolded,
    PointsScored,
    ValueSaid,
)

GAME = preset("truco-argentino-flor")
F26, F27, F29, F36 = "1o 5o 12o", "1b 2b 4b", "4e 5e 11e", "3c 6c 7c"
PLAIN, BARE, POOR = "7o 6o 1c", "3o 4c 12b", "2o 5c 11b"
"""No flores: 33, 4, 5."""
FOUR = (F27, F36, F29, BARE)
DUEL = duel("truco-argentino-6-flor", F27, F26, PLAIN, F36, F29, POOR)
"""Seat 0 against seat 3; seats 0, 1, 3 and 4 hold flores."""


@each_row("call, declaring", [("0 envido", [0, 3]), ("0 raise 2", [3])])
def test_the_others_of_a_table_do_not_declare_in_a_duel(call, declaring):
    # rules.md 8.7
    match = played(DUEL, call)
    assert [seat for seat in range(6) if flores(match, seat)] == declaring


def test_al_resto_pays_what_the_leader_lacks_besides():
    match = played(dealt(GAME, F27, F36, score=(12, 8)), "0 flor", "1 contraflor-rest", "0 accept")
    told = events(played(match, "0 points 27"), "1 points 36")
    assert told[:2] == (ValueSaid(1, 36), PointsScored(1, 18 + 6, "flor"))


@each_row(
    "hands, moves, line, told",
    [
        ((F27, BARE), (), "0 flor", (FlorDeclared(0), PointsScored(0, 3, "flor"))),
        ((F27, F36), ("0 flor",), "1 flor-fold", (FlorFolded(1), PointsScored(0, 4, "flor"))),
        ((F27, F36), ("0 flor",), "1 contraflor", (ContraflorCalled(1, "contraflor"),)),
        ((F27, F36), ("0 flor", "1 contraflor"), "0 accept", (ContraflorAccepted(0),)),
        # who answers a contraflor has declared a flor, and who had no turn to counts as having declared it
        (FOUR, ("0 flor", "1 contraflor"), "2 accept", (FlorDeclared(2), ContraflorAccepted(2))),
        (FOUR, ("0 flor",), "1 flor-fold", (FlorFolded(1), FlorDeclared(2), PointsScored(0, 7, "flor"))),
    ],
)
def test_what_is_done_about_a_flor_is_told(hands, moves, line, told):
    assert events(played(dealt(GAME, *hands), *moves), line) == told
