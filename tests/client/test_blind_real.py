"""Whole matches of mode blind between seats of the client library at a real server, proven by what each has kept."""

import json

import pytest
import trio
from client.playing import homes, is_vacant, left_by_one, play_bots, play_on, play_out, recorded
from client.running import truc

from truc_client import connect
from truc_client.bots import play_match, simple_bot
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
    gone_soon = {**SHORT, "target": 6, "gone": 1, "release_ms": 3_000}
    with trio.fail_after(120):
        async with (
            connect(real_server.url, newcomer) as connection,
            left_by_one(
                real_server.url, north, east, until=recorded("close"), private=False, **gone_soon
            ) as (code, ended),
        ):
            watched = await connection.watch(code)
            await play_on(watched, until=is_vacant)
            await watched.leave()
            table = await connection.join(code)
            await table.ready()
            both = await play_match(table, simple_bot(2)), await ended.receive()
    assert [(each.verdict.result, each.verdict.host_saw_no_card) for each in both] == [
        (Result.PROVEN, True)
    ] * 2
    records = read_transcript(both[0].transcript.read_bytes()).records
    kinds = [type(body) for body in map(parse, records)]
    assert kinds.index(Void) < kinds.index(Sub)
