"""Make evidence.json: complaints about garbled boxes, refusals of what was taken, and two histories of one match."""

from typing import Any

from protocol.forge import altered, small, until
from protocol.peers import Table, secret
from protocol.rewriting import listed_again
from protocol.shared import sharing_table
from vectors.shape import Group, Test, Vectors, test, vectors
from vectors.transcripts.damage import encoded_items
from vectors.transcripts.tampered import case_tables, forgery_of

from truc_protocol.audit import compare
from truc_protocol.audit.evidence import weigh
from truc_protocol.audit.verified_prefix import passed
from truc_protocol.bodies import Call, Deal, Refuse, Release, Share
from truc_protocol.codec import sha256
from truc_protocol.evidence_file import Complaint, EvidenceItem, SignedRefusal, read_refusal, write_evidence
from truc_protocol.records import Record, body_hash, encode, parse
from truc_protocol.setup import Opts
from truc_protocol.transcript import Transcript
from truc_rules import deciders

HEADER = (
    "What is shown beside a transcript. document and items are a transcript; an evidence file stands in `file`.",
    "Valid: it convicts, by the check, of the record at that position. Invalid: it shows nothing of anybody.",
    "pair: both lists begin with the group's items; found is everything the two show, as [check, culprit].",
)
NOTES = {
    "Honest": "The box opens and holds what was committed to.",
    "NoComplaint": "Not the secret of the key in force, or no box of that seat there.",
    "NotRefused": "Nothing that was refused stands in the transcript.",
    "Signature": "A refusal that the server has not signed.",
    "OtherMatch": "Evidence about another match.",
    "OneHistory": "Lists that do not contradict each other.",
    "File": "No evidence file.",
}


def _base(table: Table, *more: Record) -> dict[str, Any]:
    return {
        "document": table.document.hex(),
        "items": [item.hex() for item in encoded_items([*table.records, *more])],
    }


def _weighed(transcript: Transcript, each: EvidenceItem, comment: str, *flags: str, **more: Any) -> Test:
    weighed = weigh(passed(transcript, (each,)), each)
    found = weighed.refutation
    fields: dict[str, Any] = {"file": write_evidence([each]).hex(), **more}
    if weighed.judgement is not None:
        fields["judgement"] = str(weighed.judgement)
    if found is None:
        return test(comment, "invalid", *flags, **fields)
    return test(comment, "valid", **fields, check=found.check, record=found.k, culprit=found.culprit)


def _garbled() -> list[Group]:
    """The cases of the tests in which a seat finds its box garbled, each with the complaint it would hand over."""
    groups = []
    for name, row in case_tables():
        forgery = forgery_of(row) if row.check == "C18" else None
        if forgery is not None and forgery.own is not None:
            transcript = Transcript(forgery.document, tuple(forgery.records))
            body = parse(forgery.records[-1])
            each = Complaint(body.mid, body.k, forgery.own.seat, forgery.own.x.secret)
            items = [item.hex() for item in encoded_items(forgery.records)]
            base = {"document": forgery.document.hex(), "items": items}
            groups.append(Group("complaint", [_weighed(transcript, each, name)], base))
    return groups


def _complaint_tests(table: Table, k: int, seat: int) -> list[Test]:
    """An honest box, and complaints that are none."""
    transcript = Transcript(table.document, tuple(table.records))
    mid, own = table.setup.mid, table.players[seat].x.secret
    stranger = secret("stranger", 1)

    def about(comment: str, flag: str, **fields: Any) -> Test:
        asked = {"mid": mid, "k": k, "seat": seat, "secret": own} | fields
        return _weighed(transcript, Complaint(**asked), comment, flag)

    return [
        about("an honest box", "Honest"),
        about("a secret of one's own making", "NoComplaint", secret=stranger),
        about("the secret of another seat", "NoComplaint", seat=(seat + 1) % len(table.players)),
        about("a record that holds no box", "NoComplaint", k=0),
        about("a position that does not exist", "NoComplaint", k=10_000),
        about("a seat that does not exist", "NoComplaint", seat=9),
        about("another match", "OtherMatch", mid=sha256(b"another")),
    ]


def _complaints() -> list[Group]:
    dealt = Table(small()).to("hand")
    k = next(k for k, body in _placed(dealt) if isinstance(body, Deal))
    shared = sharing_table().run(until=lambda ledger: ledger.hand is not None and bool(ledger.hand.shares))
    at, share = next((k, body) for k, body in _placed(shared) if isinstance(body, Share))
    return [
        *_garbled(),
        Group("complaint", _complaint_tests(dealt, k, 1), _base(dealt)),
        Group("complaint", _complaint_tests(shared, at, share.receiver), _base(shared)),
    ]


def _placed(table: Table) -> list[tuple[int, Any]]:
    return list(enumerate(map(parse, table.records[len(table.setup.records) :])))


def _refusals() -> Group:
    table = Table(small()).to("hand")
    act = table.act(deciders(table.ledger.match)[0], "stand")
    table.add(act)
    transcript = Transcript(table.document, tuple(table.records))
    taken = Refuse(table.setup.mid, body_hash(act), "illegal_action")
    another = Refuse(table.setup.mid, sha256(b"never taken"), "illegal_action")
    elsewhere = Refuse(sha256(b"another match"), body_hash(act), "illegal_action")
    release = next(record for record in table.records if isinstance(parse(record), Release))
    again = Refuse(table.setup.mid, body_hash(release), "not_now")

    def refusal(comment: str, body: Refuse, *flags: str, sig: bytes | None = None) -> Test:
        record = table.sign(body) if sig is None else Record(0, encode(body), sig)
        read = read_refusal(record)
        assert isinstance(read, SignedRefusal)
        return _weighed(transcript, read, comment, *flags)

    by_seat = table.players[0].key.sign(encode(taken))
    tests = [
        refusal("an act that was refused and taken", taken),
        refusal("a body that does not stand there", another, "NotRefused"),
        refusal("a release, refused when it came a second time", again, "NotRefused"),
        refusal("the same body in another match", elsewhere, "OtherMatch"),
        refusal("signed by a seat", taken, "Signature", sig=by_seat),
        refusal("not signed", taken, "Signature", sig=bytes(64)),
    ]
    return Group("refusal", tests, _base(table))


