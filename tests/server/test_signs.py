"""Signs and phrases: who hears them, in a box or in clear, and what is refused to the sender alone."""

from functools import partial

import pytest
from server import visitors
from server.acting import paused
from server.conftest import in_hand, play_on
from server.rawclient import RawSeat
from server.visitors import keyed

from truc_protocol import boxes
from truc_server.tables.talk import BURST, PER_S

NONCE = bytes(12)
WORDS = {"seven": "7", "eight": "8", "ace": "A"}


async def partners(server, variant="truc-catalan", count=4, **fields) -> list[RawSeat]:
    """Return players of two sides in the middle of a hand, none of whom moves any more."""
    return await in_hand(server, variant, count=count, **fields)


async def partnership(server, **fields) -> tuple[list[RawSeat], int]:
    """Return players of a governed game, and the seat of a governor that deals."""
    seats = await partners(server, "truc-partnership", **fields)
    return seats, seats[0].ledger.match.dealer


def shared(seat: RawSeat) -> bytes:
    return seat.x.exchange(seat.ledger.setup.terms.table.x)


def sealed(seat: RawSeat, word: str, to: int, **fields) -> dict:
    """Return the message of a sign in a box."""
    mid, at = seat.ledger.setup.mid, fields.get("at", seat.next)
    key = boxes.upward_key(shared(seat), mid, seat.seat)
    box = boxes.seal_sign_up(key, mid, seat=seat.seat, at=at, to=to, nonce=NONCE, word=word)
    return {"t": "sign", "table": seat.table, "match": mid, "at": at, "to": to, "box": box, **fields}


def in_clear(seat: RawSeat, word: str, **fields) -> dict:
    return {
        "t": "sign",
        "table": seat.table,
        "match": seat.ledger.setup.mid,
        "at": seat.next,
        "word": word,
        **fields,
    }


def opened(seat: RawSeat, message: dict) -> str:
    """Open a sign as the seat that it was sealed for."""
    mid = seat.ledger.setup.mid
    key = boxes.downward_key(shared(seat), mid, seat.seat)
    where = {"seat": seat.seat, "at": message["at"], "sender": message["from"]}
    return boxes.open_sign(key, mid, **where, box=message["box"], after=seat.counter).word


async def watcher(server, table: str):
    client = await keyed(server)
    assert (await client.ask({"t": "watch", "table": table}))["t"] == "ok"
    return client


async def heard(seat: RawSeat, tag: str) -> list[dict]:
    """Return every message with a tag that has come to a seat by now."""
    return await visitors.heard(seat.client, tag)


def held_words(seat: RawSeat) -> set[str]:
    """Return the words of partnership Truc that are true for a seat."""
    pack = seat.ledger.setup.terms.variant.pack
    ranks = {pack[opening.card][0] for opening in seat.auditor.openings}
    return {word for word, rank in WORDS.items() if rank in ranks}


# Who hears a sign


async def test_partner_alone_hears_a_sign_in_a_box_which_is_no_record(server):
    seats = await partners(server)
    at = seats[0].next
    for word in ("three", "two", "ace"):  # true or not
        assert (await seats[0].ask(sealed(seats[0], word, 2)))["t"] == "ok"
    first, second, _ = await heard(seats[2], "sign")
    assert (first["from"], "word" in first, opened(seats[2], first)) == (0, False, "three")
    assert first["box"][:8] != second["box"][:8]  # a counter is never used again
    assert [await heard(seats[seat], "sign") for seat in (0, 1, 3)] == [[], [], []]
    assert (await seats[0].resume())["k"] == at


async def test_every_partner_of_six_hears_a_sign(server):
    seats = await partners(server, "truco-argentino", 6)
    await seats[1].ask(sealed(seats[1], "ace-swords", 3))
    notices = [(await heard(seats[seat], "sign"))[0] for seat in (3, 5)]
    assert [opened(seats[seat], notice) for seat, notice in zip((3, 5), notices, strict=True)] == [
        "ace-swords",
        "ace-swords",
    ]


async def test_sign_and_options_of_a_seat_share_one_count(server):
    seats = await partners(server)
    first = next(seat for seat in seats if seat.options and seat.options["must"])
    partner = seats[(first.seat + 2) % 4]
    await partner.ask(sealed(partner, "three", first.seat))
    (message,) = await heard(first, "sign")
    numbers = [int.from_bytes(box[:8], "big") for box in (first.options["box"], message["box"])]
    assert numbers[1] > numbers[0]


