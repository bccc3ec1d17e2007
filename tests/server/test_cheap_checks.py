"""What can be refused by a comparison is refused before any signature is verified."""

import pytest
from server.acting import act
from server.conftest import holder_of, in_hand
from server.test_terms import hand_in, seat_body, under_terms
from server.visitors import greeted, keyed

from truc_protocol.crypto import keys
from truc_protocol.wire import handshake
from truc_server.matches.acceptance import LONGEST_BODY


@pytest.fixture
def verified(monkeypatch) -> list[bytes]:
    """Return the bodies whose signatures are verified from now on."""
    bodies, verify = [], keys.verify

    def verify_and_note(public, body, signature):
        bodies.append(body)
        return verify(public, body, signature)

    monkeypatch.setattr(keys, "verify", verify_and_note)
    monkeypatch.setattr(handshake, "verify", verify_and_note)
    return bodies


async def test_act_of_another_place_or_too_long_costs_no_verification_and_a_sound_one_one(server, verified):
    mover, _ = holder_of(await in_hand(server))
    verified.clear()
    for fields, code in (
        ({"k": 1}, "stale_position"),
        ({"head": bytes(32)}, "bad_position"),
        ({"mid": bytes(32)}, "bad_position"),
        ({"seat": 7}, "bad_message"),
    ):
        assert (await mover.hand_in(act(mover, "stand", **fields)))["code"] == code
    reply = await mover.hand_in(act(mover, "stand"), table="NOPE")
    assert reply["code"] == "no_such_table"
    sound = mover.sign(act(mover, "stand"))
    assert (await mover.client.ask(sound | {"body": bytes(LONGEST_BODY + 1)}))["code"] == "bad_message"
    assert verified == []
    await mover.client.ask(sound)
    assert verified == [sound["body"]]


async def test_bodies_from_beyond_cost_each_seat_one_verification(server, verified):
    seats = await in_hand(server)
    verified.clear()
    for k in range(50, 60):
        for seat in seats:
            await seat.hand_in(act(seat, "stand", k=k))
    assert len(verified) == 2


async def test_seat_record_that_does_not_fit_or_has_what_the_server_has_used_costs_no_verification(
    server, verified
):
    seats, terms = await under_terms(server)
    verified.clear()
    used = ({name: getattr(terms.table, name)} for name in ("anchor", "x"))
    for fields in ({"th": bytes(32)}, {"pk": bytes(32)}, {"name": b"south"}, *used):
        reply = await hand_in(seats[0], seat_body(seats[0], terms, **fields))
        assert (reply["code"], verified) == ("terms_refused", [])


async def login_of(client, **fields) -> dict:
    """Return the answer to a login with a fresh key, some of its fields replaced."""
    await client.hello()
    message = client.auth(keys.generate_signing_key())
    return await client.ask({**message, "name": "Kay", **fields})


async def test_login_for_another_connection_costs_no_verification(server, verified):
    first = await greeted(server)
    body = first.auth(keys.generate_signing_key())["body"]
    second = await server.connect()
    reply = await login_of(second, body=body)
    assert (reply["code"], body in verified) == ("bad_signature", False)


async def test_login_under_a_name_that_cannot_be_costs_no_verification_and_a_sound_one_one(server, verified):
    reply = await login_of(await server.connect(), name="\x07")
    assert (reply["code"], [b for b in verified if b"auth" in b[:14]]) == ("bad_message", [])
    await keyed(server)
    assert len([body for body in verified if b"auth" in body[:14]]) == 1
