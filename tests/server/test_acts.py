"""What happens to a body a seat hands in: taken, repeated, or refused with its code."""

from protocol.forge import signed_again
from server.acting import act, card, paused
from server.calls import after, called
from server.conftest import holder_of, in_hand, is_to_move

from truc_protocol.bodies import Refuse, Release
from truc_protocol.codec import dec, sha256
from truc_protocol.crypto import keys
from truc_protocol.records import encode

HEAD = bytes(32)


async def test_an_act_is_answered_after_its_record_the_same_again_is_a_repeat_and_another_is_stale(server):
    mover, _ = holder_of(await in_hand(server))
    body, other = act(mover, "stand"), act(mover, "redeal")
    reply = await mover.hand_in(body)
    kinds = [message["t"] for message in mover.client.log[-2:]]
    assert (reply["t"], reply["k"], kinds) == ("ok", 8, ["record", "ok"])
    reply = await mover.hand_in(body)
    assert (reply["k"], reply["dup"]) == (8, True)
    assert (await mover.hand_in(other))["code"] == "stale_position"


async def test_the_same_release_is_a_repeat_under_a_second_signature_too(server):
    seats = await in_hand(server)
    message = seats[0].stored["release", 1]
    again = signed_again(seats[0].key, message["body"])
    assert again != message["sig"]
    assert keys.verify(seats[0].key.public, message["body"], again)
    for sig in (message["sig"], again):
        reply = await seats[0].client.ask({**message, "sig": sig})
        assert (reply["t"], reply["dup"], reply["k"] in (5, 6)) == ("ok", True, True)


async def test_an_act_for_another_place_or_of_another_shape_is_refused(server):
    mover, _ = holder_of(await in_hand(server))
    for fields in ({"k": 9}, {"head": HEAD}, {"j": 2}):
        assert (await mover.hand_in(act(mover, "stand", **fields)))["code"] == "bad_position"
    reply = await mover.hand_in(act(mover, "stand"), match=bytes(32))
    assert reply["code"] == "no_such_match"
    assert (await mover.hand_in(act(mover, "fly")))["code"] == "bad_message"
    ledger = mover.ledger
    body = Release(ledger.setup.mid, *ledger.parallel, ledger.deal_index, mover.seat, bytes(32))
    assert (await mover.hand_in(body))["code"] == "not_now"  # outside a call
    here = {"t": "act", "table": mover.table, "match": mover.ledger.setup.mid}
    for body in (b"", b"\x93\x01\x02\x03", b"\xc1", b"\x91\xa5hello"):
        assert (await mover.ask({**here, "body": body, "sig": bytes(64)}))["code"] == "bad_message"
    assert (await mover.choose_line("stand"))["code"] == "not_now"
    assert (await mover.hand_in(act(mover, "stand")))["t"] == "ok"


async def test_an_act_out_of_turn_is_refused_with_evidence_and_of_another_or_no_seat_at_all(server):
    mover, other = holder_of(await in_hand(server))
    assert (await other.hand_in(act(other, "stand", seat=mover.seat)))["code"] == "bad_message"
    stranger = await server.connect()
    await stranger.login_key(keys.generate_signing_key())
    assert (await stranger.ask(mover.sign(act(mover, "stand"))))["code"] == "not_seated"
    body = act(other, "stand")
    reply = await other.hand_in(body)
    signer, refused, sig = reply["refuse"]
    evidence = Refuse(other.ledger.setup.mid, sha256(encode(body)), reply["code"])
    assert (reply["code"], signer, refused) == ("not_your_turn", 0, encode(evidence))
    assert keys.verify(other.client.spk, refused, sig)


async def test_an_illegal_act_is_refused_with_evidence(server):
    mover, _ = holder_of(await in_hand(server))
    reply = await mover.hand_in(act(mover, "accept"))
    assert (reply["code"], dec(reply["refuse"][1])[3]) == ("illegal_action", "illegal_action")
    await mover.hand_in(act(mover, "stand"))
    reply = await mover.hand_in(act(mover, "play", (0, 3, bytes(16), None)))
    assert reply["code"] == "illegal_action"  # a card that is not held