async def test_sign_is_lost_on_a_partner_who_is_not_there_and_not_repeated(server):
    seats = await partners(server)
    await seats[2].client.stream.aclose()
    assert (await seats[0].ask(sealed(seats[0], "three", 2)))["t"] == "ok"
    await seats[2].come_back(await server.connect())
    assert await heard(seats[2], "sign") == []


async def test_whole_table_and_who_watches_hear_a_sign_in_clear_where_it_is_so_played(server):
    seats = await partners(server, options={"signals": "table"})
    client = await watcher(server, seats[0].table)
    await seats[0].ask(sealed(seats[0], "three", 1))
    notices = [await heard(seats[seat], "sign") for seat in (1, 2, 3)]
    assert [[(notice["from"], notice["word"]) for notice in each] for each in notices] == [[(0, "three")]] * 3
    assert (await client.until("sign"))["word"] == "three"


@pytest.mark.parametrize("options", [{}, {"signals": "table", "spectators": 2}])
async def test_who_watches_does_not_see_signs_before_the_hand_is_shown(server, options):
    seats = await partners(server, options=options)
    client = await watcher(server, seats[0].table)
    await seats[0].ask(sealed(seats[0], "three", 2))
    assert await visitors.heard(client, "sign") == []


# Guests


async def test_guest_without_a_box_signs_and_is_signed_to_in_clear_and_in_no_box(server):
    seats = await partners(server, guests=(0, 3), boxed=False)
    reply = await seats[0].ask(in_clear(seats[0], "three", to=2, box=bytes(300)))
    assert (reply["code"], reply["field"]) == ("not_now", "box")
    assert (await seats[0].ask(in_clear(seats[0], "three")))["t"] == "ok"
    (message,) = await heard(seats[2], "sign")
    assert opened(seats[2], message) == "three"
    await seats[1].ask(sealed(seats[1], "three", 3))
    (message,) = await heard(seats[3], "sign")
    assert (message["word"], "box" in message) == ("three", False)


async def test_guest_with_a_box_signs_and_is_signed_to_in_boxes(server):
    seats = await partners(server, guests=(0, 2))
    await seats[0].ask(sealed(seats[0], "three", 2))
    (message,) = await heard(seats[2], "sign")
    assert opened(seats[2], message) == "three"


# Truth


async def every_word_signed(server) -> tuple[list[RawSeat], RawSeat, dict[str, dict]]:
    """Let a governor's partner sign every word; return the players, that seat, and the reply to each word."""
    seats, dealer = await partnership(server)
    partner = seats[(dealer + 2) % 4]
    replies = {word: await partner.ask(sealed(partner, word, dealer)) for word in WORDS}
    return seats, partner, replies


async def test_only_true_signs_are_taken_and_heard_where_truth_is_enforced(server):
    seats, partner, replies = await every_word_signed(server)
    true = held_words(partner)
    assert {word for word, reply in replies.items() if reply["t"] == "ok"} == true
    assert {reply["msg"] for reply in replies.values() if reply["t"] == "error"} == {
        f"seat {partner.seat} cannot sign {word}: signs are true in this game, and it holds no such card unplayed"
        for word in WORDS
        if word not in true
    }
    governor = seats[(partner.seat + 2) % 4]
    assert {opened(governor, message) for message in await heard(governor, "sign")} == true
    opponents = [seats[(partner.seat + step) % 4] for step in (1, 3)]
    before = [len(seat.client.log) for seat in opponents]
    assert [await heard(seat, "sign") for seat in opponents] == [[], []]
    assert [len(seat.client.log) - then for seat, then in zip(opponents, before, strict=True)] == [1, 1]


async def test_governor_is_refused(server):
    seats, dealer = await partnership(server)
    reply = await seats[dealer].ask(sealed(seats[dealer], "seven", (dealer + 2) % 4))
    assert (reply["code"], "gives orders" in reply["msg"]) == ("illegal_action", True)


# When, and to whom


