"""Who is there: the list of players, and what a table's state tells of who sits and who watches."""

from server.conftest import QUICK, changed, running
from server.visitors import guest, heard, keyed

from truc_protocol.crypto import keys
from truc_server.lobby.presence import PAGE
from truc_server.requests.company import SHOWN

FRENCH = {"t": "create", "variant": "truc-french"}


async def players(client, **fields) -> list[dict]:
    return (await client.ask({"t": "players", **fields}))["players"]


async def test_everybody_who_is_connected_is_listed_ascending_by_tag(server):
    clients = [await guest(server, "Gus"), await keyed(server, "Kay"), await guest(server, "Gin")]
    listed = await players(clients[0])
    assert [player["player"] for player in listed] == sorted(c.welcome["player"] for c in clients)
    assert {player["name"]: player["kind"] for player in listed} == {
        "Gus": "guest",
        "Kay": "key",
        "Gin": "guest",
    }


async def test_key_is_listed_by_its_fingerprint(server):
    key = keys.generate_signing_key()
    (player,) = await players(await keyed(server, "Kay", key))
    assert player["player"] == keys.fingerprint(key.public)


async def test_player_with_two_connections_is_listed_once_by_the_newer_name(server):
    key = keys.generate_signing_key()
    await keyed(server, "Kay", key)
    second = await keyed(server, "Kaya", key)
    assert [player["name"] for player in await players(second)] == ["Kaya"]


async def test_player_is_listed_until_the_last_connection_has_ended(server):
    key = keys.generate_signing_key()
    first, second = await keyed(server, "Kay", key), await keyed(server, "Kay", key)
    await first.stream.aclose()
    assert len(await players(second)) == 1


async def test_who_has_gone_is_not_listed(server):
    first, second = await guest(server), await guest(server)
    code = (await second.ask(FRENCH))["table"]
    await first.ask({"t": "join", "table": code})
    await second.until("table")
    await first.stream.aclose()
    while (await second.until("table"))["seats"][1].get("online"):
        pass
    assert [player["player"] for player in await players(second)] == [second.welcome["player"]]


async def test_connection_that_is_not_logged_in_is_nobody(server):
    client = await guest(server)
    await (await server.connect()).hello()
    assert len(await players(client)) == 1


async def test_public_tables_of_a_player_are_listed_and_private_ones_are_not(server):
    client = await guest(server)
    public = [(await client.ask(FRENCH))["table"] for _ in range(2)]
    await client.ask({**FRENCH, "private": True})
    (player,) = await players(client)
    assert list(player["tables"]) == sorted(public)


async def test_table_that_was_left_is_not_listed(server):
    client = await guest(server)
    code = (await client.ask(FRENCH))["table"]
    await client.ask({"t": "leave", "table": code})
    assert "tables" not in (await players(client))[0]


async def test_no_more_than_sixteen_tables_of_a_player_are_listed(tmp_path):
    async with running(tmp_path / "data", changed(QUICK, limits={"tables_per_player": 100})) as server:
        client = await guest(server)
        for _ in range(SHOWN + 2):
            await client.ask(FRENCH)
        assert len((await players(client))[0]["tables"]) == SHOWN


async def test_long_list_comes_in_pages(server):
    clients = [await guest(server) for _ in range(PAGE + 3)]
    page = await clients[0].ask({"t": "players"})
    first = [player["player"] for player in page["players"]]
    rest = [player["player"] for player in await players(clients[0], after=first[-1])]
    assert (page["more"], len(first)) == (True, PAGE)
    assert first + rest == sorted(client.welcome["player"] for client in clients)


async def test_page_that_ends_with_the_last_player_is_the_last(server):
    clients = [await guest(server) for _ in range(PAGE)]
    assert "more" not in await clients[0].ask({"t": "players"})


async def test_state_of_a_table_names_the_tag_of_who_sits(server):
    client = await guest(server)
    await client.ask(FRENCH)
    seats = (await client.until("table"))["seats"]
    assert [seat.get("player") for seat in seats] == [client.welcome["player"], None]


async def test_tag_of_a_guest_does_not_change_with_a_new_connection(server):
    client = await guest(server)
    await client.ask(FRENCH)
    again = await server.connect()
    await again.login_token(client.welcome["token"])
    assert again.welcome["player"] == client.welcome["player"]


async def test_state_of_a_table_counts_who_watches(server):
    host, watcher = await guest(server), await guest(server)
    code = (await host.ask(FRENCH))["table"]
    await watcher.ask({"t": "watch", "table": code})
    await host.ask({"t": "ready", "table": code})
    assert (await heard(host, "table"))[-1]["watchers"] == 1


async def test_who_watches_no_longer_is_not_counted(server):
    host, watcher = await guest(server), await guest(server)
    code = (await host.ask(FRENCH))["table"]
    await watcher.ask({"t": "watch", "table": code})
    await watcher.ask({"t": "unwatch", "table": code})
    await host.ask({"t": "ready", "table": code})
    assert "watchers" not in (await heard(host, "table"))[-1]


async def test_state_of_a_table_says_who_may_read_its_matches(server):
    client = await guest(server)
    await client.ask({**FRENCH, "options": {"transcript": "all"}})
    assert (await client.until("table"))["transcript"] == "all"


async def test_who_may_read_is_as_the_host_has_set_it_where_nobody_has_chosen(tmp_path):
    async with running(tmp_path / "data", changed(QUICK, match={"transcript": "watchers"})) as server:
        client = await guest(server)
        await client.ask(FRENCH)
        assert (await client.until("table"))["transcript"] == "watchers"


async def test_who_may_read_is_the_same_after_a_restart(tmp_path):
    key = keys.generate_signing_key()
    async with running(tmp_path / "data") as server:
        client = await keyed(server, "Kay", key)
        await client.ask({**FRENCH, "options": {"transcript": "all"}})
    async with running(tmp_path / "data") as server:
        (table,) = (await (await keyed(server, "Kay", key)).ask({"t": "tables"}))["tables"]
        assert table["transcript"] == "all"
