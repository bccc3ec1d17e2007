"""Signs and phrases: who hears them, in a box or in clear, and what is refused to the sender alone."""

from functools import partial
from pathlib import Path

import pytest
from server.conftest import asked, only_cut, together
from server.rawclient import Seat

from truc_protocol import boxes
from truc_protocol.crypto import keys
from truc_server.tables.talk import BURST, PER_S

DOCS = Path(__file__).parents[2] / "docs" / "protocol"
NONCE = bytes(12)
WORDS = {"seven": "7", "eight": "8", "ace": "A"}


async def in_hand(server, variant="truc-catalan", count=4, **fields) -> list[Seat]:
    """Return players in the middle of a hand, none of whom moves any more."""
    seats = await server.match(count, variant, **fields)
    for seat in seats:
        seat.chooses = only_cut
    await together(*(partial(seat.play, asked) for seat in seats))
    return seats


async def partnership(server, **fields) -> tuple[list[Seat], int]:
    """Return players of a governed game, and the seat of a governor that deals."""
    seats = await in_hand(server, "truc-partnership", **fields)
    return seats, seats[0].ledger.match.dealer


def shared(seat: Seat) -> bytes:
    return seat.x.exchange(seat.ledger.setup.terms.table.x)


def sealed(seat: Seat, word: str, to: int, **fields) -> dict:
    """Return the message of a sign in a box."""
    mid, at = seat.ledger.setup.mid, fields.get("at", seat.next)
    key = boxes.upward_key(shared(seat), mid, seat.seat)
    box = boxes.seal_sign_up(key, mid, seat=seat.seat, at=at, to=to, nonce=NONCE, word=word)
    return {"t": "sign", "table": seat.table, "match": mid, "at": at, "to": to, "box": box, **fields}


def in_clear(seat: Seat, word: str, **fields) -> dict:
    return {
        "t": "sign",
        "table": seat.table,
        "match": seat.ledger.setup.mid,
        "at": seat.next,
        "word": word,
        **fields,
    }


def opened(seat: Seat, message: dict) -> str:
    """Open a sign as the seat that it was sealed for."""
    mid = seat.ledger.setup.mid
    key = boxes.private_key(shared(seat), mid, seat.seat)
    where = {"seat": seat.seat, "at": message["at"], "sender": message["from"]}
    return boxes.open_sign(key, mid, **where, box=message["box"], after=seat.counter).word


async def heard(seat: Seat, tag: str) -> list[dict]:
    """Return every message with a tag that has come to a seat by now."""
    number = await seat.client.send({"t": "ping", "n": 77})
    assert number == -1
    await seat.client.until("pong", n=77)
    return [message for message in seat.client.log if message["t"] == tag]


def held_words(seat: Seat) -> set[str]:
    """Return the words of partnership Truc that are true for a seat."""
    pack = seat.ledger.setup.terms.variant.pack
    ranks = {pack[opening.card][0] for opening in seat.auditor.openings}
    return {word for word, rank in WORDS.items() if rank in ranks}


# Who hears a sign


async def test_partner_hears_a_sign_in_a_box(server):
    seats = await in_hand(server)
    assert (await seats[0].ask(sealed(seats[0], "three", 2)))["t"] == "ok"
    (message,) = await heard(seats[2], "sign")
    assert (message["from"], "word" in message, opened(seats[2], message)) == (0, False, "three")


async def test_opponents_do_not_hear_a_sign(server):
    seats = await in_hand(server)
    await seats[0].ask(sealed(seats[0], "three", 2))
    assert [await heard(seats[1], "sign"), await heard(seats[3], "sign")] == [[], []]


async def test_sender_does_not_hear_its_own_sign(server):
    seats = await in_hand(server)
    await seats[0].ask(sealed(seats[0], "three", 2))
    assert await heard(seats[0], "sign") == []


async def test_every_partner_of_six_hears_a_sign(server):
    seats = await in_hand(server, "truco-argentino", 6)
    await seats[1].ask(sealed(seats[1], "ace-swords", 3))
    notices = [(await heard(seats[seat], "sign"))[0] for seat in (3, 5)]
    assert [opened(seats[seat], notice) for seat, notice in zip((3, 5), notices, strict=True)] == [
        "ace-swords",
        "ace-swords",
    ]


async def test_sign_and_options_of_a_seat_share_one_count(server):
    seats = await in_hand(server)
    first = next(seat for seat in seats if seat.options and seat.options["must"])
    partner = seats[(first.seat + 2) % 4]
    await partner.ask(sealed(partner, "three", first.seat))
    (message,) = await heard(first, "sign")
    numbers = [int.from_bytes(box[:8], "big") for box in (first.options["box"], message["box"])]
    assert numbers[1] > numbers[0]


