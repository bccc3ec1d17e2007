"""Histories that do not agree, and bodies taken after they were refused: what the client shows of them, and what nobody can."""

import pytest
from client.cheats import refuted, shown_again
from client.playing import acted, at_table, at_turn, body_of, my_turn, pick, play_on, signed
from client.strict import QuietServer
from msgspec.structs import replace
from trio.testing import wait_all_tasks_blocked

from truc_client import CheckFailedError
from truc_client.home.transcripts import evidence_of, path_of
from truc_client.verifying import examine_files, verify_file
from truc_conform.forging import place_of, put_instead
from truc_protocol.audit import Result, Verdict
from truc_protocol.bodies import Act, End, Release, Resign
from truc_protocol.errors import Code
from truc_protocol.messages import MatchRecord, Ok, Resume, SignedAct, refusal
from truc_protocol.records import Record, body_hash, parse
from truc_protocol.setup import open_terms
from truc_terminal.verdicts import verdict_lines

KIND = QuietServer


async def test_second_record_of_the_server_for_a_position_convicts_it_and_the_evidence_is_kept(
    server, player
):
    failed = await shown_again(server, player)
    assert (failed.check, failed.culprit) == ("C33", "server")
    assert ("C33", "server") in refuted(failed)
    assert evidence_of(player.home.evidence, server.setup.match) == failed.evidence
    assert evidence_of(player.home.evidence, bytes(32)) is None
    first, second = failed.kept.files
    assert second.name == f"{first.stem}-second.truc"
    assert [type(file) for file in examine_files((first, second)).files] == [Verdict] * 2


async def stopped_by(server, player, answer) -> CheckFailedError:
    """Break the line in a hand, let the server answer the resume that comes, and return why the client stops."""
    async with at_turn(server, player) as (table, _):
        server.resume = answer
        await server._stream.aclose()
        with pytest.raises(CheckFailedError) as failed:
            await play_on(table)
    return failed.value


async def test_record_put_before_a_call_gets_no_second_release(server, player, autojump_clock):
    """The same call would come under another head; the seat's record alone is no history that the server has signed."""

    async def another(message: Resume) -> None:
        mid, k, head = place_of(server, 4)
        pause = Act(mid, k, head, 1, 1, "pause", ())
        await server.send(put_instead(server, server.message(4), pause, signer=2))
        await server.send(Ok(re=message.id, k=len(server.records)))

    failed = await stopped_by(server, player, another)
    assert (failed.check, failed.culprit) == ("C33", None)
    assert len(set(signed(server, Release))) == 2


async def test_two_decisions_of_a_seat_for_one_position_convict_the_seat(server, player) -> None:
    def seat_1_has_acted(happening: object) -> bool:
        return my_turn(happening) and any(record.signer == 2 and is_act(record) for record in server.records)

    async with at_table(server, player) as table:
        await play_on(table, until=seat_1_has_acted)
        await wait_all_tasks_blocked()
        k = next(k for k, record in enumerate(server.records) if record.signer == 2 and is_act(record))
        resign = Resign(*place_of(server, k), 1)
        await server.send(put_instead(server, server.message(k), resign, signer=2))
        with pytest.raises(CheckFailedError) as failed:
            await play_on(table)
    assert (failed.value.check, failed.value.culprit) == ("C34", "seat 1")
    assert refuted(failed.value) == {("C34", "seat 1")}


def is_act(record: Record) -> bool:
    return isinstance(parse(record), Act)


async def test_refused_body_that_is_taken_all_the_same_convicts_the_server(server, player) -> None:
    """It calls the act late, which shows nothing yet; the line may have put it among the records, until the server goes on."""

    async def refuse_and_take(message: SignedAct) -> None:
        del server.act
        code = Code.STALE_POSITION
        signed = server.dealer.refuse(server.setup.match, message.body, code.value)
        await server.send(replace(refusal(code, "no", re=message.id), refuse=signed))
        await server.take(server.record_of(message))
        await server.take(server.dealer.abandon(server.ledger, "server"))

    async with at_turn(server, player) as (table, turn):
        server.act = refuse_and_take
        await table.choose(pick(turn))
        with pytest.raises(CheckFailedError) as failed:
            await play_on(table)
    assert (failed.value.check, failed.value.culprit) == ("C35", "server")
    assert refuted(failed.value) == {("C35", "server")}


async def test_match_on_a_table_that_served_convicts_the_server_beside_the_first(server, player) -> None:
    async with at_turn(server, player) as (table, _):
        first = path_of(player.home.transcripts, server.setup.match)
        table_record, own, other, _ = server.setup.records
        renamed = replace(parse(Record(*other)), name=b"somebody else")
        seat = put_instead(server, server.message(0), renamed, signer=2)
        seats = (Record(*own), Record(2, seat.body, seat.sig))
        await server.send(second_setup(server, Record(*table_record), seats))
        with pytest.raises(CheckFailedError) as failed:
            await play_on(table)
    together = examine_files((first, *failed.value.kept.files))
    assert failed.value.check == "C36"
    assert {each.found.check for each in together.contradictions} == {"C36"}


def second_setup(server, table_record: Record, seats: tuple[Record, ...]):
    """Return a setup of another match under the same table record."""
    start = server.dealer.match_record(open_terms(server.document, table_record), seats)
    return replace(server.setup, match=body_hash(start), records=(table_record, *seats, start))


# what nobody can show


async def test_records_kept_back_are_nothing_that_could_be_shown(server, player, autojump_clock) -> None:
    async def beyond(message: Resume) -> None:
        await server.send(Ok(re=message.id, k=len(server.records) + 2))

    failed = await stopped_by(server, player, beyond)
    (file,) = examine_files(failed.kept.files).files
    assert (failed.check, file.result) == ("C33", Result.INCOMPLETE)
    assert "others, who have only your word" in str(failed)


async def test_opening_that_is_kept_back_leaves_a_match_without_an_end(server, player) -> None:
    server.bend = lambda message: None if is_from_the_end(server, message) else message
    async with at_table(server, player) as table:
        while server.ledger is None or server.ledger.phase != "ended":
            turn = (await play_on(table, until=my_turn))[-1]
            await table.choose(pick(turn))
            await wait_all_tasks_blocked()
    verdict = verify_file(path_of(player.home.transcripts, server.setup.match))
    assert verdict.result is Result.INCOMPLETE
    assert "nobody can tell who kept it back, if anybody did" in "\n".join(verdict_lines(verdict))


def is_from_the_end(server, message: object) -> bool:
    """Tell whether a message is the end's record, or one behind it."""
    return isinstance(message, MatchRecord) and any(
        isinstance(parse(record), End) for record in server.records[: message.k + 1]
    )


async def test_silence_that_is_alleged_is_said_to_be_unproven(server, player) -> None:
    """The seat's release was sent and acknowledged; the server voids the deal all the same and takes the match."""
    honest = server.act

    async def act(message: SignedAct) -> None:
        if body_of(message).j == 0:
            await honest(message)
            return
        await server.send(Ok(re=message.id, k=server.ledger.k))
        await server.take(server.dealer.void(server.ledger))
        await server.take(server.dealer.forfeit(server.ledger, 0, "silent"))
        await server.go_on()

    acted(server, Release, act)
    async with at_table(server, player) as table:
        ended = (await play_on(table))[-1]
    told = "\n".join(verdict_lines(ended.verdict))
    assert (ended.verdict.result, ended.verdict.by_ruling) == (Result.PROVEN, True)
    assert 'called seat 0 "north" silent: its word, not proven' in told
    assert "decided by the server's ruling, not proven" in told
