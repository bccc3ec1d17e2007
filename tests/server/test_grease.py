"""A server with grease sends what nobody knows, breaks nothing of what is known, and touches no signed byte."""

import random

from rows import each_row
from server.conftest import QUICK, changed, running
from server.visitors import greeted

from truc_docs.protocol.examples import EXAMPLES
from truc_protocol.codec import unpack
from truc_protocol.messages import Direction, Setup
from truc_protocol.records import Record
from truc_protocol.wire.capabilities import is_capability_name
from truc_protocol.wire.connection import broadcast_frame
from truc_protocol.wire.encoding import LENGTH_BYTES, SERVER_LIMIT, decode, encode
from truc_server.net.grease import Grease

SENT = [message for way, message in EXAMPLES if way is Direction.TO_CLIENT]
OPEN = ("means", "view", "detail", "choices")
"""Fields with maps that may always have more in them."""

SETTINGS = changed(QUICK, grease=True)


@each_row("message", SENT)
def test_a_reader_that_passes_over_what_is_new_reads_every_message_as_it_was(message):
    grease = Grease(1)
    for _ in range(20):
        read = decode(grease.to_bytes(message), Direction.TO_CLIENT)
        assert fields(read) == fields(message)


def fields(message):
    names = (name for name in message.__struct_fields__ if name not in OPEN)
    return [(name, getattr(message, name)) for name in names]


@each_row("message", SENT)
def test_every_message_has_a_field_that_nobody_knows(message):
    assert set(unpack(Grease(1).to_bytes(message))) > set(unpack(encode(message)))


def test_signed_bytes_are_never_touched():
    setup = next(message for message in SENT if isinstance(message, Setup))
    dressed = [unpack(Grease(seed).to_bytes(setup)) for seed in range(50)]
    assert {tuple(map(tuple, message["records"])) for message in dressed} == {setup.records}


def test_a_frame_that_is_as_long_as_it_may_stays_as_it_is():
    body = bytes(SERVER_LIMIT - 300)
    setup = Setup(table="A", match=bytes(32), doc=body, records=(Record(0, b"", bytes(64)),))
    frame = broadcast_frame(setup)
    assert Grease(1).frame(frame) == frame


def test_notices_between_are_unknown_or_about_capabilities_that_are_named_as_somebodys_own():
    grease = Grease(1)
    between = [unpack(frame[LENGTH_BYTES:]) for frame in (grease.between() for _ in range(200)) if frame]
    tags = {message["t"] for message in between}
    assert all(tag == "caps" or tag.startswith(("x-", "grease_")) for tag in tags)
    names = [name for message in between if message["t"] == "caps" for name in message.get("add", {})]
    assert names
    assert all(is_capability_name(name) and name.startswith("example.org/") for name in names)


def test_the_same_seed_adds_the_same():
    seed = random.Random(1).randrange(1 << 32)
    one, other = Grease(seed), Grease(seed)
    assert [one.to_bytes(message) for message in SENT] == [other.to_bytes(message) for message in SENT]


async def test_the_info_of_a_server_with_grease_is_signed_with_it(server):
    client = await server.connect()
    await client.hello()  # checks the signature and the hash of info
    assert any(name.startswith("example.org/grease-") for name in client.info["caps"])


async def test_a_server_without_the_setting_sends_none(tmp_path):
    async with running(tmp_path / "plain", QUICK) as server:
        client = await greeted(server)
        assert not any("grease" in name for name in (*client.info, *client.info["caps"]))
