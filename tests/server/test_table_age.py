"""How long a table has waited, or its match been played, as everybody is told."""

from functools import partial

import pytest
from server.calls import BRIEF
from server.conftest import in_hand, play_on, running

LIVE, LATE = {"spectators": 1}, {"spectators": 3 + 60}
NOW_MS = 1_790_000_000_000


class WallClock:
    """The time of day, which goes on when a test says so."""

    now_ms = NOW_MS

    def go_on(self, seconds: int) -> None:
        self.now_ms += seconds * 1_000


@pytest.fixture
def wall(monkeypatch) -> WallClock:
    clock = WallClock()
    monkeypatch.setattr("time.time_ns", lambda: clock.now_ms * 1_000_000)
    return clock


async def shown(server) -> tuple[str, int]:
    """Return the state and the age in seconds of the one table that is listed."""
    stranger = await server.connect()
    await stranger.login_guest("Eve")
    (table,) = (await stranger.ask({"t": "tables"}))["tables"]
    return table["state"], table["age_ms"] // 1_000


async def begun(server, **options):
    """Return two seats that have just begun a match."""
    seats = await server.seats(2, options={**BRIEF, **options})
    for seat in seats:
        await seat.ready()
    await play_on(seats, lambda seat: seat.next > 3)
    return seats


async def test_table_that_waits_is_as_old_as_it_was_made_and_never_younger_than_new(server, wall):
    await server.seats(2)
    wall.go_on(90)
    assert await shown(server) == ("open", 90)
    wall.go_on(-180)
    assert await shown(server) == ("open", 0)


async def test_age_begins_anew_when_the_match_begins_and_when_it_is_over(server, wall):
    seats = await begun(server, **LIVE)
    wall.go_on(5)
    assert await shown(server) == ("playing", 5)
    await play_on(seats)
    wall.go_on(7)
    assert await shown(server) == ("over", 7)
    await seats[0].client.ask({"t": "leave", "table": seats[0].table})
    wall.go_on(3)
    assert await shown(server) == ("over", 10)


async def test_age_of_a_match_that_is_shown_late_does_not_tell_that_it_is_over(server, wall):
    seats = await begun(server, **LATE)
    wall.go_on(7)
    await play_on(seats)
    wall.go_on(5)
    assert await shown(server) == ("playing", 12)


async def test_server_that_was_started_again_knows_how_long_tables_wait_and_matches_are_played(
    tmp_path, wall
):
    for begin, state in (
        (lambda server: server.seats(2), "open"),
        (partial(in_hand, options=LIVE), "playing"),
    ):
        async with running(tmp_path / state) as server:
            await begin(server)
        wall.go_on(90)
        async with running(tmp_path / state) as server:
            assert await shown(server) == (state, 90)
