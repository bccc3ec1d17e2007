"""Where the kit runs a client, and what it makes of the words of its command."""

import sys
from pathlib import Path

import trio
import trio.testing
from conform.judging import judge

from truc_conform.client_harness import ClientHarness
from truc_conform.running import found_from_here
from truc_protocol.errors import Code
from truc_protocol.messages import ClientHello, Pong
from truc_protocol.wire.connection import Connection, Failure, Role

LOOKS = "import os, sys; print(os.listdir(), os.path.samefile('.', sys.argv[1]))"


def test_command_runs_in_its_home_which_is_fresh_for_each_start() -> None:
    (result,) = judge(("C0.nonce",), sys.executable, "-c", LOOKS + "; open('left', 'w')", "{home}").values()
    assert set(result.output.split("\n")) == {"[] True", ""}


def test_word_that_names_a_file_is_that_file_wherever_the_command_runs(tmp_path, monkeypatch) -> None:
    (tmp_path / "client.py").touch()
    monkeypatch.chdir(tmp_path)
    assert found_from_here(("python", "./client.py", "client.py")) == (
        "python",
        str(tmp_path / "client.py"),
        str(tmp_path / "client.py"),
    )


def test_word_that_names_no_file_stays_as_it_is(tmp_path, monkeypatch) -> None:
    (tmp_path / "bot").mkdir()
    monkeypatch.chdir(tmp_path)
    command = ("bot", "{url}", "--home", "{home}", "")
    assert found_from_here(command) == command


def test_file_named_whole_stays_as_it_is() -> None:
    assert found_from_here((str(Path(__file__).absolute()),)) == (str(Path(__file__).absolute()),)


async def test_script_of_a_connection_ends_when_the_client_has_come_back(nursery) -> None:
    server, back = ClientHarness(), trio.Event()
    server.nursery = nursery

    async def answer_late(_: object) -> bool:
        with trio.CancelScope(shield=True):
            await back.wait()
        await server.push(Pong(n=1))  # no answer to the hello of the second connection
        return True

    server.intercepts.append(answer_late)
    first = await server.dial(None)
    await first.send_all(Connection(Role.CLIENT).send(ClientHello(id=1, proto=(1,), cn=bytes(32))))
    await trio.testing.wait_all_tasks_blocked()
    await server.dial(None)
    await trio.testing.wait_all_tasks_blocked()
    back.set()
    await trio.testing.wait_all_tasks_blocked()
    assert not server.sent


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
