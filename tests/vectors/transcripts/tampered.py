"""Make tampered.json: every forgery that the tests build as a list of records, and files that were damaged.

The forgeries are those of the case tables in tests/protocol: whatever stands there is picked up. Left out are the ones that
only one seat or one client can see (they need its X25519 key, or what its user accepted), and bodies too long for a file.
"""

import importlib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from protocol.forge import Forgery
from vectors.shape import Group, Test, Vectors, test, vectors
from vectors.transcripts.damage import damaged_files, verdict_fields

from truc_protocol.audit import Result, verify
from truc_protocol.checks import CHECKS
from truc_protocol.codec import EncodingError
from truc_protocol.transcript import pack_record, write_transcript

CASES = Path(__file__).parents[2] / "protocol"
FAR = 6
"""A list that leaves every base so many records before its end becomes a base itself."""

HEADER = (
    "Transcripts that somebody tampered with, signing anew whatever they hold the keys of.",
    "list: the first `keep` items of the group's, then those of the test, of which the last is refused and none before.",
    "file: the transcript named by the group, of which `remove` bytes at `at` give way to `insert`.",
)


class Listed(NamedTuple):
    """A forged list of records as it stands in a file, and the check its case names."""

    name: str
    check: str
    document: bytes
    items: list[bytes]


class Base(NamedTuple):
    """An honest list that others leave somewhere."""

    document: bytes
    items: list[bytes]
    leaving: list[tuple[int, Listed]]


def case_tables() -> Iterator[tuple[str, Any]]:
    """Yield every row of every case table of the tests, with its name."""
    for path in sorted(CASES.glob("test_a*.py")):
        if "cases(" in (text := path.read_text(encoding="utf-8")) or "Row(" in text:
            module = importlib.import_module(f"protocol.{path.stem}")
            for row in _rows(module):
                yield f"{path.stem.removeprefix('test_')}: {row.build.__name__.replace('_', ' ')}", row


def _rows(module: Any) -> Iterator[Any]:
    for function in vars(module).values():
        if getattr(function, "__module__", None) == module.__name__:
            for mark in getattr(function, "pytestmark", ()):
                for parameter in mark.args[1] if mark.name == "parametrize" else ():
                    values = getattr(parameter, "values", ())
                    if values and isinstance(getattr(values[0], "build", None), Callable):
                        yield values[0]


@cache
def forgeries() -> tuple[Listed, ...]:
    """Build every forgery that a file can hold."""
    found = (_listed(name, row) for name, row in case_tables())
    return tuple(each for each in found if each is not None)


def _listed(name: str, row: Any) -> Listed | None:
    forgery = forgery_of(row)
    if getattr(forgery, "own", None) or getattr(forgery, "accepted", None):
        return None
    try:
        items = [pack_record(record) for record in forgery.records]
    except EncodingError:
        return None
    return Listed(name, row.check, forgery.document, items)


def forgery_of(row: Any) -> Any:
    """Build a row: a document and records, or a table and the record that must not follow."""
    built = row.build()
    if hasattr(built, "document") and hasattr(built, "records"):
        return built
    table, record = built
    return Forgery(table.document, [*table.records, record])


def shortened(each: Listed) -> Listed:
    """Leave out what follows the record that is refused: nobody reads on there."""
    verdict = verify(write_items(each.document, each.items))
    if verdict.result is not Result.REFUTED or verdict.refutation is None:
        raise ValueError(f"{each.name}: expected a refutation, got {verdict.result}")
    refused = verdict.refutation.setup + (verdict.refutation.k or 0)
    return each._replace(items=each.items[: refused + 1])


def bases(listed: Iterable[Listed]) -> list[Base]:
    """Sort forgeries to the honest lists they leave, longest first."""
    found: list[Base] = []
    for each in sorted(listed, key=lambda each: (each.document, -len(each.items))):
        kept = [(_common(base.items, each.items), base) for base in found if base.document == each.document]
        keep, base = max(kept, key=lambda pair: pair[0], default=(0, None))
        if base is None or len(each.items) - keep > FAR:
            keep, base = len(each.items) - 1, Base(each.document, each.items[:-1], [])
            found.append(base)
        base.leaving.append((keep, each))
    return found


def _common(one: list[bytes], other: list[bytes]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _test_of(keep: int, each: Listed) -> Test:
    verdict = verify(write_items(each.document, each.items))
    then = [item.hex() for item in each.items[keep:]]
    fields = {"keep": keep, "then": then, **verdict_fields(verdict)}
    return test(each.name, str(verdict.result), each.check, **fields)


def write_items(document: bytes, items: list[bytes]) -> bytes:
    """Return the transcript file of a document and encoded records."""
    return write_transcript(document, ()) + b"".join(len(item).to_bytes(4, "big") + item for item in items)


def _list_group(base: Base) -> Group:
    used = max(keep for keep, _ in base.leaving)
    honest = {"document": base.document.hex(), "items": [item.hex() for item in base.items[:used]]}
    return Group("list", [_test_of(keep, each) for keep, each in base.leaving], honest)


def made() -> Vectors:
    """Return the file."""
    groups = [*map(_list_group, bases(map(shortened, forgeries()))), *damaged_files()]
    return vectors(HEADER, CHECKS, groups)
