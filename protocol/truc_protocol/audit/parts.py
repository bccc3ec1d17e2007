"""Many files in parts that have nothing to do with each other, so that each part can be examined alone.

What ties files to each other is read before anything is checked: a forged tie only brings files together that need not be.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

from truc_protocol.audit.cross_audit import Agreement, Contradiction, EvidenceExamined, Examined, Together
from truc_protocol.bodies import Table
from truc_protocol.checks import CheckError
from truc_protocol.evidence_file import is_evidence, read_evidence
from truc_protocol.records import body_hash, parse
from truc_protocol.transcript import read_document_item, read_records

BEGINNING: Final = 65_536
"""How many bytes of a file hold all its ties, unless its setup is longer than any that is known, or it is evidence."""
Ties = frozenset[Hashable]
OF_TRANSCRIPT: Final = 2
"""How many ties a transcript has: the nonce of its table, and its match."""


def ties(file: bytes) -> Ties:
    """Return what ties a file to others: of a transcript its nonce and its match, of evidence the matches it is about."""
    found: set[Hashable] = set()
    with suppress(CheckError):
        if is_evidence(file):
            return frozenset(item.mid for item in read_evidence(file))
        _, at = read_document_item(file)
        records = read_records(file, at)
        table = next((parse(record) for record in records), None)
        if isinstance(table, Table):
            found.add((table.spk, table.tn))
            found.update(body_hash(record) for record in islice(records, table.seats, table.seats + 1))
    return frozenset(found)


def parts(files: Mapping[int, Ties]) -> Iterator[tuple[int, ...]]:
    """Yield the numbers of the files of each part, which nothing ties to any other file."""
    tied: dict[Hashable, list[int]] = {}
    for n, each in files.items():
        for tie in each:
            tied.setdefault(tie, []).append(n)
    seen: set[int] = set()
    for first in files:
        part, waiting = set[int](), [first]
        while waiting:
            n = waiting.pop()
            if n not in seen:
                seen.add(n)
                part.add(n)
                waiting += (other for tie in files[n] for other in tied.pop(tie, ()))
        if part:
            yield tuple(sorted(part))


def joined(examined: Iterable[tuple[Sequence[int], Together]]) -> Together:
    """Return the outcome of all files from that of each part, given with the numbers of its files."""
    files: dict[int, Examined] = {}
    contradictions: list[Contradiction] = []
    agreements: list[Agreement] = []
    for numbers, part in examined:
        files |= {n: _renumbered(file, numbers) for n, file in zip(numbers, part.files, strict=True)}
        contradictions += (
            pair._replace(first=numbers[pair.first], second=numbers[pair.second])
            for pair in part.contradictions
        )
        agreements += (each._replace(files=tuple(numbers[n] for n in each.files)) for each in part.agreements)
    contradictions.sort(key=lambda pair: (pair.first, pair.second))
    agreements.sort(key=lambda each: each.files)
    return Together(tuple(files[n] for n in sorted(files)), tuple(contradictions), tuple(agreements))


def _renumbered(file: Examined, numbers: Sequence[int]) -> Examined:
    if not isinstance(file, EvidenceExamined):
        return file
    weighed = (
        each if each.transcript is None else each._replace(transcript=numbers[each.transcript])
        for each in file.weighed
    )
    return file._replace(weighed=tuple(weighed))
