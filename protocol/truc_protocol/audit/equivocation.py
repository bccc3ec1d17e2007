"""Two histories by one signer: pairs of signed records that no honest party could both have signed (C33 to C36).

Only records that pass in their own list count, and of the server also the one that fails: what is signed twice is
signed twice. What one list shows by itself is for the auditor. The work grows with the length of the lists, not with
their product.
"""

import reprlib
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from truc_protocol.audit.verified_prefix import PassedRecord, PassedRecords, passed
from truc_protocol.bodies import (
    Act,
    AnyBody,
    Call,
    Keys,
    Lock,
    Mask,
    MatchStart,
    Rekey,
    Release,
    Resign,
    Sub,
    TableTerms,
)
from truc_protocol.checks import role_name
from truc_protocol.codec import sha256
from truc_protocol.crypto import keys
from truc_protocol.errors import OVERTAKEN_CODES
from truc_protocol.evidence_file import SignedRefusal
from truc_protocol.records import SERVER, Record, tag_of
from truc_protocol.transcript import Transcript

_Place = tuple[object, ...]
_Refused = tuple[bytes | None, bytes]
"""The match that a refusal names, and the SHA-256 of the body."""


class Equivocation(NamedTuple):
    """Two records that contradict each other; together they convict `culprit`.

    Attributes:
        places: the position of each in its list; None in the setup, and for a refusal, which is in none.
    """

    check: str
    culprit: str
    message: str
    first: Record
    second: Record
    places: tuple[int | None, int | None] = (None, None)


def compare(first: Transcript, second: Transcript) -> tuple[Equivocation, ...]:
    """Compare two transcripts, each as far as it passes: of one match, or of two that share terms."""
    return contradictions(passed(first), passed(second))


def contradictions(
    first: PassedRecords, second: PassedRecords, refusals: Sequence[SignedRefusal] = ()
) -> tuple[Equivocation, ...]:
    """Compare what passes of two transcripts.

    A body that the server refused convicts no seat here, nor does a decision that the rules may not have allowed.
    """
    refused = frozenset((each.mid, each.body.body) for each in refusals if _is_signed(each, first.items))
    one, other = first.signed, second.signed
    found = [
        *_setup_contradictions(one, other),
        *_server_contradictions(one, other),
        *_list_contradictions(first, second),
        *_seat_contradictions(first, second, refused),
    ]
    # one pair may share both a position and an index
    return tuple(dict.fromkeys(found))


def refused_record(transcript: PassedRecords, refusal: SignedRefusal) -> Equivocation | None:
    """Find the record that a refusal refuses, although its server took it or the rules allow it (C35)."""
    item = transcript.bodies.get(refusal.body.body)
    # only what one position binds: a release or an ack may come again, and is then refused for being a repeat
    if item is None or not isinstance(item.body, Act | Resign | Rekey | Sub):
        return None
    if item.body.mid != refusal.mid or not _is_signed(refusal, transcript.items):
        return None
    code = refusal.body.code
    # the server took what it has signed a record behind, so not the last that it has signed, which may be a rekey; what
    # stands after that, anybody may have put there
    if item in transcript.vouched[:-1]:
        what = "took it"
    # unless cards that nobody has opened decide whether it is allowed, or another record may have stood there
    elif item.is_sure and code not in OVERTAKEN_CODES:
        what = "the rules allow it there"
    else:
        return None
    message = f"the server refused the body at position {item.k} ({reprlib.repr(code)}) and {what}"
    return Equivocation("C35", "server", message, refusal.record, item.record, (None, item.k))


def _is_signed(refusal: SignedRefusal, items: Sequence[PassedRecord]) -> bool:
    """Tell whether the server of a list has signed a refusal."""
    table = items[0].body if items else None
    return isinstance(table, TableTerms) and keys.verify(table.spk, refusal.record.body, refusal.record.sig)


def _mid(body: AnyBody) -> bytes | None:
    return getattr(body, "mid", None)


def _setup_contradictions(
    one: Sequence[PassedRecord], other: Sequence[PassedRecord]
) -> Iterator[Equivocation]:
    """C36: a table serves one match, a nonce one table."""
    for a, b in product(_terms(one), _terms(other)):
        if a.record.body == b.record.body:  # one body may have several valid signatures
            continue
        match a.body, b.body:
            case TableTerms(), TableTerms() if (a.body.spk, a.body.tn) == (b.body.spk, b.body.tn):
                yield Equivocation("C36", "server", "two tables with one nonce", a.record, b.record)
            case MatchStart(), MatchStart() if a.body.th == b.body.th:
                yield Equivocation("C36", "server", "two matches on one table", a.record, b.record)
            case _:
                pass


def _terms(items: Sequence[PassedRecord]) -> Iterator[PassedRecord]:
    """Yield the table record of a list, and the match record that closes its setup."""
    return (item for item in items if isinstance(item.body, TableTerms | MatchStart))


