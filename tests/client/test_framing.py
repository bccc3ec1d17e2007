"""What a server that cheats would need to have an honest player blamed, and what is left of it: its own conviction."""

from functools import partial

import pytest
import trio
from client.cheats import caught, refuted, shown_again
from client.playing import at_table, at_turn, come_back, once, pick, play_on, signed
from client.running import run as run_process
from client.running import truc as run
from client.strict import QuietServer
from client.test_choosing import refuse_next, with_alternatives
from msgspec.structs import replace

from truc_client import CheckFailedError, StoppedError
from truc_conform.forging import body_of, on_record, signed_again
from truc_protocol.audit import Result
from truc_protocol.bodies import Act, End, Resign
from truc_protocol.messages import MatchRecord
from truc_protocol.records import Record, parse
from truc_protocol.transcript import write_transcript
from truc_terminal.verdicts import EXIT_CODES

KIND = QuietServer


async def choose(table, turn) -> None:
    await table.choose(turn.options[0])


async def pause(table, _turn) -> None:
    await table.pause()


async def resign(table, _turn) -> None:
    await table.resign()


@pytest.mark.parametrize("decide", [choose, pause, resign])
async def test_server_that_refuses_a_legal_act_is_convicted_from_own_files(server, player, decide):
    """It waits for a second act in the same place, to publish both: the player signs none, and can show the refusal."""
    async with at_table(server, player) as table:
        turn = (await play_on(table, until=with_alternatives))[-1]
        before = len(server.received)
        refuse_next(server, evidence=True)
        with pytest.raises(CheckFailedError) as failed:
            await decide(table, turn)
        with pytest.raises(CheckFailedError):
            await table.choose(turn.options[1])
    assert (failed.value.check, failed.value.culprit) == ("C35", "server")
    assert refuted(failed.value) == {("C35", "server")}
    assert len(signed(server, Act, Resign, since=before)) == 1


@pytest.mark.parametrize("of_a_bot", [False, True])
async def test_verify_adds_what_the_home_holds_and_hands_it_on(
    server, player, tmp_path, monkeypatch, of_a_bot
) -> None:
    """Whoever is shown the match without the refusal, and a stranger who has the folder, come to the same verdict."""
    home = tmp_path / "of the player"
    async with at_turn(server, player) as (table, turn):
        refuse_next(server, evidence=True)
        with pytest.raises(CheckFailedError):
            await table.choose(pick(turn))
    published = tmp_path / "published.truc"
    records = [Record(*record) for record in server.setup.records] + server.records
    published.write_bytes(write_transcript(server.document, records))
    monkeypatch.setenv("TRUC_HOME", str(tmp_path / "of a stranger"))
    assert run("verify", published).exit_code == EXIT_CODES[Result.INCOMPLETE]
    (home / "bots").mkdir(parents=True)
    player.home.root.rename(home / "bots" / "one" if of_a_bot else home / "own")
    monkeypatch.setenv("TRUC_HOME", str(home if of_a_bot else home / "own"))
    found = run("verify", published, "--export", tmp_path / "for them")
    monkeypatch.setenv("TRUC_HOME", str(tmp_path / "of a stranger"))
    assert "C35" in found.output
    for result in (found, run("verify", *(tmp_path / "for them").iterdir())):
        assert result.exit_code == EXIT_CODES[Result.REFUTED]


class Refusing(QuietServer):
    """A server that refuses the first decision by its signature, and takes it all the same."""

    async def act(self, message) -> None:
        if self.ledger is not None and isinstance(parse(self.record_of(message)), Act):
            refuse_next(self, evidence=True)
            await self.act(message)
            await self.take(self.record_of(message))
        else:
            await super().act(message)


async def test_last_line_of_a_running_bot_names_the_cheat_and_the_files(nursery, scripted, tmp_path) -> None:
    server = scripted(kind=Refusing)
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    await nursery.start(partial(trio.serve_listeners, server.serve, [listener]))
    where = f"127.0.0.1:{listener.socket.getsockname()[1]}"
    words = ("bot", where, "--create", "truc-french", "--lang", "en")
    ended = await trio.to_thread.run_sync(partial(run_process, tmp_path, *words))
    kept = tuple(tmp_path.glob("bots/*/evidence/*"))
    last = ended.stderr.splitlines()[-1]
    assert (ended.returncode, len(kept) > 1) == (1, True), ended.stderr
    assert all(words in last for words in ("C35", "server", *map(str, kept))), last


def other_cut(server) -> MatchRecord:
    return signed_again(server, server.message(0), cut=9)


def other_head(server) -> MatchRecord:
    return signed_again(server, server.message(0), head=bytes(32))


def under_another_position(server) -> MatchRecord:
    return replace(other_cut(server), k=len(server.records))


SECOND = (other_cut, other_head, under_another_position)


@pytest.mark.parametrize("second", SECOND)
async def test_second_record_convicts_also_if_it_would_fail_in_its_place(server, player, second):
    failed = await shown_again(server, player, second)
    assert (failed.check, failed.culprit) == ("C33", "server")
    assert ("C33", "server") in refuted(failed)
    with pytest.raises(StoppedError):
        await come_back(server, player)


async def test_record_that_failed_without_blame_convicts_beside_the_next(server, player, autojump_clock):
    server.bend = once(on_record("call", lambda message: signed_again(server, message, head=bytes(32))))
    failed = await caught(server, player)
    assert (failed.check, failed.culprit) == ("C33", "server")
    assert refuted(failed) >= {("C33", "server")}


class TwoEnds(QuietServer):
    """A server that signs two ends."""

    async def send(self, message: object) -> None:
        await super().send(message)
        if isinstance(message, MatchRecord) and isinstance(body_of(message), End):
            await super().send(signed_again(self, message, winner=1 - body_of(message).winner))


async def test_second_end_with_the_other_winner_convicts_the_server(scripted, player) -> None:
    server = scripted(kind=TwoEnds, target=3)
    failed = await caught(server, player)
    assert (failed.check, failed.culprit) == ("C33", "server")
    assert ("C33", "server") in refuted(failed)
