"""The terms of a match and the records that answer them."""

from secrets import token_bytes

from server.clocks import pass_time
from server.conftest import running
from server.gates import Gate
from server.rawclient import RawSeat

from truc_protocol.bodies import Ack, SeatTaken
from truc_protocol.crypto import keys
from truc_protocol.crypto.chains import Chain
from truc_protocol.records import Record, encode
from truc_protocol.setup import MatchTerms, open_terms


async def under_terms(server, **fields) -> tuple[list[RawSeat], MatchTerms]:
    """Return the players of a table whose terms are out, and the terms."""
    seats = await server.match(2, **fields)
    first, _ = [await terms_told(seat) for seat in seats]
    return seats, first


async def terms_told(seat: RawSeat) -> MatchTerms:
    """Return the next terms that a seat is sent."""
    message = await seat.client.until("terms")
    return open_terms(message["doc"], Record(*message["record"]))


def seat_body(player: RawSeat, terms: MatchTerms, **fields) -> SeatTaken:
    chain = Chain(player.key.public, terms.table.tn, token_bytes(32), first=0, count=terms.table.links)
    body = {
        "th": terms.th,
        "seat": player.seat,
        "pk": player.key.public,
        "anchor": chain.anchor,
        "x": keys.generate_box_key().public,
        "name": player.name.encode(),
    }
    return SeatTaken(**{**body, **fields})


async def hand_in(seat: RawSeat, body, key=None) -> dict:
    encoded = encode(body)
    signature = (key or seat.key).sign(encoded)
    return await seat.client.ask({"t": "act", "table": seat.table, "body": encoded, "sig": signature})


async def test_seat_record_is_taken_again_is_a_repeat_and_another_is_refused(server):
    seats, terms = await under_terms(server)
    body = seat_body(seats[0], terms)
    taken, again = [await hand_in(seats[0], body) for _ in range(2)]
    assert (taken["t"], taken.get("dup", False), again["dup"]) == ("ok", False, True)
    assert (await hand_in(seats[0], seat_body(seats[0], terms)))["code"] == "terms_refused"


async def test_time_to_sign_runs_from_when_the_terms_are_stored(tmp_path, mock_clock):
    gate = Gate()
    async with running(tmp_path / "data", wrap=gate.before_commit("SaveTerms")) as server:
        seats = await server.seats(2, options={"release_ms": 5000})
        await seats[0].ready()
        await seats[1].client.send({"t": "ready", "table": seats[1].table})
        await gate.reached()
        await pass_time(mock_clock, 5.5)
        gate.open()
        body = seat_body(seats[0], await terms_told(seats[0]))
        assert (await hand_in(seats[0], body))["t"] == "ok"


async def test_terms_are_not_dropped_while_the_journal_takes_no_signatures(server, mock_clock, monkeypatch):
    seats, terms = await under_terms(server, options={"release_ms": 5000})
    monkeypatch.setattr("truc_server.storage.journal.Journal.is_full", True)
    await pass_time(mock_clock, 5.5)
    monkeypatch.undo()
    assert (await hand_in(seats[0], seat_body(seats[0], terms)))["t"] == "ok"
    await pass_time(mock_clock, 5.5)
    assert (await hand_in(seats[1], seat_body(seats[1], terms)))["code"] == "terms_refused"


async def test_seat_record_that_does_not_answer_the_terms_is_refused(server):
    seats, terms = await under_terms(server)
    refused = {
        "th": (bytes(32), "terms_refused"),
        "pk": (keys.generate_signing_key().public, "terms_refused"),
        "x": (bytes(32), "terms_refused"),
        "seat": (1, "bad_message"),
        "name": (b"\xff", "terms_refused"),
    }
    codes = {
        field: (await hand_in(seats[0], seat_body(seats[0], terms, **{field: value})))["code"]
        for field, (value, _) in refused.items()
    }
    assert codes == {field: code for field, (_, code) in refused.items()}
    assert (await hand_in(seats[0], Ack(terms.th, 0, terms.th, 0)))["code"] == "not_now"


async def test_commitment_of_another_seat_or_guest_is_refused_and_a_wrong_signature_ends_the_connection(
    server,
):
    seats, terms = await under_terms(server)
    body = seat_body(seats[0], terms)
    await hand_in(seats[0], body)
    for copied, called in (("anchor", "anchor"), ("x", "box key")):
        copy = seat_body(seats[1], terms, **{copied: getattr(body, copied)})
        reply = await hand_in(seats[1], copy)
        said = f"C7 (seat 1): expected a fresh {called}, got one used before"
        assert (reply["code"], reply["msg"]) == ("terms_refused", said)
    seats, terms = await under_terms(server, guests=(1,), seed=2)
    body = seat_body(seats[0], terms, x=seats[1].x.public)
    assert (await hand_in(seats[0], body))["code"] == "terms_refused"
    reply = await hand_in(seats[0], seat_body(seats[0], terms), key=keys.generate_signing_key())
    assert (reply["code"], reply["close"]) == ("bad_signature", True)


async def test_the_setup_holds_the_records_in_seat_order(server):
    seats, terms = await under_terms(server)
    for seat in reversed(seats):
        await hand_in(seat, seat_body(seat, terms))
    setup = await seats[0].client.until("setup")
    assert [record[0] for record in setup["records"]] == [0, 1, 2, 0]


async def test_a_fresh_start_makes_fresh_terms_and_the_dropped_ones_are_refused(server, mock_clock):
    seats, first = await under_terms(server, options={"release_ms": 5000})
    mock_clock.jump(5.01)
    for seat in seats:
        await seat.client.until("table", state="open")
    reply = await hand_in(seats[0], seat_body(seats[0], first))
    # Whoever leaves `match` out beside another record is told so, too.
    assert (reply["code"], "any record but `seat` needs `match`" in reply["msg"]) == ("terms_refused", True)
    for seat in seats:
        await seat.client.ask({"t": "ready", "table": seat.table})
    second = await terms_told(seats[1])
    assert (first.table.tn != second.table.tn, first.table.x != second.table.x) == (True, True)
