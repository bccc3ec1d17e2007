"""Who watches from the middle of a match: what is fetched, what is checked, what is said to be unchecked."""

import pytest
import trio
from client.hosting import Hosting
from client.playing import homes, once, play_on, play_to_proof, received
from msgspec.structs import replace
from protocol.peers import Table

import truc_client
from truc_client import (
    CheckFailedError,
    Interrupted,
    MatchEnded,
    MatchStarted,
    Player,
    RecordSeen,
    RecordUnchecked,
    Resumed,
    SnapshotTaken,
    connect,
    open_home,
    verify_file,
)
from truc_client.bots import play_match, simple_bot
from truc_conform.forging import on
from truc_protocol.audit import Result
from truc_protocol.messages import ClientHello, History, MatchRecord, Ok, Setup, Snapshot, Watch
from truc_rules import preset, with_options

CODE = "TABLE"


@pytest.fixture
def server(played_server) -> Hosting:
    return played_server


@pytest.fixture
def watcher(tmp_path) -> Player:
    return Player(open_home(tmp_path / "watcher"), "watcher")


async def watched(server: Hosting, watcher: Player, until=MatchEnded) -> list:
    """Return everything that a watcher is told up to something."""
    with trio.fail_after(10):
        async with connect("host", watcher, dial=server.dial) as connection:
            table = await connection.watch(CODE)
            return await play_on(table, until=until)


async def test_match_watched_from_the_middle_is_fetched_once_and_proven(server, watcher):
    seen = await watched(server, watcher)
    kinds = [type(happening) for happening in seen]
    assert received(server, ClientHello)[0].want == ("snapshot", "own-options", "blind")
    assert [message.first for message in received(server, History)] == [*range(0, server.middle, server.page)]
    order = [kind for kind in kinds if kind in (MatchStarted, SnapshotTaken, Resumed)]
    assert order == [MatchStarted, SnapshotTaken, Resumed]
    assert seen[kinds.index(SnapshotTaken)] == SnapshotTaken(
        server.setup.match, server.middle, server.snapshot(0).view, skipped=False
    )
    assert kinds.index(RecordSeen) > kinds.index(Resumed)
    assert seen[kinds.index(RecordSeen)].k == server.middle
    assert seen[-1].verdict.result is Result.PROVEN
    assert verify_file(seen[-1].transcript).result is Result.PROVEN
    assert (await watched(server, watcher))[-1].transcript == seen[-1].transcript


async def test_page_that_came_too_soon_is_asked_for_again(server, watcher) -> None:
    server.busy = 2
    ended = (await watched(server, watcher))[-1]
    assert ended.verdict.result is Result.PROVEN


async def test_what_cannot_be_checked_is_told_as_unchecked_and_the_match_is_incomplete(server, watcher):
    server.keeps_past = False
    seen = await watched(server, watcher)
    assert not [each for each in seen if isinstance(each, RecordSeen | Resumed)]
    assert next(each.k for each in seen if isinstance(each, RecordUnchecked)) == server.middle
    assert seen[-1].verdict.result is Result.INCOMPLETE


async def test_snapshot_with_another_head_than_its_records_is_not_gone_on_from(server, watcher) -> None:
    server.bend = on(Snapshot, lambda message: replace(message, head=bytes(32)))
    seen = await watched(server, watcher)
    assert "another head" in next(each.reason for each in seen if isinstance(each, Interrupted))


def changed(message):
    """Change the first record of a page of the past."""
    if not isinstance(message, Ok) or not message.past:
        return message
    first = message.past[0]
    bent = replace(first, body=first.body[:-1] + bytes([first.body[-1] ^ 1]))
    return replace(message, past=(bent, *message.past[1:]))


@pytest.mark.parametrize(("bend", "page", "check"), [(changed, 7, "C3"), (lambda message: message, 0, "C33")])
async def test_past_that_was_changed_or_is_held_back_is_not_believed(server, watcher, bend, page, check):
    server.bend, server.page = bend, page
    with pytest.raises(CheckFailedError, match=check):
        await watched(server, watcher)


async def follow(server: Hosting, connection, *, until: int) -> tuple[truc_client.Table, list]:
    """Watch a match of which `until` records are made so far; returns what was told."""
    kept, server.records = server.records, server.records[:until]
    table = await connection.watch(CODE)
    seen = [await anext(table)]
    while not (isinstance(seen[-1], RecordSeen) and seen[-1].k == until - 1):
        seen.append(await anext(table))
    server.records = kept
    return table, seen


