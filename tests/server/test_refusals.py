"""A refusal that the reference does not list for its request is noticed; the fixture of all tests here looks for them."""

import pytest
from server.refusals import is_listed, unlisted_refusals

from truc_protocol.crypto.keys import signing_key_from_seed
from truc_protocol.errors import Code
from truc_protocol.messages import ClientHello, GuestLogin, ListTables, Welcome, refusal
from truc_protocol.wire.connection import ConnectionEnd, Role
from truc_protocol.wire.handshake import Greeting, server_hello


@pytest.fixture
def connection():
    """The server's end of a connection with an open request for tables."""
    client, server = ConnectionEnd(Role.CLIENT), ConnectionEnd(Role.SERVER)
    server.receive(client.send(ClientHello(id=1, proto=(1,), cn=bytes(32))))
    greeting = Greeting(signing_key_from_seed(b"\x01" * 32), bytes(32), 1, b"\x80")
    client.receive(server.send(server_hello(greeting, 1, server.hello_frame(Role.CLIENT))))
    server.receive(client.send(GuestLogin(id=2, name="Ana")))
    client.receive(server.send(Welcome(re=2, name="Ana")))
    return client, server


def asked(connection):
    client, server = connection
    server.receive(client.send(ListTables(id=3)))
    return server


def test_refusal_that_is_not_listed_is_noticed(monkeypatch, connection):
    monkeypatch.undo()  # what the fixture of all tests looks for
    unlisted = unlisted_refusals(monkeypatch)
    asked(connection).refuse(refusal(Code.TABLE_FULL, "every seat is taken", re=3))
    assert unlisted == [("tables", "table_full", "every seat is taken")]


def test_refusal_that_is_listed_is_passed_over(monkeypatch, connection):
    unlisted = unlisted_refusals(monkeypatch)
    asked(connection).refuse(refusal(Code.RATE_LIMITED, "wait", re=3))
    assert unlisted == []


def test_only_what_a_capability_brings_can_be_unknown():
    assert is_listed("seek", Code.UNKNOWN_REQUEST)
    assert not is_listed("join", Code.UNKNOWN_REQUEST)
