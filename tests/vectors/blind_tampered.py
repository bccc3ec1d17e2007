"""Add to `blind/tampered.json` what it does not hold yet of the records that the tests of whole matches of mode blind find refused.

With `PYTHONPATH=tests:protocol:server:client`, from the repository's root: `python -m vectors.blind_tampered`. It has the shape
of `transcripts/tampered.json`.
"""

from itertools import groupby
from pathlib import Path
from typing import Final

from vectors.blind_matches import FOLDER
from vectors.shape import Group, Test, add, test

from protocol import test_blind_matches as cases
from truc_protocol.checks import CHECKS
from truc_protocol.transcript import pack_record

FILE: Final[Path] = FOLDER / "tampered.json"


def groups() -> list[Group]:
    """Run the tests that look at no more than what is refused, and return what they have seen and is not kept."""
    found: list[Group] = []
    for name in sorted(cases.ROWS):
        cases.SEEN.clear()
        getattr(cases, name)()
        new = (seen for seen in cases.SEEN if seen.item not in cases.KEPT)
        lists = groupby(new, key=lambda seen: (seen.document, seen.records))
        for n, ((document, records), rows) in enumerate(lists, 1):
            items = [pack_record(record).hex() for record in records]
            comment = f"{name.removeprefix('test_').replace('_', ' ')} {n}"
            tests = [_test(f"{comment}.{m}", len(items), row) for m, row in enumerate(rows, 1)]
            found.append(Group("blind-list", tests, {"document": document.hex(), "items": items}))
    return found


def _test(comment: str, keep: int, row: cases.Seen) -> Test:
    fields = {
        "keep": keep,
        "then": [pack_record(row.record).hex()],
        "check": row.check,
        "record": row.at,
        "setup": row.setup,
    }
    return test(comment, "refuted", row.check, **fields, culprit=row.culprit)


if __name__ == "__main__":
    add(FILE, groups(), CHECKS)