async def test_sign_for_another_place_or_seat_is_refused(server):
    seats = await partners(server)
    sign = partial(sealed, seats[0], "three", 2)
    for message, code in (
        (sealed(seats[0], "wink", 2), "illegal_action"),
        (sign(at=1), "stale_position"),
        (sign(at=999), "bad_position"),
        (sign() | {"match": bytes(32)}, "no_such_match"),
        (sealed(seats[2], "three", 0) | {"to": 2}, "bad_message"),
    ):
        assert (await seats[0].ask(message))["code"] == code
    for to in (0, 1):
        reply = await seats[0].ask(sealed(seats[0], "three", to))
        told = (reply["code"], reply["field"], reply["msg"])
        assert told == ("illegal_action", "to", f"to: expected seat 2, got {to}")
    reply = await seats[0].ask(sign(at=1) | {"at": seats[0].next})
    assert (reply["code"], reply["field"]) == ("bad_message", "box")
    reply = await seats[1].ask(in_clear(seats[1], "three"))  # a seat with a key
    assert (reply["code"], reply["field"]) == ("not_now", "word")
    client = await watcher(server, seats[0].table)
    assert (await client.ask(sign()))["code"] == "not_seated"


def asked_to_cut(seat: RawSeat) -> bool:
    told = seat.options or seat.waiting
    return told is not None and told["at"] == seat.next


async def test_sign_before_the_cards_are_dealt_is_refused(server):
    seats = await server.match(4, "truc-catalan")
    for seat in seats:
        seat.chooses = lambda message, options: None
    await play_on(seats, asked_to_cut)
    assert (await seats[0].ask(sealed(seats[0], "three", 2)))["code"] == "not_now"


async def test_sign_after_the_hand_is_refused(server):
    seats = await partners(server)
    at = seats[0].next
    first = next(seat for seat in seats if seat.options and seat.options["must"])
    await first.resign()
    await play_on(seats, lambda seat: seat.done)
    assert seats[0].next > at
    assert (await seats[0].ask(sealed(seats[0], "three", 2)))["code"] == "not_now"


async def test_sign_during_a_pause_is_refused_for_now(server):
    seats = await paused(server, variant="truc-catalan", count=4, guests=(0, 1, 2, 3), boxed=False)
    reply = await seats[0].ask(in_clear(seats[0], "three"))
    assert (reply["code"], reply["retryable"]) == ("paused", False)


async def test_table_without_signs_refuses_them(server):
    seats = await partners(server, options={"signals": "off"})
    reply = await seats[0].ask(sealed(seats[0], "three", 2))
    assert (reply["code"], "without signs" in reply["msg"]) == ("illegal_action", True)


# How often


async def test_seat_signs_so_many_times_at_once_and_takes_nothing_from_another(server):
    seats = await partners(server)
    replies = [await seats[0].ask(sealed(seats[0], "three", 2)) for _ in range(BURST + 5)]
    assert [reply["t"] for reply in replies] == ["ok"] * BURST + ["error"] * 5
    for refused in replies[BURST:]:  # which do not put the next one off
        assert (refused["code"], 0 < refused["retry_after_ms"] <= 1000 // PER_S + 1) == ("rate_limited", True)
    assert (await seats[1].ask(sealed(seats[1], "three", 3)))["t"] == "ok"


# Phrases


def phrase(seat: RawSeat, words: str) -> dict:
    return {"t": "say", "table": seat.table, "phrase": words}


async def test_phrase_is_heard_by_who_watches_too_and_names_the_table_by_its_code(server):
    seats = await server.seats(2, "truco-argentino")
    client = await watcher(server, seats[0].table)
    reply = await seats[0].ask(phrase(seats[0], "come") | {"table": seats[0].table.lower()})
    assert reply["t"] == "ok"
    said = {"t": "said", "table": seats[0].table, "seat": 0, "phrase": "come"}
    assert await visitors.heard(client, "said") == [said]
    reply = await seats[0].ask(phrase(seats[0], "hello there"))
    assert (reply["field"], "come or come-here" in reply["msg"]) == ("phrase", True)


async def test_game_without_phrases_refuses_all(server):
    seats = await server.seats(2, "truc-french")
    reply = await seats[0].ask(phrase(seats[0], "come"))
    assert (reply["code"], "has no phrases" in reply["msg"]) == ("illegal_action", True)


async def test_phrases_take_nothing_from_signs(server):
    seats = await partners(server, "truco-argentino")
    for _ in range(BURST + 1):
        await seats[0].ask(phrase(seats[0], "come"))
    assert (await seats[0].ask(sealed(seats[0], "three", 2)))["t"] == "ok"
