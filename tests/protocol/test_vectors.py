"""Every vector file is recomputed here: what is valid is made again, what is invalid is refused."""

import json
from pathlib import Path

from protocol.recomputing import value
from rows import each_row
from vectors.records import kept_records, of_kind
from vectors.shape import kept_tests

from protocol import recomputing
from truc_protocol import boxes, dealing
from truc_protocol.checks import CheckError
from truc_protocol.codec import EncodingError, dec, digest, enc, sha256, unpack
from truc_protocol.crypto import chains, keys, shuffle
from truc_protocol.dealing import Opening
from truc_protocol.records import DEALT, PHASES, tag_of
from truc_protocol.wire import transport
from truc_protocol.wire.encoding import MessageError
from truc_protocol.wire.handshake import HandshakeError
from truc_rules import Kind, preset, presets

FOLDER = Path(__file__).parents[1] / "vectors"
NAMES = (
    *("encoding", "chains", "shuffle", "deal", "boxes", "keys", "links", "records", "handshake", "web"),
    *("evidence", "contradictions"),
)
h = bytes.fromhex


def read(name):
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def same(left, right):
    """Compare values as msgpack does: true is not 1."""
    return repr(left) == repr(right)


def tuples(nested):
    return tuple(map(tuples, nested)) if isinstance(nested, list) else nested


def links(test):
    return [(role, h(link)) for role, link in test["links"]]


def hand(projected):
    return tuple(Opening(card, h(salt)) for card, salt in projected)


def canonical(_group, test):
    decoded = dec(h(test["bytes"]))
    return same(decoded, value(test["value"])) and enc(decoded) == h(test["bytes"])


def wire(_group, test):
    return same(unpack(h(test["bytes"])), value(test["value"]))


def hashed(_group, test):
    return digest(test["tag"], *value(test["fields"])) == h(test["digest"])


def body(_group, test):
    encoded = enc(value(test["value"]))
    return (encoded, len(encoded), sha256(encoded)) == (h(test["bytes"]), test["length"], h(test["sha256"]))


def chain(group, test):
    public, tn, anchor = h(group["public"]), h(group["tn"]), h(group["anchor"])
    made = chains.Chain(public, tn, h(group["root"]), first=group["first"], count=group["count"])
    index, link = test["index"], h(test["link"])
    descends = chains.descends(public, tn, known=(group["first"], anchor), index=index, link=link)
    listed = made.first <= index <= made.last and made.link(index) == link
    assert descends == listed
    return made.anchor == anchor and descends


def stream(_group, test):
    octets = shuffle.stream(h(test["seed"]))
    return all(next(octets) == octet for octet in h(test["start"]))


def order(_group, test):
    return shuffle.shuffle(h(test["seed"]), test["size"]) == test["order"]


def pick(_group, test):
    return shuffle.pick(h(test["seed"]), test["bound"]) == test["picked"]


def seed(_group, test):
    return dealing.seed(h(test["mid"]), test["j"], links(test)) == h(test["seed"])


def draw(_group, test):
    return dealing.first_dealer(h(test["mid"]), test["j"], links(test), test["seats"]) == test["first"]


def salt(_group, test):
    before = [dealing.DealtCards((), (), 0)] * test["d"]
    dealt = dealing.deal_cards(h(test["seed"]), range(40), before=before, dealer=0, seats=2, ncards=3, up=0)
    return dealt.hands[test["seat"]][test["slot"]].salt == h(test["salt"])


def leaf(_group, test):
    where = {name: test[name] for name in ("j", "d", "seat", "slot")}
    opening = Opening(test["card"], h(test["salt"]))
    return dealing.leaf(h(test["mid"]), **where, opening=opening) == h(test["leaf"])


def deal(_group, test):
    mid, before = h(test["mid"]), []
    pack = dealing.deck_order(h(test["seed"]), size=test["deck"], cut=test["cut"])
    agrees = list(pack) == test["order"]
    where = {name: test[name] for name in ("dealer", "seats", "ncards", "up")}
    for d, expected in enumerate(test["deals"]):
        dealt = dealing.deal_cards(h(test["seed"]), pack, before=before, **where)
        leaves = dealing.leaves(mid, j=test["j"], d=d, hands=dealt.hands)
        shown = [
            dealing.hand_digest(mid, j=test["j"], d=d, seat=seat, leaves=row).hex()
            for seat, row in enumerate(leaves)
        ]
        agrees &= dealt.hands == tuple(map(hand, expected["hands"])) and list(dealt.up) == expected["up"]
        agrees &= [[item.hex() for item in row] for row in leaves] == expected["leaves"]
        agrees &= shown == expected["digests"]
        before.append(dealt)
    return agrees


