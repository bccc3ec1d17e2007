"""What happens to a body a seat hands in: taken, repeated, or refused with its code."""

from protocol.forge import signed_again
from server.acting import act, card, choose, hand_in, paused
from server.conftest import asked, holder_of, in_hand, is_to_move, only_cut, play_on
from server.rawclient import RawClient, RawSeat

from truc_protocol.bodies import Refuse, Release
from truc_protocol.codec import dec, sha256
from truc_protocol.crypto import keys
from truc_protocol.records import encode

HEAD = bytes(32)


async def test_an_act_is_answered_after_its_record_the_same_again_is_a_repeat_and_another_is_stale(server):
    mover, _ = holder_of(await in_hand(server))
    body, other = act(mover, "stand"), act(mover, "redeal")
    reply = await hand_in(mover, body)
    kinds = [message["t"] for message in mover.client.log[-2:]]
    assert (reply["t"], reply["k"], kinds) == ("ok", 8, ["record", "ok"])
    reply = await hand_in(mover, body)
    assert (reply["k"], reply["dup"]) == (8, True)
    assert (await hand_in(mover, other))["code"] == "stale_position"


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
        assert (await hand_in(mover, act(mover, "stand", **fields)))["code"] == "bad_position"
    reply = await hand_in(mover, act(mover, "stand"), match=bytes(32))
    assert reply["code"] == "no_such_match"
    assert (await hand_in(mover, act(mover, "fly")))["code"] == "bad_message"
    ledger = mover.ledger
    body = Release(ledger.setup.mid, *ledger.parallel, ledger.deal_index, mover.seat, bytes(32))
    assert (await hand_in(mover, body))["code"] == "not_now"  # outside a call
    here = {"t": "act", "table": mover.table, "match": mover.ledger.setup.mid}
    for body in (b"", b"\x93\x01\x02\x03", b"\xc1", b"\x91\xa5hello"):
        assert (await mover.client.ask({**here, "body": body, "sig": bytes(64)}))["code"] == "bad_message"
    assert (await mover.client.ask({**here, "at": 8, "choose": "stand"}))["code"] == "not_now"
    assert (await hand_in(mover, act(mover, "stand")))["t"] == "ok"


async def test_an_act_out_of_turn_is_refused_with_evidence_and_of_another_or_no_seat_at_all(server):
    mover, other = holder_of(await in_hand(server))
    assert (await hand_in(other, act(other, "stand", seat=mover.seat)))["code"] == "bad_message"
    stranger: RawClient = await server.connect()
    await stranger.login_key(keys.generate_signing_key())
    assert (await stranger.ask(mover.sign(act(mover, "stand"))))["code"] == "not_seated"
    body = act(other, "stand")
    reply = await hand_in(other, body)
    signer, refused, sig = reply["refuse"]
    evidence = Refuse(other.ledger.setup.mid, sha256(encode(body)), reply["code"])
    assert (reply["code"], signer, refused) == ("not_your_turn", 0, encode(evidence))
    assert keys.verify(other.client.spk, refused, sig)


async def test_an_illegal_act_is_refused_with_evidence(server):
    mover, _ = holder_of(await in_hand(server))
    reply = await hand_in(mover, act(mover, "accept"))
    assert (reply["code"], dec(reply["refuse"][1])[3]) == ("illegal_action", "illegal_action")
    await hand_in(mover, act(mover, "stand"))
    reply = await hand_in(mover, act(mover, "play", (0, 3, bytes(16), None)))
    assert reply["code"] == "illegal_action"  # a card that is not held


async def test_a_wrong_signature_closes_the_connection_after_saying_why(server):
    mover, _ = holder_of(await in_hand(server))
    reply = await hand_in(mover, act(mover, "stand"), key=keys.generate_signing_key())
    rest = await mover.client.closed()
    assert (reply["code"], reply["close"], [(m["t"], m["code"]) for m in rest]) == (
        "bad_signature",
        True,
        [("bye", "bad_signature")],
    )


