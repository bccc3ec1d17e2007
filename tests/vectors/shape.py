"""The shape of a vector file: groups of numbered tests, in the manner of Wycheproof (docs/fairness/vectors.md)."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from truc_protocol.codec import dec

FOLDER = Path(__file__).parent
_NUMBERS = re.compile(r"\[\s+(\d+(?:,\s+\d+)*)\s+\]")
Test = dict[str, Any]


class Group(NamedTuple):
    """Tests of one type; `fields` hold for all of them."""

    type: str
    tests: list[Test]
    fields: Mapping[str, Any] = {}


def test(comment: str, result: str, *flags: str, **fields: Any) -> Test:
    """Return a test, its number still to come."""
    return {"comment": comment, "flags": list(flags), **fields, "result": result}


def add(path: Path, groups: Iterable[Group], notes: Mapping[str, str] = {}) -> None:
    """Add groups to a vector file, numbered on; what stands there stays as it is, for it may be referred to by its number."""
    file = json.loads(path.read_text(encoding="utf-8"))
    for group in groups:
        numbered = [{"tcId": n, **each} for n, each in enumerate(group.tests, file["numberOfTests"] + 1)]
        file["testGroups"].append({"type": group.type, **group.fields, "tests": numbered})
        file["numberOfTests"] += len(numbered)
        file["notes"] |= {flag: notes[flag] for each in numbered for flag in each["flags"] if flag in notes}
    text = json.dumps(file, indent=1, ensure_ascii=False)
    path.write_text(_in_lines(text), encoding="utf-8")


def kept_tests(name: str, *types: str) -> Iterator[tuple[dict[str, Any], Test]]:
    """Yield each test of a vector file with its group, of these types or of all."""
    for group in json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))["testGroups"]:
        if not types or group["type"] in types:
            yield from ((group, each) for each in group["tests"])


def _in_lines(text: str) -> str:
    """Let lists of numbers stand in one line."""
    return _NUMBERS.sub(lambda found: f"[{' '.join(found[1].split())}]", text) + "\n"


def projected(value: Any) -> Any:
    """Say a value of the encoding in JSON: bytes as {"bin": hex}."""
    match value:
        case bytes():
            return {"bin": value.hex()}
        case list() | tuple():
            return [projected(each) for each in value]
        case _:
            return value


def projected_body(body: bytes) -> Any:
    """Say what a body holds."""
    return projected(dec(body))
