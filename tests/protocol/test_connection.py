"""The connection: every step is in the table, every other step is an error with a name."""

import msgspec
import pytest
from rows import each_row

from truc_protocol.codec import pack
from truc_protocol.errors import Code, LocalError
from truc_protocol.messages import (
    Bye,
    ClientHello,
    Direction,
    GuestLogin,
    Join,
    Leave,
    Ok,
    Ping,
    ServerHello,
    TableClosed,
    Welcome,
    bye,
    refusal,
)
from truc_protocol.wire.connection import (
    MAX_OUTSTANDING,
    TRANSITIONS,
    ConnectionEnd,
    KeepAlive,
    Role,
    State,
    broadcast_frame,
    keep_alive,
)
from truc_protocol.wire.encoding import (
    CLIENT_LIMIT,
    LOGIN_LIMIT,
    SERVER_LIMIT,
    decode,
    encode,
    head_of,
    to_frame,
)

HELLO = ClientHello(id=1, proto=(1,), cn=bytes(32))
ANSWER = ServerHello(re=1, body=b"body", sig=bytes(64), info=b"\x80")
LOGIN = GuestLogin(id=2, name="Ben")
WELCOME = Welcome(re=2, name="Ben")
HANDSHAKE = ((Role.CLIENT, HELLO), (Role.SERVER, ANSWER), (Role.CLIENT, LOGIN), (Role.SERVER, WELCOME))


def pair(steps=4):
    """Return client and server after the first steps of the handshake."""
    ends = {role: ConnectionEnd(role) for role in Role}
    for sender, message in HANDSHAKE[:steps]:
        receiver = Role.SERVER if sender is Role.CLIENT else Role.CLIENT
        assert ends[receiver].receive(ends[sender].send(message)) == [message]
    return ends[Role.CLIENT], ends[Role.SERVER]


def raw(**fields):
    return to_frame(pack(fields), SERVER_LIMIT)


def messages_in(received):
    """Decode what a server sent."""
    found = []
    while received:
        end = 4 + int.from_bytes(received[:4], "big")
        found.append(decode(received[4:end], Direction.TO_CLIENT))
        received = received[end:]
    return found


@each_row(
    "steps, state", list(enumerate((State.NEW, State.GREETING, State.GREETED, State.ENTERING, State.READY)))
)
def test_each_step_of_the_handshake_has_its_state(steps, state):
    client, server = pair(steps)
    assert client.state is server.state is state
    assert all(before is not State.CLOSED for before, _, _ in TRANSITIONS)


# Hellos are kept for the handshake


def test_both_ends_keep_the_exact_bytes_of_the_hellos_until_the_welcome():
    client, server = pair(2)
    for sender, hello in ((Role.CLIENT, HELLO), (Role.SERVER, ANSWER)):
        assert client.hello_frame(sender) == server.hello_frame(sender) == encode(hello)
    server = ConnectionEnd(Role.SERVER)
    frame = pack({"id": 1, "cn": bytes(32), "x": 1, "proto": [1], "t": "hello"})
    server.receive(to_frame(frame, LOGIN_LIMIT))
    assert server.hello_frame(Role.CLIENT) == frame
    _, server = pair()
    with pytest.raises(LocalError, match="no hello of the client in state ready"):
        server.hello_frame(Role.CLIENT)


# Out of step


@each_row("steps, wanted", [(0, "hello in state new"), (2, "login in state greeted")])
def test_request_before_welcome_needs_a_login(steps, wanted):
    _, server = pair(steps)
    (failure,) = server.receive(raw(t="join", id=9, table="A"))
    assert (failure.code, failure.closes, failure.re) == (Code.AUTH_REQUIRED, True, 9)
    assert failure.message == f"expected {wanted}, got join"


def test_client_that_does_not_wait_is_told_that_nothing_was_expected():
    _, server = pair(1)
    (failure,) = server.receive(to_frame(encode(LOGIN), LOGIN_LIMIT))
    assert (failure.code, failure.message) == (Code.NOT_NOW, "expected nothing in state greeting, got login")


@each_row(
    "steps, request_, code, answered, open_ids",
    [
        (4, {"t": "hello", "id": 9, "proto": [1], "cn": bytes(32)}, Code.NOT_NOW, 9, {9}),
        (4, {"t": "shuffle", "id": 3}, Code.UNKNOWN_REQUEST, 3, {3}),
        (0, {"t": "ping", "n": 1}, Code.AUTH_REQUIRED, None, set()),
        (0, {"t": "hello", "id": 1, "proto": [], "cn": bytes(32)}, Code.BAD_MESSAGE, 1, {1}),
    ],
)
def test_request_that_cannot_be_taken_is_refused_by_name_and_ends_what_is_not_welcomed_yet(
    steps, request_, code, answered, open_ids
):
    _, server = pair(steps)
    (failure,) = server.receive(raw(**request_))
    assert (failure.code, failure.closes, failure.re) == (code, steps == 0, answered)
    assert server.outstanding == open_ids


