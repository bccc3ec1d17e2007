"""Several files at once: each transcript's verdict, what evidence adds to it, and what two transcripts show together.

Whatever the bytes of a file are, the outcome is a value. Each transcript is audited once, whatever is given with it.
Evidence counts only beside a transcript of its match: without one it is incomplete, and refutes nothing.

Many files fall into parts that have nothing to do with each other, each of which can be examined alone.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import combinations, islice, product, takewhile
from operator import attrgetter, itemgetter
from typing import Final, NamedTuple, TypeVar

from truc_protocol.audit.auditor import Auditor, Note, feed_all
from truc_protocol.audit.equivocation import Equivocation, contradictions
from truc_protocol.audit.evidence import WeighedItem, weigh
from truc_protocol.audit.verdict import Refutation, Result, Verdict
from truc_protocol.audit.verified_prefix import EvidenceWanted, PassedRecorder, PassedRecords, wanted
from truc_protocol.bodies import TableTerms
from truc_protocol.checks import CheckError
from truc_protocol.evidence_file import EvidenceItem, SignedRefusal, is_evidence, read_evidence
from truc_protocol.records import Record, body_hash, parse
from truc_protocol.transcript import read_document_item, read_records

BYTES_WITH_TIES: Final = 65_536
"""How many bytes of a file hold all its ties, unless its setup is longer than any that is known, or it is evidence."""
Ties = frozenset[Hashable]
TIES_OF_TRANSCRIPT: Final = 2
"""How many ties a transcript has: the nonce of its table, and its match."""


# records whose signatures are checked together
_SIGNATURES_AT_ONCE: Final = 512
# those of a setup of six seats, before whose end no key is known that a signature could be checked under
_SETUP_RECORDS: Final = 8


def verify(
    file: bytes, *notes: Note, note_failed: Callable[[Record], None] | None = None, threads: int = 1
) -> Verdict:
    """Return the verdict on a file: unreadable as soon as an item cannot be read, else what its records prove.

    `notes` are told of each record that passes, `note_failed` of the one that fails. With several `threads` the signatures
    of many records are checked together.
    """
    # for a file without a document, whose verdict comes from an auditor like any other
    auditor = Auditor(b"")
    try:
        document, rest = read_document_item(file)
        auditor = Auditor(document)
        records = read_records(file, rest)
        if threads > 1:
            records = _with_signatures_checked(auditor, records, threads)
        feed_all(auditor, records, *notes, note_failed=note_failed)
    # an item that cannot be read: a record that is read and fails a check ends the feeding
    except CheckError as error:
        auditor.refute(error)
        return auditor.verdict()._replace(result=Result.UNREADABLE)
    return auditor.verdict()


def _with_signatures_checked(auditor: Auditor, records: Iterator[Record], threads: int) -> Iterator[Record]:
    """Yield records one by one, after the auditor was shown those that follow; what cannot be read fails in its turn."""
    broken, size = None, _SETUP_RECORDS
    while broken is None:
        batch: list[Record] = []
        try:
            batch.extend(islice(records, size))
        except CheckError as error:
            # not yet: a record before the broken item that fails a check is found first (specification.md 12)
            broken = error
        auditor.expect(batch, threads)
        yield from batch
        if broken is None and len(batch) < size:
            return
        size = _SIGNATURES_AT_ONCE
    raise broken


_Key = TypeVar("_Key")
_NO_TRANSCRIPT = "it shows nothing without the transcript of its match"


class EvidenceExamined(NamedTuple):
    """What each item of an evidence file amounts to beside the transcripts of its match, or why the file cannot be read."""

    weighed: tuple[WeighedItem, ...] = ()
    unreadable: Refutation | None = None
    lacks_transcript: bool = False

    @property
    def result(self) -> Result | None:
        """What the file comes to; None if nothing follows from it."""
        if self.unreadable is not None:
            return Result.UNREADABLE
        if any(each.refutation for each in self.weighed):
            return Result.REFUTED
        return Result.INCOMPLETE if self.lacks_transcript else None


Examined = Verdict | EvidenceExamined
"""Of a transcript its verdict, refuted also where evidence given with it refutes it."""


class Contradiction(NamedTuple):
    """Two of the files, by number, and what their records together show of somebody."""

    first: int
    second: int
    found: Equivocation


class Agreement(NamedTuple):
    """The transcripts of one match, by number, and how many records of the match they have in common from the first on.

    Attributes:
        is_whole: whether they differ nowhere: whatever follows is in some of them alone.
    """

    match: bytes
    files: tuple[int, ...]
    records: int
    is_whole: bool


class CrossAudit(NamedTuple):
    """The outcome of several files, and of each pair of them."""

    files: tuple[Examined, ...]
    contradictions: tuple[Contradiction, ...]
    agreements: tuple[Agreement, ...] = ()

    @property
    def is_refuted(self) -> bool:
        """Whether anything in the files refutes a match."""
        return bool(self.contradictions) or any(file.result is Result.REFUTED for file in self.files)


class ExaminedPart(NamedTuple):
    """The outcome of files that nothing ties to any other, by number."""

    files: Mapping[int, Examined]
    contradictions: tuple[Contradiction, ...] = ()
    agreements: tuple[Agreement, ...] = ()


class _Given(NamedTuple):
    """The files, by number: what passes of transcripts, the numbers of each match, and evidence."""

    transcripts: Mapping[int, PassedRecords]
    matches: Mapping[bytes, Sequence[int]]
    items: Mapping[int, tuple[EvidenceItem, ...]]


def examine(files: Sequence[bytes]) -> CrossAudit:
    """Examine files together, transcripts and evidence in any order."""
    return join_parts([examine_part(dict(enumerate(files)))])


def examine_part(files: Mapping[int, bytes], *notes: Note, threads: int = 1) -> ExaminedPart:
    """Examine files that nothing ties to any other, by number; `notes` are told of what passes in any of them."""
    evidence = {n: _read_evidence_items(file) for n, file in files.items() if is_evidence(file)}
    items = {n: read for n, read in evidence.items() if not isinstance(read, Refutation)}
    transcripts = {n: file for n, file in files.items() if not is_evidence(file)}
    asked = wanted([item for each in items.values() for item in each])
    audited = _audit_transcripts(transcripts, asked, notes, threads)
    # also of a file that breaks off: what passes before that is signed all the same (specification.md 14)
    matches = _grouped((verdict.match, n) for n, (verdict, _) in audited.items() if verdict.match is not None)
    given = _Given({n: passed for n, (_, passed) in audited.items()}, matches, items)
    weighed = {n: _weighed(each, given) for n, each in items.items()}
    found: dict[int, Examined] = {
        n: EvidenceExamined(unreadable=each) for n, each in evidence.items() if isinstance(each, Refutation)
    }
    found |= {
        n: EvidenceExamined(each, lacks_transcript=_lacks_transcript(each)) for n, each in weighed.items()
    }
    refuting = _refuting(each for row in weighed.values() for each in row)
    found |= {n: _with_evidence(verdict, refuting.get(n)) for n, (verdict, _) in audited.items()}
    return ExaminedPart(found, _contradictions(given), tuple(_agreements(given)))


def _audit_transcripts(
    files: Mapping[int, bytes], asked: EvidenceWanted, notes: Sequence[Note], threads: int
) -> dict[int, tuple[Verdict, PassedRecords]]:
    """Audit each transcript once; of one that is examined alone, only the verdict is kept."""
    # with nothing to compare or to weigh, no record is kept
    if len(files) == 1 and asked == EvidenceWanted():
        return {n: (verify(file, *notes, threads=threads), PassedRecords()) for n, file in files.items()}
    audited = {}
    for n, file in files.items():
        recorder = PassedRecorder(asked)
        verdict = verify(file, recorder.note, *notes, note_failed=recorder.fail, threads=threads)
        audited[n] = verdict, recorder.passed()
    return audited


def _read_evidence_items(file: bytes) -> tuple[EvidenceItem, ...] | Refutation:
    try:
        return read_evidence(file)
    except CheckError as error:
        return Refutation(error.check, error.message, error.culprit, None, 0)


def _weighed(items: Sequence[EvidenceItem], given: _Given) -> tuple[WeighedItem, ...]:
    return tuple(each for item in items for each in _weighed_item(item, given))


def _weighed_item(item: EvidenceItem, given: _Given) -> tuple[WeighedItem, ...]:
    """Weigh an item against every transcript of its match."""
    named = given.matches.get(item.mid, ())
    if not named:
        what = "refusal" if isinstance(item, SignedRefusal) else "complaint"
        return (WeighedItem(f"{what} in the match {item.mid.hex()[:16]}: {_NO_TRANSCRIPT}"),)
    return tuple(weigh(given.transcripts[n], item)._replace(transcript=n) for n in named)


def _lacks_transcript(weighed: Sequence[WeighedItem]) -> bool:
    return any(each.transcript is None for each in weighed)


def _refuting(weighed: Iterable[WeighedItem]) -> dict[int, Refutation]:
    """Return what the evidence refutes first in each transcript, by number."""
    found: dict[int, Refutation] = {}
    for each in weighed:
        # the first of several, in the order in which evidence was given: a verdict has one reason
        if each.transcript is not None and each.refutation is not None:
            found.setdefault(each.transcript, each.refutation)
    return found


def _with_evidence(verdict: Verdict, refuting: Refutation | None) -> Verdict:
    """Return the verdict on a transcript beside the evidence; what its own records show comes first."""
    if refuting is None or verdict.result not in (Result.PROVEN, Result.INCOMPLETE):
        return verdict
    return verdict._replace(result=Result.REFUTED, refutation=refuting)


def _agreements(given: _Given) -> Iterator[Agreement]:
    """Yield, for each match with several transcripts, how far they agree, as far as each passes."""
    for match, named in given.matches.items():
        if len(named) == 1:
            continue
        lists = [[item.record for item in given.transcripts[n].items if item.k is not None] for n in named]
        shortest = min(len(records) for records in lists)
        same = (all(each == row[0] for each in row) for row in zip(*lists, strict=False))
        common = sum(1 for _ in takewhile(bool, same))
        yield Agreement(match, tuple(named), common, is_whole=common == shortest)


def _contradictions(given: _Given) -> tuple[Contradiction, ...]:
    refusals = tuple(
        item for items in given.items.values() for item in items if isinstance(item, SignedRefusal)
    )
    return tuple(
        Contradiction(first, second, found)
        for first, second in _rivals(given.transcripts)
        for found in contradictions(given.transcripts[first], given.transcripts[second], refusals)
    )


def _rivals(transcripts: Mapping[int, PassedRecords]) -> list[tuple[int, int]]:
    """Return the pairs of transcripts that may contradict each other: of one nonce, where they differ in some place."""
    # whatever two lists can contradict each other in, a match, a table or a nonce, they share the nonce: 400
    # small matches take 4 seconds, where comparing every pair took 12
    nonces = _grouped(
        ((body.spk, body.tn), n)
        for n, each in transcripts.items()
        if each.signed and isinstance(body := each.signed[0].body, TableTerms)
    )
    several = (numbers for numbers in nonces.values() if len(numbers) > 1)
    return sorted(pair for numbers in several for pair in _differing({n: transcripts[n] for n in numbers}))


def _differing(transcripts: Mapping[int, PassedRecords]) -> Iterator[tuple[int, int]]:
    # equal lists, and one that another goes on from, contradict each other only in what they fail by
    lists = _grouped(
        ((tuple(item.record for item in each.items), each.failed), n) for n, each in transcripts.items()
    )
    for ((one, failed), here), ((other, failed_too), there) in combinations(lists.items(), 2):
        if failed or failed_too or any(a != b for a, b in zip(one, other, strict=False)):
            yield from ((min(pair), max(pair)) for pair in product(here, there))


def _grouped(pairs: Iterable[tuple[_Key, int]]) -> dict[_Key, list[int]]:
    """Return the numbers of each key, in the order in which they come."""
    groups: dict[_Key, list[int]] = {}
    for key, n in pairs:
        groups.setdefault(key, []).append(n)
    return groups


def ties(file: bytes) -> Ties:
    """Return what ties a file to others: of a transcript its nonce and its match, of evidence the matches it is about."""
    found: set[Hashable] = set()
    # nothing is checked: a forged tie only brings files together that need not be
    with suppress(CheckError):
        if is_evidence(file):
            return frozenset(item.mid for item in read_evidence(file))
        _, at = read_document_item(file)
        records = read_records(file, at)
        table = next((parse(record) for record in records), None)
        if isinstance(table, TableTerms):
            found.add((table.spk, table.tn))
            found.update(body_hash(record) for record in islice(records, table.seats, table.seats + 1))
    return frozenset(found)


def independent_parts(files: Mapping[int, Ties]) -> Iterator[tuple[int, ...]]:
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
                # popped, as each tie needs to be followed only once, however many files have it
                waiting += (other for tie in files[n] for other in tied.pop(tie, ()))
        if part:
            yield tuple(sorted(part))


def join_parts(parts: Sequence[ExaminedPart]) -> CrossAudit:
    """Return the outcome of all files from that of each part, as if all had been examined together."""
    files = {n: file for part in parts for n, file in part.files.items()}
    # the numbers of parts interleave
    contradictions = sorted((pair for part in parts for pair in part.contradictions), key=itemgetter(0, 1))
    agreements = sorted((each for part in parts for each in part.agreements), key=attrgetter("files"))
    return CrossAudit(tuple(files[n] for n in sorted(files)), tuple(contradictions), tuple(agreements))
