"""How players stand, as it is stored: after matches, on the board of a game, and when a player is forgotten."""

import math

import pytest
from server.stored import MATCH, MID, TABLE, sql
from structlog.testing import capture_logs

from truc_server.storage import ForgetPlayer, RatedPlayer, RateMatch, StoreLostError
from truc_server.storage.ratings import Skill, after_match

ANA, BEN, CAI, DIA = (
    RatedPlayer(name.encode() * 8, f"TAG-{name}", name) for name in ("Anaa", "Benb", "Caic", "Diad")
)
DUEL = RateMatch(MID, "truc-french", 2, (ANA,), (BEN,))
NEW = Skill()


class TestRatings:
    @pytest.fixture(autouse=True)
    def match(self, store):
        store.commit([TABLE, MATCH])

    def test_winner_stands_above_loser_and_matches_and_those_won_are_counted(self, store):
        store.commit([DUEL])
        best, worst = store.leaderboard("truc-french", 2, first=0, limit=9)
        assert (best.rating.name, best.rank, worst.rating.name, worst.rank) == ("Anaa", 1, "Benb", 2)
        assert best.rating.points > NEW.points > worst.rating.points
        store.commit([DUEL])
        store.commit([DUEL._replace(winners=(BEN,), losers=(ANA,))])
        ((ana, _),) = store.profile("TAG-Anaa")
        assert (ana.matches, ana.won) == (3, 2)

    def test_skill_is_that_of_all_matches_in_their_order(self, store):
        store.commit([DUEL, DUEL])
        once = after_match([NEW], [NEW])
        (twice,), _ = after_match(*once)
        ((ana, _),) = store.profile("TAG-Anaa")
        assert math.isclose(ana.mean, twice.mean)
        assert math.isclose(ana.deviation, twice.deviation)

    def test_partners_win_together(self, store):
        store.commit([DUEL._replace(seats=4, winners=(ANA, CAI), losers=(BEN, DIA))])
        found = store.leaderboard("truc-french", 4, first=0, limit=9)
        assert [(standing.rating.name, standing.rank) for standing in found] == [
            ("Anaa", 1),
            ("Caic", 1),
            ("Benb", 3),
            ("Diad", 3),
        ]

    def test_games_and_numbers_of_seats_are_apart(self, store):
        store.commit([DUEL, DUEL._replace(variant="truc-catalan")])
        store.commit([DUEL._replace(seats=4, winners=(ANA, CAI), losers=(BEN, DIA))])
        kinds = [(rating.variant, rating.seats) for rating, _ in store.profile("TAG-Anaa")]
        assert kinds == [("truc-catalan", 2), ("truc-french", 2), ("truc-french", 4)]

    def test_board_goes_on_from_a_place(self, store):
        store.commit([DUEL, DUEL._replace(winners=(CAI,), losers=(DIA,))])
        whole = store.leaderboard("truc-french", 2, first=0, limit=9)
        assert store.leaderboard("truc-french", 2, first=1, limit=2) == whole[1:3]
        assert store.leaderboard("truc-french", 2, first=4, limit=2) == ()

    def test_name_is_that_of_the_newest_match(self, store):
        store.commit([DUEL])
        store.commit([DUEL._replace(winners=(ANA._replace(name="Anna"),))])
        assert [rating.name for rating, _ in store.profile("TAG-Anaa")] == ["Anna"]

    def test_forgotten_player_has_no_rating(self, store):
        store.commit([DUEL])
        store.commit([ForgetPlayer(ANA.player)])
        assert store.profile("TAG-Anaa") == ()
        assert [standing.rank for standing in store.profile("TAG-Benb")] == [1]

    def test_player_who_is_taken_off_is_on_no_board_and_begins_anew(self, store):
        store.commit([DUEL, DUEL, DUEL._replace(variant="truc-catalan")])
        assert (store.unrate("TAG-Anaa"), store.unrate("TAG-Anaa")) == (2, 0)
        assert store.profile("TAG-Anaa") == ()
        assert [standing.rank for standing in store.profile("TAG-Benb")] == [1, 1]
        store.commit([DUEL])
        assert [ana.matches for ana, _ in store.profile("TAG-Anaa")] == [1]


def test_match_of_a_table_that_another_server_has_is_not_rated(store, tmp_path, rival):
    store.commit([TABLE, MATCH])
    rival.claim("another process")
    with pytest.raises(StoreLostError):
        store.commit([DUEL])
    assert rival.profile("TAG-Anaa") == ()


DAMAGES = ["mean = 'much'", "deviation = 0", "mean = 9e999", "name = CAST(x'ff' AS TEXT)"]


@pytest.mark.parametrize("damage", [*DAMAGES, "points = 'all'"])
def test_damaged_rating_alone_is_left_out_of_its_page_and_logged(store, folder, damage):
    store.commit([TABLE, MATCH])
    store.commit([DUEL, DUEL._replace(winners=(CAI,), losers=(DIA,)), DUEL._replace(variant="truc-catalan")])
    whole = store.leaderboard("truc-french", 2, first=0, limit=9)
    lost = next(standing for standing in whole if standing.rating.tag == ANA.tag)
    sql(folder / "truc.db", f"UPDATE ratings SET {damage} WHERE tag = 'TAG-Anaa' AND variant = 'truc-french'")
    with capture_logs() as logged:
        board = store.leaderboard("truc-french", 2, first=0, limit=2)
        assert [standing.rating for standing in board] == [
            standing.rating for standing in whole if standing != lost
        ][:2]
        assert [rating.variant for rating, _ in store.profile("TAG-Anaa")] == ["truc-catalan"]
    assert [entry["event"] for entry in logged] == ["row_not_read"] * 2
    assert all("a row is not as it was written: expected" in entry["reason"] for entry in logged)


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_rating_begins_anew_and_the_match_is_stored(store, folder, damage):
    """In a file: PostgreSQL keeps to the types of its columns by itself."""
    store.commit([TABLE, MATCH])
    store.commit([DUEL, DUEL])
    sql(folder / "truc.db", f"UPDATE ratings SET {damage} WHERE tag = 'TAG-Anaa'")
    store.commit([DUEL])
    assert [rating.matches for rating, _ in store.leaderboard("truc-french", 2, first=0, limit=9)] == [
        1,
        3,
    ]
