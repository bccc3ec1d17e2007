"""A seat at any table: which one is found, when a new one is made, and who is not let in."""

from functools import partial

import pytest
from server.conftest import QUICK, changed, running, together
from server.visitors import guest, keyed

SEEK = {"t": "seek", "variant": "truc-french"}


async def create(client, variant="truc-french", **fields) -> str:
    return (await client.ask({"t": "create", "variant": variant, **fields}))["table"]


async def found(client, **fields) -> str:
    return (await client.ask({**SEEK, **fields}))["table"]


async def test_first_seeker_has_a_new_table(server):
    client = await guest(server)
    reply = await client.ask(SEEK)
    (table,) = (await client.ask({"t": "tables"}))["tables"]
    assert (reply["t"], reply["seat"], table["table"]) == ("ok", 0, reply["table"])


async def test_second_seeker_sits_down_beside_the_first(server):
    first, second = await guest(server), await guest(server)
    code = await found(first)
    reply = await second.ask(SEEK)
    assert (reply["table"], reply["seat"]) == (code, 1)


async def test_two_seekers_at_once_end_at_one_table(server):
    clients = [await guest(server), await guest(server)]
    codes = []

    async def seek(client):
        codes.append(await found(client))

    await together(*(partial(seek, client) for client in clients))
    assert codes[0] == codes[1]


async def test_many_seekers_at_once_fill_the_tables_two_by_two(server):
    clients = [await guest(server) for _ in range(9)]
    codes = []

    async def seek(client):
        codes.append(await found(client))

    await together(*(partial(seek, client) for client in clients))
    assert sorted(codes.count(code) for code in set(codes)) == [1, 2, 2, 2, 2]


async def test_seeker_is_told_the_state_of_the_table(server):
    first, second = await guest(server), await guest(server)
    code = await found(first)
    await found(second)
    state = await second.until("table")
    assert (state["table"], [seat["kind"] for seat in state["seats"]]) == (code, ["guest", "guest"])


async def test_those_at_the_table_are_told_who_has_come(server):
    first, second = await guest(server), await guest(server, "Sekar")
    await found(first)
    await found(second)
    state = await first.until("table")
    while state["seats"][1]["kind"] == "empty":
        state = await first.until("table")
    assert state["seats"][1]["name"] == "Sekar"


async def test_table_with_fewer_free_seats_comes_first(server):
    first, second, third = [await guest(server) for _ in range(3)]
    await create(first, "truc-catalan", seats=4)
    fuller = await create(second, "truc-catalan", seats=2)
    assert await found(third, variant="truc-catalan") == fuller


async def test_of_tables_with_as_many_free_seats_the_older_one_comes_first(server):
    first, second, third = [await guest(server) for _ in range(3)]
    older = await create(first)
    await create(second)
    assert await found(third) == older


async def test_nobody_is_seated_beside_people_who_are_all_away(server):
    first, second = await guest(server), await guest(server)
    deserted = await create(first)
    await first.stream.aclose()
    while len((await second.ask({"t": "players"}))["players"]) > 1:
        pass
    assert await found(second) != deserted


async def test_table_whose_player_is_connected_comes_before_one_whose_player_is_not(server):
    first, second, third = [await guest(server) for _ in range(3)]
    await create(first)
    attended = await create(second)
    await first.stream.aclose()
    while len((await third.ask({"t": "players"}))["players"]) > 2:
        pass
    assert await found(third) == attended


@pytest.mark.parametrize(
    "other",
    [
        {"private": True},
        {"options": {"match": 3}},
        {"variant": "truc-french-8low"},
    ],
)
async def test_table_that_is_not_as_wanted_is_not_found(server, other):
    first, second = await guest(server), await guest(server)
    code = await create(first, **other)
    assert await found(second) != code


async def test_table_with_another_number_of_seats_is_not_found(server):
    first, second = await guest(server), await guest(server)
    code = await create(first, "truc-catalan", seats=4)
    assert await found(second, variant="truc-catalan", seats=2) != code


async def test_table_is_found_by_its_options(server):
    first, second = await guest(server), await guest(server)
    code = await create(first, options={"match": 3, "decision_ms": 5000})
    assert await found(second, options={"decision_ms": 5000, "match": 3}) == code


async def test_new_table_has_the_options_and_seats_wanted(server):
    client = await guest(server)
    await client.ask({**SEEK, "variant": "truc-catalan", "seats": 4, "options": {"match": 3}})
    state = await client.until("table")
    assert (state["n"], state["options"]) == (4, {"match": 3})


async def test_full_table_is_not_found(server):
    seats = await server.seats(2)
    assert await found(await guest(server)) != seats[0].table


async def test_table_whose_match_is_set_up_is_not_found(server):
    seats = await server.match(2)
    assert await found(await guest(server)) != seats[0].table


async def test_guest_is_not_seated_where_no_guest_is_admitted(server):
    options = {"guests": 1}
    first, second = await guest(server), await guest(server)
    code = await create(first, options=options)
    assert await found(second, options=options) != code


async def test_key_is_seated_where_guests_are_not_admitted_any_more(server):
    options = {"guests": 1}
    first, second = await guest(server), await keyed(server)
    code = await create(first, options=options)
    assert await found(second, options=options) == code


async def test_guest_cannot_make_a_table_for_keys_by_seeking(server):
    client = await guest(server)
    reply = await client.ask({**SEEK, "options": {"guests": 0}})
    assert (reply["code"], (await client.ask({"t": "tables"}))["tables"]) == ("guests_not_allowed", [])


async def test_who_sits_at_such_a_table_is_given_it_again(server):
    first, second = await guest(server), await guest(server)
    await found(second, options={"match": 3})
    code = await found(first)
    reply = await first.ask(SEEK)
    assert (reply["table"], reply["seat"]) == (code, 0)


async def test_game_that_the_server_does_not_play_is_refused(server):
    client = await guest(server)
    reply = await client.ask({**SEEK, "variant": "truc-lunar"})
    assert (reply["code"], reply["field"]) == ("no_such_variant", "variant")


async def test_option_that_cannot_be_is_refused_by_name(server):
    client = await guest(server)
    reply = await client.ask({**SEEK, "options": {"jokers": 2}})
    assert (reply["code"], reply["field"]) == ("bad_option", "options/jokers")


async def test_who_may_make_no_more_tables_is_refused_where_none_is_found(tmp_path):
    async with running(tmp_path / "data", changed(QUICK, limits={"tables_per_player": 1})) as server:
        client = await guest(server)
        await create(client, options={"match": 3})
        assert (await client.ask(SEEK))["code"] == "too_many_tables"


async def test_guest_who_has_found_a_seat_can_come_back(server):
    client = await guest(server)
    code = await found(client)
    await client.stream.aclose()
    again = await server.connect()
    await again.login_token(client.welcome["token"])
    assert [seat["table"] for seat in again.welcome["seats"]] == [code]