async def test_a_release_off_the_chain_is_refused_with_evidence(server):
    seats = await server.match(2)
    seats[0].follow = seats[1].follow = idle
    await play_on(seats, lambda seat: seat.next == 1)
    ledger = seats[1].ledger
    reply = await hand_in(seats[1], Release(ledger.setup.mid, *ledger.parallel, 0, 1, bytes(32)))
    assert (reply["code"], "refuse" in reply) == ("illegal_action", True)


async def idle() -> None:
    """Release nothing."""


async def test_a_late_ask_that_a_card_of_the_own_or_another_ask_has_overtaken_is_stale(server):
    first, second = holder_of(await in_hand(server, "truc-catalan"))
    before = act(first, "raise", (2,))
    await hand_in(first, act(first, *card(first)))
    assert (await hand_in(first, before))["code"] == "stale_position"
    late = act(first, "raise", (2,))
    await second.play(until=lambda seat: seat.next == first.next)
    assert (await hand_in(second, act(second, "raise", (2,))))["t"] == "ok"
    assert (await hand_in(first, late))["code"] == "stale_position"


async def test_an_ask_after_the_own_card_is_taken_before_the_next_card(server):
    first, _ = holder_of(await in_hand(server, "truc-catalan"))
    await hand_in(first, act(first, *card(first)))
    assert (await hand_in(first, act(first, "raise", (2,))))["t"] == "ok"


async def test_an_ask_signed_for_the_present_position_after_the_next_card_is_void_and_refused_by_signature(
    server,
):
    seats = await server.match(4, "truc-catalan")
    for seat in seats:
        seat.chooses = only_cut
    await play_on(seats, asked)
    first = next(seat for seat in seats if is_to_move(seat))
    second = seats[(first.seat + 1) % len(seats)]
    await hand_in(first, act(first, *card(first)))
    await second.play(until=lambda seat: seat.next == first.next)
    await hand_in(second, act(second, *card(second)))
    await first.play(until=lambda seat: seat.next == second.next)
    reply = await hand_in(first, act(first, "raise", (2,)))
    assert (reply["code"], "refuse" in reply) == ("void_bet", False)


async def test_resuming_what_is_not_paused_and_asking_twice_for_a_pause_are_illegal(server):
    mover, _ = holder_of(await in_hand(server))
    reply = await hand_in(mover, act(mover, "resume"))
    assert (reply["code"], reply["retryable"], "refuse" in reply) == ("illegal_action", False, True)
    await hand_in(mover, act(mover, "pause"))
    assert (await hand_in(mover, act(mover, "pause")))["code"] == "illegal_action"


async def test_a_guests_move_during_a_pause_is_refused_for_now(server):
    mover, _ = holder_of(await paused(server, guests=(0, 1), boxed=False))
    assert (await choose(mover, "stand"))["code"] == "paused"


async def guest_turn(server) -> tuple[RawSeat, RawSeat]:
    return holder_of(await in_hand(server, guests=(0, 1), boxed=False))


async def test_a_guest_chooses_by_its_move_line_and_the_same_again_is_a_repeat(server):
    mover, other = await guest_turn(server)
    at = mover.next
    for seat, line, place, code in (
        (mover, "stand", 1, "stale_position"),
        (mover, "stand", 99, "bad_position"),
        (other, "stand", at, "not_your_turn"),
        (mover, "resume", at, "illegal_action"),
        (mover, "fly away", at, "illegal_action"),
    ):
        assert (await choose(seat, line, at=place))["code"] == code
    here = {"t": "act", "table": mover.table, "match": mover.ledger.setup.mid}
    assert (await mover.client.ask({**here, "body": b"x", "sig": bytes(64)}))["code"] == "not_now"
    assert (await choose(mover, "fly away", at=at))["field"] == "choose"
    assert (await choose(mover, "stand", at=at))["t"] == "ok"
    reply = await choose(mover, "stand", at=at)
    assert (reply["k"], reply["dup"]) == (at, True)
