"""The past of a match as it is asked for: its records one by one, its transcript as a file, and what is wrong with either."""

import pytest
from msgspec.structs import replace

from truc_client import ConnectError, HomeError, RefusedError, connect, verify_file
from truc_protocol.audit import Result
from truc_protocol.messages import History, Ok


@pytest.fixture
async def connection(played_server, player):
    async with connect("host", player, dial=played_server.dial) as connection:
        yield connection


async def test_history_has_every_record_in_order(played_server, connection) -> None:
    records = [
        (each.signer, each.body, each.sig) async for each in connection.history(played_server.setup.match)
    ]
    assert records == played_server.records


async def test_history_numbers_its_records(played_server, connection) -> None:
    numbers = [each.k async for each in connection.history(played_server.setup.match, first=3)]
    assert numbers == list(range(3, len(played_server.records)))


async def test_history_that_one_may_not_read_is_refused(played_server, connection) -> None:
    played_server.keeps_past = False
    with pytest.raises(RefusedError, match="private_table"):
        await anext(connection.history(played_server.setup.match))


async def test_history_that_does_not_go_on_is_an_error(played_server, connection) -> None:
    played_server.page = 0
    with pytest.raises(ConnectError, match="same page"):
        await anext(connection.history(played_server.setup.match))


async def test_transcript_that_was_fetched_is_proven(played_server, connection) -> None:
    path = await connection.transcript(played_server.setup.match)
    assert verify_file(path).result is Result.PROVEN


async def test_transcript_is_asked_for_from_the_setup_on(played_server, connection) -> None:
    await connection.transcript(played_server.setup.match)
    assert next(message.first for message in played_server.received if isinstance(message, History)) == -1


async def test_transcript_is_written_where_it_is_asked_for(played_server, connection, tmp_path) -> None:
    assert (
        await connection.transcript(played_server.setup.match, tmp_path / "match.truc")
        == tmp_path / "match.truc"
    )
    assert (tmp_path / "match.truc").exists()


async def test_transcript_that_is_there_is_not_written_over(played_server, connection, tmp_path) -> None:
    (tmp_path / "match.truc").write_text("mine")
    with pytest.raises(HomeError, match="exists"):
        await connection.transcript(played_server.setup.match, tmp_path / "match.truc")
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["match.truc"]


async def test_transcript_fetched_again_stands_beside_the_first(played_server, connection) -> None:
    first = await connection.transcript(played_server.setup.match)
    assert await connection.transcript(played_server.setup.match) == first.with_name(
        f"{first.stem}-fetched-1.truc"
    )


async def test_transcript_of_another_match_is_not_written(played_server, connection, player) -> None:
    with pytest.raises(ConnectError, match="another match"):
        await connection.transcript(bytes(32))
    assert list(player.home.transcripts.iterdir()) == []


async def test_transcript_without_a_rule_document_is_not_written(played_server, connection) -> None:
    played_server.bend = lambda message: replace(message, doc=None) if isinstance(message, Ok) else message
    with pytest.raises(ConnectError, match="another match"):
        await connection.transcript(played_server.setup.match)