@each_row(
    "steps, role, message, told",
    [
        (0, Role.CLIENT, Join(id=3, table="A"), "client cannot send join in state new"),
        (2, Role.CLIENT, GuestLogin(id=2, name="B" * 2100), "1 to 2048 bytes"),
        (
            3,
            Role.SERVER,
            refusal(Code.GUESTS_NOT_ALLOWED, "expected a key", re=2),
            "server cannot send error in state entering",
        ),
    ],
)
def test_sending_out_of_step_or_above_the_limit_is_our_error(steps, role, message, told):
    ends = dict(zip((Role.CLIENT, Role.SERVER), pair(steps), strict=True))
    with pytest.raises(LocalError, match=told):
        ends[role].send(message)


# Failures are values


def test_bad_request_is_refused_once_and_the_connection_goes_on():
    client, server = pair()
    leave = client.send(Leave(id=4, table="A"))
    failure, after = server.receive(raw(t="join", id=3, table=5) + leave)
    assert (failure.field, after) == ("table", Leave(id=4, table="A"))
    (error,) = messages_in(server.answer(failure))
    assert (error.re, error.code, error.close) == (3, "bad_message", False)


def test_request_before_a_failure_is_answered_until_the_farewell():
    client, server = pair()
    requests = [client.send(Join(id=i, table="A")) for i in (3, 4)]
    *_, failure = server.receive(b"".join(requests) + bytes(4))
    assert client.receive(server.send(Ok(re=3, seat=0))) == [Ok(re=3, seat=0)]
    server.answer(failure)
    with pytest.raises(LocalError, match="server cannot send ok in state closed"):
        server.send(Ok(re=4, seat=0))


def test_nothing_is_read_after_a_failure_that_closes_which_is_answered_with_error_and_bye():
    client, server = pair()
    ping = client.send(Ping(n=1))
    (failure,) = server.receive(bytes(4) + ping)
    assert server.receive(ping) == []
    error, farewell = messages_in(server.answer(failure))
    assert (error.code, error.close, farewell.code) == ("bad_frame", True, "bad_frame")
    assert server.state is State.CLOSED


def test_peer_of_another_protocol_gets_one_line():
    server = ConnectionEnd(Role.SERVER)
    (failure,) = server.receive(b"GET / HTTP/1.1\r\n\r\n")
    assert server.answer(failure).startswith(b"This port speaks the Truc protocol")
    assert server.state is State.CLOSED


def test_client_closes_after_any_failure_of_the_server():
    client, _ = pair()
    (failure,) = client.receive(raw(t="closed", table=5))
    assert (failure.code, failure.closes, client.state) == (Code.BAD_MESSAGE, True, State.CLOSED)


def test_client_passes_over_a_notice_it_does_not_know():
    client, _ = pair()
    assert client.receive(raw(t="confetti", n=1) + raw(t="ping", n=1)) == [Ping(n=1)]


# The server's own refusals


@each_row("steps, code", [(3, Code.GUESTS_NOT_ALLOWED), (4, Code.BAD_SIGNATURE)])
def test_refusal_before_welcome_or_whose_code_closes_is_followed_by_a_bye(steps, code):
    client, server = pair(steps)
    if steps == 4:
        server.receive(client.send(Join(id=2, table="A")))
    error, farewell = client.receive(server.refuse(refusal(code, "expected something else", re=2)))
    assert (error.close, type(farewell)) == (True, Bye)
    assert client.state is server.state is State.CLOSED


@each_row("steps", range(5))
def test_server_may_say_bye_at_any_time_and_nothing_after_it(steps):
    client, server = pair(steps)
    client.receive(server.send(bye(Code.SHUTTING_DOWN, "stopping")))
    assert client.state is server.state is State.CLOSED
    assert client.outstanding == frozenset()
    with pytest.raises(LocalError, match="state closed"):
        server.send(Ping(n=1))


# One reply for each request


def test_request_is_open_until_its_one_reply_and_its_id_is_free_again_then():
    client, server = pair()
    server.receive(client.send(Join(id=3, table="A")))
    assert client.outstanding == server.outstanding == {3}
    with pytest.raises(LocalError, match="expected a new request id, got 3"):
        client.send(Leave(id=3, table="A"))
    client.receive(server.send(Ok(re=3, seat=0)))
    assert client.outstanding == server.outstanding == frozenset()
    with pytest.raises(LocalError, match="expected the reply to an open request, got ok to 3"):
        server.send(Ok(re=3))
    assert server.receive(client.send(Leave(id=3, table="A"))) == [Leave(id=3, table="A")]