def _pair(comment: str, table: Table, first: list[Record], second: list[Record], *flags: str) -> Group:
    lists = [Transcript(table.document, (*table.records, *more)) for more in (first, second)]
    found = sorted({(each.check, each.culprit) for each in compare(*lists)})
    fields = {
        "first": [item.hex() for item in encoded_items(first)],
        "second": [item.hex() for item in encoded_items(second)],
        "found": [list(each) for each in found],
    }
    return Group("pair", [test(comment, "valid" if found else "invalid", *flags, **fields)], _base(table))


def _server_pairs() -> list[Group]:
    table = Table(small()).to("hand")
    ruling, abandoned = table.dealer.move(table.ledger), table.dealer.abandon(table.ledger, "server")
    between = Table(small()).to("between", index=1)
    call = until(between, Call)
    rekey = between.players[0].rekey(between.ledger)
    later = _called_after(between, rekey)
    return [
        _pair("two records of the server for one position", table, [ruling], [abandoned]),
        _pair("two calls for one index", between, [call], later),
        _pair("one list longer than the other", table, [], [ruling], "OneHistory"),
        _pair("a list twice", table, [ruling], [ruling], "OneHistory"),
    ]


def _called_after(table: Table, record: Record) -> list[Record]:
    kept, ledger = list(table.records), table.ledger
    table.add(record)
    added = [record, until(table, Call)]
    table.records, table.ledger = kept, ledger
    return added


def _seat_pairs() -> list[Group]:
    table = Table(small()).to("hand")
    seat = deciders(table.ledger.match)[0]
    acts = [table.act(seat, kind) for kind in ("stand", "redeal")]
    resign = table.players[seat].resign(table.ledger)
    return [
        _pair("two acts for one position", table, acts[:1], acts[1:]),
        _pair("an act and a resignation for one position", table, acts[:1], [resign]),
        _pair("acts of two seats", table, acts[:1], [table.act(1 - seat, "pause")], "OneHistory"),
        _two_releases(),
    ]


def _two_releases() -> Group:
    """One seat's release for one index, under two heads: the other seat's rekey stands before one of the calls."""
    table = Table(small()).to("between", index=1)
    kept, ledger, player = list(table.records), table.ledger, table.players[1]
    branches = []
    for first in ([], [table.players[0].rekey(table.ledger)]):
        table.records, table.ledger = list(kept), ledger
        for record in first:
            table.add(record)
        table.add(until(table, Call))
        table.add(player.release(table.ledger))
        branches.append(table.records[len(kept) :])
    table.records, table.ledger = kept, ledger
    assert all(isinstance(parse(branch[-1]), Release) for branch in branches)
    return _pair("two releases for one index", table, *branches)


def _setup_pairs() -> list[Group]:
    """Lists that part in the setup: nothing stands before them."""
    table, other, fresh = Table(small()), Table(small(), opts=Opts(voids=2)), Table(small(), seed=2)
    renamed = listed_again(table, [table.records[1], altered(table, table.records[2], name=b"another")])
    empty = Table(small())
    empty.records = []
    return [
        _pair("two tables with one nonce", empty, table.records, other.records),
        _pair("two matches on one table", empty, table.records, [table.records[0], *renamed]),
        _pair("two matches", empty, table.records, fresh.records, "OtherMatch"),
    ]


def _files() -> Group:
    table = Table(small()).to("hand")
    each = Complaint(table.setup.mid, 3, 1, table.players[1].x.secret)
    refusal = read_refusal(table.sign(Refuse(table.setup.mid, sha256(b"a body"), "not_your_turn")))
    assert refusal is not None
    both = write_evidence([each, refusal])
    magic = len(write_evidence([]))
    damaged = {
        "no bytes": b"",
        "the magic of a transcript": b"truc transcript 1\n" + both[magic:],
        "cut within an item": both[:-1],
        "cut within a length": both[: magic + 2],
        "an item that is neither": both + b"\0\0\0\1\xc0",
        "a record of a transcript": both + _as_item(encoded_items(table.records[:1])[0]),
        "a refusal in a seat's name": both + _as_item(encoded_items([refusal.record._replace(signer=1)])[0]),
        "a byte after the last item": both + b"\0",
    }
    good = {"nothing": [], "a complaint": [each], "a refusal": [refusal], "both": [each, refusal]}
    valid = [
        test(comment, "valid", file=write_evidence(items).hex(), count=len(items))
        for comment, items in good.items()
    ]
    invalid = [test(comment, "invalid", "File", file=file.hex()) for comment, file in damaged.items()]
    return Group("evidence-file", [*valid, *invalid])


def _as_item(item: bytes) -> bytes:
    return len(item).to_bytes(4, "big") + item


def made() -> Vectors:
    """Return the file."""
    pairs = [*_server_pairs(), *_seat_pairs(), *_setup_pairs()]
    return vectors(HEADER, NOTES, [_files(), *_complaints(), _refusals(), *pairs])
