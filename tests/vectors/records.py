"""Add a new kind of record to records.json: its body, and the ways in which it can be no body of that kind (C1, C2).

    PYTHONPATH=tests:protocol:server python -m vectors.records

The kind must stand in a kept transcript.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vectors.shape import Group, Test, add, projected_body, test
from vectors.transcripts.make import FOLDER, SCRIPTS

from truc_protocol.bodies import Proxy
from truc_protocol.checks import CheckError
from truc_protocol.codec import dec, enc
from truc_protocol.records import DEALT, KIND_OF, KINDS, PHASES, Record, parse, signer_of
from truc_protocol.transcript import read_transcript

FILE = Path(__file__).with_name("records.json")


def kept_records() -> list[Record]:
    """Return the first record of every kind of mode dealt in the kept transcripts, in the order of the table of kinds."""
    first: dict[type, Record] = {}
    for name in SCRIPTS:
        for record in read_transcript((FOLDER / name).read_bytes()).records:
            first.setdefault(type(parse(record)), record)
    return [first[kind.body] for kind in KINDS if PHASES[DEALT][kind.body]]


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
    names = re.findall(r"\w+", " ".join(KIND_OF[type(parse(record))].body.__struct_fields__))
    for at, (name, value) in enumerate(zip(names, values, strict=True)):
        for word, wrong in _wrong(value):
            body = enc([tag, *values[:at], wrong, *values[at + 1 :]])
            if name != "args":
                yield _invalid(f"{tag}: {name} is {word}", record._replace(body=body), "C2", "Type")


def record_fields(record: Record) -> Test:
    """Return a record's three fields, bytes in hex."""
    return {"signer": record.signer, "body": record.body.hex(), "sig": record.sig.hex()}


def _invalid(comment: str, record: Record, check: str, flag: str) -> Test:
    try:
        parse(record)
    except CheckError as error:
        if error.check == check:
            return test(comment, "invalid", flag, **record_fields(record), check=check)
    raise ValueError(f"{comment}: expected {check}")


def of_kind(record: Record) -> Group:
    """Return the tests of a record's kind."""
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


def new_kinds() -> list[Group]:
    """Return a group for every kind that has none yet."""
    kept = json.loads(FILE.read_text(encoding="utf-8"))["testGroups"]
    known = {group["kind"] for group in kept if group["type"] == "record"}
    return [made for made in map(of_kind, kept_records()) if made.fields["kind"] not in known]


if __name__ == "__main__":
    add(FILE, new_kinds())
