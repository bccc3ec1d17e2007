"""Who follows a table: what waits for those who are behind, and what those hear who come when it is gone."""

from collections.abc import Iterable

import pytest

from truc_protocol.messages import TableClosed
from truc_server.spectating.audience import Audience

GONE = TableClosed(table="ABC", reason="server")


class Follower:
    """A connection that notes what it is sent."""

    def __init__(self, wanted: Iterable[str] = ()) -> None:
        self.wanted = tuple(wanted)
        self.watched = frozenset()
        self.ignored = set()
        self.knows_rules = False
        self.frames: list[bytes] = []

    def send_frame(self, frame: bytes) -> None:
        self.frames.append(frame)

    send_watched = send_frame


@pytest.fixture
def audience() -> Audience:
    return Audience(2, watched="the table")


def test_seat_that_has_fallen_behind_is_sent_nothing_until_it_has_caught_up(audience):
    seat = Follower()
    audience.attach(0, seat)
    audience.seats_caught_up()
    audience.fall_behind(seat)
    audience.show_seats(b"missed")
    audience.caught_up(seat)
    audience.show_seats(b"next")
    assert seat.frames == [b"next"]


def test_seat_that_catches_up_when_the_table_is_gone_is_told_nothing_more(audience):
    seat = Follower()
    audience.attach(0, seat)
    audience.end_watching(GONE)
    audience.caught_up(seat)
    assert seat.frames == []


def test_who_watches_no_more_is_not_asked_for_room(audience):
    watcher = Follower()
    audience.watch(watcher)
    assert watcher.watched == {"the table"}
    audience.unwatch(watcher)
    assert watcher.watched == frozenset()


def test_watcher_who_takes_a_seat_is_sent_a_record_once(audience):
    peer = Follower()
    audience.watch(peer)
    audience.attach(0, peer)
    audience.seats_caught_up()
    audience.show_seats(b"record")
    audience.show_watchers(b"record")
    assert peer.frames == [b"record"]
