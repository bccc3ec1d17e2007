"""Two histories from one hand: pairs of signed records that no honest party could both have signed (C33 to C36).

Every record is checked by an auditor of its own list before it counts, so each piece of evidence stands on valid
signatures under the keys in force. What one list shows by itself is the auditor's business.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from truc_protocol import keys
from truc_protocol.audit.auditor import AuditError, Auditor
from truc_protocol.bodies import Act, AnyBody, Call, MatchStart, Refuse, Release, Resign, Table
from truc_protocol.checks import role_name
from truc_protocol.codec import sha256
from truc_protocol.evidence_file import read_refusal
from truc_protocol.records import SERVER, Record, tag_of
from truc_protocol.transcript import Transcript


class Equivocation(NamedTuple):
    """Two records that contradict each other; together they convict `culprit`.

    Attributes:
        places: the position of each in its list; None in the setup, and for a refusal, which stands in none.
    """

    check: str
    culprit: str
    message: str
    first: Record
    second: Record
    places: tuple[int | None, int | None] = (None, None)


class _Signed(NamedTuple):
    """A record that passed, with its body, its position (None in the setup) and the key it was signed under."""

    record: Record
    body: AnyBody
    k: int | None
    key: bytes | None


def compare(
    first: Transcript, second: Transcript, refusals: Sequence[Record] = ()
) -> tuple[Equivocation, ...]:
    """Compare two transcripts, each as far as it passes; the same match twice, or two that share terms.

    A seat may decide again for a position once the server has refused it, so its refused bodies convict nobody here.
    """
    one, other = _passed(first), _passed(second)
    refused = _refused_bodies(one, refusals)
    found = [*_setups(one, other), *_server(one, other), *_lists(one, other), *_seats(one, other, refused)]
    return tuple(dict.fromkeys(found))


def _refused_bodies(passed: list[_Signed], refusals: Sequence[Record]) -> frozenset[bytes]:
    """Return the SHA-256 of every body that the server of a list refused."""
    if not passed or not isinstance(passed[0].body, Table):
        return frozenset()
    spk = passed[0].body.spk
    return frozenset(refuse.body for record in refusals if (refuse := signed_refusal(record, spk)))


def refused_records(transcript: Transcript, refusals: Sequence[Record]) -> tuple[Equivocation, ...]:
    """Find records of a transcript that its server had refused by signature (C35)."""
    passed = _passed(transcript)
    if not passed or not isinstance(passed[0].body, Table):
        return ()
    bodies = {sha256(item.record.body): item for item in passed}
    found = []
    for refusal in refusals:
        body = signed_refusal(refusal, passed[0].body.spk)
        item = None if body is None else bodies.get(body.body)
        if body is not None and item is not None and _mid(item.body) == body.mid:
            message = f"the server refused the body at position {item.k} ({body.code}) and took it"
            found.append(Equivocation("C35", "server", message, refusal, item.record, (None, item.k)))
    return tuple(found)


def signed_refusal(record: Record, spk: bytes) -> Refuse | None:
    """Return a refusal signed by this server, None if the record is no such thing."""
    refusal = read_refusal(record)
    signed = refusal is not None and keys.verify(spk, record.body, record.sig)
    return refusal.body if refusal is not None and signed else None


def _passed(transcript: Transcript) -> list[_Signed]:
    auditor, passed = Auditor(transcript.document), []
    for record in transcript.records:
        before = auditor.ledger
        try:
            finding = auditor.feed(record)
        except AuditError:
            break
        author = before.contributors[record.signer] if before is not None and record.sig else None
        passed.append(_Signed(record, finding.body, finding.k, None if author is None else author.public))
    return passed


def _mid(body: AnyBody) -> bytes | None:
    return getattr(body, "mid", None)


def _setups(one: list[_Signed], other: list[_Signed]) -> Iterator[Equivocation]:
    """C36: a table serves one match, a nonce one table."""
    for a, b in product(one, other):
        if a.record.body == b.record.body:
            continue
        match a.body, b.body:
            case Table(), Table() if (a.body.spk, a.body.tn) == (b.body.spk, b.body.tn):
                yield Equivocation("C36", "server", "two tables with one nonce", a.record, b.record)
            case MatchStart(), MatchStart() if a.body.th == b.body.th:
                yield Equivocation("C36", "server", "two matches on one table", a.record, b.record)
            case _:
                pass


def _server(one: list[_Signed], other: list[_Signed]) -> Iterator[Equivocation]:
    """C33: two bodies of the server for one position, two calls for one index."""
    for a, b in _contradictions(one, other):
        if a.record.signer != SERVER or b.record.signer != SERVER or not (a.record.sig and b.record.sig):
            continue
        if a.k == b.k:
            message = f"the server signed two records for position {a.k}"
            yield Equivocation("C33", "server", message, a.record, b.record, (a.k, b.k))
        elif isinstance(a.body, Call) and isinstance(b.body, Call) and a.body.j == b.body.j:
            message = f"the server signed two calls for index {a.body.j}"
            yield Equivocation("C33", "server", message, a.record, b.record, (a.k, b.k))


def _lists(one: list[_Signed], other: list[_Signed]) -> Iterator[Equivocation]:
    """C33: two lists of one match, each under a later signature of the server, that differ where both have a record."""
    for a, b in zip(_vouched(one), _vouched(other), strict=False):
        if a.k is not None and _mid(a.body) == _mid(b.body) and a.record != b.record:
            message = f"the server signed two histories that differ at position {a.k}"
            yield Equivocation("C33", "server", message, a.record, b.record, (a.k, b.k))
            return


def _vouched(passed: list[_Signed]) -> list[_Signed]:
    last = max(
        (at for at, item in enumerate(passed) if item.record.signer == SERVER and item.record.sig), default=-1
    )
    return passed[: last + 1]


def _seats(one: list[_Signed], other: list[_Signed], refused: frozenset[bytes]) -> Iterator[Equivocation]:
    """C34: two decisions of a seat for one position, two releases for one index."""
    for a, b in _contradictions(one, other):
        if a.record.signer == SERVER or (a.record.signer, a.key) != (b.record.signer, b.key):
            continue
        match a.body, b.body:
            case Act() | Resign(), Act() | Resign() if a.k == b.k and not _is_refused(refused, a, b):
                message = f"the seat signed two decisions for position {a.k}"
            case Release(), Release() if a.body.j == b.body.j:
                message = f"the seat signed two releases for index {a.body.j}"
            case _:
                continue
        yield Equivocation("C34", role_name(a.record.signer), message, a.record, b.record, (a.k, b.k))


def _is_refused(refused: frozenset[bytes], *signed: _Signed) -> bool:
    return any(sha256(each.record.body) in refused for each in signed)


def _contradictions(one: list[_Signed], other: list[_Signed]) -> Iterator[tuple[_Signed, _Signed]]:
    """Yield pairs of different bodies of one match that share a position, or are calls or releases of one index."""
    places: dict[tuple[object, ...], list[_Signed]] = {}
    for item in one:
        for place in _places(item):
            places.setdefault(place, []).append(item)
    for item in other:
        for place in _places(item):
            for rival in places.get(place, ()):
                if rival.record.body != item.record.body:
                    yield rival, item


def _places(item: _Signed) -> list[tuple[object, ...]]:
    if item.k is None:
        return []
    found: list[tuple[object, ...]] = [(_mid(item.body), "k", item.k)]
    if isinstance(item.body, Call | Release):
        found.append((_mid(item.body), tag_of(item.body), item.body.j))
    return found
