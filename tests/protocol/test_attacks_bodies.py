"""Forged bodies and signatures: C1 to C3."""

import struct

from protocol.forge import (
    SERVER,
    following,
    forged,
    passes_with_cofactor,
    place,
    refusals,
    signed_bytes,
    signed_with_torsion,
    until,
)
from protocol.peers import Table

from truc_protocol.bodies import Act, Call, Release, Resign
from truc_protocol.codec import dec, enc, sha256
from truc_protocol.crypto import keys
from truc_protocol.crypto.curve import ORDER
from truc_protocol.records import Record, encode, parse
from truc_protocol.wire.handshake import Auth


def call_with(change) -> tuple[Table, Record]:
    """The first call, its bytes changed and signed by the server."""
    table = Table()
    return table, signed_bytes(table, 0, change(encode(parse(until(table, Call)))))


def byte_after_the_body():
    return call_with(lambda body: body + b"\x00")


def body_out_of_profile_under_another_signature():
    table, record = byte_after_the_body()
    return table, record._replace(sig=bytes(64))


def no_array():
    return call_with(lambda body: enc("truc/1/call"))


def signed_proxy():
    table = Table(guests=(0,)).to("hand")
    proxy = table.act(0, "stand")
    return table, proxy._replace(sig=table.server.sign(proxy.body))


def body_in_another_seats_name():
    table = Table().to("hand")
    return table, table.players[0].sign(place(table, Resign(b"", 0, b"", 1)))


def flipped_signature():
    table = Table()
    record = until(table, Call)
    return table, record._replace(sig=record.sig[:-1] + bytes([record.sig[-1] ^ 1]))


def signature_plus_the_group_order():
    table = Table()
    record = until(table, Call)
    s = int.from_bytes(record.sig[32:], "little") + ORDER
    return table, record._replace(sig=record.sig[:32] + s.to_bytes(32, "little"))


def signature_that_only_a_cofactored_check_takes():
    table = Table()
    record = until(table, Call)
    return table, record._replace(sig=signed_with_torsion(table.server, record.body))


def act_forged_by_the_server():
    table = Table().to("hand")
    act = encode(place(table, Act(b"", 0, b"", 1, 0, "stand", ())))
    return table, Record(1, act, table.server.sign(act))


def swapped_tag_signed_again():
    """A release under the tag of an ack: the two are bound alike."""
    table = Table()
    release = until(table, Release)
    return table, signed_bytes(table, 1, enc(["truc/1/ack", *dec(release.body)[1:]]))


def login_in_place_of_a_record():
    """What a seat has signed to log in is no statement in a match."""
    table = Table().to("hand")
    player = table.players[0].key
    login = encode(
        Auth(spk=table.server.public, pk=player.public, cn=bytes(32), sn=bytes(32), server_hello=sha256(b""))
    )
    return table, Record(1, login, player.sign(login))


def another_kind_of_statement():
    """The server's own refusal, handed out with an answer: any seat could put it here."""
    table = Table().to("hand")
    return table, table.dealer.refuse(table.setup.mid, bytes(32), "not_now")


def statement_of_another_match_from_another_seat():
    """What a player has signed where they sat elsewhere, in the name of the seat they have here."""
    table, other = Table().to("hand"), Table(seed=2).to("hand")
    elsewhere = other.players[0]
    elsewhere.key = table.players[1].key
    return table, elsewhere.act(other.ledger, "stand")._replace(signer=2)


def swapped_tag():
    table = Table().to("hand")
    resign = table.players[0].resign(table.ledger)
    return table, resign._replace(body=resign.body.replace(b"truc/1/resign", b"truc/1/resume"))


test_forged_body_is_refused = refusals(
    ("C1", None, byte_after_the_body),
    ("C1", None, body_out_of_profile_under_another_signature),
    ("C2", None, no_array),
    ("C2", SERVER, signed_proxy),
    ("C3", None, flipped_signature),
    ("C3", None, signature_plus_the_group_order),
    ("C3", None, signature_that_only_a_cofactored_check_takes),
    ("C3", None, act_forged_by_the_server),
    ("C2", "seat 0", swapped_tag_signed_again),
    ("C2", None, login_in_place_of_a_record),
    ("C2", None, another_kind_of_statement),
    ("C2", None, statement_of_another_match_from_another_seat),
    ("C2", None, swapped_tag),
    ("C2", "seat 0", body_in_another_seats_name),
    *forged(
        "C1",
        None,
        int_in_a_longer_form=lambda: call_with(lambda body: body[:-1] + b"\xcc" + body[-1:]),
        float_for_an_int=lambda: call_with(lambda body: body[:-1] + b"\xcb" + struct.pack(">d", 2.0)),
        map_for_an_int=lambda: call_with(lambda body: body[:-1] + b"\x80"),
        seven_nested_arrays=lambda: call_with(lambda body: body[:-1] + b"\x91" * 5 + b"\x90"),
        body_too_long=lambda: call_with(
            lambda body: body[:-4] + b"\xc6" + struct.pack(">I", 65_536) + bytes(65_536)
        ),
    ),
    *forged(
        "C2",
        None,
        text_for_bytes=lambda: call_with(lambda body: enc([dec(body)[0], "m" * 32, *dec(body)[2:]])),
    ),
    *forged(
        "C2",
        SERVER,
        one_field_too_many=lambda: call_with(lambda body: enc([*dec(body), 0])),
        one_field_too_few=lambda: call_with(lambda body: enc(dec(body)[:-1])),
        truth_for_a_number=lambda: call_with(lambda body: enc([*dec(body)[:-2], True, dec(body)[-1]])),
        tag_nobody_knows=lambda: call_with(lambda body: enc(["truc/1/gift", *dec(body)[1:]])),
    ),
    *following(
        Table,
        "C2",
        None,
        another_signer_index=lambda table: until(table, Call)._replace(signer=1),
        stripped_signature=lambda table: until(table, Call)._replace(sig=b""),
    ),
)


def test_signature_with_torsion_is_one_that_a_cofactored_check_takes() -> None:
    table = Table()
    record = until(table, Call)
    sig = signed_with_torsion(table.server, record.body)
    assert passes_with_cofactor(table.server.public, record.body, sig)
    assert not keys.verify(table.server.public, record.body, sig)
