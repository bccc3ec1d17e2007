"""A table that closes is seen to its end by who watches it and is not at the end yet."""

import pytest
from server.calls import BRIEF
from server.conftest import PATIENT, QUICK
from server.substituting import step_in, with_newcomer
from server.test_snapshots import overflow
from server.watching import Eye, Held

from truc_protocol.messages import TableClosed
from truc_protocol.wire.connection import broadcast_frame
from truc_rules import preset
from truc_server.net.peer import SNAPSHOT
from truc_server.spectating.audience import Audience
from truc_server.spectating.spectator_feed import SpectatorFeed
from truc_server.table_data.board import Blueprint, TableBoard
from truc_server.table_data.options import choose
from truc_server.timing.clock import Timers

SETTINGS = PATIENT
GONE = TableClosed(table="ABCDE", reason="empty")
CHOSEN = choose(preset("truc-french"), 2, {"spectators": 1}, QUICK.match)[0]
MADE = Blueprint("ABCDE", CHOSEN, 2, {}, private=False, creator=b"creator", created_ms=0)
SNAPSHOT_SENT = broadcast_frame(GONE)
"""What stands for the table's state here."""


@pytest.fixture
def held(monkeypatch) -> Held:
    return Held(monkeypatch)


async def overflown(server, held, *others: Eye, **options):
    """Return a table that is gone, and somebody who has watched it and was not sent what they are to see."""
    seats = await server.seats(2, guests=(0, 1), options={**BRIEF, **options})
    eye = Eye(SNAPSHOT)
    for other in others:
        await (await other.connect(server)).watch(seats[0].table)
    await overflow(server, held, eye, seats)
    for seat in seats:
        assert (await seat.ask({"t": "leave", "table": seat.table}))["t"] == "ok"
    return seats, eye


@pytest.mark.parametrize("spectators", [1, 2])
async def test_watcher_who_is_skipped_sees_the_end_of_a_table_that_closes(server, held, spectators):
    seats, eye = await overflown(server, held, spectators=spectators)
    held.release(eye)
    await eye.until(lambda eye: "closed" in eye.order)
    assert (eye.skips, eye.next, eye.order[-2:]) == (1, seats[0].next, ["record", "closed"])


async def test_watcher_who_is_skipped_sees_the_end_of_a_late_table_that_closes(server, held, mock_clock):
    other = Eye(SNAPSHOT)
    seats, eye = await overflown(server, held, other, spectators=63)
    mock_clock.jump(61)
    await other.until(lambda eye: "closed" in eye.order)
    held.release(eye)
    await eye.until(lambda eye: "closed" in eye.order)
    assert (eye.skips, eye.next) == (1, seats[0].next)


class Outbox:
    """What waits, all of which is kept."""

    def keep_all(self) -> None:
        """Nothing is dropped anyway."""


class Stood(TableBoard):
    """A table of which only one thing is told."""

    def notice(self, **_):
        return GONE


class Watcher:
    """A connection that watches, whose outbox has room."""

    number, address = 1, "127.0.0.1"

    def __init__(self, *wanted: str) -> None:
        self.wanted = wanted
        self.ignored: set[str] = set()
        self.watched: frozenset[SpectatorFeed] = frozenset()
        self.outbox = Outbox()
        self.sent: list[bytes] = []

    def send_frame(self, frame: bytes) -> None:
        self.sent.append(frame)

    send_watched = send_frame

    def send_together(self, frames) -> bool:
        self.sent.extend(frames)
        return True


def feed_of(watcher: Watcher) -> SpectatorFeed:
    """Return what is shown of a table that somebody has begun to watch."""
    feed = SpectatorFeed(Stood(MADE), None, Timers(), on_shown=lambda: None)
    feed.audience.watch(watcher)
    return feed


@pytest.mark.parametrize("wanted", [(), (SNAPSHOT,)])
def test_watcher_who_catches_up_hears_that_the_table_is_gone_after_all_of_it(wanted):
    watcher = Watcher(*wanted)
    feed = feed_of(watcher)
    feed.audience.end_watching(GONE)
    watcher.send_frame(b"missed")
    feed.caught_up(watcher)
    assert (watcher.sent, feed.audience.watchers) == ([b"missed", broadcast_frame(GONE)], {})


def test_watcher_who_is_skipped_while_they_catch_up_has_a_snapshot_and_then_what_comes_next():
    watcher = Watcher(SNAPSHOT)
    feed = feed_of(watcher)
    feed.skip(watcher)
    feed.readmit(watcher)
    before = list(watcher.sent)
    feed.caught_up(watcher)
    assert (before, watcher.sent) == ([], [SNAPSHOT_SENT])
    feed.audience.show_watchers(b"record")
    assert watcher.sent == [SNAPSHOT_SENT, b"record"]


async def test_who_stands_by_and_lacks_records_has_no_seat_yet(server, mock_clock, monkeypatch):
    _, newcomer = await with_newcomer(server, mock_clock)
    with monkeypatch.context() as patch:
        patch.setattr(Audience, "is_skipped", lambda *_: True)
        assert (await step_in(newcomer))["code"] == "not_now"
    assert (await step_in(newcomer))["t"] == "ok"
