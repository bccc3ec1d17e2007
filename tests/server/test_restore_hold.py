"""A match that a restored backup has under way is held until it is known that nobody has seen more of it."""

from contextlib import closing
from functools import partial
from types import SimpleNamespace

import pytest
from server.admins import host_says, hosting
from server.conftest import QUICK, changed, give_up, in_hand, play_on, running, together
from server.rawclient import RawSeat
from server.restarting import interrupted, play_until_stopped
from server.stored import sql, url
from structlog.testing import capture_logs

from truc_protocol.bodies import Resign
from truc_protocol.errors import Code
from truc_protocol.messages import ListTables, Refusal, Request
from truc_server.matches.restore_hold import MOST_PUT_OFF, RestoreHold
from truc_server.net.peer import RepeatedActError, TooSoonError
from truc_server.settings.folder import Folder, FolderError
from truc_server.storage.backups import Restored, read_restored, write_restored
from truc_server.storage.sql import open_store
from truc_server.timing.clock import StoppingError

pytestmark = pytest.mark.slow

BEYOND = 3


def mark_restored(path, *, gives_up=False) -> None:
    """Let the data in a folder be what a backup had, as `truc-server restore` does."""
    with closing(open_store(url(path))) as store:
        play = store.raise_epoch(0)
    write_restored(Folder(path), Restored(play.matches, play.terms, gives_up=gives_up))


async def restored(
    path, count=2, variant="truc-french", *, after=15, gives_up=False, **fields
) -> list[RawSeat]:
    """Play until a seat has seen `after` records, and restore what is there then."""
    seats = await interrupted(path, count, variant, after=after, **fields)
    mark_restored(path, gives_up=gives_up)
    return seats


def stored(path, mid) -> tuple[int, str | None]:
    """Return how many records of a match are stored, and why it ended."""
    ((count,),) = sql(path / "truc.db", "SELECT count(*) FROM records WHERE mid = ?", (mid,))
    ((reason,),) = sql(path / "truc.db", "SELECT reason FROM matches WHERE mid = ?", (mid,))
    return count, reason


def mid_of(seat) -> bytes:
    return seat.ledger.setup.mid


async def back(server, seat: RawSeat) -> None:
    """Come back, and send again what the server may have lost."""
    assert (await seat.come_back(await server.connect()))["t"] == "ok"
    await seat.send_again()


async def closed(seat: RawSeat) -> dict:
    """Return the notice that the table is gone, after all that comes before it."""
    while (message := await seat.client.receive())["t"] != "closed":
        await seat.react(message)
    return message


def events(logged) -> list[str]:
    told = ("match_held", "match_goes_on", "match_given_up", "player_has_seen_more")
    return [entry["event"] for entry in logged if entry["event"] in told]


async def test_nothing_is_recorded_or_asked_before_all_are_back(path):
    seats = await restored(path)
    mid, k = mid_of(seats[0]), stored(path, mid_of(seats[0]))[0]
    async with running(path) as server:
        seats[0].options = None
        told = []
        seats[0].note = told.append
        await back(server, seats[0])
        await seats[0].client.send(resignation(seats[0]))
        wish = await seats[0].want_rekey()
        assert (wish["code"], wish["retry_after_ms"]) == ("rate_limited", 1_000)
        assert wish["msg"].endswith("when these seats are back: 1")
        claim = {"t": "claim_match", "table": seats[0].table, "match": mid}
        assert (await seats[0].client.ask(claim))["code"] == "rate_limited"
    away = [message["seat"] for message in told if message["t"] == "away" and not message.get("online")]
    waiting = [message for message in told if message["t"] == "waiting"]
    assert (away, seats[0].options, waiting) == ([1], None, [])
    assert stored(path, mid) == (k, None)


def resignation(seat: RawSeat) -> dict:
    """Return the act with which a seat resigns at the position it has come to."""
    if seat.key is None:
        return {**seat.here(seat.next), "choose": "resign"}
    return seat.sign(Resign(mid_of(seat), seat.ledger.k, seat.ledger.head, seat.seat))


