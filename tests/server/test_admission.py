"""Who may come in: connections and failed logins of one address, and what a connection costs before it is logged in."""

import socket
from types import SimpleNamespace

import pytest
import trio
from server.clocks import pass_time
from server.conftest import QUICK, changed, living, under
from server.rawclient import frame
from server.visitors import FRENCH, goodbye, greeted, guest, hang_up, keyed, table_of
from structlog.testing import capture_logs
from trio.testing import wait_all_tasks_blocked

from truc_protocol.crypto import keys
from truc_protocol.errors import Code
from truc_server.net import admission
from truc_server.net.admission import Admission, OtherCrowds
from truc_server.net.peer import LOGIN_OUTBOX, Peer, TooSoonError
from truc_server.operation.figures import Figures
from truc_server.settings.in_force import CurrentValue
from truc_server.storage.node_news import CrowdNews

SETTINGS = changed(
    QUICK, limits={"connections_per_address": 3, "connects_per_min": 6, "failed_logins_per_min": 2}
)
WRONG_TOKEN = "x" * 32


async def fail_to_log_in(server) -> None:
    """Let two logins of this address fail."""
    for _ in range(2):
        client = await server.connect()
        assert (await client.login_token(WRONG_TOKEN))["code"] == "bad_token"
        await hang_up(client)


async def connect_and_leave(server, count) -> None:
    for _ in range(count):
        client = await greeted(server)
        await hang_up(client)


async def test_connection_that_comes_too_soon_is_told_when_to_come_back(server, mock_clock):
    await connect_and_leave(server, 6)
    error, goodbye = await (await server.connect()).closed()
    assert [(m["t"], m["code"], m["retryable"]) for m in (error, goodbye)] == [
        ("error", "rate_limited", True),
        ("bye", "rate_limited", True),
    ]
    assert (error["close"], error["retry_after_ms"], goodbye["reconnect_after_ms"]) == (True, 10_001, 10_001)
    mock_clock.jump(10.001)
    assert (await (await server.connect()).login_guest())["t"] == "welcome"


@under(limits={"connections_per_address": 3, "connects_per_min": 1})
async def test_address_may_lose_all_its_connections_and_come_back_at_once(server, mock_clock):
    await connect_and_leave(server, 5)
    assert (await (await server.connect()).login_guest())["t"] == "welcome"


async def test_connection_that_is_turned_away_has_no_peer_and_counts_no_more(server, monkeypatch):
    made = living(monkeypatch, Peer)
    clients = [await guest(server) for _ in range(3)]
    await (await server.connect()).closed()
    assert len(made) == 3
    await hang_up(clients[0])
    assert (await (await server.connect()).login_guest())["t"] == "welcome"


@pytest.fixture
async def full(server):
    """Return a server at which this address has as many connections as it may have."""
    for _ in range(3):
        await guest(server)
    return server


async def test_who_is_turned_away_is_read_out_one_after_the_other(full, monkeypatch):
    monkeypatch.setattr(admission, "LINGERING", 1)
    for _ in range(3):
        stream = (await full.connect()).stream
        await stream.send_all(bytes(20_000))
        while await stream.receive_some():  # to a clean end
            pass
        await stream.aclose()
        await wait_all_tasks_blocked()


async def talk_on(client) -> None:
    for _ in range(3):
        await client.send_bytes(bytes(10))
        await wait_all_tasks_blocked()


async def test_who_is_turned_away_and_does_not_leave_is_cut(full, mock_clock):
    fourth = await full.connect()
    await fourth.closed()
    await wait_all_tasks_blocked()
    await pass_time(mock_clock, 2.01)
    with pytest.raises(trio.BrokenResourceError):
        await talk_on(fourth)


async def test_no_more_are_given_time_to_read_than_so_many(full, monkeypatch):
    monkeypatch.setattr(admission, "LINGERING", 0)
    assert [message["code"] for message in await (await full.connect()).closed()] == ["server_full"] * 2


