"""Frames: cut from the stream as the bytes come, refused by name when the stream is broken."""

import pytest
from rows import each_row

from truc_protocol.errors import Code, LocalError
from truc_protocol.wire.encoding import LOGIN_LIMIT, FrameError, FrameSplitter, MistakenPeerError, to_frame


def split(received, limit=16):
    splitter = FrameSplitter(limit)
    splitter.feed(received)
    return splitter


def test_length_stands_before_a_message_that_is_within_the_limit_big_endian():
    assert to_frame(b"abc", 3) == b"\x00\x00\x00\x03abc"
    assert split(b"\x00\x00\x00\x03abc", limit=3).next_frame() == b"abc"
    with pytest.raises(LocalError, match="1 to 2 bytes, got 3"):
        to_frame(b"abc", 2)


def test_nothing_comes_out_before_the_frame_is_whole():
    splitter = split(b"\x00\x00\x00\x03ab")
    assert (splitter.next_frame(), len(splitter.rest)) == (None, 6)


def test_frames_fed_byte_by_byte_come_out_whole():
    splitter = FrameSplitter(16)
    frames = []
    for byte in to_frame(b"abc", 9) + to_frame(b"d", 9):
        splitter.feed(bytes([byte]))
        frames.append(splitter.next_frame())
    assert [frame for frame in frames if frame] == [b"abc", b"d"]


@each_row(
    "received, told, code",
    [
        (to_frame(b"abc", 9), "at most 2 bytes, got length 3", Code.FRAME_TOO_LARGE),
        (bytes(4), "got length 0", Code.BAD_FRAME),
    ],
)
def test_length_that_none_may_have_is_refused_by_name(received, told, code):
    with pytest.raises(FrameError, match=told) as caught:
        split(received, limit=2).next_frame()
    assert caught.value.code is code


def test_broken_stream_stays_broken():
    splitter = split(bytes(4) + to_frame(b"abc", 9))
    for _ in range(2):
        with pytest.raises(FrameError):
            splitter.next_frame()


def test_limit_changes_between_two_frames():
    splitter = split(to_frame(b"a", 9) + to_frame(b"abc", 9), limit=1)
    splitter.next_frame()
    splitter.limit = 3
    assert splitter.next_frame() == b"abc"


@each_row(
    "first, spoken",
    [
        (b"GET / HTTP/1.1\r\n", "HTTP"),
        (b"POST / HTTP/1.1\r\n", "HTTP"),
        (b"HTTP/1.1 400 Bad Request", "HTTP"),
        (b"\x16\x03\x01\x02\x00", "TLS"),
        (b"\x15\x03\x01\x00\x02", "TLS"),
        (b"SSH-2.0-OpenSSH", "SSH"),
        (b"hello?\n", "text"),
    ],
)
def test_peer_of_another_protocol_is_told_in_one_line(first, spoken):
    with pytest.raises(MistakenPeerError) as caught:
        split(first, LOGIN_LIMIT).next_frame()
    assert caught.value.line == (
        f"This port speaks the Truc protocol (binary frames over TCP), not {spoken}.\r\n".encode()
    )


def test_unknown_first_bytes_are_only_too_large():
    with pytest.raises(FrameError) as caught:
        split(b"\xff\x00\x00\x01", LOGIN_LIMIT).next_frame()
    assert not isinstance(caught.value, MistakenPeerError)


def test_text_after_a_frame_is_not_taken_for_another_protocol():
    splitter = split(to_frame(b"a", 9) + b"GET / HTTP/1.1\r\n")
    splitter.next_frame()
    with pytest.raises(FrameError) as caught:
        splitter.next_frame()
    assert caught.value.code is Code.FRAME_TOO_LARGE
