"""What happens to a body that a seat hands in again, late or in a pause; the other answers to acts are cases of the kit."""

from protocol.forge import signed_again
from server.acting import act, card, paused
from server.calls import after
from server.conftest import holder_of, in_hand, is_to_move

from truc_protocol.crypto import keys


async def test_the_same_release_is_a_repeat_under_a_second_signature_too(server):
    seats = await in_hand(server)
    message = seats[0].stored["release", 1]
    again = signed_again(seats[0].key, message["body"])
    assert again != message["sig"]
    assert keys.verify(seats[0].key.public, message["body"], again)
    for sig in (message["sig"], again):
        reply = await seats[0].client.ask({**message, "sig": sig})
        assert (reply["t"], reply["dup"], reply["k"] in (5, 6)) == ("ok", True, True)


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


async def test_a_guests_line_that_is_no_move_is_named_as_what_is_wrong(server):
    mover, _ = holder_of(await in_hand(server, guests=(0, 1), boxed=False))
    assert (await mover.choose_line("fly away"))["field"] == "choose"


async def test_a_guests_move_during_a_pause_is_refused_for_now(server):
    mover, _ = holder_of(await paused(server, guests=(0, 1), boxed=False))
    assert (await mover.choose_line("stand"))["code"] == "paused"