async def test_signs_to_a_seat_never_repeat_a_counter(server):
    seats = await in_hand(server)
    for word in ("three", "two"):
        await seats[0].ask(sealed(seats[0], word, 2))
    counters = [message["box"][:8] for message in await heard(seats[2], "sign")]
    assert len({*counters}) == 2


async def test_sign_is_no_record(server):
    seats = await in_hand(server)
    at = seats[0].next
    await seats[0].ask(sealed(seats[0], "three", 2))
    reply = await seats[0].resume()
    assert reply["k"] == at


async def test_sign_is_not_repeated_to_who_comes_back(server):
    seats = await in_hand(server)
    await seats[0].ask(sealed(seats[0], "three", 2))
    await seats[2].come_back(await server.connect())
    assert await heard(seats[2], "sign") == []


async def test_sign_is_lost_on_a_partner_who_is_not_there(server):
    seats = await in_hand(server)
    await seats[2].client.stream.aclose()
    assert (await seats[0].ask(sealed(seats[0], "three", 2)))["t"] == "ok"


async def test_whole_table_hears_a_sign_in_clear_where_it_is_so_played(server):
    seats = await in_hand(server, options={"signals": "table"})
    await seats[0].ask(sealed(seats[0], "three", 1))
    notices = [await heard(seats[seat], "sign") for seat in (1, 2, 3)]
    assert [[(notice["from"], notice["word"]) for notice in each] for each in notices] == [[(0, "three")]] * 3


async def watcher(server, table: str):
    client = await server.connect()
    await client.login_key(keys.generate_signing_key())
    assert (await client.ask({"t": "watch", "table": table}))["t"] == "ok"
    return client


async def test_who_watches_sees_the_signs_of_the_table(server):
    seats = await in_hand(server, options={"signals": "table"})
    client = await watcher(server, seats[0].table)
    await seats[0].ask(sealed(seats[0], "three", 1))
    assert (await client.until("sign"))["word"] == "three"


@pytest.mark.parametrize("options", [{}, {"signals": "table", "spectators": 2}])
async def test_who_watches_does_not_see_signs_before_the_hand_is_shown(server, options):
    seats = await in_hand(server, options=options)
    client = await watcher(server, seats[0].table)
    await seats[0].ask(sealed(seats[0], "three", 2))
    await client.send({"t": "ping", "n": 5})
    await client.until("pong")
    assert [message for message in client.log if message["t"] == "sign"] == []


# Guests


async def test_guest_without_a_box_signs_in_clear(server):
    seats = await in_hand(server, guests=(0,), boxed=False)
    assert (await seats[0].ask(in_clear(seats[0], "three")))["t"] == "ok"
    (message,) = await heard(seats[2], "sign")
    assert opened(seats[2], message) == "three"


async def test_guest_without_a_box_is_signed_to_in_clear(server):
    seats = await in_hand(server, guests=(2,), boxed=False)
    await seats[0].ask(sealed(seats[0], "three", 2))
    (message,) = await heard(seats[2], "sign")
    assert (message["word"], "box" in message) == ("three", False)


async def test_guest_with_a_box_signs_and_is_signed_to_in_boxes(server):
    seats = await in_hand(server, guests=(0, 2))
    await seats[0].ask(sealed(seats[0], "three", 2))
    (message,) = await heard(seats[2], "sign")
    assert opened(seats[2], message) == "three"


async def test_keyed_seat_does_not_sign_in_clear(server):
    seats = await in_hand(server)
    reply = await seats[0].ask(in_clear(seats[0], "three"))
    assert (reply["code"], reply["field"]) == ("not_now", "word")


async def test_guest_without_a_box_does_not_sign_in_one(server):
    seats = await in_hand(server, guests=(0,), boxed=False)
    message = in_clear(seats[0], "three", to=2, box=bytes(300))
    reply = await seats[0].ask(message)
    assert (reply["code"], reply["field"]) == ("not_now", "box")


# Truth


async def every_word_signed(server) -> tuple[list[Seat], Seat, dict[str, dict]]:
    """Let a governor's partner sign every word; return the players, that seat, and the reply to each word."""
    seats, dealer = await partnership(server)
    partner = seats[(dealer + 2) % 4]
    replies = {word: await partner.ask(sealed(partner, word, dealer)) for word in WORDS}
    return seats, partner, replies


async def test_only_true_signs_are_taken_where_truth_is_enforced(server):
    _, partner, replies = await every_word_signed(server)
    assert {word for word, reply in replies.items() if reply["t"] == "ok"} == held_words(partner)


async def test_refusal_of_a_false_sign_says_why(server):
    _, partner, replies = await every_word_signed(server)
    assert {reply["msg"] for reply in replies.values() if reply["t"] == "error"} == {
        f"seat {partner.seat} cannot sign {word}: signs are true in this game, and it holds no such card unplayed"
        for word in WORDS
        if word not in held_words(partner)
    }


