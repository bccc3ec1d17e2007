"""Where the kit runs a client, and what it makes of the words of its command."""

import re
import sys

import trio
import trio.testing
from conform.judging import judge

from truc_conform.client_cases import patience
from truc_conform.client_harness import ClientHarness
from truc_protocol.errors import Code
from truc_protocol.messages import ClientHello, Pong, bye
from truc_protocol.wire.connection import ConnectionEnd, Failure, Role

LOOKS = "import os, sys; print(os.getcwd(), os.listdir(sys.argv[1])); open(sys.argv[1] + '/left', 'w')"
"""Tells where a program runs and what is in the folder that it is given, and leaves something there."""
GIVES_UP = r"""
import socket, sys
line = socket.create_connection((sys.argv[1], int(sys.argv[2])))
def send(hello):
    line.sendall(len(hello).to_bytes(4, "big") + hello)
send(b"\x84\xa1t\xa5hello\xa2id\x01\xa5proto\x91\x01\xa2cn\xc4\x20" + b"c" * 32)
line.recv(4096)
send(b"\x83\xa1t\xa5leave\xa2id\x02\xa5table\xa5TABLE")
line.recv(4096)
print("on the way out")
sys.exit("no idea what came")
"""
"""Says hello, then something for which it is too early, and ends with its own words."""
TOO_EARLY = "'expected login in state greeted, got leave'"


def test_command_runs_where_the_kit_was_started_and_its_folder_is_fresh(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (result,) = judge(("C0.nonce",), sys.executable, "-c", LOOKS, "{home}").values()
    assert result.trace.stdout.splitlines() == [f"{tmp_path} []"] * 2


def test_failure_shows_how_the_client_ended_and_what_was_said_last() -> None:
    (result,) = judge(("C0.ping",), sys.executable, "-c", GIVES_UP, "{host}", "{port}").values()
    trace = result.trace
    said = [re.sub(r" +\d+\.\d+ s", "", frame) for frame in trace.frames]
    assert trace.ended.startswith("exit code 1 after ")
    assert (trace.stderr, trace.stdout) == ("no idea what came\n", "on the way out\n")
    assert said[0] == "client hello id=1 proto=[1] cn=63636363…"
    assert re.match(r"server hello re=1 body=hello\(spk=\w{8}… sn=\w{8}… .* proto=1 cert=None", said[1])
    assert said[2:] == [
        "client leave id=2 table='TABLE'",
        f"server error re=2 code='auth_required' msg={TOO_EARLY} retryable=False close=True field='t'",
        f"server bye code='auth_required' msg={TOO_EARLY} retryable=False",
    ]


async def test_client_is_given_its_time_anew_with_each_record_of_its_match(autojump_clock) -> None:
    server = ClientHarness()
    with patience(server, 10.0) as goes_on:
        await trio.sleep(9.0)
        await server.rehearse()
        await trio.sleep(9.0)
    with patience(server, 10.0) as stalls:
        await trio.sleep(11.0)
    assert (goes_on.cancelled_caught, stalls.cancelled_caught) == (False, True)


async def test_script_of_a_connection_ends_when_the_client_has_come_back(nursery) -> None:
    server, back = ClientHarness(), trio.Event()

    async def dial() -> trio.abc.Stream:
        ours, theirs = trio.testing.memory_stream_pair()
        nursery.start_soon(server.serve, theirs)
        await trio.testing.wait_all_tasks_blocked()
        return ours

    async def answer_late(_: object) -> bool:
        with trio.CancelScope(shield=True):
            await back.wait()
        await server.push(Pong(n=1))  # no answer to the hello of the second connection
        return True

    server.intercepts.append(answer_late)
    first = await dial()
    await first.send_all(ConnectionEnd(Role.CLIENT).send(ClientHello(id=1, proto=(1,), cn=bytes(32))))
    await trio.testing.wait_all_tasks_blocked()
    await dial()
    back.set()
    await trio.testing.wait_all_tasks_blocked()
    assert not server.sent


async def test_goodbye_does_not_end_the_connection_of_a_client_that_is_back_at_once() -> None:
    server = ClientHarness()
    hello = ConnectionEnd(Role.CLIENT).send(ClientHello(id=1, proto=(1,), cn=bytes(32)))
    left, theirs = trio.testing.memory_stream_pair()
    back, theirs_again = trio.testing.memory_stream_pair()

    async def part(_: object) -> bool:
        server.intercepts.clear()
        await server.part(bye(Code.MOVED, "it is elsewhere", to="127.0.0.1:7373"))
        return True

    async def greet() -> None:
        await trio.testing.wait_all_tasks_blocked()
        await back.send_all(hello)
        assert await back.receive_some()
        await back.aclose()

    server.intercepts.append(part)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.serve, theirs)
        await left.send_all(hello)
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(greet)
        left.send_stream.close()
        # With nothing between: the script has not heard yet that the client has left.
        await server.serve(theirs_again)


async def test_failure_is_answered_after_what_the_puppets_are_saying() -> None:
    ours, theirs = trio.testing.memory_stream_pair()
    has_room = trio.Event()
    ours.send_stream.send_all_hook = has_room.wait
    harness = ClientHarness()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(harness.serve, ours)
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(harness.write, b"a whole frame")
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(harness.fail, Failure(Code.BAD_MESSAGE, "this id was used before", closes=False))
        await trio.testing.wait_all_tasks_blocked()
        has_room.set()
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    left = bytes(await theirs.receive_some())
    assert (left.startswith(b"a whole frame"), b"this id was used before" in left) == (True, True)
