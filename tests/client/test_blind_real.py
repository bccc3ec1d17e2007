"""Whole matches of mode blind between seats of the client library at a real server, proven by what each has kept."""

import json

import pytest
import trio
from client.playing import homes, play_bots, play_on, play_out, recorded
from client.running import truc
from client.serving import RealServer

from truc_client import MatchEnded, Player, RecordSeen, Table, TableChanged, YourTurn, connect
from truc_client.bots import play_match, simple_bot
from truc_client.verifying import verify_file
from truc_protocol.audit import Result
from truc_protocol.bodies import Sub, Void
from truc_protocol.records import BLIND, parse
from truc_protocol.transcript import read_transcript

pytestmark = pytest.mark.slow
SHORT = {"mode": BLIND, "match": 1, "target": 3}


async def test_match_of_library_seats_is_proven_and_the_host_could_not_see_the_cards(real_server, tmp_path):
    players = homes(tmp_path, *(False,) * 4)
    verdicts = await play_bots(real_server.url, players, "truco-mineiro-2", mode=BLIND, target=4, match=1)
    assert [(it.result, it.host_saw_no_card) for it in verdicts] == [(Result.PROVEN, True)] * 4
    home = players[0].home
    (kept,) = home.transcripts.iterdir()
    verified = truc("verify", kept, "--json", env={"TRUC_HOME": str(home.root)})
    assert verified.exit_code == 0
    facts = json.loads(verified.stdout.splitlines()[0])
    assert (facts["result"], facts["mode"], facts["unopened"]) == ("proven", BLIND, [])


STEPS = ("call", "mask", "lock", "keys", "deal", "act", "release")


class Restless:
    """A player who goes without a word behind the first record of each kind, and comes back."""

    def __init__(self, url: str, player: Player) -> None:
        self._url, self._player = url, player
        self._choose = simple_bot(3)
        self.left: list[str] = list(STEPS)
        self.ended: MatchEnded | None = None
        self.opened = trio.Event()
        self.code = ""

    async def play(self) -> None:
        while self.ended is None:
            async with connect(self._url, self._player) as connection:
                if connection.held:
                    table = await connection.resume(connection.held[0])
                else:
                    table = await connection.create("truc-french", options=SHORT, private=True)
                    self.code = table.code
                    self.opened.set()
                    await table.ready()
                await self._play_on(table)

    async def _play_on(self, table: Table) -> None:
        async for happening in table:
            match happening:
                case YourTurn():
                    await table.choose(self._choose(happening))
                case MatchEnded():
                    self.ended = happening
                    return
                case RecordSeen(kind=kind, k=k) if kind in self.left and k > 2:
                    self.left.remove(kind)
                    return
                case _:
                    pass


async def test_client_that_goes_behind_each_step_and_comes_back_proves_the_match(real_server, tmp_path):
    first, second = homes(tmp_path, False, False)
    restless = Restless(real_server.url, first)

    async def other() -> None:
        await restless.opened.wait()
        async with connect(real_server.url, second) as connection:
            await play_out(await connection.join(restless.code))

    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(other)
            await restless.play()
    assert restless.left == []
    assert restless.ended is not None
    assert verify_file(restless.ended.transcript).host_saw_no_card


async def test_steps_are_sent_again_to_a_server_that_was_killed_behind_one(tmp_path) -> None:
    north, east = homes(tmp_path, False, False)
    left = ["mask", "keys", "release"]
    due, is_due = trio.open_memory_channel[None](len(left))

    def kill_behind(happening: object) -> None:
        if isinstance(happening, RecordSeen) and happening.kind in left and happening.k > 3:
            left.remove(happening.kind)
            due.send_nowait(None)

    async def kill() -> None:
        for _ in range(3):
            await is_due.receive()
            await trio.to_thread.run_sync(server.kill)
            await trio.to_thread.run_sync(server.start)

    with RealServer(tmp_path / "server") as server:
        async with (
            connect(server.url, north) as one,
            connect(server.url, east) as other,
            trio.open_nursery() as nursery,
        ):
            table = await one.create("truc-french", options=SHORT, private=True)
            nursery.start_soon(kill)
            ended = await play_out(table, await other.join(table.code), show=kill_behind)
    assert [each.verdict.host_saw_no_card for each in ended] == [True, True]


async def test_watcher_checks_the_whole_match(real_server, tmp_path) -> None:
    north, east, onlooker = homes(tmp_path, False, False, False)
    async with (
        connect(real_server.url, north) as one,
        connect(real_server.url, east) as other,
        connect(real_server.url, onlooker) as third,
        trio.open_nursery() as nursery,
    ):
        table = await one.create("truc-french", options=SHORT)
        watched = await third.watch(table.code)
        nursery.start_soon(play_out, table, await other.join(table.code))
        seen = await play_on(watched)
    assert seen[-1].verdict.host_saw_no_card


async def test_substitute_takes_the_seat_of_who_did_not_mask_and_the_match_is_proven(real_server, tmp_path):
    north, east, newcomer = homes(tmp_path, False, False, False)
    vacant, ended = trio.Event(), []

    def look(happening: object) -> None:
        if isinstance(happening, TableChanged) and any(seat.vacant for seat in happening.state.seats):
            vacant.set()

    async def stay(table: Table) -> None:
        ended.append(await play_match(table, simple_bot(1), look))

    async def step_in(code: str) -> None:
        await vacant.wait()
        async with connect(real_server.url, newcomer) as connection:
            table = await connection.join(code)
            await table.ready()
            ended.append(await play_match(table, simple_bot(2)))

    options = {**SHORT, "target": 6, "gone": 1, "release_ms": 3_000}
    with trio.fail_after(120):
        async with connect(real_server.url, north) as connection, trio.open_nursery() as nursery:
            table = await connection.create("truc-french", options=options)
            await table.ready()
            async with connect(real_server.url, east) as leaver:
                joined = await leaver.join(table.code)
                await joined.ready()
                nursery.start_soon(step_in, table.code)
                nursery.start_soon(stay, table)
                await play_on(joined, until=recorded("close"), choose=simple_bot(3))
    assert [each.verdict.result for each in ended] == [Result.PROVEN] * 2
    assert [each.verdict.host_saw_no_card for each in ended] == [True] * 2
    records = read_transcript(ended[0].transcript.read_bytes()).records
    kinds = [type(body) for body in map(parse, records)]
    assert kinds.index(Void) < kinds.index(Sub)
