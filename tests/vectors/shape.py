"""The shape of a vector file: groups of numbered tests, in the manner of Wycheproof (docs/fairness/vectors.md)."""

import json
import re
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any, NamedTuple

from truc_protocol.codec import dec

_NUMBERS = re.compile(r"\[\s+(\d+(?:,\s+\d+)*)\s+\]")
Test = dict[str, Any]
Vectors = dict[str, Any]


class Group(NamedTuple):
    """Tests of one type; `fields` hold for all of them."""

    type: str
    tests: list[Test]
    fields: Mapping[str, Any] = {}


def test(comment: str, result: str, *flags: str, **fields: Any) -> Test:
    """Return a test, its number still to come."""
    return {"comment": comment, "flags": list(flags), **fields, "result": result}


def vectors(header: Iterable[str], notes: Mapping[str, str], groups: Iterable[Group]) -> Vectors:
    """Number the tests and keep the notes that a test needs."""
    numbers = count(1)
    listed = [
        {
            "type": group.type,
            **group.fields,
            "tests": [{"tcId": next(numbers), **each} for each in group.tests],
        }
        for group in groups
    ]
    used = {flag for group in listed for each in group["tests"] for flag in each["flags"]}
    return {
        "protocol": "truc/1",
        "header": list(header),
        "notes": {flag: note for flag, note in notes.items() if flag in used},
        "numberOfTests": sum(len(group["tests"]) for group in listed),
        "testGroups": listed,
    }


def text_of(made: Vectors) -> str:
    """Return a vector file's text; lists of numbers stand in one line."""
    text = json.dumps(made, indent=1, ensure_ascii=False)
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