@pytest.mark.parametrize("guests", [(), (0,)], ids=["key", "guest"])
async def test_what_was_sent_meanwhile_is_answered_when_the_match_goes_on(path, guests):
    seats = await restored(path, guests=guests)
    async with running(path) as server:
        await back(server, seats[0])
        number = await seats[0].client.send(resignation(seats[0]))
        answers = []
        note = seats[0].note
        seats[0].note = lambda message: (
            answers.append(message) if message.get("re") == number else note(message)
        )
        await back(server, seats[1])
        await play_on(seats)
    # An act of the seat that the stopped server had not taken comes before it; then its place has passed. Or the server
    # was stopped where it owed a record, which then comes first.
    assert [answer.get("code", "ok") for answer in answers] in (["ok"], ["stale_position"], ["not_now"])
    reasons = {seat.auditor.verdict().reason for seat in seats}
    assert reasons == {"won" if "code" in answers[0] else "resigned"}


async def test_what_lost_connections_have_sent_takes_no_place(path):
    seats = await restored(path)
    async with running(path) as server:
        assert (await seats[0].come_back(await server.connect()))["t"] == "ok"
        resigned = resignation(seats[0])
        for _ in range(MOST_PUT_OFF + 1):
            await seats[0].client.send(resigned)
            await seats[0].client.ask({"t": "tables"})  # what was sent before is put off by now
            await seats[0].client.stream.aclose()
            assert (await seats[0].come_back(await server.connect()))["t"] == "ok"
        number = await seats[0].client.send(resigned)
        await seats[1].come_back(await server.connect())
        while (message := await seats[0].client.receive()).get("re") != number:
            pass
    assert message.get("code") != "rate_limited"  # it is judged as any act is


def test_as_many_acts_are_put_off_as_may_be_and_no_more():
    hold, peer, taken = RestoreHold("ABCDE", bytes(32)), SimpleNamespace(is_open=True), []
    hold.begin(seats=2, k=9)
    for number in range(MOST_PUT_OFF):
        hold.put_off(peer, None, partial(taken.append, number))
    with pytest.raises(TooSoonError):
        hold.put_off(peer, None, taken.clear)
    hold.end()
    assert taken == list(range(MOST_PUT_OFF))


class WaitingPeer:
    """A connection that waits for an answer, and keeps it: which request it is for, and a position or a code."""

    is_open = True

    def __init__(self) -> None:
        self.answers: list[tuple[int, int | Code]] = []

    def ok(self, request: Request, *, k: int, dup: bool) -> None:
        assert dup
        self.answers.append((request.id, k))

    def refuse(self, refused: Refusal) -> None:
        self.answers.append((refused.re, refused.code))


@pytest.mark.parametrize(
    ("error", "answers"),
    [
        (RepeatedActError(5), [(7, 5)]),
        (ValueError("a fault"), [(7, Code.INTERNAL)]),
        (StoppingError("the store failed"), []),
    ],
)
def test_act_that_was_put_off_and_is_not_taken_is_answered_alone(error, answers):
    hold, failing, other, taken = RestoreHold("ABCDE", bytes(32)), WaitingPeer(), WaitingPeer(), []
    hold.begin(seats=2, k=9)

    def fail() -> None:
        raise error

    hold.put_off(failing, ListTables(id=7), fail)
    hold.put_off(other, ListTables(id=8), partial(taken.append, 8))
    hold.end()
    assert failing.answers == answers
    # A server that ends takes nothing more.
    assert (other.answers, taken) == ([], [8] if answers else [])


async def test_match_of_which_a_player_has_seen_more_is_given_up(path):
    seats = await restored(path)
    mid, k = mid_of(seats[0]), stored(path, mid_of(seats[0]))[0]
    with capture_logs() as logged:
        async with running(path) as server:
            await back(server, seats[0])
            reply = await seats[1].come_back(await server.connect(), next_=k + BEYOND)
            notice = await closed(seats[0])
            again = await seats[1].resume()
    assert (reply["code"], again["code"]) == ("bad_position", "no_such_table")
    assert "restored from a backup that has less of this match" in reply["msg"]
    assert (notice["reason"], stored(path, mid)) == ("server", (k, "given_up"))
    assert events(logged) == ["match_held", "player_has_seen_more", "match_given_up"]