async def test_connection_that_is_gone_at_once_is_no_failure(server):
    with capture_logs() as logged:
        for _ in range(5):
            raw = socket.create_connection(("127.0.0.1", server.port))
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
            raw.close()
            await wait_all_tasks_blocked()
    assert [entry for entry in logged if entry["log_level"] in {"error", "critical"}] == []


async def test_address_whose_logins_failed_is_told_to_wait(server, mock_clock):
    await fail_to_log_in(server)
    client = await server.connect()
    reply = await client.login_token(WRONG_TOKEN)
    assert (reply["code"], reply["retry_after_ms"], reply["close"]) == ("rate_limited", 30_001, True)
    (goodbye,) = await client.closed()
    assert goodbye["reconnect_after_ms"] == 30_001
    mock_clock.jump(30.001)
    assert (await (await server.connect()).login_token(WRONG_TOKEN))["code"] == "bad_token"


@pytest.mark.parametrize("newcomer", [guest, keyed])
async def test_nobody_is_locked_out_by_failed_logins_of_the_same_address(server, mock_clock, newcomer):
    await fail_to_log_in(server)
    await (await server.connect()).login_token(WRONG_TOKEN)
    assert await newcomer(server)


async def test_seated_guest_comes_back_among_failed_logins_of_the_same_address(server, mock_clock):
    client = await guest(server)
    await table_of(client, options={"guests": 2})
    await fail_to_log_in(server)
    await (await server.connect()).login_token(WRONG_TOKEN)
    await hang_up(client)
    assert (await (await server.connect()).login_token(client.welcome["token"]))["t"] == "welcome"


async def test_name_that_cannot_be_used_is_no_failed_login(server):
    for _ in range(3):
        client = await greeted(server)
        assert (await client.ask({"t": "login", "name": "\x07"}))["code"] == "bad_message"
        await hang_up(client)
    assert await keyed(server)


async def test_less_may_wait_for_a_connection_before_login_than_after(server, monkeypatch):
    made = living(monkeypatch, Peer)
    client = await greeted(server)
    assert [peer.outbox.limit for peer in made] == [LOGIN_OUTBOX]
    await client.enter({"t": "login", "name": "Gus"})
    assert [peer.outbox.limit > LOGIN_OUTBOX for peer in made] == [True]


@under(limits={"requests_per_s": 1, "burst": 8})
async def test_connections_of_one_player_share_their_requests(server, mock_clock):
    key = keys.generate_signing_key()
    first, second = [await keyed(server, "Kay", key) for _ in range(2)]
    codes = [(await client.ask({"t": "tables"})).get("code") for client in (first, second) * 4]
    assert codes.count("rate_limited") == 2


@under(limits={"requests_per_s": 1, "burst": 3})
async def test_nothing_that_came_with_the_end_of_a_connection_is_looked_at(server, mock_clock):
    client = await guest(server)
    asked = b"".join(frame({"t": "tables", "id": n}) for n in range(100, 140))
    await client.send_bytes(asked + frame({**FRENCH, "id": 1}))
    bye = await goodbye(client)
    assert (bye["t"], bye["code"]) == ("bye", "rate_limited")
    other = await guest(server)
    assert (await other.ask({"t": "tables"}))["tables"] == []


def networks(site: str, count: int) -> list[str]:
    return [f"2001:db8:{site}:{n:x}::/64" for n in range(count)]


def door_by(settings: CurrentValue) -> Admission:
    sanctions = SimpleNamespace(has_banned=lambda _: False)
    return Admission(SimpleNamespace(settings=settings, sanctions=CurrentValue(sanctions), figures=Figures()))


def door_of(**limits) -> Admission:
    return door_by(CurrentValue(changed(QUICK, limits=limits)))


@pytest.fixture
def entrance():
    return door_of(connections=100, connections_per_address=2)


async def test_one_site_with_many_networks_has_a_tenth_of_the_connections(entrance):
    refused = [entrance.enter(network, network) for network in networks("1", 11)]
    assert [why and why.code for why in refused] == [None] * 10 + ["server_full"]
    assert entrance.enter("192.0.2.7", "192.0.2.7") is None
    assert entrance.enter("2001:db8:2::/64", "2001:db8:2::/64") is None
    first, *_, last = networks("1", 11)
    entrance.leave(first)  # which makes room for the site
    assert entrance.enter(last, last) is None