async def test_governor_hears_the_true_signs_alone(server):
    seats, partner, _ = await every_word_signed(server)
    governor = seats[(partner.seat + 2) % 4]
    assert {opened(governor, message) for message in await heard(governor, "sign")} == held_words(partner)


async def test_opponents_hear_nothing_of_signs_true_or_false(server):
    seats, partner, _ = await every_word_signed(server)
    opponents = [seats[(partner.seat + step) % 4] for step in (1, 3)]
    before = [len(seat.client.log) for seat in opponents]
    assert [await heard(seat, "sign") for seat in opponents] == [[], []]
    assert [len(seat.client.log) - then for seat, then in zip(opponents, before, strict=True)] == [1, 1]


async def test_governor_is_refused(server):
    seats, dealer = await partnership(server)
    reply = await seats[dealer].ask(sealed(seats[dealer], "seven", (dealer + 2) % 4))
    assert (reply["code"], "gives orders" in reply["msg"]) == ("illegal_action", True)


async def test_false_sign_is_passed_on_where_signs_are_free(server):
    seats = await in_hand(server)
    replies = [(await seats[0].ask(sealed(seats[0], word, 2)))["t"] for word in ("three", "two", "ace")]
    assert replies == ["ok"] * 3


# When, and to whom


async def test_word_that_the_game_has_not_is_refused(server):
    seats = await in_hand(server)
    assert (await seats[0].ask(sealed(seats[0], "wink", 2)))["code"] == "illegal_action"


@pytest.mark.parametrize("to", [0, 1])
async def test_sign_to_a_seat_that_does_not_see_it_is_refused(server, to):
    seats = await in_hand(server)
    reply = await seats[0].ask(sealed(seats[0], "three", to))
    assert (reply["code"], reply["field"], reply["msg"]) == (
        "illegal_action",
        "to",
        f"to: expected seat 2, got {to}",
    )


async def test_sign_for_a_position_that_is_over_is_stale(server):
    seats = await in_hand(server)
    assert (await seats[0].ask(sealed(seats[0], "three", 2, at=1)))["code"] == "stale_position"


async def test_sign_for_a_position_ahead_is_a_bad_position(server):
    seats = await in_hand(server)
    assert (await seats[0].ask(sealed(seats[0], "three", 2, at=999)))["code"] == "bad_position"


async def test_box_that_was_made_for_another_position_is_refused(server):
    seats = await in_hand(server)
    message = sealed(seats[0], "three", 2, at=1) | {"at": seats[0].next}
    reply = await seats[0].ask(message)
    assert (reply["code"], reply["field"]) == ("bad_message", "box")


async def test_box_of_another_seat_is_refused(server):
    seats = await in_hand(server)
    message = sealed(seats[2], "three", 0) | {"to": 2}
    assert (await seats[0].ask(message))["code"] == "bad_message"


async def test_sign_in_another_match_is_refused(server):
    seats = await in_hand(server)
    message = sealed(seats[0], "three", 2) | {"match": bytes(32)}
    assert (await seats[0].ask(message))["code"] == "no_such_match"


async def test_somebody_without_a_seat_does_not_sign(server):
    seats = await in_hand(server)
    client = await watcher(server, seats[0].table)
    assert (await client.ask(sealed(seats[0], "three", 2)))["code"] == "not_seated"


def asked_to_cut(seat: Seat) -> bool:
    told = seat.options or seat.waiting
    return told is not None and told["at"] == seat.next


async def test_sign_before_the_cards_are_dealt_is_refused(server):
    seats = await server.match(4, "truc-catalan")
    for seat in seats:
        seat.chooses = lambda message, options: None
    await together(*(partial(seat.play, asked_to_cut) for seat in seats))
    assert (await seats[0].ask(sealed(seats[0], "three", 2)))["code"] == "not_now"


async def test_sign_after_the_hand_is_refused(server):
    seats = await in_hand(server)
    at = seats[0].next
    first = next(seat for seat in seats if seat.options and seat.options["must"])
    await first.resign()
    await together(*(partial(seat.play, lambda seat: seat.done) for seat in seats))
    assert seats[0].next > at
    assert (await seats[0].ask(sealed(seats[0], "three", 2)))["code"] == "not_now"


async def test_sign_during_a_pause_is_refused_for_now(server):
    seats = await in_hand(server, guests=(0, 1, 2, 3), boxed=False)
    for at, seat in enumerate(seats, seats[0].next):
        await together(*(partial(each.play, lambda each, at=at: each.next == at) for each in seats))
        here = {"table": seat.table, "match": seat.ledger.setup.mid, "at": at}
        await seat.ask({"t": "act", **here, "choose": "pause"})
    await together(*(partial(each.play, lambda each: each.ledger.pause.active) for each in seats))
    reply = await seats[0].ask(in_clear(seats[0], "three"))
    assert (reply["code"], reply["retryable"]) == ("paused", False)


