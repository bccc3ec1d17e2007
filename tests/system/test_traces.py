"""The traces of tests/vectors: what a server and its players really say, and nothing else."""

import base64
import json
import re
from functools import cache

import pytest
from jsonschema import Draft202012Validator
from rows import each_row
from vectors import traces
from vectors.traced import Script, merged, traced
from vectors.traces import FOLDER, HANDS

from truc_docs.schema.files import of_direction, text_of
from truc_protocol.audit import Auditor, OwnSeat
from truc_protocol.bodies import Close
from truc_protocol.codec import pack, unpack
from truc_protocol.crypto.keys import box_key, signing_key_from_seed, verify
from truc_protocol.messages import Direction
from truc_protocol.records import Record, parse
from truc_protocol.wire.encoding import decode, encode
from truc_rules import preset, presets

pytestmark = pytest.mark.slow
LONGEST = 100_000
every_family = each_row("family", HANDS)


@cache
def validator(direction):
    schema = of_direction(direction)
    return Draft202012Validator(json.loads(text_of(schema)))


def committed(family):
    return (FOLDER / f"{family}.md").read_text(encoding="utf-8")


def blocks(family, label):
    return re.findall(rf"^```{label}\n(.*?)^```", committed(family), re.MULTILINE | re.DOTALL)


def shown_frames(family):
    """Return every frame of a page: who sends it, and its message."""
    ways = re.findall(r"^## \d+\. (.*?):", committed(family), re.MULTILINE)
    return list(zip(ways, map(bytes.fromhex, blocks(family, "hex")), strict=True))


def way_of(sender):
    return Direction.TO_CLIENT if sender.startswith("the server") else Direction.TO_SERVER


def to_ana(family):
    return [
        unpack(raw[4:])
        for sender, raw in shown_frames(family)
        if sender in ("the server to Ana", "the server to everybody")
    ]


def projected(value):
    match value:
        case dict():
            return {key: projected(item) for key, item in value.items()}
        case list():
            return [projected(item) for item in value]
        case bytes():
            return base64.b64encode(value).decode()
        case _:
            return value


@every_family
def test_trace_is_fresh(family):
    assert committed(family) == traces.page(family)


def test_page_of_all_traces_is_fresh():
    assert (FOLDER / "README.md").read_text(encoding="utf-8") == traces.index()


def test_there_is_no_other_trace():
    assert {path.stem for path in FOLDER.glob("*.md")} - {"README"} == set(HANDS)


def test_another_seed_gives_another_deal():
    first, second = (traced(Script("put", seed)) for seed in (7, 8))
    assert [frame.message["cards"] for frame in first.frames if frame.message["t"] == "cards"] != [
        frame.message["cards"] for frame in second.frames if frame.message["t"] == "cards"
    ]


def test_every_set_of_words_has_a_trace():
    assert {preset(script.variant).words for _, script in HANDS.values()} == {
        preset(name).words for name in presets()
    }


@every_family
def test_every_frame_is_a_message_of_the_reference(family):
    odd = []
    for sender, raw in shown_frames(family):
        message = decode(raw[4:], way_of(sender))
        given = {key: value for key, value in unpack(raw[4:]).items() if value not in ([], None)}
        kept = {key: value for key, value in unpack(encode(message)).items() if value != []}
        odd += [] if given == kept else [(sender, given)]
    assert odd == []


@every_family
def test_every_frame_fits_the_schema(family):
    unfit = []
    for sender, raw in shown_frames(family):
        message = {key: value for key, value in unpack(raw[4:]).items() if value is not None}
        unfit += [error.message for error in validator(way_of(sender)).iter_errors(projected(message))]
    assert unfit == []


@every_family
def test_hand_of_a_trace_passes_the_audit(family):
    (setup,) = [message for message in to_ana(family) if message["t"] == "setup"]
    secret, *_ = re.findall(r"X25519 secret of this match: `(\w+)`", committed(family))
    auditor = Auditor(setup["doc"], OwnSeat(0, box_key(bytes.fromhex(secret))))
    records = [Record(*record) for record in setup["records"]]
    records += [Record(m["signer"], m["body"], m["sig"]) for m in to_ana(family) if m["t"] == "record"]
    for record in records:
        auditor.feed(record)
    assert any(isinstance(parse(record), Close) for record in records)


@every_family
def test_every_request_of_a_trace_has_one_reply(family):
    frames = [(sender.split(" to ")[0], unpack(raw[4:])) for sender, raw in shown_frames(family)]
    asked = [message["id"] for _, message in frames if "id" in message]
    assert sorted(asked) == sorted(message["re"] for _, message in frames if "re" in message)


def test_keys_of_the_index_sign_what_the_traces_show():
    seeds = re.findall(r"`([0-9a-f]{64})`", traces.index())
    server, ana = (signing_key_from_seed(bytes.fromhex(seed)) for seed in seeds)
    signed = [
        ((ana if "Ana to" in sender else server).public, message["body"], message["sig"])
        for sender, raw in shown_frames("put")
        if (message := unpack(raw[4:]))["t"] in ("hello", "login") and "sig" in message
    ]
    assert len(signed) == 3
    assert all(verify(*each) for each in signed)


@every_family
def test_page_can_be_read_at_once(family):
    assert len(committed(family).encode()) < LONGEST


def test_frames_that_several_get_stand_once():
    def frame(n):
        packed = pack({"t": "ping", "n": n})
        return len(packed).to_bytes(4, "big") + packed

    lists = [[frame(1), frame(2), frame(4)], [frame(3), frame(2), frame(4)]]
    assert [(each.receivers, each.message["n"]) for each in merged(lists)] == [
        ((0,), 1),
        ((1,), 3),
        ((0, 1), 2),
        ((0, 1), 4),
    ]
