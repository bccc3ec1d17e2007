"""Lines of the log say where things happen: on which connection, at which table, at which position."""

import json
from io import StringIO

import pytest
from server.clocks import pass_time
from server.conftest import QUICK, changed, holder_of, in_hand, play_on, running
from server.test_snapshots import overflown
from server.visitors import greeted, guest, hang_up
from server.watching import Eye, Held

from truc_protocol.bodies import Act
from truc_protocol.crypto import keys
from truc_server.operation import logs
from truc_server.requests import acts
from truc_server.settings.settings import LogSettings

SETTINGS = changed(QUICK, limits={"outbox_bytes": 16_384}, log={"level": "debug"})


@pytest.fixture
def lines():
    """Return what reads the log so far: every line of an event."""
    logs.configure(LogSettings(format="json", level="debug"), stream := StringIO())

    def read(event: str) -> list[dict]:
        told = map(json.loads, stream.getvalue().splitlines())
        return [line for line in told if line["event"] == event]

    read.text = stream.getvalue
    return read


async def test_lines_about_connections_have_their_numbers_none_of_which_is_given_again(server, lines):
    for _ in range(3):
        client = await guest(server)
        await hang_up(client)
    await (await server.connect()).send_bytes(bytes(4))
    refused = await greeted(server)
    await refused.send({**refused.auth(keys.generate_signing_key()), "sig": bytes(64)})
    await refused.closed()
    assert [line["connection"] for line in lines("login")] == [1, 2, 3]
    assert [line["connection"] for line in lines("bad_input")] == [4]
    (told,) = lines("login_refused")
    assert (told["connection"], told["address"], told["code"]) == (5, "127.0.0.1", "bad_signature")


async def test_act_has_its_connection_table_and_position_and_no_token(server, lines):
    seats = await server.match(2, options={"match": 1, "target": 3}, guests=(0, 1))
    await play_on(seats)
    told = lines("act")
    positions = [line["k"] for line in told]
    assert {line["connection"] for line in told} == {1, 2}
    assert {line["table"] for line in told} == {seats[0].table}
    assert positions == sorted(positions) != []
    assert [seat for seat in seats if seat.client.welcome["token"] in lines.text()] == []


def late(seat) -> dict:
    """Return a guest's choice for a position that is long gone."""
    return {
        "t": "act",
        "table": seat.table.lower(),
        "match": seat.ledger.setup.mid,
        "at": 0,
        "choose": "tap",
    }


async def test_refused_act_has_its_connection_table_and_the_position_that_comes_next(server, lines):
    for seat in await in_hand(server, guests=(0, 1)):
        await seat.client.ask(late(seat))
        told = lines("act_refused")[-1]
        place = (told["connection"], told["address"], told["table"], told["k"], told["code"])
        assert place == (seat.seat + 1, "127.0.0.1", seat.table, seat.next, "stale_position")
    await seat.client.ask({**late(seat), "table": "NOPE"})
    told = lines("act_refused")[-1]
    assert (told["connection"], told["code"], "table" in told) == (2, "no_such_table", False)


async def test_refused_act_at_a_private_table_does_not_tell_its_code(server, lines):
    (seat, _) = await in_hand(server, guests=(0, 1), private=True)
    await seat.client.ask(late(seat))
    (told,) = lines("act_refused")
    assert (told["table"], seat.table in lines.text()) == (f"{seat.table[:4]}...", False)


async def test_wrong_signature_of_an_act_has_its_connection_table_and_position(server, lines):
    mover, _ = holder_of(await in_hand(server))
    ledger = mover.ledger
    body = Act(ledger.setup.mid, ledger.k, ledger.head, ledger.deal_index, mover.seat, "stand", ())
    assert (await mover.client.ask({**mover.sign(body), "sig": bytes(64)}))["code"] == "bad_signature"
    (told,) = lines("bad_signature")
    assert (told["connection"], told["table"], told["k"]) == (mover.seat + 1, mover.table, ledger.k)


async def test_failure_in_an_act_has_its_connection_table_and_position(server, lines, monkeypatch):
    mover, _ = holder_of(await in_hand(server, guests=(0, 1)))
    monkeypatch.setattr(acts, "choose", lambda *_: 1 / 0)
    reply = await mover.client.ask(late(mover))
    (told,) = lines("internal")
    assert (reply["code"], reply["detail"]) == ("internal", {"incident": told["incident"]})
    assert (told["connection"], told["table"], told["k"]) == (mover.seat + 1, mover.table, mover.next)


async def test_ruling_has_its_table_position_and_seat(tmp_path, lines, mock_clock):
    async with running(tmp_path / "other", changed(SETTINGS, limits={"idle_s": 3600})) as server:
        mover, _ = holder_of(await in_hand(server))
        await pass_time(mock_clock, 151)
    (told,) = lines("ruled")[:1]
    assert (told["table"], told["k"], told["seat"]) == (mover.table, mover.next, mover.seat)


async def test_connection_that_is_cut_has_its_own_number_whoever_it_waited_for(server, lines, monkeypatch):
    held, eye = Held(monkeypatch), Eye()
    await overflown(server, held, eye)
    held.release(eye)
    assert [line["connection"] for line in lines("slow_consumer")] == [3]


async def test_watcher_who_is_skipped_has_its_own_number(server, lines, monkeypatch):
    held, eye = Held(monkeypatch), Eye("snapshot")
    seats = await overflown(server, held, eye)
    held.release(eye)
    await eye.until(lambda eye: eye.skips and eye.next == seats[0].next)
    (told,) = lines("watcher_skipped")
    assert (told["connection"], told["table"]) == (3, seats[0].table)
