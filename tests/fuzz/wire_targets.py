"""What comes over the wire: frames cut from a stream, both ends of a connection, messages, the info of a server."""

import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

from truc_protocol.codec import EncodingError, dec, enc, pack, unpack
from truc_protocol.errors import REGISTRY, Code, LocalError, RemoteError
from truc_protocol.messages import (
    AnyMessage,
    ClientHello,
    Direction,
    GuestLogin,
    GuestReturn,
    KeyLogin,
    ListTables,
    Ok,
    Refusal,
    Request,
    ServerHello,
    Welcome,
    decode_info,
    encode_info,
)
from truc_protocol.wire.connection import ConnectionEnd, Failure, Role, State
from truc_protocol.wire.encoding import (
    LENGTH_BYTES,
    LOGIN_LIMIT,
    SERVER_LIMIT,
    FrameError,
    FrameSplitter,
    MessageError,
    decode,
    encode,
    to_frame,
)

LONGEST_WORD: Final = 600
LONGEST_ANSWER: Final = 4_096
_REQUESTS: Final = 40


def chunks(stream: bytes) -> Iterator[bytes]:
    """Yield a stream in pieces; its first byte, which is not part of it, says how it is cut."""
    chance = random.Random(stream[:1])
    most, at = chance.choice((1, 3, 64, 4_096)), 1
    while at < len(stream):
        size = chance.randint(1, most)
        yield stream[at : at + size]
        at += size


def turns(stream: bytes) -> Iterator[bytes]:
    """Yield a stream in pieces as `chunks` does, but none of more than a frame: the peer waits for answers."""
    at = 1
    while at < len(stream):
        end = at + LENGTH_BYTES + int.from_bytes(stream[at : at + LENGTH_BYTES], "big")
        yield from chunks(stream[:1] + stream[at:end])
        at = end


def frames(stream: bytes) -> None:
    """Frames are the same however the stream is cut up, and none is beyond the limit."""
    pieces = list(chunks(stream))
    piecemeal = _cut(pieces)
    assert piecemeal == _cut([b"".join(pieces)])
    assert all(1 <= len(frame) <= LOGIN_LIMIT for frame in piecemeal[0])
    assert (
        b"".join(to_frame(frame, LOGIN_LIMIT) for frame in piecemeal[0]) == b"".join(pieces)[: piecemeal[1]]
    )


def _cut(pieces: Sequence[bytes]) -> tuple[list[bytes], int, str | None]:
    """Return the frames of a stream, how many bytes they took, and what has ended it."""
    splitter, found = FrameSplitter(LOGIN_LIMIT), list[bytes]()
    try:
        for piece in pieces:
            splitter.feed(piece)
            while (frame := splitter.next_frame()) is not None:
                found.append(frame)
            assert len(splitter.rest) < LOGIN_LIMIT + 4
    except FrameError as error:
        return found, sum(len(frame) + 4 for frame in found), error.message
    return found, sum(len(frame) + 4 for frame in found), None


def server_end(stream: bytes) -> None:
    """A server's end takes any stream: at most one failure closes it, and what it answers is bounded."""
    connection, failures = ConnectionEnd(Role.SERVER), 0
    for piece in turns(stream):
        for item in connection.receive(piece):
            if connection.state is not State.CLOSED:
                failures += answered(connection, item)
    assert failures <= 1
    assert len(connection.outstanding) <= 64


def answered(connection: ConnectionEnd, item: AnyMessage | Failure) -> bool:
    """Answer as a server does; tells whether the connection ends."""
    if isinstance(item, Failure):
        said = connection.answer(item)
        assert len(item.message) <= LONGEST_WORD
        assert len(said) <= LONGEST_ANSWER
        assert item.closes is (connection.state is State.CLOSED)
        return item.closes
    reply = _reply(item)
    if reply is not None:
        connection.send(reply)
    return False


def _reply(message: AnyMessage) -> ServerHello | Welcome | Ok | None:
    match message:
        case ClientHello():
            return ServerHello(re=message.id, body=b"", sig=bytes(64), info=b"", rolls=())
        case KeyLogin() | GuestLogin() | GuestReturn():
            return Welcome(re=message.id, name="Ana", player="A" * 26, seats=())
        case Request() if message.id % 2:
            return Ok(re=message.id)
        case _:
            return None


def client_end(stream: bytes) -> None:
    """A client's end takes any stream: the first failure is the last, and nothing is read after it."""
    connection = ConnectionEnd(Role.CLIENT)
    connection.send(ClientHello(id=0, proto=(1,), cn=bytes(32)))
    ended = False
    for piece in turns(stream):
        for item in connection.receive(piece):
            assert not ended
            if isinstance(item, Failure):
                assert len(item.message) <= LONGEST_WORD
                ended = True
            else:
                _go_on(connection, item)
    if ended:
        assert connection.state is State.CLOSED


def _go_on(connection: ConnectionEnd, message: AnyMessage) -> None:
    with suppress(LocalError):  # the last error may have ended the connection
        if isinstance(message, ServerHello):
            connection.send(GuestLogin(id=1, name="Ana"))
        elif isinstance(message, Welcome):
            for number in range(2, _REQUESTS):
                connection.send(ListTables(id=number))


def messages(frame: bytes) -> None:
    """Bytes are a message or a message error, in each direction; a message comes back from its bytes."""
    for way in Direction:
        try:
            message = decode(frame, way)
        except MessageError as error:
            _check_refusal(error)
            continue
        encoded = encode(message)
        assert decode(encoded, way) == message
        assert encode(decode(encoded, way)) == encoded
        assert len(repr(message)) < 20 * len(frame) + 2_000


def _check_refusal(error: MessageError) -> None:
    assert error.code in (Code.BAD_MSGPACK, Code.UNKNOWN_REQUEST, Code.BAD_MESSAGE)
    assert len(error.message) <= LONGEST_WORD
    assert error.field is None or len(error.field) <= LONGEST_WORD
    assert error.re is None or 0 <= error.re < 2**32
    answer = Refusal(
        re=error.re, code=str(error.code), msg=error.message, retryable=False, close=False, field=error.field
    )
    assert len(encode(answer)) <= LONGEST_ANSWER
    assert error.code in REGISTRY


def _check_code(error: RemoteError) -> None:
    assert error.code is Code.BAD_MESSAGE


def infos(encoded: bytes) -> None:
    """The info of a server is read or refused, and comes back from its bytes."""
    try:
        info = decode_info(encoded)
    except RemoteError as error:
        _check_code(error)
        return
    assert decode_info(encode_info(info)) == info


def encodings(encoded: bytes) -> None:
    """A value has one canonical encoding; of a message's map the value comes back."""
    with suppress(EncodingError):
        assert enc(dec(encoded)) == encoded
    with suppress(EncodingError):
        value = unpack(encoded)
        assert unpack(pack(value)) == value
        assert len(encoded) > SERVER_LIMIT or len(pack(value)) <= SERVER_LIMIT