async def test_limits_hold_once_they_are_in_force_and_give_nobody_their_pace_back(mock_clock):
    settings = CurrentValue(changed(QUICK, limits={"failed_logins_per_min": 1}))
    entrance = door_by(settings)
    entrance.note_refused("192.0.2.7", Code.BAD_TOKEN)
    settings.now = changed(QUICK, limits={"failed_logins_per_min": 2})
    with pytest.raises(TooSoonError):
        entrance.note_refused("192.0.2.7", Code.BAD_TOKEN)
    settings.now = changed(QUICK, limits={"failed_logins_per_min": 60})
    mock_clock.jump(1.001)
    entrance.note_refused("192.0.2.7", Code.BAD_TOKEN)


async def test_full_server_has_room_again_when_one_has_left(entrance):
    addresses = [f"192.0.2.{n}" for n in range(102)]
    refused = [entrance.enter(address, address) for address in addresses[:101]]
    assert [why and why.code for why in refused] == [None] * 100 + ["server_full"]
    entrance.leave(addresses[0])
    refused = [entrance.enter(address, address) for address in addresses[100:]]
    assert [why and why.code for why in refused] == [None, "server_full"]


async def test_nothing_is_kept_of_who_has_left(entrance):
    for network in (*networks("1", 3), "192.0.2.7"):
        entrance.enter(network, network)
        entrance.leave(network)
    assert (len(entrance._networks), len(entrance._sites)) == (0, 0)


async def test_site_of_a_small_server_has_as_many_connections_as_an_address():
    small = door_of(connections=10, connections_per_address=3)
    (network,) = networks("1", 1)
    refused = [small.enter(network, network) for _ in range(4)]
    assert [why and why.code for why in refused] == [None] * 3 + ["server_full"]


class TestOtherNodes:
    def test_connections_of_a_network_and_its_site_are_those_of_all_nodes(self):
        others = OtherCrowds()
        others.hear("one", [CrowdNews("2001:db8:1:1::/64", 2, 2, 0)])
        others.hear("two", [CrowdNews("2001:db8:1:2::/64", 1, 1, 0)])
        assert others.connections("2001:db8:1:1::/64", "2001:db8:1::/48") == (2, 3)
        others.hear("one", [CrowdNews("2001:db8:1:1::/64", 1, 2, 0)])
        assert others.connections("2001:db8:1:1::/64", "2001:db8:1::/48") == (1, 2)
        others.forget_node("one")
        assert others.connections("2001:db8:1:1::/64", "2001:db8:1::/48") == (0, 1)

    def test_what_has_come_since_a_node_told_last_is_counted_once(self):
        others = OtherCrowds()
        assert others.hear("one", [CrowdNews("192.0.2.7", 1, 5, 2)]) == {}  # it may have come long ago
        assert others.hear("one", [CrowdNews("192.0.2.7", 1, 8, 2)]) == {"192.0.2.7": (3, 0)}
        assert others.hear("one", [CrowdNews("192.0.2.7", 1, 8, 2)]) == {"192.0.2.7": (0, 0)}
        assert others.hear("one", [CrowdNews("192.0.2.7", 1, 1, 1)]) == {"192.0.2.7": (1, 1)}  # begun anew
        assert others.hear("one", [CrowdNews("192.0.2.8", 1, 2, 0)]) == {"192.0.2.8": (2, 0)}

    def test_no_more_networks_are_remembered_than_are_limited_here(self, monkeypatch):
        monkeypatch.setattr(admission, "MAX_SUBJECTS", 2)
        others = OtherCrowds()
        others.hear("one", [CrowdNews(f"192.0.2.{n}", 1, 1, 0) for n in range(4)])
        assert len(others) == 2
        assert others.connections("192.0.2.0", "192.0.2.0") == (0, 0)
