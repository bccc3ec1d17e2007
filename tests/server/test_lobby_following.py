"""Following the lobby: what one is told at once, what as it changes, how often, and what never."""

from server.conftest import play_on, together, under
from server.rawclient import frame
from server.visitors import follower, guest, heard, keyed
from trio.testing import wait_all_tasks_blocked

from truc_protocol.crypto import keys
from truc_server.lobby.followers import AT_ONCE, BETWEEN_S, STATE_S
from truc_server.table_data.options import WATCH_LATE

FRENCH = {"t": "create", "variant": "truc-french"}


async def codes(client) -> set[str]:
    return {state["table"] for state in await heard(client, "table")}


async def later(mock_clock, seconds) -> None:
    """Let time pass, and what is due happen."""
    await wait_all_tasks_blocked()
    mock_clock.jump(seconds)
    await wait_all_tasks_blocked()


# At once


async def test_follower_is_told_how_full_the_house_is_and_nothing_of_private_tables(server):
    await (await guest(server)).ask({**FRENCH, "private": True})
    key = keys.generate_signing_key()
    for _ in range(2):
        await keyed(server, "kay", key)  # who is online once
    client = await follower(server)
    (state,) = await heard(client, "lobby")
    assert state == {"t": "lobby", "online": 3, "tables": 1, "playing": 0}
    assert await codes(client) == set()


async def test_house_counts_the_tables_that_play(server):
    seats = await server.match(2)
    await together(*(lambda s=seat: s.play(until=lambda s: s.auditor is not None) for seat in seats))
    (state,) = await heard(await follower(server), "lobby")
    assert (state["tables"], state["playing"]) == (1, 1)


@under(limits={"tables_per_player": 100, "seats_per_player": 100})
async def test_follower_is_sent_every_public_table_before_the_answer(server):
    host, client = await guest(server), await guest(server)
    made = [(await host.ask(FRENCH))["table"] for _ in range(60)]
    await client.ask({"t": "lobby"})
    assert [message["table"] for message in client.log if message["t"] == "table"] == sorted(made)
    assert client.log[-1]["t"] == "ok"


async def test_who_follows_already_is_sent_nothing_again(server):
    client = await follower(server)
    before = len(client.log)
    assert (await client.ask({"t": "lobby"}))["t"] == "ok"
    assert len(client.log) == before + 1


# As it changes


async def test_change_is_told_as_the_newest_state_alone(server, mock_clock):
    client, host = await follower(server), await guest(server)
    code = (await host.ask(FRENCH))["table"]
    await later(mock_clock, BETWEEN_S)
    for _ in range(5):
        await host.ask({"t": "ready", "table": code})
        await host.ask({"t": "unready", "table": code})
    await host.ask({"t": "ready", "table": code})
    await later(mock_clock, BETWEEN_S)
    states = await heard(client, "table")
    assert len(states) <= 3
    assert states[-1]["seats"][0]["ready"]


async def test_table_is_told_at_most_twice_a_second(server, mock_clock):
    client, host = await follower(server), await guest(server)
    code = (await host.ask(FRENCH))["table"]
    for i in range(30):
        await host.ask({"t": "unready" if i % 2 else "ready", "table": code})
        await later(mock_clock, 0.1)
    assert 5 <= len(await heard(client, "table")) <= 3 / BETWEEN_S + 1


async def test_table_that_is_gone_is_told(server, mock_clock):
    host = await guest(server)
    code = (await host.ask(FRENCH))["table"]
    client = await follower(server)
    await host.ask({"t": "leave", "table": code})
    await later(mock_clock, BETWEEN_S)
    assert await heard(client, "closed") == [{"t": "closed", "table": code, "reason": "empty"}]


