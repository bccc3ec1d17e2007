"""Files damaged from outside: the magic line, lengths, the rule document, bytes that were lost or added."""

from collections.abc import Iterable
from typing import Any

from vectors.shape import Group, Test, test
from vectors.transcripts.make import FOLDER

from truc_protocol.audit import Verdict, verify
from truc_protocol.codec import enc
from truc_protocol.records import Record
from truc_protocol.transcript import MAGIC, pack_record, read_transcript

NAME = "trut-resigned.truc"
"""The smallest transcript that is complete."""


def verdict_fields(verdict: Verdict) -> Test:
    """Say which check failed, at which position or item of the setup, and who is to blame."""
    found = verdict.refutation
    if found is None:
        return {"check": None, "record": None, "setup": None, "culprit": None}
    setup = found.setup if found.k is None and found.where != "the file" else None
    return {"check": found.check, "record": found.k, "setup": setup, "culprit": found.culprit}


def encoded_items(records: Iterable[Record]) -> list[bytes]:
    """Return records as the items of a transcript."""
    return [pack_record(record) for record in records]


def changed(file: bytes, *, at: int, remove: int = 0, insert: bytes = b"") -> bytes:
    """Return the file with some bytes in place of others."""
    return file[:at] + insert + file[at + remove :]


def _flip(file: bytes, at: int) -> dict[str, Any]:
    return {"at": at, "remove": 1, "insert": bytes([file[at] ^ 1])}


def _edits(file: bytes) -> dict[str, dict[str, Any]]:
    document, records = read_transcript(file)
    first = len(MAGIC) + 4 + len(document)
    items = encoded_items(records)
    second, last = first + 4 + len(items[0]), len(file) - 4 - len(items[-1])
    end = last - 4 - len(items[-2]) - 4 - len(items[-3])
    return {
        "no bytes": {"at": 0, "remove": len(file)},
        "magic of another version": _flip(file, len(MAGIC) - 2),
        "magic without its line feed": {"at": len(MAGIC) - 1, "remove": 1},
        "carriage return in the magic": {"at": len(MAGIC) - 1, "insert": b"\r"},
        "bytes before the magic": {"at": 0, "insert": b"\xef\xbb\xbf"},
        "only the magic": {"at": len(MAGIC), "remove": len(file)},
        "length of the document too small": {"at": len(MAGIC) + 3, "remove": 1, "insert": b"\x01"},
        "length of the document beyond the file": {"at": len(MAGIC), "remove": 1, "insert": b"\xff"},
        "document of 16385 bytes": {
            "at": len(MAGIC),
            "remove": 4 + len(document),
            "insert": (16_385).to_bytes(4, "big") + bytes(16_385),
        },
        "a bit of the document flipped": _flip(file, len(MAGIC) + 4 + len(document) // 2),
        "no records": {"at": first, "remove": len(file)},
        "length of the first record too small": _flip(file, first + 3),
        "length of a record beyond the file": {"at": second, "remove": 1, "insert": b"\x01"},
        "an empty item": {"at": second, "insert": bytes(4)},
        "an item that is no array": {"at": second, "insert": b"\0\0\0\1\7"},
        "an item of two fields": {"at": second, "insert": b"\0\0\0\4\x92\0\xc4\0"},
        "an item of four fields": {"at": second, "insert": b"\0\0\0\7\x94\0\xc4\0\xc4\0\xc0"},
        "a signer that is true": {"at": second, "insert": b"\0\0\0\6\x93\xc3\xc4\0\xc4\0"},
        "a body that is text": {"at": second, "insert": b"\0\0\0\5\x93\0\xa0\xc4\0"},
        "a signer in a longer form": {"at": second, "insert": b"\0\0\0\7\x93\xcc\0\xc4\0\xc4\0"},
        "a byte after the record within its item": {
            "at": second,
            "insert": (len(items[1]) + 1).to_bytes(4, "big") + items[1] + b"\0",
        },
        "a signer beyond every seat": {
            "at": second,
            "insert": b"".join(_item([2**53 - 1, records[1].body, records[1].sig])),
        },
        "cut within the magic": {"at": 5, "remove": len(file)},
        "cut within the document": {"at": first - 1, "remove": len(file)},
        "cut within a length": {"at": last + 2, "remove": len(file)},
        "cut within a record": {"at": last + 40, "remove": len(file)},
        "cut after the setup": {
            "at": first + sum(4 + len(item) for item in items[:4]),
            "remove": len(file),
        },
        "cut before the end": {"at": end, "remove": len(file)},
        "cut before an ack": {"at": last, "remove": len(file)},
        "a byte after the last item": {"at": len(file), "insert": b"\0"},
        "a line feed after the last item": {"at": len(file), "insert": b"\n"},
        "the last item twice": {"at": len(file), "insert": file[last:]},
        "the whole file twice": {"at": len(file), "insert": file},
    }


def _item(value: list[Any]) -> tuple[bytes, bytes]:
    packed = enc(value)
    return len(packed).to_bytes(4, "big"), packed


def _test_of(file: bytes, name: str, edit: dict[str, Any]) -> Test:
    verdict = verify(changed(file, **edit))
    fields = {
        "at": edit["at"],
        "remove": min(edit.get("remove", 0), len(file) - edit["at"]),
        "insert": edit.get("insert", b"").hex(),
        **verdict_fields(verdict),
    }
    flags = [fields["check"]] if fields["check"] else ["C42"] if verdict.result == "incomplete" else []
    return test(name, str(verdict.result), *flags, **fields)


def damaged_files() -> list[Group]:
    """Return the group of damaged files."""
    file = (FOLDER / NAME).read_bytes()
    tests = [_test_of(file, name, edit) for name, edit in _edits(file).items()]
    return [Group("file", tests, {"file": NAME})]
