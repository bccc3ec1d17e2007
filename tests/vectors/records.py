"""Make records.json: a body of every kind, and for each the ways in which it can be no body of that kind (C1, C2)."""

import re
from collections.abc import Iterator
from typing import Any

from vectors.links import record_fields
from vectors.shape import Group, Test, Vectors, projected, projected_body, test, vectors
from vectors.transcripts.make import FOLDER, SCRIPTS

from truc_protocol.bodies import Proxy
from truc_protocol.checks import CheckError
from truc_protocol.codec import dec, enc
from truc_protocol.records import KINDS, Record, kind_of, parse, signer_of
from truc_protocol.transcript import read_transcript
from truc_rules import KINDS as ACTS

HEADER = (
    "Records of every kind, judged by themselves: no place, no key, no rules.",
    "check says which check refuses an invalid one. The signatures of altered bodies are not theirs (that would be C3).",
)
NOTES = {
    "NotCanonical": "The body is not in the profile.",
    "Tag": "No tag of a record, or that of another kind.",
    "Arity": "A field too many or too few.",
    "Type": "A field of another type, or bytes of another length.",
    "Signer": "A role that may not sign this kind, or not this body.",
    "Signature": "Not the length of this kind's signature.",
    "Args": "Args of another shape than the act's kind has.",
}
SALT = bytes(range(16))
DECK = 40


def kept_records() -> list[Record]:
    """Return the first record of every kind in the kept transcripts, in the order of the table of kinds."""
    first: dict[type, Record] = {}
    for name in SCRIPTS:
        for record in read_transcript((FOLDER / name).read_bytes()).records:
            first.setdefault(type(parse(record)), record)
    return [first[kind.body] for kind in KINDS]


