"""Cases S2: tables, seats and options, up to the terms of a match, and how long a table has waited."""

from functools import partial
from typing import Final

import trio

from truc_conform.expectations import Map, UnofferedError, check_refusal, expect, expect_ok
from truc_conform.raw_client import RawClient
from truc_conform.raw_seat import RawSeat
from truc_conform.server_visit import ServerVisit, all_at_once, case, case_rows, is_asked, play_on
from truc_protocol.bodies import SeatTaken
from truc_protocol.codec import sha256
from truc_protocol.crypto.keys import generate_signing_key
from truc_protocol.errors import Code
from truc_protocol.records import Record, encode
from truc_protocol.setup import open_terms

MOST_TABLES: Final = 10  # a server that allows more is not tried: opening them takes too long
_NOWHERE: Final = "NOSUCHTABLE"
_DECISION_MS: Final = 45_000
_TABLE: Final = "play.md#at-the-table"
_OPTION: Final = "options.md#table-options"
_WAIT_S: Final = 0.3
_SLACK_MS: Final = 50  # two clocks are compared, one of which counts in whole milliseconds


async def _table(visit: ServerVisit, *, private: bool = True, **options: int | str) -> RawSeat:
    """Return a player alone at a table of two seats."""
    seat = await visit.seat()
    expect_ok(await seat.open_table(options, private=private), "ok with table and seat", "table", "seat")
    return seat


@case("S2.create", _TABLE)
async def _create(visit: ServerVisit) -> None:
    """A player who creates a table sits at it, and is told its state."""
    seat = await _table(visit, decision_ms=_DECISION_MS)
    state = await seat.client.until("table", table=seat.table)
    expect(
        state["state"] == "open" and state["n"] == len(state["seats"]), "an open table with its seats", state
    )
    kinds = [each["kind"] for each in state["seats"]]
    expect(sorted(kinds) == ["empty", "key"], "one seat with a key, one empty", state)
    expect(state["opts"][0] == _DECISION_MS, "the option in opts", state["opts"])
    expect(state["options"] == {"decision_ms": _DECISION_MS}, "the options chosen", state["options"])


@case_rows(
    _OPTION,
    "{what} gets bad_option, which names it",
    ("S2.option-unknown", "An unknown option", "flying", 1),
    ("S2.option-high", "A term above its bound", "decision_ms", 86_400_001),
    ("S2.option-low", "A term below its bound", "release_ms", 999),
    ("S2.option-type", "A term that is a word", "decision_ms", "soon"),
    ("S2.option-spectators", "A spectators delay above an hour", "spectators", 3_604),
    ("S2.option-word", "A house rule outside its list of words", "reveal", "never"),
    ("S2.option-target", "A target of 0", "target", 0),
)
async def _bad_option(visit: ServerVisit, *, option: str, value: int | str) -> None:
    seat = await visit.seat()
    reply = await seat.open_table({option: value})
    check_refusal(reply, Code.BAD_OPTION, field=f"options/{option}")
    await seat.client.check_alive()


@case_rows(
    "errors.md#{code}",
    "{what} gets {code}",
    (
        "S2.variant-unknown",
        "A game that the server lacks",
        {"variant": "whist"},
        Code.NO_SUCH_VARIANT,
        "variant",
    ),
    ("S2.seats-wrong", "A number of seats that the game lacks", {"seats": 15}, Code.BAD_OPTION, "seats"),
    ("S2.seat-wrong", "A seat that the table lacks", {"seats": 2, "seat": 2}, Code.BAD_MESSAGE, "seat"),
)
async def _refused_create(visit: ServerVisit, *, fields: Map, code: Code, field: str) -> None:
    client = await visit.player()
    await client.refused({"t": "create", "variant": client.game(), **fields}, code, field=field)


@case("S2.options-many", _OPTION)
async def _options_many(visit: ServerVisit) -> None:
    """33 options get bad_message."""
    options = {f"o{n}": n for n in range(33)}
    client = await visit.player()
    wanted = {"t": "create", "variant": client.game(), "options": options}
    await client.refused(wanted, Code.BAD_MESSAGE, field="options")


@case_rows(
    "errors.md#no_such_table",
    "{tag} at a table that does not exist gets no_such_table",
    *((f"S2.nowhere-{tag}", "", tag) for tag in ("join", "leave", "ready", "unready", "watch", "unwatch")),
)
async def _nowhere(visit: ServerVisit, *, tag: str) -> None:
    client = await visit.player()
    await client.refused({"t": tag, "table": _NOWHERE}, Code.NO_SUCH_TABLE, field="table")


@case_rows(
    "errors.md#not_seated",
    "{tag} without a seat gets not_seated",
    *((f"S2.not-seated-{tag}", "", tag) for tag in ("leave", "ready", "unready")),
)
async def _not_seated(visit: ServerVisit, *, tag: str) -> None:
    seat = await _table(visit)
    await visit.stranger_refused({"t": tag, "table": seat.table}, Code.NOT_SEATED)


async def _codes(client: RawClient) -> list[str]:
    """Return the code of every table listed."""
    return await client.listed("tables", "table")


