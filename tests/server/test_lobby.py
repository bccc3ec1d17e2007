"""The lobby: tables are made, found, joined, left, started and dropped; and what those who follow it are told, and when."""

import pytest
from rows import each_row
from server.clocks import pass_time
from server.conftest import play_on, under
from server.rawclient import frame
from server.visitors import FRENCH, follower, guest, heard, keyed, table_of
from trio.testing import wait_all_tasks_blocked

from truc_protocol.crypto import keys
from truc_protocol.setup import TERM_RANGES
from truc_rules import TABLE_OPTIONS
from truc_server.lobby.followers import AT_ONCE, BETWEEN_S, STATE_S
from truc_server.table_data.options import CLAIM, MODE, TRANSCRIPT

BOARD = {"t": "leaderboard", "variant": "truc-catalan"}


async def listed(client, **fields) -> list[str]:
    return [table["table"] for table in (await client.ask({"t": "tables", **fields}))["tables"]]


async def test_a_table_is_listed_under_its_code_and_variant_as_soon_as_it_is_acknowledged(server):
    first, second = await guest(server), await guest(server)
    code = await table_of(first)
    assert await listed(second) == [code]
    other = (await first.ask({"t": "create", "variant": "truc-catalan"}))["table"]
    assert await listed(second, variant="truc-catalan") == [other]
    assert (len(code), (await second.ask({"t": "join", "table": code.lower()}))["t"]) == (5, "ok")


@under(limits={"tables_per_player": 100, "seats_per_player": 100})
async def test_long_list_comes_in_pages(server):
    client = await guest(server)
    codes = sorted([await table_of(client) for _ in range(30)])
    page = await client.ask({"t": "tables"})
    first = [table["table"] for table in page["tables"]]
    assert (page["more"], first + await listed(client, after=first[-1])) == (True, codes)


async def test_full_state_follows_a_change(server):
    first, second = await guest(server, "north"), await guest(server, "east")
    code = await table_of(first)
    await second.ask({"t": "join", "table": code})
    state = await second.until("table")
    seats = [(seat["name"], seat["kind"]) for seat in state["seats"]]
    assert seats == [("north", "guest"), ("east", "guest")]
    assert (state["state"], state["n"], state["policy"], len(state["opts"])) == ("open", 2, "hand", 10)


async def test_only_those_at_the_table_get_its_notices(server):
    first, second = await guest(server), await guest(server)
    await second.ask({"t": "tables"})
    await first.ask(FRENCH)
    await second.ask({"t": "tables"})
    assert "table" not in {message["t"] for message in second.log}


async def test_table_that_nobody_starts_expires_when_it_says_so(server, mock_clock):
    client = await guest(server)
    code = await table_of(client)
    assert (await client.until("table"))["expires_ms"] == 1_800_000
    for _ in range(61):
        await pass_time(mock_clock, 30)
        await client.send({"t": "ping", "n": 1})
        await client.until("pong")
    assert {"t": "closed", "table": code, "reason": "expired"} in client.log


async def test_option_that_there_is_not_is_refused_with_all_there_are(server):
    reply = await (await guest(server)).ask({**FRENCH, "options": {"jokers": 2}})
    assert (reply["code"], reply["field"]) == ("bad_option", "options/jokers")
    all_there_are = f"the options {', '.join((*TERM_RANGES, TRANSCRIPT, CLAIM, MODE, *TABLE_OPTIONS))}"
    assert all_there_are in reply["msg"]


@each_row("request_", [{**FRENCH, "variant": "truc-catalan"}, BOARD])
async def test_refused_number_of_seats_is_told_which_there_are(server, request_):
    client = await guest(server)
    reply = await client.ask({**request_, "seats": 3})
    assert (reply["code"], reply["msg"]) == ("bad_option", "seats: expected 2 or 4, got 3")


async def test_options_of_game_and_terms_are_in_the_state(server):
    client = await guest(server)
    made = await client.ask({**FRENCH, "options": {"reveal": "match", "decision_ms": 5000}, "seat": 1})
    assert made["seat"] == 1
    state = await client.until("table")
    assert (state["policy"], state["opts"][0], state["options"]) == (
        "match",
        5000,
        {"reveal": "match", "decision_ms": 5000},
    )


async def test_guests_box_key_that_is_not_sound_is_refused(server):
    client = await guest(server)
    code = await table_of(client)
    reply = await client.ask({"t": "ready", "table": code, "x": bytes(32)})
    assert (reply["code"], reply["field"]) == ("bad_message", "x")


@pytest.mark.slow
async def test_table_is_over_and_nobody_ready_after_a_match_and_a_rematch_is_another_match(server):
    seats = await server.match(2, "truc-catalan", options={"target": 3})
    await play_on(seats)
    first, client = seats[0].ledger.setup, await guest(server)
    (table,) = (await client.ask({"t": "tables"}))["tables"]
    assert (table["state"], [seat.get("ready", False) for seat in table["seats"]]) == ("over", [False, False])
    for seat in seats:
        assert (await seat.ready())["t"] == "ok"
    again = await (await server.connect()).login_key(seats[0].key)
    assert "match" not in again["seats"][0]  # while fresh terms are out
    await play_on(seats, lambda seat: seat.ledger.setup.mid != first.mid)
    assert first.terms.table.tn != seats[0].ledger.setup.terms.table.tn


async def codes(client) -> set[str]:
    return {state["table"] for state in await heard(client, "table")}


async def later(mock_clock, seconds) -> None:
    """Let time pass, and what is due happen."""
    await wait_all_tasks_blocked()
    await pass_time(mock_clock, seconds)


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
    await play_on(seats, lambda seat: seat.auditor is not None)
    (state,) = await heard(await follower(server), "lobby")
    assert (state["tables"], state["playing"]) == (1, 1)


@under(limits={"tables_per_player": 100, "seats_per_player": 100})
async def test_follower_is_sent_every_public_table_before_the_answer(server):
    host, client = await guest(server), await guest(server)
    made = [await table_of(host) for _ in range(60)]
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
    code = await table_of(host)
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
    code = await table_of(host)
    for i in range(30):
        await host.ask({"t": "unready" if i % 2 else "ready", "table": code})
        await later(mock_clock, 0.1)
    assert 5 <= len(await heard(client, "table")) <= 3 / BETWEEN_S + 1


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
    code = await table_of(host, private=True)
    await later(mock_clock, STATE_S)
    told = len(await heard(client, "lobby"))
    await host.ask({"t": "ready", "table": code})
    await later(mock_clock, 2 * STATE_S)
    assert len(await heard(client, "lobby")) == told


@under(limits={"tables_per_player": 200, "seats_per_player": 200})
async def test_not_more_is_told_at_once_than_fits(server, mock_clock):
    client, host = await follower(server), await guest(server)
    await later(mock_clock, STATE_S)
    made = {await table_of(host) for _ in range(150)}
    await later(mock_clock, BETWEEN_S)
    lengths = [len(frame(state)) for state in await heard(client, "table")]
    assert AT_ONCE <= sum(lengths) <= AT_ONCE + 2 * max(lengths)
    for _ in range(10):
        await later(mock_clock, BETWEEN_S)
    assert await codes(client) == made


async def test_who_sits_at_a_table_is_told_its_changes_once(server, mock_clock):
    host = await follower(server)
    code = await table_of(host)
    await later(mock_clock, BETWEEN_S)
    before = len(await heard(host, "table"))
    await host.ask({"t": "ready", "table": code})
    await later(mock_clock, BETWEEN_S)
    assert len(await heard(host, "table")) == before + 1