def _wrong(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield values that do not stand where this one does, each with a word for it."""
    match value:
        case bool() | None:
            return
        case int():
            yield "true", True
            yield "text", str(value)
        case str():
            yield "bytes", value.encode()
            yield "nil", None
        case bytes() if len(value) == 32:
            yield "31 bytes", value[:-1]
            yield "33 bytes", value + b"\0"
            yield "text", "m" * 32
        case bytes():
            yield "text", "m" * len(value)
        case list():
            yield "a number", 0
            yield "an array of nil", [None]


def _broken_fields(record: Record) -> Iterator[Test]:
    """Yield the record with one field of another type, for every field where nothing else admits it."""
    tag, *values = dec(record.body)
    names = re.findall(r"\w+", " ".join(kind_of(parse(record)).body.__struct_fields__))
    for at, (name, value) in enumerate(zip(names, values, strict=True)):
        for word, wrong in _wrong(value):
            body = enc([tag, *values[:at], wrong, *values[at + 1 :]])
            if name != "args":
                yield _invalid(f"{tag}: {name} is {word}", record._replace(body=body), "C2", "Type")


def _invalid(comment: str, record: Record, check: str, flag: str) -> Test:
    try:
        parse(record)
    except CheckError as error:
        if error.check == check:
            return test(comment, "invalid", flag, **record_fields(record), check=check)
    raise ValueError(f"{comment}: expected {check}")


def _of_kind(record: Record) -> Group:
    body = parse(record)
    tag, *values = dec(record.body)
    unsigned = isinstance(body, Proxy)
    other_sig = bytes(64) if unsigned else record.sig[:-1]
    tests = [
        test(f"{tag}", "valid", **record_fields(record), value=projected_body(record.body)),
        _invalid(f"{tag}: a byte after it", record._replace(body=record.body + b"\0"), "C1", "NotCanonical"),
        _invalid(
            f"{tag}: array in a longer form",
            record._replace(body=b"\xdc\x00" + bytes([len(values) + 1]) + record.body[1:]),
            "C1",
            "NotCanonical",
        ),
        _invalid(f"{tag}: cut short", record._replace(body=record.body[:-1]), "C1", "NotCanonical"),
        _invalid(f"{tag}: a field too many", _with(record, [tag, *values, 0]), "C2", "Arity"),
        _invalid(f"{tag}: a field too few", _with(record, [tag, *values[:-1]]), "C2", "Arity"),
        _invalid(f"{tag}: only its tag", _with(record, [tag]), "C2", "Arity"),
        _invalid(f"{tag}: of another version", _with(record, [_other_version(tag), *values]), "C2", "Tag"),
        _invalid(f"{tag}: tag as bytes", _with(record, [tag.encode(), *values]), "C2", "Tag"),
        _invalid(f"{tag}: signed by another role", record._replace(signer=record.signer + 1), "C2", "Signer"),
        _invalid(
            f"{tag}: signature of {len(other_sig)} bytes", record._replace(sig=other_sig), "C2", "Signature"
        ),
        *_broken_fields(record),
    ]
    return Group("record", tests, {"kind": tag, "role": signer_of(body)})


def _with(record: Record, items: list[Any]) -> Record:
    return record._replace(body=enc(items))


def _other_version(tag: str) -> str:
    return tag.replace("truc/1/", "truc/2/")


def _no_records() -> Group:
    bodies = {
        "no array": enc("truc/1/call"),
        "an empty array": enc([]),
        "a tag nobody knows": enc(["truc/1/gift", 0]),
        "a tag that never stands in a transcript": enc(["truc/1/refuse", bytes(32), bytes(32), "x"]),
        "a number for the tag": enc([1, 2]),
    }
    tests = [_invalid(comment, Record(0, body, bytes(64)), "C2", "Tag") for comment, body in bodies.items()]
    no_body = _invalid("no bytes", Record(0, b"", bytes(64)), "C1", "NotCanonical")
    return Group("record", [*tests, no_body], {"kind": None, "role": 0})


GOOD_ARGS: dict[str, list[Any]] = {
    "NONE": [[]],
    "PLAY": [[0, 39, SALT, None], [2, 0, SALT, 3], [1, 7, SALT, "rest"], [1, 7, SALT, "trut"]],
    "SHOW": [[[[0, 39, SALT]]], [[[0, 1, SALT], [2, 3, SALT]]]],
    "CUT": [[1], [39]],
    "STAKE": [[2], ["rest"], ["trut"]],
    "COVER": [[0]],
    "SLOT": [[2]],
    "NUMBER": [[33]],
    "SEAT": [[1]],
    "COUNT": [[3], [1]],
    "ORDER": [["low"], ["7"]],
}
BAD_ARGS: dict[str, list[Any]] = {
    "NONE": [[0], [None]],
    "PLAY": [
        [],
        [0, 39, SALT],
        [0, 40, SALT, None],
        [0, 39, SALT[1:], None],
        [0, 39, "s" * 16, None],
        [True, 39, SALT, None],
        [0, 39, SALT, "all"],
        [0, 39, SALT, True],
        [0, 39, SALT, None, 0],
    ],
    "SHOW": [
        [],
        [[]],
        [[0, 39, SALT]],
        [[[2, 3, SALT], [0, 1, SALT]]],
        [[[0, 1, SALT], [0, 3, SALT]]],
        [[[0, 40, SALT]]],
        [[[0, 39, SALT, None]]],
    ],
    "CUT": [[], [40], [True], [1, 2]],
    "STAKE": [[], [None], ["all"], [True]],
    "COVER": [[], [None], ["0"], [0, 0]],
    "SLOT": [[], [True]],
    "NUMBER": [[], [None], ["33"]],
    "SEAT": [[], [None]],
    "COUNT": [[], ["3"], [True]],
    "ORDER": [[], [7], [None], ["low", "low"]],
}


def _args() -> Group:
    tests = [each for kind, shape in ACTS.items() for each in _args_of(str(kind), shape.name)]
    return Group("args", [*tests, _bad_args("fold", [])], {"deck": DECK})


def _args_of(kind: str, shape: str) -> Iterator[Test]:
    for args in GOOD_ARGS[shape]:
        yield test(f"{kind}: {_said(args)}", "valid", kind=kind, args=projected(args))
    for args in BAD_ARGS[shape]:
        yield _bad_args(kind, args)


def _bad_args(kind: str, args: list[Any]) -> Test:
    return test(f"{kind}: {_said(args)}", "invalid", "Args", kind=kind, args=projected(args), check="C2")


def _said(args: list[Any]) -> str:
    return repr(args).replace(repr(SALT), "salt").replace(repr(SALT[1:]), "15 bytes of salt")


def made() -> Vectors:
    """Return the file."""
    return vectors(HEADER, NOTES, [*map(_of_kind, kept_records()), _no_records(), _args()])