async def test_missing_record_is_asked_for_again(server, watcher) -> None:
    dropped = server.middle + 2
    server.bend = once(on(MatchRecord, lambda message: None if message.k == dropped else message))
    seen = await watched(server, watcher)
    assert received(server, Watch)[1].next == dropped
    assert seen[-1].verdict.result is Result.PROVEN


async def test_slow_watcher_goes_on_from_a_snapshot_that_skips(server, watcher) -> None:
    async with connect("host", watcher, dial=server.dial) as connection:
        table, _ = await follow(server, connection, until=server.middle + 2)
        last = len(server.records) - 2
        await server.send(server.snapshot(last, skipped=True))
        for k in (last, last + 1):
            await server.send(server.message(k))
        seen = await play_to_proof(table)
    assert SnapshotTaken(server.setup.match, last, server.snapshot(0).view, skipped=True) in seen


async def test_watcher_that_comes_again_fetches_only_what_it_has_not_kept(server, watcher) -> None:
    await watched(server, watcher, until=Resumed)
    server.heard.clear()
    ended = (await watched(server, watcher))[-1]
    assert received(server, History) == []
    assert ended.verdict.result is Result.PROVEN


async def test_preview_at_a_match_from_the_middle_sees_its_box_keys(server, watcher) -> None:
    async with connect("host", watcher, dial=server.dial) as connection:
        preview = await connection.preview(CODE)
    assert preview.box_key(server.setup.match, 0) is not None


def another_match(server: Hosting) -> Setup:
    """Let the server have another match; returns its setup."""
    other = Table(with_options(preset("truc-french"), {"target": 3, "match": 1})).run()
    setup = other.setup
    server.records = other.records[len(setup.records) :]
    server.setup = Setup(table=CODE, match=setup.mid, doc=other.document, records=setup.records)
    server.ledger, server.facts = other.ledger, {}
    return server.setup


async def test_match_that_begins_while_another_is_fetched_is_followed_from_its_start(server, watcher) -> None:
    server.busy = 1_000  # nothing of the past is given out
    first = server.setup.match
    async with connect("host", watcher, dial=server.dial) as connection:
        table = await connection.watch(CODE)
        await server.send(another_match(server))
        for k in range(len(server.records)):
            await server.send(server.message(k))
        seen = await play_to_proof(table)
    begun = [each.match for each in seen if isinstance(each, MatchStarted)]
    assert begun == [first, server.setup.match]


async def test_two_who_watch_one_match_from_one_home_write_a_file_each(server, watcher) -> None:
    with trio.fail_after(10):
        async with connect("host", watcher, dial=server.dial) as first:
            at_first = await play_on(await first.watch(CODE))
            async with connect("host", watcher, dial=server.dial) as second:
                then = await play_on(await second.watch(CODE))
    paths = {at_first[-1].transcript, then[-1].transcript}
    assert len(paths) == 2
    assert [verify_file(path).result for path in paths] == [Result.PROVEN] * 2


@pytest.mark.slow
async def test_match_watched_from_the_middle_at_a_real_server_is_proven(real_server, tmp_path) -> None:
    seen: list = []

    async def look_on() -> None:
        async with connect(real_server.url, Player(open_home(tmp_path / "x"), "x")) as connection:
            seen.extend(await play_on(await connection.watch(table.code)))

    async def play(mine, seed: int, nursery: trio.Nursery) -> None:
        def show(happening) -> None:
            if seed == 1 and isinstance(happening, RecordSeen) and happening.k == 12:
                nursery.start_soon(look_on)

        await mine.ready()
        await play_match(mine, simple_bot(seed), show)

    first, second = homes(tmp_path, False, False)
    with trio.fail_after(60):
        async with connect(real_server.url, first) as north, connect(real_server.url, second) as east:
            table = await north.create("truc-french", options={"match": 1}, private=True)
            joined = await east.join(table.code)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(play, table, 1, nursery)
                nursery.start_soon(play, joined, 2, nursery)
    kinds = [type(each) for each in seen]
    assert kinds.index(SnapshotTaken) < kinds.index(Resumed) < kinds.index(RecordSeen)
    assert seen[-1].verdict.result is Result.PROVEN
