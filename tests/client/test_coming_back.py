import pytest
from client.playing import pick, play_on

from truc_client import (
    CheckFailedError,
    Interrupted,
    MatchStarted,
    RefusedError,
    Resumed,
    Table,
    YourTurn,
    connect,
)
from truc_client.happenings import Happening
from truc_protocol.audit import Result
from truc_protocol.errors import Code
from truc_protocol.messages import BoxedOptions, MatchRecord, Ok, OpenOptions, Resume, SignedAct
from truc_protocol.records import Phase, Record, parse

FRENCH = "truc-french"


class CrashError(Exception):
    """The client dies here."""


def my_turn(happening: Happening) -> bool:
    return isinstance(happening, YourTurn)


async def start(connection) -> Table:
    table = await connection.create(FRENCH)
    await table.ready()
    return table


def acts(server) -> list[bytes]:
    return [message.body for message in server.received if isinstance(message, SignedAct) and message.match]


@pytest.mark.parametrize("lost", [BoxedOptions, MatchRecord, Ok], ids=lambda kind: kind.__name__)
async def test_match_goes_on_after_the_connection_was_lost(scripted, player, autojump_clock, lost) -> None:
    server = scripted(target=4)
    async with connect("host", player, dial=server.dial) as connection:
        table = await start(connection)
        seen = await play_on(table, until=my_turn)
        server.stop_after = lambda message: isinstance(message, lost) and len(server.records) > 8
        turn = seen[-1]
        await table.choose(pick(turn))
        seen += await play_on(table)
    assert seen[-1].verdict.result is Result.PROVEN
    assert {type(happening) for happening in seen} >= {Interrupted, Resumed}


async def test_guest_goes_on_after_the_connection_was_lost(scripted, guest, autojump_clock) -> None:
    server = scripted(target=4)
    async with connect("host", guest, dial=server.dial) as connection:
        table = await start(connection)
        server.stop_after = lambda message: isinstance(message, OpenOptions)
        seen = await play_on(table)
    assert seen[-1].verdict.result is Result.PROVEN


async def test_only_missing_records_are_asked_for(scripted, player, autojump_clock) -> None:
    server = scripted(target=4)
    async with connect("host", player, dial=server.dial) as connection:
        table = await start(connection)
        server.stop_after = lambda message: isinstance(message, BoxedOptions)
        await play_on(table)
    asked = [message.next for message in server.received if isinstance(message, Resume)]
    assert asked
    assert min(asked) > 0


async def test_new_process_goes_on_from_its_transcript(scripted, player) -> None:
    server = scripted(target=4)
    async with connect("host", player, dial=server.dial) as connection:
        await play_on(await start(connection), until=my_turn)
    async with connect("host", player, dial=server.dial) as connection:
        table = await connection.resume(connection.held[0])
        seen = await play_on(table)
    started = next(happening for happening in seen if isinstance(happening, MatchStarted))
    assert (started.resumed, seen[-1].verdict.result) == (True, Result.PROVEN)


async def test_new_process_without_its_transcript_asks_for_everything(scripted, player) -> None:
    server = scripted(target=4)
    async with connect("host", player, dial=server.dial) as connection:
        await play_on(await start(connection), until=my_turn)
    for transcript in player.home.transcripts.iterdir():
        transcript.unlink()
    async with connect("host", player, dial=server.dial) as connection:
        seen = await play_on(await connection.resume(connection.held[0]))
    assert seen[-1].verdict.result is Result.PROVEN


async def test_torn_transcript_is_mended_on_the_way_back(scripted, player) -> None:
    server = scripted(target=4)
    async with connect("host", player, dial=server.dial) as connection:
        await play_on(await start(connection), until=my_turn)
    (transcript,) = player.home.transcripts.iterdir()
    transcript.write_bytes(transcript.read_bytes()[:-5])
    async with connect("host", player, dial=server.dial) as connection:
        seen = await play_on(await connection.resume(connection.held[0]))
    assert seen[-1].verdict.result is Result.PROVEN


async def crash_before_sending(server, player, monkeypatch) -> None:
    async with connect("host", player, dial=server.dial) as connection:
        table = await start(connection)
        turn = (await play_on(table, until=my_turn))[-1]

        def crash(*_args) -> None:
            raise CrashError

        monkeypatch.setattr(table, "_send", crash)
        with pytest.raises(CrashError):
            await table.choose(pick(turn))


