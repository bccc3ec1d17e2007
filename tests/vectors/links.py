"""Make links.json: how records hang together by heads, and what binds a release to its call."""

from vectors.shape import Group, Test, Vectors, projected_body, test, vectors
from vectors.transcripts.make import FOLDER

from truc_protocol.audit import Auditor
from truc_protocol.bodies import Ack, Act, Draw, Proxy, Release
from truc_protocol.codec import sha256
from truc_protocol.records import Record, body_hash, link, parse
from truc_protocol.transcript import Transcript, read_transcript

HEADER = (
    "Ids of a match, the head after a record, and the heads of whole lists.",
    "A record is [signer, body, sig]. Heads stand before position 0, 1, …; parallel gives k0 for each of these positions.",
)
NOTES = {
    "Altered": "One field is not the one that was linked.",
    "Order": "The records of a list stand in another order, or one is missing or stands twice.",
    "Hash": "The hash of something else than the bodies.",
}
SOURCES = ("gauderio-guests.truc", "trut-resigned.truc")


def record_fields(record: Record) -> dict[str, object]:
    """Return a record's three fields, bytes in hex."""
    return {"signer": record.signer, "body": record.body.hex(), "sig": record.sig.hex()}


def _setup_count(records: tuple[Record, ...]) -> int:
    return parse(records[0]).seats + 2


def _ids(records: tuple[Record, ...]) -> list[Test]:
    setup = records[: _setup_count(records)]
    fields = {
        "table": setup[0].body.hex(),
        "seats": [seat.body.hex() for seat in setup[1:-1]],
        "match": setup[-1].body.hex(),
        "value": projected_body(setup[-1].body),
        "th": body_hash(setup[0]).hex(),
        "mid": body_hash(setup[-1]).hex(),
    }
    with_sig = sha256(setup[-1].body + setup[-1].sig).hex()
    return [
        test("ids of a match", "valid", **fields),
        test("the match's signature hashed along", "invalid", "Hash", **fields | {"mid": with_sig}),
        test("seats in another order", "invalid", "Order", **fields | {"seats": fields["seats"][::-1]}),
        test(
            "the id of the table for that of the match", "invalid", "Hash", **fields | {"mid": fields["th"]}
        ),
    ]


def _link_tests(head: bytes, record: Record, what: str) -> list[Test]:
    honest = {"head": head.hex(), **record_fields(record), "next": link(head, record).hex()}
    changed = {
        "another head": {"head": honest["next"]},
        "another signer": {"signer": record.signer + 1},
        "another body": {"body": record.body[:-1].hex() + f"{record.body[-1] ^ 1:02x}"},
        "another signature": {"sig": "77" * 64 if not record.sig else ""},
    }
    invalid = [
        test(f"{what}, {name}", "invalid", "Altered", **honest | change) for name, change in changed.items()
    ]
    return [test(what, "valid", **honest), *invalid]


def _heads(transcript: Transcript) -> tuple[list[Record], list[bytes], list[int]]:
    """Return the records after the setup, and for each position from 0 the head and k0, as the ledger has them."""
    count = _setup_count(transcript.records)
    auditor = Auditor(transcript.document)
    ledgers = [(auditor.feed(record), auditor.ledger)[1] for record in transcript.records][count - 1 :]
    records = list(transcript.records[count:])
    heads, parallel = [ledger.head for ledger in ledgers], [ledger.parallel[0] for ledger in ledgers]
    return records, heads, parallel


def _list_tests(records: list[Record], heads: list[bytes], parallel: list[int], shown: int) -> list[Test]:
    begin = records[:shown]

    def listed(comment: str, result: str, *flags: str, records: list[Record] = begin) -> Test:
        items = [[record.signer, record.body.hex(), record.sig.hex()] for record in records]
        ends = {"heads": [head.hex() for head in heads[: shown + 1]], "parallel": parallel[: shown + 1]}
        return test(comment, result, *flags, mid=heads[0].hex(), records=items, **ends)

    return [
        listed(f"the first {shown} records of a match", "valid"),
        listed("the second left out", "invalid", "Order", records=[begin[0], *begin[2:]]),
        listed("two exchanged", "invalid", "Order", records=[begin[0], begin[2], begin[1], *begin[3:]]),
        listed("the first twice", "invalid", "Order", records=[begin[0], *begin]),
    ]


def _bound_tests(records: list[Record], heads: list[bytes], parallel: list[int]) -> list[Test]:
    """One record of each binding: P is the place itself, Q that of the call or end before it."""
    tests = []
    for kind in (Draw, Act, Release, Ack):
        at = max(k for k, record in enumerate(records) if isinstance(parse(record), kind))
        binding = "Q" if kind in (Release, Ack) else "P"
        k = parallel[at] if binding == "Q" else at
        body = records[at].body
        fields = {"position": at, "binding": binding, "k0": parallel[at], "body": body.hex()}
        heads_then = {"head": heads[at].hex(), "head0": heads[parallel[at]].hex()}
        assert (parse(records[at]).k, parse(records[at]).head) == (k, heads[k])
        tests.append(test(f"{kind.__name__.lower()} at {at}", "valid", **fields, **heads_then))
        elsewhere = {
            "position": at + 1,
            "k0": at + 1,
            "head": heads[at + 1].hex(),
            "head0": heads[at + 1].hex(),
        }
        comment = f"{kind.__name__.lower()} of {at} at {at + 1}"
        tests.append(test(comment, "invalid", "Order", **fields | elsewhere))
    return tests


def made() -> Vectors:
    """Return the file."""
    guests, keyed = (read_transcript((FOLDER / name).read_bytes()) for name in SOURCES)
    placed, heads, parallel = _heads(keyed)
    proxied, proxy_heads, _ = _heads(guests)
    at = next(k for k, record in enumerate(proxied) if isinstance(parse(record), Proxy))
    return vectors(
        HEADER,
        NOTES,
        [
            Group("ids", [*_ids(keyed.records), *_ids(guests.records)]),
            Group(
                "link",
                [
                    *_link_tests(heads[0], placed[0], "the first call"),
                    *_link_tests(heads[1], placed[1], "a release"),
                    *_link_tests(proxy_heads[at], proxied[at], "a proxy"),
                ],
            ),
            Group("heads", _list_tests(placed, heads, parallel, 9)),
            Group("bound", _bound_tests(placed, heads, parallel)),
        ],
    )
