"""What fuzzing starts from: real frames, records, files and texts, taken from the repository when they are asked for.

Nothing is stored here a second time: frames come from the traces, signed things from the vectors,
texts from the presets and the scenarios.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from protocol.recomputing import value
from vectors.shape import kept_tests

from truc_client.home.home import export_seed
from truc_docs.protocol.examples import EXAMPLES
from truc_protocol.codec import enc, unpack
from truc_protocol.crypto.keys import signing_key_from_seed, to_pem
from truc_protocol.key_files import revocation_text, rolls_text
from truc_protocol.transcript import pack_record, read_transcript
from truc_protocol.wire.encoding import encode
from truc_protocol.wire.handshake import make_roll, revoke
from truc_rules import preset, presets
from truc_server.settings.settings import Settings
from truc_server.settings.settings_file import KEYS, settings_text
from truc_words.house_variants import variant_file

PLAYERS = ("Ana", "Ben")
BEGINNING = 16
"""How many frames of a trace are enough: all kinds of steps are among the first."""
ROOT = Path(__file__).parents[2]
TRACES = ROOT / "tests" / "vectors" / "traces"
VECTORS = ROOT / "tests" / "vectors"
SCENARIOS = ROOT / "tests" / "scenarios"
SERVER_KEY = signing_key_from_seed(bytes([1]) * 32)
PLAYER_KEY = signing_key_from_seed(bytes([4]) * 32)
NEXT_KEY = signing_key_from_seed(bytes([2]) * 32)


class Frame(NamedTuple):
    """A frame of a trace, its length before it, and who sent it to whom, in the words of the page."""

    way: str
    raw: bytes

    @property
    def message(self) -> bytes:
        """The message in it."""
        return self.raw[4:]


@cache
def frames(page: str) -> tuple[Frame, ...]:
    """Return every frame of a trace, in order."""
    text = (TRACES / f"{page}.md").read_text("utf-8")
    ways = re.findall(r"^## \d+\. (.*?):", text, re.MULTILINE)
    shown = re.findall(r"^```hex\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return tuple(Frame(way, bytes.fromhex(hexed)) for way, hexed in zip(ways, shown, strict=True))


@cache
def pages() -> tuple[str, ...]:
    """Return the names of all traces."""
    return tuple(sorted(page.stem for page in TRACES.glob("*.md") if page.stem != "README"))


def to_servers() -> tuple[bytes, ...]:
    """Return what a player sends in each trace; the first byte says how the stream is cut up."""
    return tuple(
        _stream(page, at, f"{name} to the server") for at, page in enumerate(pages()) for name in PLAYERS
    )


def to_clients() -> tuple[bytes, ...]:
    """Return what a player is sent in each trace; the first byte says how the stream is cut up."""
    return tuple(
        _stream(page, at, f"the server to {name}", "the server to everybody")
        for at, page in enumerate(pages())
        for name in PLAYERS
    )


def _stream(page: str, first: int, *ways: str) -> bytes:
    sent = [frame.raw for frame in frames(page) if frame.way in ways]
    return bytes([first]) + b"".join(sent[:BEGINNING])


def messages() -> tuple[bytes, ...]:
    """Return one message of each form, and some that went over the wire."""
    sent = {_kind(frame): frame.message for page in pages() for frame in frames(page)}
    return (*(encode(message) for _, message in EXAMPLES), *sent.values())


def _kind(frame: Frame) -> tuple[str, tuple[str, ...]]:
    fields = unpack(frame.message)
    return fields["t"], tuple(sorted(fields))


def infos() -> tuple[bytes, ...]:
    """Return what servers have said about themselves."""
    hellos = [unpack(frame.message) for page in pages()[:3] for frame in frames(page)[:4]]
    return tuple({hello["info"] for hello in hellos if "info" in hello})


@cache
def vector_tests(name: str, *types: str) -> tuple[dict[str, Any], ...]:
    """Return every test of a file of vectors, of these types or of all, with the fields of its group."""
    return tuple({**group, **test} for group, test in kept_tests(name, *types))


def hexed(name: str, field: str) -> tuple[bytes, ...]:
    """Return the bytes of a field in every test of a file of vectors that has it."""
    found = (test.get(field) for test in vector_tests(name))
    return tuple(dict.fromkeys(bytes.fromhex(text) for text in found if isinstance(text, str)))


def encodings() -> tuple[bytes, ...]:
    """Return values in the canonical encoding and in that of messages, sound ones and others."""
    return hexed("encoding", "bytes")


@cache
def transcripts() -> tuple[bytes, ...]:
    """Return honest transcripts, the shortest first."""
    files = (path.read_bytes() for path in (VECTORS / "transcripts").glob("*.truc"))
    return tuple(sorted(files, key=len))


def records() -> tuple[bytes, ...]:
    """Return an honest record of every kind, twice where there are two."""
    found = sorted(
        (record.body[1:16], pack_record(record))
        for file in transcripts()
        for record in read_transcript(file).records
    )
    return tuple(
        packed for _, same in groupby(found, itemgetter(0)) for _, packed in list(dict.fromkeys(same))[:2]
    )


def documents() -> tuple[bytes, ...]:
    """Return the rule documents of the transcripts."""
    return tuple({read_transcript(file).document for file in transcripts()})


def evidence() -> tuple[bytes, ...]:
    """Return files of evidence, sound ones and others."""
    return hexed("evidence", "file")


def box_contents() -> tuple[bytes, ...]:
    """Return what is sealed: a kind of box, then a plaintext."""
    return tuple(bytes([kind]) + enc(content) for kind, content in enumerate(_CONTENTS)) + tuple(
        bytes([at % 5]) + box for at, box in enumerate(hexed("boxes", "box"))
    )


_CONTENTS = (
    [[17, bytes(16)], [3, bytes(16)], [25, bytes(16)]],
    [[17, bytes(16)]],
    [["play", [2, 17, bytes(16), None], "play 7e", [["waits", 1]]], ["concede", [], "concede", []]],
    ["three"],
    ["three"],
)


def hellos() -> tuple[bytes, ...]:
    """Return hellos of servers, with and without rotations, as messages."""
    return hexed("handshake", "frame")


def logins() -> tuple[bytes, ...]:
    """Return bodies of logins."""
    return tuple(bytes.fromhex(test["body"]) for test in vector_tests("handshake", "login"))


def revocations() -> tuple[bytes, ...]:
    """Return revocations as text."""
    return tuple(revocation_text(revoke(key)).encode() for key in (SERVER_KEY, PLAYER_KEY))


def rolls() -> tuple[bytes, ...]:
    """Return rotations as text: one, and two that follow each other."""
    first = make_roll(SERVER_KEY, NEXT_KEY, serial=1, not_before=0)
    second = make_roll(NEXT_KEY, PLAYER_KEY, serial=2, not_before=60)
    return rolls_text([first]).encode(), rolls_text([first, second]).encode()


def roll_bodies() -> tuple[bytes, ...]:
    """Return the bodies of rotations."""
    return tuple(make_roll(SERVER_KEY, NEXT_KEY, serial=n, not_before=60 * n)[0] for n in (1, 2))


def exported_keys() -> tuple[bytes, ...]:
    """Return a master seed as its owner keeps it."""
    return (export_seed(bytes(range(32))).encode(),)


def subjects() -> tuple[bytes, ...]:
    """Return entries of a list of players and addresses, a line each."""
    entries = (
        "A" * 26,
        f"guest-{'B' * 20}",
        "192.0.2.0/24",
        "2001:db8::/32",
        "::ffff:192.0.2.1",
        "::ffff:0:0/96",
        "fe80::1%eth0",
    )
    return ("\n".join(entries).encode(), *(entry.encode() for entry in entries))


def key_files() -> tuple[bytes, ...]:
    """Return keys in PEM, one under a passphrase."""
    return to_pem(SERVER_KEY), to_pem(SERVER_KEY, "open")


def settings_files() -> tuple[bytes, ...]:
    """Return files of settings: every default, in comments and in force, and some sections."""
    whole = settings_text(Settings())
    plain = re.sub(r"(?m)^#(?=\w)", "", whole)
    return whole.encode(), plain.encode(), *(f"[{part}".encode() for part in plain.split("\n[")[1:])


def environments() -> tuple[bytes, ...]:
    """Return variables of the environment, a line each, that set every setting to its default."""
    lines = [f"{key.variable}={_text(key.default)}" for key in KEYS.values()]
    return ("\n".join(lines).encode(), *(line.encode() for line in lines))


def _text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value).lower()


def variant_files() -> tuple[bytes, ...]:
    """Return the presets as files of variants, and a file that has only what differs."""
    small = 'base = "truc-french"\nname = "house"\nversion = 1\nphrases = ["no"]\n[scoring]\ntarget = 5\n'
    return (small.encode(), *(variant_file(preset(name)).encode() for name in presets()))


def scenario_files() -> Iterator[bytes]:
    """Yield the scenarios, one a file."""
    for path in sorted(SCENARIOS.glob("*.scenario")):
        for part in re.split(r"(?m)^(?=scenario )", path.read_text("utf-8"))[1:]:
            yield part.encode()


def addresses() -> tuple[bytes, ...]:
    """Return links and addresses."""
    pin = "A" * 26
    texts = ("example.org", "192.0.2.1:7373", "[2001:db8::1]:80", f"truc://a.b:1/K7PQ?invite=abcdefgh#{pin}")
    return tuple(text.encode() for text in texts)


def names() -> tuple[bytes, ...]:
    """Return names of players, in several scripts, and with what looks like nothing or like something else."""
    scripts = (
        "Ana",
        "N\u00faria  Vila",
        "\u0418\u0432\u0430\u043d\u0430",
        "\u5c71\u7530 \u592a\u90ce",
        "\u0915\u094d\u0937\u093f",
    )
    wide, joined = "\uff37\uff49\uff44\uff45", "\U0001f469\u200d\U0001f33e"
    strange = (wide, joined, "\u202eanA", "Ana\u200d", "\u0430\u0301\u0302b", "Ana 2", "\ufdfa")
    return tuple(text.encode() for text in (*scripts, *strange))


def acts() -> tuple[bytes, ...]:
    """Return acts as they are signed: kind and args."""
    return tuple(enc([test["kind"], value(test["args"])]) for test in vector_tests("records", "args"))