@case("S2.public", "messages.md#tables")
async def _public(visit: ServerVisit) -> None:
    """A public table is listed; the codes ascend."""
    seat = await _table(visit, private=False)
    codes = await _codes(await visit.player())
    expect(seat.table in codes, f"the table {seat.table} among those listed", codes)
    # A client asks for the next page by the last code of the one before.
    expect(codes == sorted(set(codes)), "codes in ascending order, each once", codes)


@case("S2.private", "views.md#who-sees-what")
async def _private(visit: ServerVisit) -> None:
    """A private table is not listed; anybody with its code may join."""
    seat, other = await _table(visit), await visit.seat(1)
    expect(seat.table not in await _codes(other.client), "a list without the private table", "one with it")
    expect_ok(await other.join(seat.table), "a seat for a player with the code")


@case("S2.joined", _TABLE)
async def _joined(visit: ServerVisit) -> None:
    """Everybody at a table is told who has joined."""
    first, second = await visit.seats()
    state = await first.client.until(
        "table", lambda state: all(each["kind"] == "key" for each in state["seats"])
    )
    names = sorted(each.get("name", "") for each in state["seats"])
    expect(names == sorted((first.name, second.name)), "both players in the state sent to the first", state)


@case("S2.seat-taken", "errors.md#seat_taken")
async def _seat_taken(visit: ServerVisit) -> None:
    """Joining a taken seat gets seat_taken."""
    seat = await _table(visit)
    other = await visit.player()
    await other.refused({"t": "join", "table": seat.table, "seat": seat.seat}, Code.SEAT_TAKEN)


@case("S2.table-full", "errors.md#table_full")
async def _table_full(visit: ServerVisit) -> None:
    """Joining a full table gets table_full."""
    seats = await visit.seats()
    await visit.stranger_refused({"t": "join", "table": seats[0].table}, Code.TABLE_FULL)


@case("S2.no-such-seat", "errors.md#bad_message")
async def _no_such_seat(visit: ServerVisit) -> None:
    """Joining a seat the table lacks gets bad_message."""
    seat = await _table(visit)
    wanted = {"t": "join", "table": seat.table, "seat": 2}
    await visit.stranger_refused(wanted, Code.BAD_MESSAGE, field="seat")


@case("S2.join-race", "errors.md#seat_taken")
async def _join_race(visit: ServerVisit) -> None:
    """Of four who join one seat at once, one gets it."""
    seat = await _table(visit)
    rivals = [await visit.seat(n) for n in range(1, 5)]
    replies: list[Map] = []

    async def join(rival: RawSeat) -> None:
        replies.append(await rival.join(seat.table, 1))

    await all_at_once(*(partial(join, rival) for rival in rivals))
    kinds = sorted(reply.get("code", "ok") for reply in replies)
    expect(kinds.count("ok") == 1, "one of four to get the seat", kinds)
    # The last seat of a table of two: either code says what is true of it.
    expect(set(kinds) <= {"ok", Code.SEAT_TAKEN, Code.TABLE_FULL}, "seat_taken for the others", kinds)


@case("S2.left", _TABLE)
async def _left(visit: ServerVisit) -> None:
    """A seat that was given up is free."""
    first, second = await visit.seats()
    expect_ok(await second.client.ask({"t": "leave", "table": second.table}), "ok to leave")
    other = await visit.seat(2)
    expect_ok(await other.join(first.table, second.seat), "the seat that was given up")


@case("S2.emptied", "errors.md#no_such_table")
async def _emptied(visit: ServerVisit) -> None:
    """A table that everybody has left is gone."""
    seat = await _table(visit)
    await seat.client.ask({"t": "leave", "table": seat.table})
    await seat.client.refused({"t": "join", "table": seat.table}, Code.NO_SUCH_TABLE)


@case("S2.ready", _TABLE)
async def _ready(visit: ServerVisit) -> None:
    """ready and unready show in the state."""
    first, second = await visit.seats()
    for tag in ("ready", "unready"):
        expect_ok(await first.client.ask({"t": tag, "table": first.table}), f"ok to {tag}")
        state = await second.client.until(
            "table", partial(_shows, first, is_ready=tag == "ready"), table=first.table
        )
        expect(state["state"] == "open", "the table to stay open", state)


def _shows(seat: RawSeat, state: Map, *, is_ready: bool) -> bool:
    return state["seats"][seat.seat].get("ready", False) is is_ready


@case("S2.join-again", "session.md#coming-back")
async def _join_again(visit: ServerVisit) -> None:
    """join on another connection moves one's seat there; the older one is told, and stays open."""
    first, _ = await visit.seats()
    client = await visit.player(first.key)
    reply = await client.ask({"t": "join", "table": first.table})
    expect_ok(reply, "one's own seat", seat=first.seat)
    told = await first.client.until("seat_taken_over")
    expect((told["table"], told["seat"]) == (first.table, first.seat), "which seat was taken over", told)
    await first.client.check_alive()


