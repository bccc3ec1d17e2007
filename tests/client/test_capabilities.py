"""What a server announces, its clock, where it has moved to, and invites."""

import time

import pytest
import trio
import trio.testing
from client.hosting import CAPS, Hosting
from client.playing import dialing, received, store_of, visit
from client.strict import Strict
from rows import each_row

from truc_client import Address, ConnectError, RefusedError, ServerKeyError, connect, parse_address
from truc_client.line.single_connection import ClockOffset
from truc_protocol.crypto.keys import fingerprint, signing_key_from_seed
from truc_protocol.errors import Code
from truc_protocol.messages import Capabilities, ClientHello, KeyLogin, Pong, bye, refusal
from truc_protocol.wire.handshake import Pin

ELSEWHERE = "elsewhere:7374"


async def told(server, connection, message) -> None:
    """Let the server say something, and wait until the client has taken it."""
    await server.send(message)
    await connection.tables()


async def test_capabilities_are_those_of_the_hello_and_what_is_added_or_gone(server, connection) -> None:
    assert connection.capabilities == CAPS
    assert abs(connection.clock_offset_ms) < 1000
    await told(server, connection, Capabilities(add={"example.org/dice": 6}))
    assert connection.capabilities == {**CAPS, "example.org/dice": 6}
    await told(server, connection, Capabilities(gone=("chat", "never-heard-of")))
    assert "chat" not in connection.capabilities


async def test_capabilities_after_a_lost_connection_are_those_of_the_new_hello(server, connection) -> None:
    await told(server, connection, Capabilities(gone=("chat",)))
    server.caps = {"lobby": True}
    await server.hang_up()
    await trio.testing.wait_all_tasks_blocked()
    await connection.tables()
    assert connection.capabilities == {"lobby": True}


async def test_hello_says_what_is_wanted_and_required(server, player) -> None:
    server.caps["b"] = True
    async with connect("host", player, want=("a",), require=("b",), dial=server.dial):
        hello = next(message for message in server.received if isinstance(message, ClientHello))
    assert (hello.want, hello.require) == (("a",), ("b",))


@each_row(
    "answers, offset_ms",
    [
        ([(5_000, 1.0, 3.0)], 3_000),  # the middle between question and answer
        ([(9_000, 1.0, 3.0), (5_000, 3.9, 4.1), (9_000, 5.0, 7.0)], 1_000),  # the fastest is believed
        ([(5_000, 3.0, 1.0)], None),  # it was set back meanwhile
    ],
)
def test_clock_takes_the_middle_of_the_answer_that_came_fastest(answers, offset_ms) -> None:
    clock = ClockOffset()
    for now_ms, asked, answered in answers:
        clock.note(now_ms, asked=asked, answered=answered)
    assert clock.offset_ms == offset_ms


class Moved(Strict):
    """A server that sends everybody elsewhere."""

    to = ELSEWHERE

    async def greet(self, message) -> None:
        await super().greet(message)
        await self.send(bye(Code.MOVED, "we have moved", to=self.to))


@pytest.fixture
async def moved(scripted) -> Moved:
    return scripted(kind=Moved)


async def test_server_that_has_moved_is_followed_before_a_login_there(server, moved, player):
    dial, _ = dialing({"host": moved, "elsewhere": server})
    async with connect("host", player, dial=dial) as connection:
        assert connection.address == Address("elsewhere", 7374)
        assert connection.session.first_spk == moved.key.public
    assert not received(moved, KeyLogin)


async def test_another_server_where_it_is_said_to_be_is_not_logged_in_to(moved, player, nursery) -> None:
    other = Hosting(seed=2)
    other.nursery = nursery
    dial, _ = dialing({"host": moved, "elsewhere": other})
    with pytest.raises(ServerKeyError, match="has changed"):
        await visit("host", player, dial=dial)
    assert not received(other, KeyLogin)


async def test_address_that_is_known_as_another_servers_is_not_gone_to(server, moved, player) -> None:
    other = signing_key_from_seed(bytes(32)).public
    with store_of(player) as store:
        store.keep_pin(ELSEWHERE, Pin(other, other, 0))
    dial, _ = dialing({"host": moved, "elsewhere": server})
    with pytest.raises(ServerKeyError, match=fingerprint(other)):
        await visit("host", player, dial=dial)


async def test_server_that_moves_on_and_on_is_given_up_after_three_times(moved, player) -> None:
    dial, dialed = dialing({"host": moved, "elsewhere": moved})
    with pytest.raises(ConnectError, match="more than 3 times"):
        await visit("host", player, dial=dial)
    assert len(dialed) == 4


async def test_server_that_does_not_say_where_it_is_now_is_an_error_of_one_line(moved, player) -> None:
    moved.to = "http://nowhere"
    with pytest.raises(ConnectError, match="does not say where"):
        await visit("host", player, dial=moved.dial)


async def test_invite_of_a_link_is_used_once_and_is_not_in_the_address(server, player) -> None:
    async with connect("truc://host/TABLE?invite=WELCOME-23", player, dial=server.dial) as connection:
        assert connection.address == parse_address("host/TABLE")
        await server.hang_up()
        await trio.testing.wait_all_tasks_blocked()
        await connection.tables()
    logins = received(server, KeyLogin)
    assert [login.invite for login in logins] == ["WELCOME-23", None]


async def test_required_capability_that_is_missing_is_refused(server, player) -> None:
    async def refuse(message) -> None:
        await server.write(server._connection.refuse(refusal(Code.UNSUPPORTED, "no", re=message.id)))

    server.greet = refuse
    with pytest.raises(RefusedError, match="unsupported"):
        await visit("host", player, require=("teleport",), dial=server.dial)


async def test_server_that_does_not_look_at_what_is_required_is_not_played_at(server, player) -> None:
    with pytest.raises(
        RefusedError, match=r"does not offer teleport, which is required here \(unsupported\)"
    ):
        await visit("host", player, require=("teleport",), dial=server.dial)
    assert not received(server, KeyLogin)


async def test_clock_is_asked_for_again_by_every_ping(server, player, autojump_clock) -> None:
    async def answer(message) -> None:
        await server.send(Pong(n=message.n, now_ms=int(time.time() * 1000) + 60_000))

    server.answer_other = answer
    async with connect("host", player, dial=server.dial) as connection:
        await trio.sleep(31 * 9)  # so many answers later the one of the hello is not among the newest
        assert 59_000 < connection.clock_offset_ms < 61_000