def _server_contradictions(
    one: Sequence[PassedRecord], other: Sequence[PassedRecord]
) -> Iterator[Equivocation]:
    """C33: two bodies of the server for one position, two calls for one index."""
    for a, b in _rival_pairs(one, other):
        # a proxy has the server's role and nobody's signature
        if a.record.signer != SERVER or b.record.signer != SERVER or not (a.record.sig and b.record.sig):
            continue
        if a.k == b.k:
            message = f"the server signed two records for position {a.k}"
            yield Equivocation("C33", "server", message, a.record, b.record, (a.k, b.k))
        elif isinstance(a.body, Call):
            message = f"the server signed two calls for index {a.body.j}"
            yield Equivocation("C33", "server", message, a.record, b.record, (a.k, b.k))


def _list_contradictions(one: PassedRecords, other: PassedRecords) -> Iterator[Equivocation]:
    """C33: two lists of one match, each under a later signature of the server, that differ where both have a record."""
    for a, b in zip(one.vouched, other.vouched, strict=False):
        # whole records, not bodies: the signature is hashed into the head that the server signed later
        if a.k is not None and _mid(a.body) == _mid(b.body) and a.record != b.record:
            message = f"the server signed two histories that differ at position {a.k}"
            yield Equivocation("C33", "server", message, a.record, b.record, (a.k, b.k))
            return


def _seat_contradictions(
    one: PassedRecords, other: PassedRecords, refused: frozenset[_Refused]
) -> Iterator[Equivocation]:
    """C34: two decisions of a seat for one position, two releases for one index."""
    # a seat must not be convicted by what anybody has signed under a key that they brought themselves
    strangers = _newcomers_keys(one.items, other.items) - _newcomers_keys(one.vouched, other.vouched)
    for a, b in _rival_pairs(one.items, other.items):
        if (a.record.signer, a.key) != (b.record.signer, b.key) or a.key in strangers:
            continue
        match a.body, b.body:
            # after a decision that was refused, or that the rules may not have allowed, a seat may have
            # signed another; masks, locks and keys it makes once, whatever is said of them (C51)
            case Act() | Resign(), Act() | Resign() if (
                a.is_sure and b.is_sure and not _is_refused(refused, a, b)
            ):
                message = f"the seat signed two decisions for position {a.k}"
            case Release(), Release() if a.body.j == b.body.j:
                message = f"the seat signed two releases for index {a.body.j}"
            case Lock(), Lock():
                message = f"the seat signed two locks for position {a.k}"
            case (Mask(j=j), Mask(j=again)) | (Keys(j=j), Keys(j=again)) if j == again:
                message = f"the seat took one step with the pack of index {j} twice"
            case _:
                continue
        yield Equivocation("C34", role_name(a.record.signer), message, a.record, b.record, (a.k, b.k))


def _newcomers_keys(*lists: Sequence[PassedRecord]) -> frozenset[bytes]:
    """Return the keys of newcomers; anybody can bring one, so it is the seat's only once the server has signed after it."""
    return frozenset(item.body.pk for each in lists for item in each if isinstance(item.body, Sub))


def _is_refused(refused: frozenset[_Refused], *signed: PassedRecord) -> bool:
    # with the match: a refusal that names another one shows nothing, so it must not clear anybody either
    return any((_mid(each.body), sha256(each.record.body)) in refused for each in signed)


def _rival_pairs(
    one: Sequence[PassedRecord], other: Sequence[PassedRecord]
) -> Iterator[tuple[PassedRecord, PassedRecord]]:
    """Yield pairs of different bodies of one match that share a position, or are calls or releases of one index."""
    # looked up by place, so that the work grows with the length of the lists, not with their product
    places: dict[tuple[object, ...], list[PassedRecord]] = {}
    for place, item in _placed(one):
        places.setdefault(place, []).append(item)
    for place, item in _placed(other):
        for rival in places.get(place, ()):
            if rival.record.body != item.record.body:
                yield rival, item


def _placed(items: Sequence[PassedRecord]) -> Iterator[tuple[_Place, PassedRecord]]:
    """Yield each record by every place in which its signer may say only one thing."""
    gave_keys = set[_Place]()
    for item in items:
        for place in _places(item):
            if isinstance(item.body, Keys):
                # only those of the first deal: before later ones a pause may come in between, and then the seat has to
                # sign the same keys again for their new place (blind.md)
                if place in gave_keys:
                    continue
                gave_keys.add(place)
            yield place, item


def _places(item: PassedRecord) -> list[_Place]:
    if item.k is None:
        return []
    at = (_mid(item.body), "k", item.k)
    match item.body:
        # these come once for each index: two of them convict their signer wherever each stands
        case Call(j=j) | Release(j=j):
            return [at, (_mid(item.body), tag_of(item.body), j)]
        case Mask(j=j, seat=seat):
            return [at, (_mid(item.body), tag_of(item.body), j, seat)]
        case Keys(j=j, seat=seat):
            return [(_mid(item.body), tag_of(item.body), j, seat)]
        case _:
            return [at]
