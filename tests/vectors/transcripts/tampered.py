"""Add to tampered.json the forgeries of the tests that it does not hold yet, as lists of records.

    PYTHONPATH=tests:protocol:server python -m vectors.transcripts.tampered

The forgeries are those of the case tables in tests/protocol: whatever stands there is picked up. Left out are bodies too
long for a file.
Once it is kept, a forgery needs its place in a table no longer: what builds it may go.
"""

import importlib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from protocol.forge import forgery_of
from vectors.shape import Group, Test, add, test

from truc_protocol.audit import Result, Verdict, verify
from truc_protocol.checks import CHECKS
from truc_protocol.codec import EncodingError
from truc_protocol.transcript import pack_record, write_transcript

CASES = Path(__file__).parents[2] / "protocol"
FILE = Path(__file__).with_name("tampered.json")


class Listed(NamedTuple):
    """A forged list of records as it stands in a file, and the check its case names."""

    name: str
    check: str
    document: bytes
    items: list[bytes]


def case_tables() -> Iterator[tuple[str, Any]]:
    """Yield every row of every case table of the tests, with its name."""
    for path in sorted(CASES.glob("test_a*.py")):
        if "refusals(" in (text := path.read_text(encoding="utf-8")) or ".cases = " in text:
            module = importlib.import_module(f"protocol.{path.stem}")
            for row in (row for each in vars(module).values() for row in getattr(each, "cases", ())):
                yield f"{path.stem.removeprefix('test_')}: {row.build.__name__.replace('_', ' ')}", row


@cache
def forgeries() -> tuple[Listed, ...]:
    """Build every forgery that a file can hold."""
    found = (_listed(name, row) for name, row in case_tables())
    return tuple(each for each in found if each is not None)


def _listed(name: str, row: Any) -> Listed | None:
    forgery = forgery_of(row)
    try:
        items = [pack_record(record) for record in forgery.records]
    except EncodingError:
        return None
    return Listed(name, row.check, forgery.document, items)


def shortened(each: Listed) -> Listed:
    """Leave out what follows the record that is refused: nobody reads on there."""
    verdict = verify(write_items(each.document, each.items))
    if verdict.result is not Result.REFUTED or verdict.refutation is None:
        raise ValueError(f"{each.name}: expected a refutation, got {verdict.result}")
    refused = verdict.refutation.setup + (verdict.refutation.k or 0)
    return each._replace(items=each.items[: refused + 1])


def write_items(document: bytes, items: list[bytes]) -> bytes:
    """Return the transcript file of a document and encoded records."""
    return write_transcript(document, ()) + b"".join(len(item).to_bytes(4, "big") + item for item in items)


def verdict_fields(verdict: Verdict) -> Test:
    """Say which check failed, at which position or item of the setup, and who is to blame."""
    found = verdict.refutation
    if found is None:
        return {"check": None, "record": None, "setup": None, "culprit": None}
    return {"check": found.check, "record": found.k, "setup": found.in_setup, "culprit": found.culprit}


def new_forgeries() -> list[Group]:
    """Return a group for every forgery that is not kept yet."""
    kept = json.loads(FILE.read_text(encoding="utf-8"))["testGroups"]
    known = {each["comment"] for group in kept for each in group["tests"]}
    return [list_group(shortened(each)) for each in forgeries() if each.name not in known]


def list_group(each: Listed) -> Group:
    """Return the list before its last record, and that record, which is refused."""
    *honest, last = (item.hex() for item in each.items)
    verdict = verify(write_items(each.document, each.items))
    fields = {"keep": len(honest), "then": [last], **verdict_fields(verdict)}
    tests = [test(each.name, str(verdict.result), each.check, **fields)]
    return Group("list", tests, {"document": each.document.hex(), "items": honest})


if __name__ == "__main__":
    add(FILE, new_forgeries(), CHECKS)