async def test_what_was_sent_meanwhile_is_answered_when_the_match_is_given_up(path):
    seats = await restored(path)
    async with running(path) as server:
        assert (await seats[0].come_back(await server.connect()))["t"] == "ok"
        number = await seats[0].client.send(resignation(seats[0]))
        await seats[1].come_back(await server.connect(), next_=seats[0].next + BEYOND)
        while (message := await seats[0].client.receive()).get("re") != number:
            pass
    assert message["code"] == "no_such_table"


async def test_match_whose_players_do_not_come_back_is_given_up(path):
    seats = await restored(path)
    mid, k = mid_of(seats[0]), stored(path, mid_of(seats[0]))[0]
    async with running(path, changed(QUICK, tables={"expiry_s": 1})) as server:
        await back(server, seats[0])
        notice = await closed(seats[0])
    assert (notice["reason"], stored(path, mid)) == ("server", (k, "given_up"))


async def test_match_is_held_at_every_start_until_it_has_gone_on(path):
    seats = await restored(path, after=5)
    with capture_logs() as logged:
        async with running(path) as server:
            await back(server, seats[0])
        async with running(path) as server:
            for seat in seats:
                await back(server, seat)
            await play_until_stopped(server, seats, lambda seat: seat.next >= 12)
        async with running(path) as server:
            for seat in seats:
                await back(server, seat)
            await give_up(seats)
    assert events(logged) == ["match_held", "match_held", "match_goes_on"]


async def test_no_match_goes_on_where_the_host_wants_none_to(path):
    seats = await restored(path, gives_up=True)
    mid, k = mid_of(seats[0]), stored(path, mid_of(seats[0]))[0]
    async with running(path) as server:
        reply = await seats[0].come_back(await server.connect())
    assert (reply["code"], stored(path, mid)) == ("no_such_table", (k, "given_up"))


async def test_terms_that_were_out_are_not_gone_on_from(path):
    async with running(path) as server:
        seats = await server.seats(2)
        seats[1].sign_terms = lambda message: seats[1].client.send({"t": "ping", "n": 0})
        for seat in seats:
            await seat.ready()
        await together(partial(seats[0].play, lambda seat: seat.joined is not None))
    mark_restored(path)
    async with running(path) as server:
        seat = seats[0]
        before, seat.client = seat.joined[0], await server.connect()
        await seat.client.login_key(seat.key, seat.name)
        await seat.join(seat.table, 0)
        await together(partial(seat.play, lambda seat: seat.joined[0] != before))
    assert read_restored(Folder(path)).terms == {before}


async def test_a_hold_ends_with_a_hand_that_goes_on_where_it_was(path):
    async with running(path) as server:
        seats = await in_hand(server, options={"match": 1, "target": 3})
    mark_restored(path)
    async with running(path) as server:
        for seat in seats:
            seat.chooses = seat.pick
            await back(server, seat)
        await play_on(seats)
    assert {seat.auditor.verdict().reason for seat in seats} == {"won"}


async def test_server_that_drains_does_not_wait_for_a_hand_that_is_held(path):
    async with running(path) as server:
        seats = await in_hand(server)
    mark_restored(path)
    async with hosting(path) as server:
        await back(server, seats[0])
        told = await host_says(Folder(path), command="drain")
    assert told["hands"] == 0


async def test_host_may_close_a_table_whose_match_is_held(path):
    seats = await restored(path)
    mid, k = mid_of(seats[0]), stored(path, mid_of(seats[0]))[0]
    async with hosting(path) as server:
        await back(server, seats[0])
        await host_says(Folder(path), command="close", table=seats[0].table)
        await closed(seats[0])
    assert stored(path, mid) == (k, "given_up")


def test_folder_without_a_word_of_a_backup_holds_nothing(tmp_path):
    assert read_restored(Folder(tmp_path)) == Restored()


@pytest.mark.parametrize("text", ["", "[]", '{"matches": {"x": 1}, "terms": [], "gives_up": false}'])
def test_word_that_cannot_be_read_stops_the_start(tmp_path, text):
    Folder(tmp_path).restored.write_text(text)
    with pytest.raises(FolderError, match=r"restored\.json: expected what `truc-server restore` has written"):
        read_restored(Folder(tmp_path))