def sealed_hand(_group, test):
    shared, mid = h(test["shared"]), h(test["mid"])
    where = {name: test[name] for name in ("j", "d", "seat")}
    opened = boxes.open_hand(shared, mid, **where, box=h(test["box"]))
    again = boxes.seal_hand(shared, mid, **where, hand=opened)
    key = keys.hkdf(shared, mid, enc(["truc/1/box", *where.values()]))
    return (opened, again, key) == (hand(test["hand"]), h(test["box"]), h(test["key"]))


def sealed_share(_group, test):
    shared, mid = h(test["shared"]), h(test["mid"])
    where = {name: test[name] for name in ("j", "d", "giver", "receiver")}
    opened = boxes.open_share(shared, mid, **where, box=h(test["box"]))
    again = boxes.seal_share(shared, mid, **where, hand=opened)
    key = keys.hkdf(shared, mid, enc(["truc/1/sharebox", *where.values()]))
    return (opened, again, key) == (hand(test["hand"]), h(test["box"]), h(test["key"]))


def sealed_options(_group, test):
    mid, where = h(test["mid"]), {name: test[name] for name in ("seat", "at", "offer")}
    key = boxes.downward_key(h(test["shared"]), mid, test["seat"])
    opened = boxes.open_options(key, mid, **where, box=h(test["box"]), after=test["after"])
    counter = boxes.counter(epoch=test["epoch"], number=test["number"])
    fill = test.get("fill", boxes.BLOCK_BYTES)
    again = boxes.seal_options(key, mid, **where, ctr=counter, options=opened.options, fill=fill)
    expected = tuple(
        boxes.Option(kind, tuple(args), line, tuples(hints))
        for kind, args, line, hints in value(test["options"])
    )
    assert h(test["nonce"]) == bytes(4) + again[:8]
    return (opened, again, key) == ((counter, expected), h(test["box"]), h(test["key"]))


def sealed_sign(_group, test):
    mid, where = h(test["mid"]), {name: test[name] for name in ("seat", "at", "sender")}
    key = boxes.downward_key(h(test["shared"]), mid, test["seat"])
    opened = boxes.open_sign(key, mid, **where, box=h(test["box"]), after=test["after"])
    counter = boxes.counter(epoch=test["epoch"], number=test["number"])
    again = boxes.seal_sign(key, mid, **where, ctr=counter, word=opened.word)
    return (opened, again, key) == ((counter, test["word"]), h(test["box"]), h(test["key"]))


def sealed_sign_up(_group, test):
    mid, where = h(test["mid"]), {name: test[name] for name in ("seat", "at", "to")}
    key = boxes.upward_key(h(test["shared"]), mid, test["seat"])
    word = boxes.open_sign_up(key, mid, **where, box=h(test["box"]))
    again = boxes.seal_sign_up(key, mid, **where, nonce=h(test["nonce"]), word=word)
    return (word, again, key) == (test["word"], h(test["box"]), h(test["key"]))


def padding(_group, test):
    plaintext = boxes.unpad(h(test["padded"]))
    fill = test.get("fill", boxes.BLOCK_BYTES)
    return plaintext == h(test["plain"]) and boxes.pad(plaintext, fill) == h(test["padded"])


def admission(_group, test):
    return keys.is_admissible(h(test["public"]))


def signature(_group, test):
    return keys.verify(h(test["public"]), h(test["body"]), h(test["signature"]))


def box_admission(_group, test):
    return keys.is_admissible_box_key(h(test["x"]))


def exchange(_group, test):
    key = keys.box_key(h(test["secret"]))
    shared = key.exchange(h(test["peer"]))
    return (key.public, shared) == (h(test["public"]), h(test["shared"]))


def fingerprint(_group, test):
    return keys.fingerprint(h(test["spk"])) == test["fingerprint"]


def web(_group, test):
    return transport.origin_binding(test["origin"]) == h(test["cert"])


