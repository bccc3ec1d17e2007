"""What no valid signature binds anybody to: the client asks again, ends the table if it must, and stops no match for good."""

import pytest
from client.cheats import abandoned, forget_the_mark
from client.playing import (
    at_table,
    come_back,
    come_back_to_proof,
    leave_at_turn,
    my_turn,
    once,
    play_on,
    store_of,
)
from msgspec.structs import replace

from truc_client import CheckFailedError, TranscriptSetAside
from truc_client.home.transcripts import path_of
from truc_client.matches.catching_up import MAX_TRIES, NextTry, RetryCount
from truc_client.verifying import verify_file
from truc_conform.forging import body_of
from truc_protocol.audit import Result
from truc_protocol.bodies import Release
from truc_protocol.messages import BoxedOptions, MatchRecord, Ok, Resume, Setup


def flipped(content: bytes, at: int = 20) -> bytes:
    """Flip one bit."""
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


def bent_position(message):
    is_reached = isinstance(message, Ok) and message.k is not None and not message.dup
    return replace(message, k=message.k + 1) if is_reached else message


def bent_box(message):
    return replace(message, box=flipped(message.box)) if isinstance(message, BoxedOptions) else message


def bent_signature(message):
    return replace(message, sig=flipped(message.sig)) if isinstance(message, MatchRecord) else message


def bent_setup(message):
    return replace(message, match=flipped(message.match)) if isinstance(message, Setup) else message


BENT = {
    "position": bent_position,
    "options": bent_box,
    "signature": bent_signature,
    "setup": bent_setup,
}


@pytest.fixture(params=BENT.values(), ids=BENT.keys())
def bent(request):
    return request.param


async def left_without_transcript(server, player) -> None:
    """Play until it is the client's turn, leave, and lose the transcript."""
    await leave_at_turn(server, player)
    path_of(player.home.transcripts, server.setup.match).unlink()


def why_stopped(server, player) -> str | None:
    with store_of(player) as store:
        return store.stopped(server.setup.match)


async def test_one_bit_that_the_line_bends_changes_nothing(server, player, bent, autojump_clock) -> None:
    await left_without_transcript(server, player)
    server.bend = once(bent)
    await come_back_to_proof(server, player)


async def test_it_ends_the_table_after_a_few_times_and_blames_nobody(server, player, bent, autojump_clock):
    await left_without_transcript(server, player)
    server.bend = bent
    with pytest.raises(CheckFailedError, match="it may be the line or the server") as failed:
        await come_back(server, player, until=lambda _: False)
    assert (failed.value.culprit, why_stopped(server, player)) == (None, None)
    server.bend = lambda message: message
    await come_back_to_proof(server, player)


async def test_evidence_of_it_is_kept_as_of_any_check(server, player, autojump_clock) -> None:
    await left_without_transcript(server, player)
    server.bend = bent_signature
    with pytest.raises(CheckFailedError) as failed:
        await come_back(server, player, until=my_turn)
    verdict = verify_file(failed.value.evidence)
    assert verdict.result is Result.REFUTED
    assert (verdict.refutation.check, verdict.refutation.culprit) == ("C3", None)


def test_every_place_is_tried_a_few_times_and_everything_asked_for_anew_once_at_most() -> None:
    again = [NextTry.AGAIN] * (MAX_TRIES - 1)
    for may_begin_anew, steps in (
        (False, [*again, NextTry.END]),
        (True, [*again, NextTry.ANEW, *again, NextTry.END]),
    ):
        tries = RetryCount()
        assert [tries.note((b"mid", 3), may_begin_anew=may_begin_anew) for _ in steps] == steps


# what was kept


async def test_transcript_changed_on_the_disk_is_set_aside_and_all_asked_for_again(server, player) -> None:
    await leave_at_turn(server, player)
    path = path_of(player.home.transcripts, server.setup.match)
    changed = flipped(path.read_bytes(), path.stat().st_size - 10)
    path.write_bytes(changed)
    seen = await come_back(server, player, until=my_turn)
    (aside,) = [happening for happening in seen if isinstance(happening, TranscriptSetAside)]
    assert aside.path.read_bytes() == changed
    assert [message.next for message in server.received if isinstance(message, Resume)] == [-1]


async def test_transcripts_that_cannot_be_read_are_set_aside_under_names_of_their_own(server, player) -> None:
    await leave_at_turn(server, player)
    for content in (b"something else", b"something else again"):
        path_of(player.home.transcripts, server.setup.match).write_bytes(content)
        seen = await come_back(server, player, until=my_turn)
        (aside,) = [happening for happening in seen if isinstance(happening, TranscriptSetAside)]
        assert aside.path.read_bytes() == content
    assert len(tuple(player.home.transcripts.glob("*-aside-*.truc"))) == 2


class Swapped:
    """A bend: the line swaps two releases, which are bound to their call and not to each other."""

    def __init__(self, server) -> None:
        self.server = server
        self.first: MatchRecord | None = None
        self.is_done = False

    def __call__(self, message):
        if self.is_done or not isinstance(message, MatchRecord) or not isinstance(body_of(message), Release):
            return message
        if message.signer == 3 and self.first is None:
            self.first = message
            signer, body, sig = self.server.players[3].release(self.server.ledger)
            return replace(message, signer=signer, body=body, sig=sig)
        if message.signer == 4 and self.first is not None:
            self.is_done = True
            return replace(self.first, k=message.k)
        return message


async def test_bent_end_that_no_signature_covers_yet_is_set_aside(scripted, player, autojump_clock) -> None:
    """Every record passed, so that asking for the next one does not help: it stands on another head."""
    server = scripted("truc-catalan", seats=4)
    server.bend = Swapped(server)
    async with at_table(server, player) as table:
        seen = await play_on(table, until=my_turn)
    (aside,) = [happening for happening in seen if isinstance(happening, TranscriptSetAside)]
    assert "C10" in aside.reason
    assert [message.next for message in server.received if isinstance(message, Resume)][-1] == -1


async def test_what_comes_for_a_transcript_set_aside_must_reach_the_mark(server, player, autojump_clock):
    await leave_at_turn(server, player)
    path_of(player.home.transcripts, server.setup.match).write_bytes(b"something else")

    async def shorter(message: Resume) -> None:
        await server.send(server.setup)
        await server.send(server.message(0))
        await server.send(Ok(re=message.id, k=1))

    server.resume = shorter
    with pytest.raises(CheckFailedError, match="was accepted up to") as failed:
        await come_back(server, player, until=my_turn)
    assert failed.value.check == "C33"


async def test_what_comes_for_a_transcript_set_aside_is_compared_with_it(server, player, autojump_clock):
    """The server has signed two records for one position: the newest that was kept, and another one."""
    await leave_at_turn(server, player)
    path = path_of(player.home.transcripts, server.setup.match)
    forget_the_mark(player)
    path.write_bytes(flipped(path.read_bytes(), path.stat().st_size - 10))

    async def another(message: Resume) -> None:
        await server.send(server.setup)
        await server.send(abandoned(server))
        await server.send(Ok(re=message.id, k=1))

    server.resume = another
    with pytest.raises(CheckFailedError) as failed:
        await come_back(server, player, until=my_turn)
    assert (failed.value.check, failed.value.culprit) == ("C33", "server")
    assert why_stopped(server, player) is not None