async def test_table_without_signs_refuses_them(server):
    seats = await in_hand(server, options={"signals": "off"})
    reply = await seats[0].ask(sealed(seats[0], "three", 2))
    assert (reply["code"], "without signs" in reply["msg"]) == ("illegal_action", True)


# How often


async def test_seat_signs_so_many_times_at_once(server):
    seats = await in_hand(server)
    replies = [await seats[0].ask(sealed(seats[0], "three", 2)) for _ in range(BURST + 1)]
    assert [reply["t"] for reply in replies] == ["ok"] * BURST + ["error"]


async def test_seat_that_signs_too_often_is_told_when_it_may_again(server):
    seats = await in_hand(server)
    replies = [await seats[0].ask(sealed(seats[0], "three", 2)) for _ in range(BURST + 1)]
    last = replies[-1]
    assert (last["code"], 0 < last["retry_after_ms"] <= 1000 // PER_S + 1) == ("rate_limited", True)


async def test_refused_signs_do_not_put_the_next_one_off(server):
    seats = await in_hand(server)
    replies = [await seats[0].ask(sealed(seats[0], "three", 2)) for _ in range(BURST + 5)]
    assert replies[-1]["retry_after_ms"] <= 1000 // PER_S + 1


async def test_one_seats_signs_take_nothing_from_another(server):
    seats = await in_hand(server)
    for _ in range(BURST + 1):
        await seats[0].ask(sealed(seats[0], "three", 2))
    assert (await seats[1].ask(sealed(seats[1], "three", 3)))["t"] == "ok"


def test_docs_name_the_rate():
    text = (DOCS / "limits.md").read_text(encoding="utf-8")
    assert f"{BURST} at once, then {PER_S} a second" in text


# Phrases


def phrase(seat: Seat, words: str) -> dict:
    return {"t": "say", "table": seat.table, "phrase": words}


async def test_phrase_is_heard_by_everybody_at_the_table(server):
    seats = await in_hand(server, "truco-argentino")
    assert (await seats[0].ask(phrase(seats[0], "come")))["t"] == "ok"
    notices = [await heard(seat, "said") for seat in seats]
    said = [{"t": "said", "table": seats[0].table, "seat": 0, "phrase": "come"}]
    assert notices == [said] * 4


async def test_phrase_is_heard_by_who_watches(server):
    seats = await in_hand(server, "truco-argentino")
    client = await watcher(server, seats[0].table)
    await seats[1].ask(phrase(seats[1], "dry"))
    assert (await client.until("said"))["seat"] == 1


async def test_phrase_names_the_table_by_its_code_however_the_speaker_wrote_it(server):
    seats = await server.seats(2, "truco-argentino")
    await seats[0].ask(phrase(seats[0], "come") | {"table": seats[0].table.lower()})
    assert [message["table"] for message in await heard(seats[1], "said")] == [seats[0].table]


async def test_phrase_may_be_said_before_the_match(server):
    seats = await server.seats(2, "truco-argentino")
    assert (await seats[0].ask(phrase(seats[0], "come")))["t"] == "ok"


async def test_phrase_that_the_game_has_not_is_refused(server):
    seats = await server.seats(2, "truco-argentino")
    reply = await seats[0].ask(phrase(seats[0], "hello there"))
    assert (reply["code"], reply["field"], "come or come-here" in reply["msg"]) == (
        "illegal_action",
        "phrase",
        True,
    )


async def test_game_without_phrases_refuses_all(server):
    seats = await server.seats(2, "truc-french")
    reply = await seats[0].ask(phrase(seats[0], "come"))
    assert (reply["code"], "has no phrases" in reply["msg"]) == ("illegal_action", True)


async def test_somebody_without_a_seat_says_nothing(server):
    seats = await server.seats(2, "truco-argentino")
    client = await watcher(server, seats[0].table)
    assert (await client.ask(phrase(seats[0], "come")))["code"] == "not_seated"


async def test_seat_that_says_too_much_is_told_when_it_may_again(server):
    seats = await server.seats(2, "truco-argentino")
    replies = [await seats[0].ask(phrase(seats[0], "come")) for _ in range(BURST + 1)]
    assert [reply.get("code") for reply in replies] == [None] * BURST + ["rate_limited"]


async def test_phrases_take_nothing_from_signs(server):
    seats = await in_hand(server, "truco-argentino")
    for _ in range(BURST + 1):
        await seats[0].ask(phrase(seats[0], "come"))
    assert (await seats[0].ask(sealed(seats[0], "three", 2)))["t"] == "ok"
