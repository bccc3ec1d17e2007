"""What a client does when it is cheated, beside what the kit judges it by: the evidence, and what it says to whom."""

import pytest
from client.cheats import abandoned, caught
from client.playing import at_turn, play_on, visit
from trio.testing import wait_all_tasks_blocked

from truc_client import CheckFailedError, ServerKeyError
from truc_client.verifying import verify_file
from truc_conform.forging import on_record, signed_again
from truc_protocol.audit import Result

TARGET = 12


async def test_wrong_head_stops_the_match_and_the_evidence_shows_that_check_alone(
    server, player, autojump_clock
) -> None:
    server.bend = on_record("call", lambda message: signed_again(server, message, head=b"\x01" * 32))
    stopped = await caught(server, player)
    verdict = verify_file(stopped.evidence)
    assert stopped.check == "C10"
    assert (verdict.result, verdict.refutation.check) == (Result.REFUTED, "C10")
    assert len(stopped.kept.files) == 1  # no secret stands beside it


async def test_nothing_about_the_player_is_said_to_another_server(server, player) -> None:
    wrong = f"host#{'A' * 26}"
    with pytest.raises(ServerKeyError):
        await visit(wrong, player, dial=server.dial)
    assert [type(message).__name__ for message in server.received] == ["ClientHello"]


async def test_stopped_match_takes_no_choice(server, player) -> None:
    async with at_turn(server, player) as (table, turn):
        await wait_all_tasks_blocked()
        await server.send(abandoned(server))
        with pytest.raises(CheckFailedError):
            await play_on(table)
        with pytest.raises(CheckFailedError):
            await table.choose(turn.options[0])
