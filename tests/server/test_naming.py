"""What players are called on a running server: alike names get numbers, and records carry the name that was given."""

from server.conftest import running, under
from server.test_terms import hand_in, seat_body, under_terms
from server.visitors import guest, keyed
from trio.testing import wait_all_tasks_blocked

from truc_protocol.crypto import keys

FRENCH = {"t": "create", "variant": "truc-french", "options": {"guests": 2}}


async def test_name_is_told_as_it_was_cleaned_and_as_another_where_it_looks_like_one_that_is_taken(server):
    assert (await keyed(server, "  Anna \u00a0 B")).welcome["name"] == "Anna B"
    await keyed(server, "Ivan")
    assert (await guest(server, "lvan")).welcome["name"] == "lvan 2"
    key = keys.generate_signing_key()
    assert [(await keyed(server, "Ivan", key)).welcome["name"] for _ in range(2)] == ["Ivan 3", "Ivan 3"]
    key = keys.generate_signing_key()
    named = f"player {keys.fingerprint(key.public)[:6]}"
    await guest(server, named)
    client = await server.connect()
    await client.hello()
    assert (await client.enter(client.auth(key)))["name"] == f"{named} 2"


async def test_name_of_who_has_left_is_free_unless_they_are_seated(server):
    for has_seat, name in ((False, "Anna"), (True, "Anna 2")):
        client = await guest(server, "Anna")
        if has_seat:
            await client.ask(FRENCH)
        await client.stream.aclose()
        await wait_all_tasks_blocked()
        again = await guest(server, "Anna")
        assert again.welcome["name"] == name
        await again.stream.aclose()
        await wait_all_tasks_blocked()


async def test_name_of_who_was_seated_is_taken_after_a_restart(path):
    async with running(path) as server:
        await (await guest(server, "Anna")).ask(FRENCH)
    async with running(path) as server:
        assert (await guest(server, "anna")).welcome["name"] == "anna 2"


@under(tables={"expiry_s": 10}, limits={"idle_s": 3_600, "login_s": 120})
async def test_name_is_free_when_the_last_seat_of_who_is_gone_is_given_up(server, mock_clock):
    client = await guest(server, "Anna")
    await client.ask(FRENCH)
    await client.stream.aclose()
    await wait_all_tasks_blocked()
    mock_clock.jump(10.01)
    await wait_all_tasks_blocked()
    assert (await guest(server, "Anna")).welcome["name"] == "Anna"


async def test_guest_with_a_number_comes_back_with_it(server):
    await guest(server, "Anna")
    client = await guest(server, "Anna")
    await client.ask(FRENCH)
    token = client.welcome["token"]
    await client.stream.aclose()
    await wait_all_tasks_blocked()
    assert (await (await server.connect()).login_token(token))["name"] == "Anna 2"


async def test_player_who_is_seated_keeps_the_name(server):
    key = keys.generate_signing_key()
    await (await keyed(server, "Anna", key)).ask(FRENCH)
    assert (await keyed(server, "Bea", key)).welcome["name"] == "Anna"


async def test_newest_name_of_who_is_not_seated_holds_on_every_connection(server):
    key = keys.generate_signing_key()
    first = await keyed(server, "Anna", key)
    await keyed(server, "Bea", key)
    await first.ask(FRENCH)
    table = await first.until("table")
    assert table["seats"][0]["name"] == "Bea"


async def test_seat_record_is_taken_under_the_name_that_was_given_alone(server):
    await guest(server, "seat10")
    seats, terms = await under_terms(server)
    reply = await hand_in(seats[0], seat_body(seats[0], terms, name=seats[1].name.encode()))
    assert (reply["code"], "as welcome says" in reply["msg"]) == ("terms_refused", True)
    reply = await hand_in(seats[0], seat_body(seats[0], terms))
    assert (seats[0].name, reply["t"]) == ("seat10 2", "ok")
