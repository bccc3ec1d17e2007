"""Servers and seats that cheat in play: the client stops by the right check, and its evidence refutes the match to anybody.

Here are those whose evidence is of a kind of its own: every check is held by the vectors, and that the client stops at it by
conform/test_own_library.py.
"""

import pytest
from client.cheats import caught, refuted
from client.playing import visit
from client.strict import QuietServer
from msgspec.structs import replace

from truc_client import ServerKeyError
from truc_client.verifying import verify_file
from truc_conform.forging import body_of, on, on_record, put_instead, signed_again
from truc_protocol.audit import Result
from truc_protocol.bodies import Act
from truc_protocol.messages import MatchRecord


def garble_the_box(server) -> None:
    def swap(message: MatchRecord) -> MatchRecord:
        return signed_again(server, message, boxes=tuple(reversed(body_of(message).boxes)))

    server.bend = on_record("deal", swap)


def forge_an_act(server) -> None:
    """Let the server sign, in the name of seat 1, with its own key."""

    def forge(message: MatchRecord) -> MatchRecord:
        return replace(put_instead(server, message, body_of(message)), signer=message.signer)

    server.bend = on_record("act", forge)


def play_a_card_twice(server) -> None:
    """Let seat 1 play the first card of each hand again."""
    played: dict[int, tuple] = {}

    def again(message: MatchRecord) -> MatchRecord:
        body = body_of(message)
        if message.signer != 2 or not isinstance(body, Act) or body.kind != "play":
            return message
        first = played.setdefault(body.j, body.args)
        return message if first == body.args else signed_again(server, message, args=first)

    server.bend = on(MatchRecord, again)


@pytest.mark.parametrize(
    ("check", "culprit", "cheat"),
    [
        ("C18", "server", garble_the_box),
        ("C3", None, forge_an_act),
        ("C19", "seat 1", play_a_card_twice),
    ],
)
async def test_cheat_is_caught_and_its_evidence_refutes_it_to_anybody(
    scripted, player, autojump_clock, *, check, culprit, cheat
) -> None:
    server = scripted(kind=QuietServer)
    cheat(server)
    stopped = await caught(server, player)
    assert (stopped.check, stopped.culprit) == (check, culprit)
    assert refuted(stopped) == {(check, culprit)}


async def test_evidence_of_a_wrong_head_shows_that_check_with_no_secret_beside_it(
    server, player, autojump_clock
):
    server.bend = on_record("call", lambda message: signed_again(server, message, head=b"\x01" * 32))
    stopped = await caught(server, player)
    verdict = verify_file(stopped.evidence)
    assert (stopped.check, verdict.result, verdict.refutation.check) == ("C10", Result.REFUTED, "C10")
    assert len(stopped.kept.files) == 1


async def test_nothing_about_the_player_is_said_to_another_server(server, player) -> None:
    with pytest.raises(ServerKeyError):
        await visit(f"host#{'A' * 26}", player, dial=server.dial)
    assert [type(message).__name__ for message in server.received] == ["ClientHello"]