async def test_nothing_of_a_private_table_is_told(server, mock_clock):
    client, host = await follower(server), await guest(server)
    code = (await host.ask({**FRENCH, "private": True}))["table"]
    await host.ask({"t": "ready", "table": code})
    await host.ask({"t": "leave", "table": code})
    await later(mock_clock, 2 * STATE_S)
    assert not {"table", "closed"} & {message["t"] for message in client.log}


async def test_house_is_told_when_somebody_comes_or_goes(server, mock_clock):
    client = await follower(server)
    other = await guest(server)
    await later(mock_clock, STATE_S)
    await other.stream.aclose()
    await later(mock_clock, STATE_S)
    assert [state["online"] for state in await heard(client, "lobby")] == [1, 2, 1]


async def test_house_is_told_at_most_once_a_second(server, mock_clock):
    client = await follower(server)
    for _ in range(20):
        await guest(server)
        await later(mock_clock, 0.1)
    assert 2 <= len(await heard(client, "lobby")) <= 2 / STATE_S + 2


async def test_house_that_is_as_it_was_is_not_told_again(server, mock_clock):
    client = await follower(server)
    host = await guest(server)
    await later(mock_clock, STATE_S)
    code = (await host.ask({**FRENCH, "private": True}))["table"]
    await later(mock_clock, STATE_S)
    told = len(await heard(client, "lobby"))
    await host.ask({"t": "ready", "table": code})
    await later(mock_clock, 2 * STATE_S)
    assert len(await heard(client, "lobby")) == told


async def test_who_follows_no_longer_is_told_nothing(server, mock_clock):
    client, host = await follower(server), await guest(server)
    await client.ask({"t": "lobby", "off": True})
    before = len(client.log)
    await host.ask(FRENCH)
    await later(mock_clock, STATE_S)
    assert [message["t"] for message in client.log[before:]] == []


@under(limits={"tables_per_player": 200, "seats_per_player": 200})
async def test_not_more_is_told_at_once_than_fits(server, mock_clock):
    client, host = await follower(server), await guest(server)
    await later(mock_clock, STATE_S)
    made = {(await host.ask(FRENCH))["table"] for _ in range(150)}
    await later(mock_clock, BETWEEN_S)
    lengths = [len(frame(state)) for state in await heard(client, "table")]
    assert AT_ONCE <= sum(lengths) <= AT_ONCE + 2 * max(lengths)
    for _ in range(10):
        await later(mock_clock, BETWEEN_S)
    assert await codes(client) == made


async def test_who_sits_at_a_table_is_told_its_changes_once(server, mock_clock):
    host = await follower(server)
    code = (await host.ask(FRENCH))["table"]
    await later(mock_clock, BETWEEN_S)
    before = len(await heard(host, "table"))
    await host.ask({"t": "ready", "table": code})
    await later(mock_clock, BETWEEN_S)
    assert len(await heard(host, "table")) == before + 1


# Where those who watch are shown a match late


async def resigned(server, mock_clock, late) -> str:
    """Return the code of a table whose match has ended, which nobody else may know yet."""
    seats = await server.match(2, guests=(0, 1), boxed=False, options={"spectators": WATCH_LATE + late})
    for seat in seats:
        seat.chooses = lambda message, options: None
    await play_on(seats, lambda seat: bool(seat.cards))
    await later(mock_clock, STATE_S)
    here = {"table": seats[0].table, "match": seats[0].ledger.setup.mid, "at": seats[0].next}
    await seats[0].ask({"t": "act", **here, "choose": "resign"})
    await play_on(seats)
    return seats[0].table


async def test_end_of_a_late_match_is_not_told_before_it_is_shown(server, mock_clock):
    client = await follower(server)
    code = await resigned(server, mock_clock, late=20)
    await later(mock_clock, STATE_S)
    assert (await heard(client, "table"))[-1]["state"] == "playing"
    assert (await heard(client, "lobby"))[-1]["playing"] == 1
    (listed,) = (await client.ask({"t": "tables"}))["tables"]
    assert (listed["table"], listed["state"]) == (code, "playing")
