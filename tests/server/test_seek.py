"""A seat at any table: which one is found, when a new one is made, and who is not let in."""

from functools import partial

from rows import each_row
from server.conftest import together, under
from server.visitors import guest, keyed

SEEK = {"t": "seek", "variant": "truc-french"}


async def create(client, variant="truc-french", **fields) -> str:
    return (await client.ask({"t": "create", "variant": variant, **fields}))["table"]


async def found(client, **fields) -> str:
    return (await client.ask({**SEEK, **fields}))["table"]


async def test_many_seekers_at_once_fill_the_tables_two_by_two(server):
    clients = [await guest(server) for _ in range(9)]
    codes = []

    async def seek(client):
        codes.append(await found(client))

    await together(*(partial(seek, client) for client in clients))
    assert sorted(codes.count(code) for code in set(codes)) == [1, 2, 2, 2, 2]


async def test_who_waits_at_a_table_is_told_who_has_found_it(server):
    first, second = await guest(server), await guest(server, "Sekar")
    assert await found(first) == await found(second)
    await first.until("table", lambda state: state["seats"][1].get("name") == "Sekar")


async def test_table_with_fewer_free_seats_comes_first_and_then_the_older_one(server):
    first, second, third, fourth = [await guest(server) for _ in range(4)]
    await create(first, "truc-catalan", seats=4)
    fuller = await create(second, "truc-catalan", seats=2)
    await create(third, "truc-catalan", seats=2)
    assert await found(fourth, variant="truc-catalan") == fuller


async def test_table_whose_player_is_connected_comes_first_and_nobody_is_seated_beside_people_who_are_away(
    server,
):
    first, second, third, fourth = [await guest(server) for _ in range(4)]
    deserted, attended = await create(first), await create(second)
    await first.stream.aclose()
    while len((await third.ask({"t": "players"}))["players"]) > 3:
        pass
    assert await found(third) == attended
    assert await found(fourth) not in (deserted, attended)


@each_row(
    "other, wanted",
    [
        ({"private": True}, {}),
        ({"options": {"match": 3}}, {}),
        ({"variant": "truc-french-8low"}, {}),
        ({"variant": "truc-catalan", "seats": 4}, {"variant": "truc-catalan", "seats": 2}),
    ],
)
async def test_table_that_is_not_as_wanted_is_not_found(server, other, wanted):
    first, second = await guest(server), await guest(server)
    code = await create(first, **other)
    assert await found(second, **wanted) != code


async def test_table_is_made_and_found_by_its_options_and_seats(server):
    first, second = await guest(server), await guest(server)
    wanted = {"variant": "truc-catalan", "seats": 4}
    code = await found(first, **wanted, options={"match": 3, "decision_ms": 5000})
    state = await first.until("table")
    assert (state["n"], state["options"]) == (4, {"match": 3, "decision_ms": 5000})
    assert await found(second, **wanted, options={"decision_ms": 5000, "match": 3}) == code


async def test_key_is_seated_where_no_guest_is_admitted_any_more(server):
    options = {"guests": 1}
    first, second, third = await guest(server), await guest(server), await keyed(server)
    code = await create(first, options=options)
    assert await found(second, options=options) != code
    assert await found(third, options=options) == code


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


async def test_game_and_option_that_cannot_be_are_refused_by_name(server):
    client = await guest(server)
    for wrong, code, field in (
        ({"variant": "truc-lunar"}, "no_such_variant", "variant"),
        ({"options": {"jokers": 2}}, "bad_option", "options/jokers"),
    ):
        reply = await client.ask({**SEEK, **wrong})
        assert (reply["code"], reply["field"]) == (code, field)


@under(limits={"tables_per_player": 1})
async def test_who_may_make_no_more_tables_is_refused_where_none_is_found(server):
    client = await guest(server)
    await create(client, options={"match": 3})
    assert (await client.ask(SEEK))["code"] == "too_many_tables"