@each_row("again", [{"t": "leave", "table": "A"}, {"t": "join", "table": 5}])
def test_server_refuses_an_open_id_without_taking_its_reply(again):
    _, server = pair()
    _, failure = server.receive(raw(t="leave", id=3, table="A") + raw(id=3, **again))
    (error,) = messages_in(server.answer(failure))
    assert (error.code, error.re, server.outstanding) == ("bad_message", None, {3})
    assert messages_in(server.send(Ok(re=3))) == [Ok(re=3)]


@each_row("steps, reply", [(4, Ok(re=77)), (1, msgspec.structs.replace(ANSWER, re=2))])
def test_client_refuses_a_reply_to_nothing_or_of_the_wrong_kind(steps, reply):
    client, _ = pair(steps)
    (failure,) = client.receive(to_frame(encode(reply), SERVER_LIMIT))
    assert (failure.code, failure.field) == (Code.BAD_MESSAGE, "re")
    assert failure.message.startswith("expected the reply to an open request, got ")


def test_too_many_open_requests_are_rate_limited():
    _, server = pair()
    received = server.receive(b"".join(raw(t="leave", id=n, table="A") for n in range(MAX_OUTSTANDING + 1)))
    assert (received[-1].code, received[-1].re) == (Code.RATE_LIMITED, MAX_OUTSTANDING)


# Limits


@each_row("steps, limit", [(0, LOGIN_LIMIT), (4, CLIENT_LIMIT)])
def test_server_takes_frames_up_to_the_limit_of_the_state_and_a_client_long_ones_from_the_start(steps, limit):
    client, server = pair(steps)
    (failure,) = server.receive((limit + 1).to_bytes(4, "big"))
    assert failure.message == f"expected a frame of at most {limit} bytes, got length {limit + 1}"
    assert client.receive(SERVER_LIMIT.to_bytes(4, "big")) == []


def test_message_too_long_opens_no_request():
    client, _ = pair()
    with pytest.raises(LocalError, match="1 to 8192 bytes"):
        client.send(Join(id=3, table="A" * 9000))
    assert client.outstanding == frozenset()


def test_broadcast_frame_is_what_each_connection_would_send():
    _, server = pair()
    closed = TableClosed(table="A", reason="expired")
    assert broadcast_frame(closed) == server.send(closed)


# Life


@each_row(
    "now, pinged, expected",
    [
        (129.9, None, KeepAlive.REST),
        (130.0, None, KeepAlive.PING),
        (131.0, 130.0, KeepAlive.REST),
        (131.0, 60.0, KeepAlive.PING),
        (131.0, 100.0, KeepAlive.PING),  # answered before the clock went on
        (144.9, 130.0, KeepAlive.REST),
        (145.0, 130.0, KeepAlive.GIVE_UP),
        (145.0, None, KeepAlive.GIVE_UP),
    ],
)
def test_silence_asks_for_a_ping_and_then_for_the_end(now, pinged, expected):
    assert keep_alive(now, heard=100.0, pinged=pinged, idle_s=30) is expected


# A connection that somebody else has led in, and what is passed on over one


def test_connection_that_is_handed_on_begins_logged_in_with_the_limits_of_that():
    connection = ConnectionEnd(Role.SERVER)
    connection.begin_ready()
    long = to_frame(pack({"t": "leave", "id": 1, "table": "ABCDE", "x": "y" * LOGIN_LIMIT}), CLIENT_LIMIT)
    assert connection.receive(long) == [Leave(id=1, table="ABCDE")]
    assert connection.is_ready


def test_request_that_is_answered_by_a_frame_made_elsewhere_is_closed_once():
    connection = ConnectionEnd(Role.SERVER)
    connection.begin_ready()
    connection.receive(to_frame(encode(Leave(id=7, table="ABCDE")), CLIENT_LIMIT))
    assert [connection.close_request(7), connection.close_request(7)] == [True, False]
    assert connection.outstanding == frozenset()
    connection.receive(to_frame(encode(Leave(id=7, table="ABCDE")), CLIENT_LIMIT))
    assert connection.outstanding == {7}


def test_head_of_a_message_is_read_whatever_else_is_in_it():
    head = head_of(encode(Ok(re=7, table="ABCDE", seat=1)))
    assert (head.t, head.re, head.close) == ("ok", 7, False)
    assert head_of(encode(bye(Code.MOVED, "there", to="there:1"))).code == "moved"
    assert head_of(pack({"t": "x-new", "n": {"deep": [1]}, "re": None})).t == "x-new"
    for broken in (b"", b"\x80", pack({"t": 1}), pack({"re": 1})):
        with pytest.raises(ValueError, match=r"truncated|required field|Expected `str`"):
            head_of(broken)
