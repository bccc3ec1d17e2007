"""Who is there: the list of players, and what a table's state tells of who sits and who watches."""

from types import SimpleNamespace

from server.conftest import QUICK, changed, running, under
from server.visitors import greeted, guest, heard, keyed

from truc_protocol.crypto import keys
from truc_server.lobby import online_players
from truc_server.lobby.online_players import PAGE, OnlinePlayers
from truc_server.net.peer import LoggedInPlayer
from truc_server.requests.lobby_requests import SHOWN
from truc_server.storage import PlayerKind

FRENCH = {"t": "create", "variant": "truc-french"}


async def players(client, **fields) -> list[dict]:
    return (await client.ask({"t": "players", **fields}))["players"]


async def test_everybody_who_is_logged_in_is_listed_ascending_by_tag(server):
    key = keys.generate_signing_key()
    clients = [await guest(server, "Gus"), await keyed(server, "Kay", key), await guest(server, "Gin")]
    await greeted(server)
    listed = await players(clients[0])
    assert [player["player"] for player in listed] == sorted(c.welcome["player"] for c in clients)
    assert {player["name"]: player["kind"] for player in listed} == {
        "Gus": "guest",
        "Kay": "key",
        "Gin": "guest",
    }
    assert keys.fingerprint(key.public) in [player["player"] for player in listed]


async def test_player_with_two_connections_is_listed_once_by_the_newer_name_until_both_have_ended(server):
    key = keys.generate_signing_key()
    first, second = await keyed(server, "Kay", key), await keyed(server, "Kaya", key)
    assert [player["name"] for player in await players(second)] == ["Kaya"]
    await first.stream.aclose()
    assert len(await players(second)) == 1


async def test_public_tables_of_a_player_are_listed_until_they_are_left_and_private_ones_are_not(server):
    client = await guest(server)
    public = [(await client.ask(FRENCH))["table"] for _ in range(2)]
    await client.ask({**FRENCH, "private": True})
    (player,) = await players(client)
    assert list(player["tables"]) == sorted(public)
    for code in public:
        await client.ask({"t": "leave", "table": code})
    assert "tables" not in (await players(client))[0]


@under(limits={"tables_per_player": 100})
async def test_no_more_than_sixteen_tables_of_a_player_are_listed(server):
    client = await guest(server)
    for _ in range(SHOWN + 2):
        await client.ask(FRENCH)
    assert len((await players(client))[0]["tables"]) == SHOWN


async def test_long_list_comes_in_pages_the_last_of_which_is_the_last(server):
    clients = [await guest(server) for _ in range(PAGE)]
    assert "more" not in await clients[0].ask({"t": "players"})
    clients += [await guest(server) for _ in range(3)]
    page = await clients[0].ask({"t": "players"})
    first = [player["player"] for player in page["players"]]
    rest = [player["player"] for player in await players(clients[0], after=first[-1])]
    assert (page["more"], len(first)) == (True, PAGE)
    assert first + rest == sorted(client.welcome["player"] for client in clients)


async def test_state_of_a_table_names_who_sits_by_tag_and_counts_who_watches(server):
    host, watcher = await guest(server), await guest(server)
    code = (await host.ask(FRENCH))["table"]
    await watcher.ask({"t": "watch", "table": code})
    await host.ask({"t": "ready", "table": code})
    state = (await heard(host, "table"))[-1]
    assert ([seat.get("player") for seat in state["seats"]], state["watchers"]) == (
        [host.welcome["player"], None],
        1,
    )
    await watcher.ask({"t": "unwatch", "table": code})
    await host.ask({"t": "unready", "table": code})
    assert "watchers" not in (await heard(host, "table"))[-1]


async def test_state_of_a_table_says_who_may_read_its_matches_also_after_a_restart(path):
    """Where nobody has chosen it is as the host has set it."""
    key = keys.generate_signing_key()
    settings = changed(QUICK, match={"transcript": "watchers"})
    async with running(path, settings) as server:
        client = await keyed(server, "Kay", key)
        for options in ({"transcript": "all"}, {}):
            await client.ask({**FRENCH, "options": options})
    async with running(path, settings) as server:
        tables = (await (await keyed(server, "Kay", key)).ask({"t": "tables"}))["tables"]
        assert sorted(table["transcript"] for table in tables) == ["all", "watchers"]


def test_whom_guests_ignore_is_kept_for_those_who_changed_it_last(monkeypatch):
    monkeypatch.setattr(online_players, "GUESTS", 2)
    online = OnlinePlayers()
    for guest_id in (b"1", b"2", b"1", b"3"):
        online.keep_ignored(guest_id, {"SOMEBODY"})
    peers = {guest_id: SimpleNamespace() for guest_id in (b"1", b"2", b"3")}
    for guest_id, peer in peers.items():
        online.enter(peer, LoggedInPlayer(PlayerKind.GUEST, guest_id, "Gus"))
    assert [bool(peer.ignored) for peer in peers.values()] == [True, False, True]
