"""How a vector about records, heads, handshakes and evidence is recomputed: true if it holds, and otherwise false or an error."""

from collections.abc import Sequence
from typing import Any

from truc_protocol.acts import read_act
from truc_protocol.audit import compare, examine
from truc_protocol.audit.evidence import weigh
from truc_protocol.audit.verified_prefix import passed
from truc_protocol.codec import dec, enc, sha256
from truc_protocol.crypto.keys import signing_key_from_seed
from truc_protocol.evidence_file import read_evidence
from truc_protocol.messages import KeyLogin, ServerHello
from truc_protocol.messages.table import Direction
from truc_protocol.records import KIND_OF, Binding, Record, next_head, parse, signer_of
from truc_protocol.transcript import Transcript, unpack_record, write_transcript
from truc_protocol.wire.encoding import decode
from truc_protocol.wire.handshake import (
    Challenge,
    KnownServer,
    Pin,
    SignedBody,
    check_login,
    check_revoke,
    check_server_hello,
    make_roll,
)

h = bytes.fromhex
Fields = dict[str, Any]


def value(projected: Any) -> Any:
    """Turn the JSON projection of a value back: {"bin": hex}, {"map": pairs}, everything else as it stands."""
    match projected:
        case {"bin": text}:
            return h(text)
        case {"map": pairs}:
            return {key: value(item) for key, item in pairs}
        case list():
            return [value(item) for item in projected]
        case _:
            return projected


def ids(_group: Fields, test: Fields) -> bool:
    th, mid = sha256(h(test["table"])), sha256(h(test["match"]))
    seats = [sha256(h(seat)) for seat in test["seats"]]
    listed = dec(h(test["match"])) == value(test["value"]) == ["truc/1/match", th, seats]
    return listed and (th, mid) == (h(test["th"]), h(test["mid"]))


def linked(_group: Fields, test: Fields) -> bool:
    record = Record(test["signer"], h(test["body"]), h(test["sig"]))
    return next_head(h(test["head"]), record) == h(test["next"])


def heads(_group: Fields, test: Fields) -> bool:
    head = h(test["mid"])
    found, parallel = [head], [0]
    for k, (signer, body, sig) in enumerate(test["records"]):
        record = Record(signer, h(body), h(sig))
        head = next_head(head, record)
        at_once = KIND_OF[type(parse(record))].binding is Binding.PARALLEL
        found.append(head)
        parallel.append(parallel[-1] if at_once else k + 1)
    return ([each.hex() for each in found], parallel) == (test["heads"], test["parallel"])


def bound(_group: Fields, test: Fields) -> bool:
    """Compare what a body carries with the place it has: P, or Q for a release or ack."""
    _, _, k, head, *_ = dec(h(test["body"]))
    place = {"P": (test["position"], test["head"]), "Q": (test["k0"], test["head0"])}
    return (k, head.hex()) == place[test["binding"]]


def record(group: Fields, test: Fields) -> bool:
    body = parse(Record(test["signer"], h(test["body"]), h(test["sig"])))
    items = dec(h(test["body"]))
    return (items, items[0], signer_of(body)) == (value(test["value"]), group["kind"], group["role"])


def args(group: Fields, test: Fields) -> bool:
    move = read_act(0, test["kind"], value(test["args"]), deck=group["deck"])
    return str(move.action.kind) == test["kind"]


def message_of(fields: Fields) -> ServerHello:
    """Return what a client was sent."""
    parts = {name: h(fields[name]) for name in ("body", "sig", "info")}
    rolls = tuple(tuple(map(h, roll)) for roll in fields["rolls"])
    return ServerHello(re=1, rolls=rolls, **parts)


def known_server_of(fields: Fields) -> KnownServer:
    """Return what the client of a test knows."""
    match fields["known"]:
        case None:
            known: Any = None
        case {"fingerprint": text}:
            known = text
        case pin:
            known = Pin(h(pin["first"]), h(pin["present"]), pin["serial"])
    return KnownServer(
        h(fields["client_frame"]),
        tuple(fields["offered"]),
        known,
        fields["now"],
        fields["cert"] and h(fields["cert"]),
        {h(key) for key in fields["revoked"]},
    )


