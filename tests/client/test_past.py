"""The past of a match as it is asked for: its records one by one, its transcript as a file, and what is wrong with either."""

import pytest
from client.playing import received
from msgspec.structs import replace

from truc_client import ConnectError, HomeError, RefusedError, verify_file
from truc_protocol.audit import Result
from truc_protocol.messages import History, Ok


@pytest.fixture
def server(played_server):
    return played_server


async def test_history_has_every_record_in_order_and_numbers_them(server, connection) -> None:
    match = server.setup.match
    told = [(each.k, (each.signer, each.body, each.sig)) async for each in connection.history(match)]
    assert told == [*enumerate(server.records)]
    assert [each.k async for each in connection.history(match, first=3)] == [*range(3, len(told))]


async def test_history_that_one_may_not_read_is_refused(server, connection) -> None:
    server.keeps_past = False
    with pytest.raises(RefusedError, match="private_table"):
        await anext(connection.history(server.setup.match))


async def test_history_that_does_not_go_on_is_an_error(server, connection) -> None:
    server.page = 0
    with pytest.raises(ConnectError, match="same page"):
        await anext(connection.history(server.setup.match))


async def test_transcript_that_was_fetched_is_whole_and_stands_beside_another(
    server, connection, tmp_path, monkeypatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    match = server.setup.match
    first, again = await connection.transcript(match), await connection.transcript(match)
    assert next(message.first for message in received(server, History)) == -1  # from the setup on
    assert again == first.with_name(f"{first.stem}-fetched-1.truc")
    monkeypatch.setattr("os.link", refuse)  # as file systems without links do
    assert await connection.transcript(match, tmp_path / "match.truc") == tmp_path / "match.truc"
    for path in (first, again, tmp_path / "match.truc"):
        assert verify_file(path).result is Result.PROVEN


async def test_transcript_is_not_written_over_another_file_and_where_it_cannot_be_that_is_said(
    server, connection, tmp_path
) -> None:
    mine = tmp_path / "match.truc"
    mine.write_text("mine")
    for path, why in (
        (mine, "exists"),
        (mine / "match.truc", "cannot write"),
        (tmp_path / ("long" * 100), "cannot write"),
    ):
        with pytest.raises(HomeError, match=why):
            await connection.transcript(server.setup.match, path)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["match.truc"]


async def test_transcript_of_another_match_or_without_rules_is_not_written(server, connection, player):
    with pytest.raises(ConnectError, match="another match"):
        await connection.transcript(bytes(32))
    server.bend = lambda message: replace(message, doc=None) if isinstance(message, Ok) else message
    with pytest.raises(ConnectError, match="another match"):
        await connection.transcript(server.setup.match)
    assert list(player.home.transcripts.iterdir()) == []
