"""A client with a key: the arrays, recipes and programs of that page make the bytes of the vectors, and its tables are the code's."""

import re
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from itertools import count, product
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from rows import each_row
from vectors.shape import kept_tests

from truc_client.matches.catching_up import MAX_TRIES
from truc_protocol.bodies import Refuse
from truc_protocol.codec import EncodingError, dec, enc
from truc_protocol.records import DEALT, KINDS, PHASES, Binding, Record, tag_of
from truc_protocol.setup import Opts
from truc_protocol.transcript import read_transcript
from truc_protocol.wire.handshake import Hello, KeyRoll, Revoke

ROOT = Path(__file__).parents[2]
VECTORS = ROOT / "tests/vectors"
PAGE = (ROOT / "docs/protocol/keyed-client.md").read_text(encoding="utf-8")
PROGRAM = "\n".join(re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
BODIES = {tag_of(kind.body).removeprefix("truc/1/"): kind for kind in KINDS if PHASES[DEALT][kind.body]}


def table(heading: str) -> list[list[str]]:
    """Return the cells of the table whose first heading this is."""
    lines = PAGE.split(f"\n| {heading} |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def digest(tag: str, *values: Any) -> bytes:
    return sha256(enc(("truc/1/" + tag, *values))).digest()


def hkdf(secret: bytes, salt: bytes, info: bytes) -> bytes:
    return HKDF(hashes.SHA256(), 32, salt, info).derive(secret)


NAMES: dict[str, Any] = {"H": digest, "count": count, "product": product, "enc": enc, "hkdf": hkdf}
exec(PROGRAM, NAMES)


def made(expression: str, **names: Any) -> Any:
    """Return what an expression of the page comes to."""
    return eval(expression.strip("`"), {**NAMES, **names})


def read(value: Any) -> Any:
    """Read a field of a vector: bytes are hex."""
    match value:
        case {"bin": digits}:
            return bytes.fromhex(digits)
        case list():
            return [read(item) for item in value]
        case str() if re.fullmatch(r"(?:[0-9a-f]{2}){16,}|", value):
            return bytes.fromhex(value)
        case _:
            return value


def vectors(file: str, *types: str) -> list[dict[str, Any]]:
    """Return the valid tests of some types, with the fields of their group."""
    found = [
        {name: read(value) for name, value in {**group, **each}.items() if name != "tests"}
        for group, each in kept_tests(file, *types)
        if each["result"] == "valid"
    ]
    assert found
    return found


# The nine byte strings


ARRAYS = {array.split('"')[1].removeprefix("truc/1/"): array for _, array in table("for")}


def test_nine_byte_strings_are_what_a_seat_signs_and_hashes():
    signed = {name for name, kind in BODIES.items() if kind.signer in ("seat", "role")} - {"sub"}
    assert set(ARRAYS) == signed | {"auth", "chain", "link"}


def placed(path: Path) -> Iterator[tuple[dict[str, Any], Record]]:
    """Walk through a transcript by the page's heads: what the page's names are before each record, and the record."""
    records = read_transcript(path.read_bytes()).records
    start = next(at for at, record in enumerate(records) if dec(record.body)[0] == "truc/1/match") + 1
    mid = sha256(records[start - 1].body).digest()
    place = (0, mid)
    k0, head0 = place
    for record in records[start:]:
        k, head = place
        yield {"mid": mid, "k": k, "head": head, "k0": k0, "head0": head0}, record
        kind = dec(record.body)[0].removeprefix("truc/1/")
        place, k0, head0 = NAMES["after"](place, k0, head0, kind, *record)


def test_arrays_and_heads_are_those_of_every_record_that_a_seat_has_signed():
    seen = set()
    for path in (VECTORS / "transcripts").glob("*.truc"):
        for names, record in placed(path):
            items = dec(record.body)
            kind = items[0].removeprefix("truc/1/")
            if kind in ARRAYS and record.signer > 0:
                fields = [field.name for field in msgspec.structs.fields(BODIES[kind].body)]
                own = dict(zip(fields[3:], items[4:], strict=True))
                assert enc(made(ARRAYS[kind], **names, **own)) == record.body
                seen.add(kind)
    assert seen == set(ARRAYS) - {"auth", "seat", "chain", "link"}


def test_array_of_terms_is_that_of_the_setup():
    ids = vectors("links", "ids")[0]
    for body in map(dec, ids["seats"]):
        if body[0] == "truc/1/seat":
            fields = [field.name for field in msgspec.structs.fields(BODIES["seat"].body)]
            assert made(ARRAYS["seat"], **dict(zip(fields, body[1:], strict=True))) == list(body)
            assert body[1] == ids["th"] == sha256(ids["table"]).digest()
    assert ids["mid"] == sha256(ids["match"]).digest()


@each_row("test", vectors("handshake", "login"))
def test_array_of_the_login_is_what_the_server_expects(test):
    names = {name: test[name] for name in ("spk", "pk", "cn", "sn")}
    assert enc(made(ARRAYS["auth"], **names, frame=sha256(test["server_frame"]).digest())) == test["body"]


@each_row("test", vectors("links", "link"))
def test_array_of_a_head_hashes_to_the_next_one(test):
    names = {name: test[name] for name in ("head", "signer", "body", "sig")}
    assert sha256(enc(made(ARRAYS["link"], **names))).digest() == test["next"]


@each_row("test", vectors("links", "heads"))
def test_program_follows_heads_and_first_positions(test):
    place = (0, test["mid"])
    k0, head0 = place
    heads, parallel = [place[1]], [k0]
    for signer, body, sig in test["records"]:
        kind = dec(body)[0].removeprefix("truc/1/")
        place, k0, head0 = NAMES["after"](place, k0, head0, kind, signer, body, sig)
        heads.append(place[1])
        parallel.append(k0)
    assert (heads, parallel) == (test["heads"], test["parallel"])


@each_row("test", vectors("chains", "chain"))
def test_program_and_array_make_the_links_of_a_chain(test):
    top = test["first"] + test["count"]
    make = partial(NAMES["link"], test["public"], test["tn"], test["root"], top)
    assert (make(test["index"]), make(test["first"])) == (test["link"], test["anchor"])
    if test["index"] > test["first"]:
        names = {"pk": test["public"], "tn": test["tn"], "i": test["index"], "v": test["link"]}
        assert sha256(enc(made(ARRAYS["chain"], **names))).digest() == make(test["index"] - 1)


@each_row("test", vectors("keys", "player"))
def test_recipe_of_a_players_key_is_that_of_the_vectors(test):
    (recipe,) = re.findall(r"`(hkdf\(master.*?\))`,", PAGE)
    assert made(recipe, master=test["master"], first=test["spk"]) == test["seed"]


# The boxes


BOXES = dict(zip(("hand", "share", "options", "sign"), (cells[1:4] for cells in table("box")), strict=True))


@each_row("test", vectors("boxes", *BOXES))
def test_recipes_of_the_boxes_open_those_of_the_vectors(test):
    info, nonce, associated = BOXES[test["type"]]
    key = hkdf(test["shared"], test["mid"], enc(made(info, **test)))
    assert key == test["key"]
    if associated == "none":
        assert nonce == "12 zeros"
        assert dec(ChaCha20Poly1305(key).decrypt(bytes(12), test["box"], b"")) == test["hand"]
        return
    array = re.search(r"`enc` of (`.*`)", associated)[1]
    counter, box = bytes(4) + test["box"][:8], test["box"][8:]
    plain = ChaCha20Poly1305(key).decrypt(counter, box, enc(made(array, **test)))
    stripped = plain.rstrip(b"\0")
    assert stripped[-1] == 0x80
    content = test["options"] if test["type"] == "options" else [test["word"]]
    assert dec(stripped[:-1]) == content


# The deal


@each_row("test", vectors("shuffle", "shuffle", "pick"))
def test_programs_shuffle_and_pick(test):
    if test["type"] == "shuffle":
        assert NAMES["order"](test["seed"], test["size"], 0) == test["order"]
    else:
        assert NAMES["below"](test["bound"], NAMES["stream"](test["seed"])) == test["picked"]


@each_row("test", vectors("deal", "seed", "draw", "deal"))
def test_programs_deal(test):
    if test["type"] == "seed":
        assert made(re.search(r"seed is (H\(.*\))", PAGE)[1], **test) == test["seed"]
    elif test["type"] == "draw":
        assert made(re.search(r"`(below\(.*?\))`\.", PAGE)[1], **test) == test["first"]
    else:
        order = NAMES["order"](test["seed"], test["deck"], test["cut"])
        assert order == test["order"]
        cards = iter(order)
        for d, dealt in enumerate(test["deals"]):
            hands = NAMES["deal"](test["seed"], d, cards, test["dealer"], test["seats"], test["ncards"])
            assert [[list(card) for card in hand] for hand in hands] == read(dealt["hands"])
            assert [next(cards) for _ in dealt["up"]] == dealt["up"]
            leaf = partial(NAMES["leaf"], test["mid"], test["j"], d)
            leaves = [
                [leaf(q, slot, *card) for slot, card in enumerate(hand)] for q, hand in enumerate(hands)
            ]
            assert leaves == read(dealt["leaves"])


# What is told of the records


def test_fields_and_phases_of_the_records_are_those_of_the_code():
    told = {
        name.strip("`"): (cells[0].split(", "), cells[1].split(", "))
        for names, *cells in table("kind")
        for name in names.split(", ")
    }
    assert told == {
        name: (
            [field.name for field in msgspec.structs.fields(kind.body)][3:],
            [phase.value for phase in kind.phases],
        )
        for name, kind in BODIES.items()
        if kind.binding is not Binding.SETUP
    }


def test_arrays_in_the_text_have_the_fields_of_the_code():
    bodies = [kind.body for kind in KINDS if kind.binding is Binding.SETUP] + [Hello, KeyRoll, Revoke, Refuse]
    fields = {tag_of(body): [field.name for field in msgspec.structs.fields(body)] for body in bodies}
    found = {tag: names.split(", ") for tag, names in re.findall(r'`\["(truc/1/\w+)", ([^`]*?)\]`', PAGE)}
    alike = {"client_hello": "frame", "body": "hash", "hello": "frame"}
    assert {tag: found[tag] for tag in fields} == {
        tag: [alike.get(name, name) for name in names] for tag, names in fields.items()
    }


def test_defaults_of_the_terms_are_those_of_the_code():
    assert str(list(Opts())) in PAGE


# Whom to blame


BLAME = [
    (checks.split(), kinds.replace("`", "").split(", "), blame) for checks, kinds, blame in table("check")
]


def blamed(check: str, kind: str | None) -> str:
    """Return what the table says of a check that fails in a kind of record."""
    for checks, kinds, blame in BLAME:
        if (check in checks or checks == ["others"]) and (kind in kinds or kinds[0] in ("all", "others")):
            return blame
    raise AssertionError(check, kind)


def culprits(blame: str, signer: int) -> set[str | None]:
    """Return who may be to blame: where the cell names an exception, nobody too."""
    named = {
        "nobody": None,
        "the server": "server",
        "the signer": "server" if signer == 0 else f"seat {signer - 1}",
    }
    first = next(word for word in named if blame.startswith(word))
    return {named[first], *([None] if "; nobody" in blame or "else nobody" in blame else [])}


class Tampered(NamedTuple):
    """A list whose last record fails: the check, the kind and signer of that record, who is to blame."""

    check: str
    kind: str | None
    signer: int
    culprit: str | None
    document: bytes
    items: list[bytes]


def tampered() -> Iterator[Tampered]:
    for group, test in kept_tests("transcripts/tampered", "list"):
        items = [bytes.fromhex(item) for item in group["items"][: test["keep"]] + test["then"]]
        signer, body, _ = dec(items[-1])
        try:
            kind = str(dec(body)[0]).removeprefix("truc/1/")
        except (EncodingError, TypeError):
            kind = None
        document = bytes.fromhex(group["document"])
        yield Tampered(test["check"], kind, signer, test["culprit"], document, items)


def _is_newcomers(items: list[bytes]) -> bool:
    """Tell whether the last record is signed under a key that a `sub` brought, with nothing of the server's since."""
    signer = dec(items[-1])[0]
    for signed, body, sig in map(dec, reversed(items[:-1])):
        if signed == 0 and sig:
            return False
        if signed == signer and dec(body)[0] == "truc/1/sub":
            return True
    return False


def test_tampered_vectors_blame_whom_the_table_blames():
    seen: dict[str, set[str | None]] = {}
    for check, kind, signer, culprit, _, items in tampered():
        blame = blamed(check, kind)
        expected = {None} if _is_newcomers(items) else culprits(blame, signer)
        assert culprit in expected, (check, kind, culprit, blame)
        seen.setdefault(f"{check} {blame}", set()).add(culprit)
    both = {row for row, found in seen.items() if len(found) > 1 and row.split()[0] in ("C2", "C5", "C15")}
    assert {row.split()[0] for row in both} == {"C2", "C5", "C15"}


def test_every_row_of_the_table_of_blame_is_met_by_a_vector():
    met = [(check, blamed(check, kind)) for check, kind, *_ in tampered()] + [
        ("C18", blamed("C18", "deal"))
    ]  # evidence.json, as only the seat can see it
    for checks, _, blame in BLAME:
        missing = [check for check in checks if check != "others" and (check, blame) not in met]
        assert missing == [], blame


@each_row("check", ["C33", "C35"])
def test_what_the_server_signed_twice_or_refused_convicts_it(check):
    (blame,) = {row[1].split(";")[0] for row in table("what comes") if f"({check})" in row[0]}
    found = [each for test in vectors("evidence", "pair") for each in test["found"]]
    found += [[test["check"], test["culprit"]] for test in vectors("evidence", "refusal")]
    assert {culprit for named, culprit in found if named == check} == {blame.removeprefix("the ")}


def test_page_gives_up_after_as_many_failures_as_the_client():
    assert (MAX_TRIES, "After the third failure" in PAGE) == (3, True)