def proved(hello: ServerHello, known_server: KnownServer) -> Fields:
    """Return what a hello proves."""
    server = check_server_hello(hello, known_server)
    pin = {"first": server.pin.first.hex(), "present": server.pin.present.hex(), "serial": server.pin.serial}
    return {"sn": server.sn.hex(), "pin": pin, "trust": server.trust.name.lower().replace("_", " ")}


def hello(_group: Fields, test: Fields) -> bool:
    came = message_of(test)
    assert decode(h(test["frame"]), Direction.TO_CLIENT) == came
    found = proved(came, known_server_of(test))
    return dec(came.body) == value(test["value"]) and found == {name: test[name] for name in found}


def login(_group: Fields, test: Fields) -> bool:
    came = KeyLogin(id=2, body=h(test["body"]), sig=h(test["sig"]))
    names = ("spk", "cn", "sn", "server_frame")
    challenge = Challenge(*(h(test[name]) for name in names), set(map(h, test["revoked"])))
    public = check_login(came, challenge)
    return (public, dec(came.body)) == (h(test["pk"]), value(test["value"]))


def roll(_group: Fields, test: Fields) -> bool:
    old, new = (signing_key_from_seed(h(test[name])) for name in ("old_seed", "new_seed"))
    made = make_roll(old, new, serial=test["serial"], not_before=test["not_before"])
    signed = tuple(h(test[name]) for name in ("body", "sig_old", "sig_new"))
    return made == signed and dec(made[0]) == value(test["value"])


def revocation(_group: Fields, test: Fields) -> bool:
    public = check_revoke(SignedBody(h(test["body"]), h(test["sig"])))
    return (public, enc(value(test["value"]))) == (h(test["pk"]), h(test["body"]))


def transcript(group: Fields, more: tuple[str, ...] = ()) -> Transcript:
    items = [*group["items"], *more]
    return Transcript(h(group["document"]), tuple(unpack_record(h(item)) for item in items))


def evidence_file(_group: Fields, test: Fields) -> bool:
    return len(read_evidence(h(test["file"]))) == test["count"]


def weighed(group: Fields, test: Fields) -> bool:
    (each,) = read_evidence(h(test["file"]))
    found = weigh(passed(transcript(group), (each,)), each)
    assert test.get("judgement") == found.judgement
    if found.refutation is None:
        return False
    refuted = found.refutation.check, found.refutation.k, found.refutation.culprit
    return refuted == (test["check"], test["record"], test["culprit"])


def together(group: Fields, test: Fields) -> bool:
    """Compare what files show, whichever stands first."""
    lists = [transcript(group, tuple(each)) for each in test["lists"]]
    evidence = [] if test["evidence"] is None else [h(test["evidence"])]
    files = [*(write_transcript(*each) for each in lists), *evidence]
    found = [[list(each) for each in sorted(shown(order))] for order in (files, files[::-1])]
    assert found == [test["found"]] * 2
    return bool(test["found"])


def shown(files: Sequence[bytes]) -> set[tuple[str, str]]:
    """Return what files show together beyond what each list shows by itself: checks, and who is to blame."""
    examined = examine(files)
    weighed = (each for file in examined.files for each in getattr(file, "weighed", ()))
    refuted = {(each.refutation.check, each.refutation.culprit) for each in weighed if each.refutation}
    return refuted | {(each.found.check, each.found.culprit) for each in examined.contradictions}


def pair(group: Fields, test: Fields) -> bool:
    lists = [transcript(group, tuple(test[name])) for name in ("first", "second")]
    found = sorted({(each.check, each.culprit) for each in compare(*lists)})
    assert [list(each) for each in found] == test["found"]
    return bool(found)
