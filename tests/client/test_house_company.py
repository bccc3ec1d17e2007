"""Bots of the house keep company: who waits alone at a real server plays a match with them, and may go before it begins."""

from collections.abc import Iterator

import pytest
import trio
from client.playing import homes, play_on
from client.running import Process
from client.serving import RealServer
from client.test_house_bot import key_at

from truc_client import MatchEnded, TableChanged, TableGone, connect
from truc_client.bots import careful, play_match
from truc_client.happenings import Happening
from truc_protocol.audit import Result

pytestmark = pytest.mark.slow
TERMS = {"match": 1, "target": 3}


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[RealServer]:
    """Return a server with a bot that comes after a second."""
    server, home = RealServer(tmp_path_factory.mktemp("server")).start(), tmp_path_factory.mktemp("house")
    listed = key_at(server, home / "bots" / "bot")
    server.stop()
    (server.data / "truc.toml").write_text(f'[tables]\ncompany_s = 1\n[access]\nbots = ["{listed}"]\n')
    server.start()
    process = Process(home, "bot", server.url, "--house", "--style", "careless")
    process.line()
    yield server
    told, _, status = process.end()
    server.stop()
    assert status == 0
    assert told.count("called ") == told.count("over ")


async def test_who_seeks_alone_plays_a_match_and_another(server, tmp_path) -> None:
    (player,) = homes(tmp_path, False)
    ended: list[MatchEnded | None] = []
    with trio.fail_after(60):
        async with connect(server.url, player) as connection:
            table = await connection.seek("truco-argentino", seats=2, options=TERMS)
            for _ in range(2):
                await table.ready()
                ended.append(await play_match(table, careful(1)))
    assert [match.verdict.result for match in ended] == [Result.PROVEN] * 2


async def test_bot_goes_when_everybody_else_has(server, tmp_path) -> None:
    waits, looks_on = homes(tmp_path, False, False)
    with trio.fail_after(60):
        async with connect(server.url, waits) as connection, connect(server.url, looks_on) as other:
            table = await connection.create("truc-catalan", seats=4)
            await table.ready()
            watched = await other.watch(table.code)
            await play_on(watched, until=sees_company)
            await table.leave()
            await play_on(watched, until=TableGone)


def sees_company(happening: Happening) -> bool:
    """Tell whether a second player sits at the table now."""
    match happening:
        case TableChanged(state):
            return sum(seat.kind != "empty" for seat in state.seats) == 2
        case _:
            return False
