import random

import pytest
import trio
from client.playing import homes, play_bots

from truc_client import Connection, MatchEnded, Player, RefusedError, SeatTakenOver, connect
from truc_client.bots import play_match, simple_bot
from truc_client.verifying import verify_file
from truc_protocol.audit import Result

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("variant", "seats"), [("truc-french", 2), ("truc-catalan", 2), ("truc-catalan", 4)])
async def test_bots_play_to_a_proven_end(real_server, tmp_path, variant, seats) -> None:
    verdicts = await play_bots(real_server.url, homes(tmp_path, *[False] * seats), variant)
    assert {(verdict.result, verdict.level) for verdict in verdicts} == {(Result.PROVEN, "A")}


async def test_one_guest_makes_level_b(real_server, tmp_path) -> None:
    verdicts = await play_bots(
        real_server.url, homes(tmp_path, False, True), "truc-french", guests=1, match=1
    )
    assert {verdict.level for verdict in verdicts} == {"B"}


async def test_guests_alone_make_level_c(real_server, tmp_path) -> None:
    verdicts = await play_bots(real_server.url, homes(tmp_path, True, True), "truc-catalan", guests=2)
    assert {verdict.level for verdict in verdicts} == {"C"}


async def test_sealed_policy_is_proven_at_the_end(real_server, tmp_path) -> None:
    players = homes(tmp_path, False, False)
    verdicts = await play_bots(real_server.url, players, "truc-french", reveal="match", match=1)
    assert {verdict.result for verdict in verdicts} == {Result.PROVEN}


async def test_unknown_table_is_refused(real_server, player) -> None:
    async with connect(real_server.url, player) as connection:
        with pytest.raises(RefusedError) as refused:
            await connection.join("NOPE1")
    assert refused.value.code == "no_such_table"


async def test_full_table_is_refused(real_server, tmp_path) -> None:
    async with trio.open_nursery() as nursery:
        players = homes(tmp_path, False, False, False)
        connections = [await enter(nursery, real_server.url, player) for player in players]
        table = await connections[0].create("truc-french", private=True)
        await connections[1].join(table.code)
        with pytest.raises(RefusedError) as refused:
            await connections[2].join(table.code)
        nursery.cancel_scope.cancel()
    assert refused.value.code == "table_full"


async def enter(nursery: trio.Nursery, url: str, player: Player) -> Connection:
    async def stay(task_status=trio.TASK_STATUS_IGNORED) -> None:
        async with connect(url, player) as connection:
            task_status.started(connection)
            await trio.sleep_forever()

    return await nursery.start(stay)


async def test_public_table_is_listed_and_private_one_is_not(real_server, player) -> None:
    async with connect(real_server.url, player) as connection:
        public = await connection.create("truc-french")
        private = await connection.create("truc-french", private=True)
        codes = {state.table for state in await connection.tables()}
        await public.leave()
        await private.leave()
    assert (public.code in codes, private.code in codes) == (True, False)


async def test_rematch_at_the_same_table_is_a_match_of_its_own(real_server, tmp_path) -> None:
    ended: list[MatchEnded] = []

    async def one(player: Player, code: str | None, opened: trio.MemorySendChannel) -> None:
        async with connect(real_server.url, player) as connection:
            if code is None:
                table = await connection.create(
                    "truc-french", options={"match": 1, "target": 3}, private=True
                )
                await opened.send(table.code)
            else:
                table = await connection.join(code)
            for _ in range(2):
                await table.ready()
                ended.append(await play_match(table, simple_bot(5)))

    async with trio.open_nursery() as nursery:
        first, second = homes(tmp_path, False, False)
        opened, codes = trio.open_memory_channel(1)
        nursery.start_soon(one, first, None, opened)
        nursery.start_soon(one, second, await codes.receive(), opened)
    assert len({match.transcript.name for match in ended}) == 2


async def test_random_bytes_of_a_transcript_cannot_be_flipped(real_server, tmp_path) -> None:
    players = homes(tmp_path, False, False)
    await play_bots(real_server.url, players, "truc-french", match=1, target=3)
    transcript = next(iter(players[0].home.transcripts.glob("*.truc"))).read_bytes()
    dice, damaged = random.Random(1), tmp_path / "damaged.truc"
    for _ in range(10):
        at = dice.randrange(len(transcript))
        flipped = bytes((*transcript[:at], transcript[at] ^ 1, *transcript[at + 1 :]))
        damaged.write_bytes(flipped)
        assert verify_file(damaged).result in (Result.REFUTED, Result.UNREADABLE), at


async def test_seat_taken_before_the_match_is_there_after_a_restart(real_server, tmp_path) -> None:
    first, second = homes(tmp_path, False, False)
    async with connect(real_server.url, first) as connection:
        table = await connection.create("truc-french", options={"match": 1, "target": 3}, private=True)
        await table.ready()
        code = table.code
    ended: list[MatchEnded | None] = []

    async def come_back() -> None:
        async with connect(real_server.url, first) as connection:
            (held,) = connection.held
            table = await connection.resume(held)
            await table.ready()
            ended.append(await play_match(table, simple_bot(1)))

    async def join() -> None:
        async with connect(real_server.url, second) as connection:
            table = await connection.join(code)
            await table.ready()
            ended.append(await play_match(table, simple_bot(2)))

    with trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(come_back)
            nursery.start_soon(join)
    assert [match.verdict.result for match in ended] == [Result.PROVEN] * 2


async def test_older_connection_is_told_that_its_seat_was_taken_over(real_server, player) -> None:
    async with connect(real_server.url, player) as older, connect(real_server.url, player) as newer:
        table = await older.create("truc-french", private=True)
        joined = await newer.join(table.code)
        async for happening in table:
            if isinstance(happening, SeatTakenOver):
                break
        await joined.leave()
    assert happening == SeatTakenOver(0)