@case("S2.no-guests", "errors.md#guests_not_allowed")
async def _no_guests(visit: ServerVisit) -> None:
    """A guest at a table without guests gets guests_not_allowed."""
    guest, seat = await visit.guest(), await _table(visit, guests=0)
    await guest.refused({"t": "join", "table": seat.table}, Code.GUESTS_NOT_ALLOWED)


@case("S2.too-many-tables", "errors.md#too_many_tables")
async def _too_many_tables(visit: ServerVisit) -> None:
    """More tables than limits.tables get too_many_tables."""
    seat = await visit.seat()
    most = seat.client.limit("tables", most=MOST_TABLES)
    codes = []
    for _ in range(most):
        reply = expect_ok(await seat.open_table(), f"{most} tables of one player")
        codes.append(reply["table"])
    check_refusal(await seat.open_table(), Code.TOO_MANY_TABLES)
    for code in codes:
        await seat.client.ask_patiently({"t": "leave", "table": code})


@case("S2.rules", "session.md#the-games-of-a-server")
async def _rules(visit: ServerVisit) -> None:
    """rules brings the document whose hash the table shows."""
    seat = await _table(visit)
    state = await seat.client.until("table", table=seat.table)
    asked = await seat.client.ask({"t": "rules", "variant": seat.client.game()})
    reply = expect_ok(asked, "ok with the rule document", "doc")
    expect(sha256(reply["doc"]) == state["rules"], "rules to be the SHA-256 of the document", state["rules"])


async def _terms(visit: ServerVisit) -> tuple[RawSeat, Map]:
    """Return a seat that has been sent terms, and the message with them; it signs nothing."""
    first, second = await visit.seats()
    for seat in (first, second):
        # Not by the seat, which would sign the terms as they come.
        expect_ok(await seat.client.ask({"t": "ready", "table": seat.table}), "ok to ready")
    return first, await first.client.until("terms", table=first.table)


@case("S2.terms-other-key", "play.md#terms-and-setup")
async def _terms_other_key(visit: ServerVisit) -> None:
    """A seat record with a pk other than the login's gets terms_refused."""
    seat, message = await _terms(visit)
    terms = open_terms(message["doc"], Record(*message["record"]))
    other = generate_signing_key()
    body = encode(SeatTaken(terms.th, seat.seat, other.public, bytes(32), bytes(range(32)), b"other"))
    act = {"t": "act", "table": seat.table, "body": body, "sig": other.sign(body)}
    # play.md, "Terms and setup": `pk` must be the key that logged in (C6).
    check_refusal(await seat.client.ask(act), Code.TERMS_REFUSED)


@case("S2.terms-name", "limits.md#names")
async def _terms_name(visit: ServerVisit) -> None:
    """A seat record in another name gets terms_refused."""
    seat, message = await _terms(visit)
    seat.name = f"not {seat.name}"
    await seat.sign_terms(message)
    # play.md, "Terms and setup": `name` must be that of `welcome`, byte for byte.
    check_refusal(await seat.client.until("error"), Code.TERMS_REFUSED)


@case("S2.terms-again", "session.md#coming-back")
async def _terms_again(visit: ServerVisit) -> None:
    """join while the terms are out brings table, then terms."""
    seat, _ = await _terms(visit)
    before = len(seat.client.log)
    expect_ok(await seat.client.ask({"t": "join", "table": seat.table}), "ok to join on one's own seat")
    await seat.client.until("terms", table=seat.table)
    came = [message["t"] for message in seat.client.log[before:] if message.get("table") == seat.table]
    expect(came[-2:] == ["table", "terms"], "the table, then its terms", came)


@case("S2.terms-fixed", "errors.md#table_not_open")
async def _terms_fixed(visit: ServerVisit) -> None:
    """While the terms are out, seats are fixed."""
    seat, _ = await _terms(visit)
    await seat.client.refused({"t": "leave", "table": seat.table}, Code.TABLE_NOT_OPEN)


@case("S2.table-age", "lobby.md#tables")
async def _table_age(visit: ServerVisit) -> None:
    """age_ms counts from the table's creation, then from the match's start.

    Compare each age with the kit's own clock: no table or match is older than the kit's request for it.
    """
    made = trio.current_time()
    seats = await visit.seats()
    client, code = seats[0].client, seats[0].table
    _check(await client.until("table", table=code), since=made)
    await trio.sleep(_WAIT_S)  # otherwise a match would seem as old as its table
    begun = trio.current_time()
    for seat in seats:
        await seat.ready()
    await play_on(seats, is_asked)
    states = client.came("table", table=code)
    playing = [state for state in states if state["state"] == "playing"]
    expect(playing, "a table shown as playing", [state["state"] for state in states])
    for state in playing:
        _check(state, since=begun)


def _check(state: Map, *, since: float) -> None:
    if "age_ms" not in state:
        raise UnofferedError("the server does not say how old its tables are")
    most_ms = (trio.current_time() - since) * 1000 + _SLACK_MS
    expect(state["age_ms"] <= most_ms, f"{state['state']} for at most {most_ms:.0f} ms", state["age_ms"])