def player(_group, test):
    made = keys.player_seed(h(test["master"]), h(test["spk"]))
    return (made, keys.signing_key_from_seed(made).public) == (h(test["seed"]), h(test["public"]))


# The group's type, how a test of it is recomputed, and what refuses an invalid one if not a plain no.
CHECKS = {
    "canonical": (canonical, EncodingError),
    "wire": (wire, EncodingError),
    "digest": (hashed, ()),
    "body": (body, ()),
    "chain": (chain, ()),
    "stream": (stream, ()),
    "shuffle": (order, ValueError),
    "pick": (pick, ValueError),
    "seed": (seed, ()),
    "draw": (draw, ()),
    "salt": (salt, ()),
    "leaf": (leaf, ()),
    "deal": (deal, dealing.DealError),
    "hand": (sealed_hand, boxes.BoxError),
    "share": (sealed_share, boxes.BoxError),
    "options": (sealed_options, boxes.BoxError),
    "sign": (sealed_sign, boxes.BoxError),
    "sign-up": (sealed_sign_up, boxes.BoxError),
    "pad": (padding, boxes.BoxError),
    "admission": (admission, ()),
    "signature": (signature, ()),
    "box-admission": (box_admission, ()),
    "exchange": (exchange, keys.WeakKeyError),
    "fingerprint": (fingerprint, ()),
    "player": (player, ()),
    "ids": (recomputing.ids, ()),
    "link": (recomputing.linked, ()),
    "heads": (recomputing.heads, ()),
    "bound": (recomputing.bound, ()),
    "record": (recomputing.record, CheckError),
    "args": (recomputing.args, CheckError),
    "hello": (recomputing.hello, (HandshakeError, MessageError)),
    "login": (recomputing.login, HandshakeError),
    "roll": (recomputing.roll, ()),
    "revoke": (recomputing.revocation, HandshakeError),
    "web": (web, ()),
    "evidence-file": (recomputing.evidence_file, CheckError),
    "complaint": (recomputing.weighed, ()),
    "refusal": (recomputing.weighed, ()),
    "pair": (recomputing.pair, ()),
    "together": (recomputing.together, ()),
}


def outcome(group, test):
    """Say what a test comes to; where it names a check, only that one makes it invalid."""
    check, refusals = CHECKS[group["type"]]
    try:
        return "valid" if check(group, test) else "invalid"
    except refusals as error:
        refused_by = getattr(error, "check", None)
        return "invalid" if test.get("check", refused_by) == refused_by else f"refused by {refused_by}"


@each_row("name, group, test", ((name, *each) for name in NAMES for each in kept_tests(name)))
def test_vector_is_recomputed(name, group, test):
    assert outcome(group, test) == test["result"], name


@each_row("name", NAMES)
def test_tests_are_numbered_from_1_without_gap(name):
    vectors = read(name)
    numbers = [test["tcId"] for group in vectors["testGroups"] for test in group["tests"]]
    assert numbers == list(range(1, vectors["numberOfTests"] + 1))


def test_every_kind_of_group_has_a_vector():
    used = {group["type"] for name in NAMES for group in read(name)["testGroups"]}
    assert used == set(CHECKS)


@each_row("record", kept_records())
def test_vectors_of_a_kind_are_what_their_program_makes(record):
    made = of_kind(record)
    (kept,) = (
        group["tests"] for group in read("records")["testGroups"] if group.get("kind") == made.fields["kind"]
    )
    assert [{**each, "tcId": 0} for each in kept] == [{"tcId": 0, **each} for each in made.tests]


@each_row("size", sorted({len(preset(name).pack) for name in presets()}))
def test_every_pack_of_a_preset_has_an_order(size):
    groups = read("shuffle")["testGroups"]
    assert size in {test["size"] for group in groups if group["type"] == "shuffle" for test in group["tests"]}


def test_records_hold_every_kind():
    kinds = {group["kind"] for group in read("records")["testGroups"] if group["type"] == "record"}
    assert kinds == {tag_of(body) for body, phases in PHASES[DEALT].items() if phases} | {None}


def test_args_are_given_for_every_kind_of_act():
    (group,) = (group for group in read("records")["testGroups"] if group["type"] == "args")
    assert {test["kind"] for test in group["tests"] if test["result"] == "valid"} == set(Kind)
