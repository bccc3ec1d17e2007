"""The stream with faults does what its plan says, and nothing else."""

import pytest
import trio
from chaos.faulty_stream import Faults, FaultyStream
from trio.testing import memory_stream_pair


@pytest.fixture
def faulty():
    """Return a stream under a plan, and the other end."""

    def made(**faults):
        near, far = memory_stream_pair()
        return FaultyStream(near, Faults(**faults)), far

    return made


async def test_without_faults_everything_arrives(faulty):
    stream, far = faulty()
    await stream.send_all(b"whole")
    assert await far.receive_some() == b"whole"


async def test_pieces_are_sent_one_by_one_in_order(faulty, monkeypatch):
    stream, _ = faulty(pieces=(1, 2))
    sent = []

    async def note(piece):
        sent.append(bytes(piece))

    monkeypatch.setattr(stream.stream, "send_all", note)
    await stream.send_all(b"abcdef")
    assert sent == [b"a", b"bc", b"d", b"ef"]


async def test_delay_comes_before_each_piece(faulty, autojump_clock):
    stream, _ = faulty(pieces=(1,), delay_s=5.0)
    await stream.send_all(b"abc")
    assert trio.current_time() == pytest.approx(15.0)


async def test_broken_stream_has_delivered_what_was_before(faulty):
    stream, far = faulty(breaks_after=3)
    with pytest.raises(trio.BrokenResourceError, match="after 3 bytes"):
        await stream.send_all(b"abcdef")
    assert [await far.receive_some(), await far.receive_some()] == [b"abc", b""]


async def test_ended_stream_still_receives(faulty):
    stream, far = faulty(ends_after=2)
    await stream.send_all(b"abc")
    await stream.send_all(b"def")
    await far.send_all(b"answer")
    heard = [await far.receive_some(), await far.receive_some()]
    assert (heard, await stream.receive_some()) == ([b"ab", b""], b"answer")


async def test_deaf_stream_receives_nothing(faulty, autojump_clock):
    stream, far = faulty(is_deaf=True)
    await far.send_all(b"unheard")
    with trio.move_on_after(60) as patience:
        await stream.receive_some()
    assert patience.cancelled_caught