async def test_a_wrong_signature_closes_the_connection_after_saying_why(server):
    mover, _ = holder_of(await in_hand(server))
    body = act(mover, "stand")
    reply = await mover.hand_in(body, sig=keys.generate_signing_key().sign(encode(body)))
    rest = await mover.client.closed()
    assert (reply["code"], reply["close"]) == ("bad_signature", True)
    assert [(message["t"], message["code"]) for message in rest] == [("bye", "bad_signature")]


async def test_a_release_off_the_chain_is_refused_with_evidence(server):
    seats = await called(server)
    ledger = seats[1].ledger
    reply = await seats[1].hand_in(Release(ledger.setup.mid, *ledger.parallel, 0, 1, bytes(32)))
    assert (reply["code"], "refuse" in reply) == ("illegal_action", True)


async def test_a_late_ask_that_a_card_of_the_own_or_another_ask_has_overtaken_is_stale(server):
    first, second = holder_of(await in_hand(server, "truc-catalan"))
    before = act(first, "raise", (2,))
    await first.hand_in(act(first, *card(first)))
    assert (await first.hand_in(before))["code"] == "stale_position"
    late = act(first, "raise", (2,))
    await second.play(until=after(first.next))
    assert (await second.hand_in(act(second, "raise", (2,))))["t"] == "ok"
    assert (await first.hand_in(late))["code"] == "stale_position"


async def test_an_ask_after_the_own_card_is_taken_before_the_next_card(server):
    first, _ = holder_of(await in_hand(server, "truc-catalan"))
    await first.hand_in(act(first, *card(first)))
    assert (await first.hand_in(act(first, "raise", (2,))))["t"] == "ok"


async def test_an_ask_signed_for_the_present_position_after_the_next_card_is_void_and_refused_by_signature(
    server,
):
    seats = await in_hand(server, "truc-catalan", count=4)
    first = next(seat for seat in seats if is_to_move(seat))
    second = seats[(first.seat + 1) % len(seats)]
    await first.hand_in(act(first, *card(first)))
    await second.play(until=after(first.next))
    await second.hand_in(act(second, *card(second)))
    await first.play(until=after(second.next))
    reply = await first.hand_in(act(first, "raise", (2,)))
    assert (reply["code"], "refuse" in reply) == ("void_bet", False)


async def test_resuming_what_is_not_paused_and_asking_twice_for_a_pause_are_illegal(server):
    mover, _ = holder_of(await in_hand(server))
    reply = await mover.hand_in(act(mover, "resume"))
    assert (reply["code"], reply["retryable"], "refuse" in reply) == ("illegal_action", False, True)
    await mover.hand_in(act(mover, "pause"))
    assert (await mover.hand_in(act(mover, "pause")))["code"] == "illegal_action"


async def test_a_guests_move_during_a_pause_is_refused_for_now(server):
    mover, _ = holder_of(await paused(server, guests=(0, 1), boxed=False))
    assert (await mover.choose_line("stand"))["code"] == "paused"


async def test_a_guest_chooses_by_its_move_line_and_the_same_again_is_a_repeat(server):
    mover, other = holder_of(await in_hand(server, guests=(0, 1), boxed=False))
    at = mover.next
    for seat, line, place, code in (
        (mover, "stand", 1, "stale_position"),
        (mover, "stand", 99, "bad_position"),
        (other, "stand", at, "not_your_turn"),
        (mover, "resume", at, "illegal_action"),
        (mover, "fly away", at, "illegal_action"),
    ):
        assert (await seat.choose_line(line, at=place))["code"] == code
    here = {"t": "act", "table": mover.table, "match": mover.ledger.setup.mid}
    assert (await mover.ask({**here, "body": b"x", "sig": bytes(64)}))["code"] == "not_now"
    assert (await mover.choose_line("fly away", at=at))["field"] == "choose"
    assert (await mover.choose_line("stand", at=at))["t"] == "ok"
    reply = await mover.choose_line("stand", at=at)
    assert (reply["k"], reply["dup"]) == (at, True)