async def test_act_stored_before_a_crash_is_sent_after_it(scripted, player, monkeypatch) -> None:
    server = scripted(target=4)
    await crash_before_sending(server, player, monkeypatch)
    before = len(acts(server))
    async with connect("host", player, dial=server.dial) as connection:
        await play_on(
            await connection.resume(connection.held[0]), until=lambda happening: len(acts(server)) > before
        )
        kept = connection.account.store.statement(server.setup.match, ("act", parse_k(acts(server)[before])))
    assert kept.body == acts(server)[before]


def parse_k(body: bytes) -> int:
    return parse(Record(1, body, bytes(64))).k


async def test_user_is_not_asked_again_for_a_stored_act(scripted, player, monkeypatch) -> None:
    server = scripted(target=4)
    await crash_before_sending(server, player, monkeypatch)
    position = server.ledger.k
    async with connect("host", player, dial=server.dial) as connection:
        table = await connection.resume(connection.held[0])
        seen = await play_on(table)
    assert all(happening.at > position for happening in seen if isinstance(happening, YourTurn))


async def test_same_place_is_never_signed_twice(scripted, player) -> None:
    server = scripted()
    async with connect("host", player, dial=server.dial) as connection:
        await play_on(await start(connection))
    places = [(parse_k(body), body) for body in acts(server)]
    assert len({place for place, _ in places}) >= len({body for _, body in places}) - len(releases(server))


def releases(server) -> list[bytes]:
    return [body for body in acts(server) if b"truc/1/release" in body[:20]]


async def test_release_asked_for_again_under_another_head_stops_the_match(scripted, player) -> None:
    server = scripted(target=4)
    async with connect("host", player, dial=server.dial) as connection:
        table = await start(connection)
        await play_on(table, until=my_turn)
        ledger = table.match.ledger
        other = ledger._replace(phase=Phase.CALLED, released=(), parallel=(ledger.k, b"\x05" * 32))
        signer = table.match._signer
        with pytest.raises(CheckFailedError) as stopped:
            signer.owed(other._replace(deal_index=1, call=ledger.hand.call))
    assert (stopped.value.check, stopped.value.culprit) == ("C15", "server")


async def test_server_that_forgot_records_is_refused(scripted, player) -> None:
    server = scripted(target=4)
    async with connect("host", player, dial=server.dial) as connection:
        table = await start(connection)
        turn = (await play_on(table, until=my_turn))[-1]
        await table.choose(pick(turn))
    for transcript in player.home.transcripts.iterdir():
        transcript.unlink()
    server.records, server.ledger = server.records[:3], None
    server.go_on = nothing
    from truc_protocol.ledger import start as fresh
    from truc_protocol.setup import close_setup, open_terms

    table_record, *seats, match = server.setup.records
    terms = open_terms(server.document, Record(*table_record))
    server.ledger = fresh(close_setup(terms, tuple(Record(*seat) for seat in seats), Record(*match)))
    async with connect("host", player, dial=server.dial) as connection:
        table = await connection.resume(connection.held[0])
        with pytest.raises(CheckFailedError) as stopped:
            await play_on(table)
    assert stopped.value.check == "C33"


async def nothing() -> None:
    """Let nobody do anything."""


async def test_home_without_the_seats_secrets_says_so(scripted, player, tmp_path) -> None:
    from truc_client import ClientError, Player, open_home
    from truc_client.home import master_seed, write_seed

    server = scripted(target=4)
    async with connect("host", player, dial=server.dial) as connection:
        await play_on(await start(connection), until=my_turn)
    other = Player(open_home(tmp_path / "other"), "Ada")
    write_seed(other.home, master_seed(player.home))
    async with connect("host", other, dial=server.dial) as connection:
        table = await connection.resume(connection.held[0])
        with pytest.raises(ClientError, match="secrets are not here"):
            await play_on(table)


async def test_goodbye_for_good_ends_the_table_with_its_reason(scripted, player) -> None:
    server = scripted()
    async with connect("host", player, dial=server.dial) as connection:
        table = await start(connection)
        await play_on(table, until=my_turn)
        from truc_client import LostError
        from truc_protocol.messages import Bye

        await server.send(Bye(code=Code.BANNED.value, msg="you are shut out", retryable=False))
        with pytest.raises(LostError, match="shut out"):
            await play_on(table)


async def test_refused_request_names_its_code(scripted, player) -> None:
    from truc_protocol.messages import refusal

    server = scripted()
    server.bend = lambda message: (
        refusal(Code.NO_SUCH_TABLE, "no such table", re=message.re) if isinstance(message, Ok) else message
    )
    async with connect("host", player, dial=server.dial) as connection:
        with pytest.raises(RefusedError) as refused:
            await connection.join("X")
    assert refused.value.code == "no_such_table"
