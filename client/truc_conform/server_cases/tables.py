"""Cases S2: tables, seats and options, up to the terms of a match."""

from functools import partial
from typing import Final

from truc_conform.raw_client import Map, RawClient
from truc_conform.raw_seat import Seat
from truc_conform.server_visit import (
    ServerCase,
    Visit,
    check_alive,
    check_refusal,
    create,
    expect,
    expect_ok,
    game_of,
    limit,
    listed,
    refused,
    server_case,
    server_row,
    together,
)
from truc_protocol.bodies import SeatTaken
from truc_protocol.codec import sha256
from truc_protocol.crypto.keys import generate_signing_key
from truc_protocol.errors import Code
from truc_protocol.records import Record, encode
from truc_protocol.setup import open_terms

MOST_TABLES: Final = 10
_NOWHERE: Final = "NOSUCHTABLE"
_DECISION_MS: Final = 45_000


async def _bad_option(visit: Visit, *, option: str, value: int | str) -> None:
    seat = await visit.seat()
    reply = await create(seat, {option: value})
    check_refusal(reply, Code.BAD_OPTION, field=f"options/{option}")
    await check_alive(seat.client)


async def _refused_create(visit: Visit, *, fields: Map, code: Code, field: str) -> None:
    client = await visit.player()
    await refused(client, {"t": "create", "variant": game_of(client), **fields}, code, field=field)


async def _options_many(visit: Visit) -> None:
    """33 options get bad_message."""
    options = {f"o{n}": n for n in range(33)}
    await _refused_create(visit, fields={"options": options}, code=Code.BAD_MESSAGE, field="options")


async def _nowhere(visit: Visit, *, tag: str) -> None:
    client = await visit.player()
    await refused(client, {"t": tag, "table": _NOWHERE}, Code.NO_SUCH_TABLE, field="table")


async def _not_seated(visit: Visit, *, tag: str) -> None:
    seat = await _table(visit)
    await refused(await visit.player(), {"t": tag, "table": seat.table}, Code.NOT_SEATED)


async def _table(visit: Visit, *, private: bool = True, **options: int | str) -> Seat:
    """Return a player alone at a table of two seats."""
    seat = await visit.seat()
    expect_ok(await create(seat, options, private=private), "ok with table and seat", "table", "seat")
    return seat


async def _create(visit: Visit) -> None:
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


async def _codes(client: RawClient) -> list[str]:
    """Return the code of every table listed."""
    return await listed(client, "tables", "table")


async def _public(visit: Visit) -> None:
    """A public table is listed; the codes ascend."""
    seat = await _table(visit, private=False)
    codes = await _codes(await visit.player())
    expect(seat.table in codes, f"the table {seat.table} among those listed", codes)
    expect(codes == sorted(set(codes)), "codes in ascending order, each once", codes)


async def _private(visit: Visit) -> None:
    """A private table is not listed; anybody with its code may join."""
    seat, other = await _table(visit), await visit.seat(1)
    expect(seat.table not in await _codes(other.client), "a list without the private table", "one with it")
    expect_ok(await other.join(seat.table), "a seat for a player with the code")


async def _seat_taken(visit: Visit) -> None:
    """Joining a taken seat gets seat_taken."""
    seat = await _table(visit)
    other = await visit.player()
    await refused(other, {"t": "join", "table": seat.table, "seat": seat.seat}, Code.SEAT_TAKEN)


async def _table_full(visit: Visit) -> None:
    """Joining a full table gets table_full."""
    seats = await visit.seats()
    await refused(await visit.player(), {"t": "join", "table": seats[0].table}, Code.TABLE_FULL)


async def _no_such_seat(visit: Visit) -> None:
    """Joining a seat the table lacks gets bad_message."""
    seat = await _table(visit)
    wanted = {"t": "join", "table": seat.table, "seat": 2}
    await refused(await visit.player(), wanted, Code.BAD_MESSAGE, field="seat")


async def _join_race(visit: Visit) -> None:
    """Of four who join one seat at once, one gets it."""
    seat = await _table(visit)
    rivals = [await visit.seat(n) for n in range(1, 5)]
    replies: list[Map] = []

    async def join(rival: Seat) -> None:
        replies.append(await rival.join(seat.table, 1))

    await together(*(partial(join, rival) for rival in rivals))
    kinds = sorted(reply.get("code", "ok") for reply in replies)
    expect(kinds.count("ok") == 1, "one of four to get the seat", kinds)
    expect(set(kinds) <= {"ok", Code.SEAT_TAKEN, Code.TABLE_FULL}, "seat_taken for the others", kinds)


async def _joined(visit: Visit) -> None:
    """Everybody at a table is told who has joined."""
    first, second = await visit.seats()
    state = await first.client.until("table")
    while sum(each["kind"] == "key" for each in state["seats"]) < len(state["seats"]):
        state = await first.client.until("table")
    names = sorted(each.get("name", "") for each in state["seats"])
    expect(names == sorted((first.name, second.name)), "both players in the state sent to the first", state)


async def _left(visit: Visit) -> None:
    """A seat that was given up is free."""
    first, second = await visit.seats()
    expect_ok(await second.client.ask({"t": "leave", "table": second.table}), "ok to leave")
    other = await visit.seat(2)
    expect_ok(await other.join(first.table, second.seat), "the seat that was given up")


async def _emptied(visit: Visit) -> None:
    """A table that everybody has left is gone."""
    seat = await _table(visit)
    await seat.client.ask({"t": "leave", "table": seat.table})
    await refused(seat.client, {"t": "join", "table": seat.table}, Code.NO_SUCH_TABLE)


async def _ready(visit: Visit) -> None:
    """ready and unready show in the state."""
    first, second = await visit.seats()
    for tag in ("ready", "unready"):
        expect_ok(await first.client.ask({"t": tag, "table": first.table}), f"ok to {tag}")
        state = await _seat_state(second.client, first, is_ready=tag == "ready")
        expect(state["state"] == "open", "the table to stay open", state)


async def _seat_state(client: RawClient, seat: Seat, *, is_ready: bool) -> Map:
    """Receive until the table's state shows a seat as ready, or not."""
    while True:
        state = await client.until("table", table=seat.table)
        if state["seats"][seat.seat].get("ready", False) is is_ready:
            return state


async def _join_again(visit: Visit) -> None:
    """join on another connection moves one's seat there; the older one is told, and stays open."""
    first, _ = await visit.seats()
    client = await visit.player(first.key)
    reply = await client.ask({"t": "join", "table": first.table})
    expect((reply["t"], reply.get("seat")) == ("ok", first.seat), "one's own seat", reply)
    told = await first.client.until("seat_taken_over")
    expect((told["table"], told["seat"]) == (first.table, first.seat), "which seat was taken over", told)
    await check_alive(first.client)


async def _no_guests(visit: Visit) -> None:
    """A guest at a table without guests gets guests_not_allowed."""
    guest, seat = await visit.guest(), await _table(visit, guests=0)
    await refused(guest, {"t": "join", "table": seat.table}, Code.GUESTS_NOT_ALLOWED)


async def _too_many_tables(visit: Visit) -> None:
    """More tables than limits.tables get too_many_tables."""
    seat = await visit.seat()
    most = limit(seat.client, "tables", most=MOST_TABLES)
    codes = []
    for _ in range(most):
        reply = expect_ok(await create(seat), f"{most} tables of one player")
        codes.append(reply["table"])
    check_refusal(await create(seat), Code.TOO_MANY_TABLES)
    for code in codes:
        await seat.client.ask_patiently({"t": "leave", "table": code})


async def _rules(visit: Visit) -> None:
    """rules brings the document whose hash the table shows."""
    seat = await _table(visit)
    state = await seat.client.until("table", table=seat.table)
    asked = await seat.client.ask({"t": "rules", "variant": game_of(seat.client)})
    reply = expect_ok(asked, "ok with the rule document", "doc")
    expect(sha256(reply["doc"]) == state["rules"], "rules to be the SHA-256 of the document", state["rules"])


async def _terms(visit: Visit) -> tuple[Seat, Map]:
    """Return a seat that has been sent terms, and the message with them; it signs nothing."""
    first, second = await visit.seats()
    for seat in (first, second):
        expect_ok(await seat.client.ask({"t": "ready", "table": seat.table}), "ok to ready")
    return first, await first.client.until("terms", table=first.table)


async def _terms_other_key(visit: Visit) -> None:
    """A seat record with a pk other than the login's gets terms_refused."""
    seat, message = await _terms(visit)
    terms = open_terms(message["doc"], Record(*message["record"]))
    other = generate_signing_key()
    body = encode(SeatTaken(terms.th, seat.seat, other.public, bytes(32), bytes(range(32)), b"other"))
    act = {"t": "act", "table": seat.table, "body": body, "sig": other.sign(body)}
    check_refusal(await seat.client.ask(act), Code.TERMS_REFUSED)


async def _terms_name(visit: Visit) -> None:
    """A seat record in another name gets terms_refused."""
    seat, message = await _terms(visit)
    seat.name = f"not {seat.name}"
    await seat.sign_terms(message)
    check_refusal(await seat.client.until("error"), Code.TERMS_REFUSED)


async def _terms_fixed(visit: Visit) -> None:
    """While the terms are out, seats are fixed."""
    seat, _ = await _terms(visit)
    await refused(seat.client, {"t": "leave", "table": seat.table}, Code.TABLE_NOT_OPEN)


async def _terms_again(visit: Visit) -> None:
    """join while the terms are out brings table, then terms."""
    seat, _ = await _terms(visit)
    before = len(seat.client.log)
    expect_ok(await seat.client.ask({"t": "join", "table": seat.table}), "ok to join on one's own seat")
    await seat.client.until("terms", table=seat.table)
    came = [message["t"] for message in seat.client.log[before:] if message.get("table") == seat.table]
    expect(came[-2:] == ["table", "terms"], "the table, then its terms", came)


_case: Final = partial(server_case, "S2")
_row: Final = partial(server_row, "S2")
_TABLE: Final = "play.md#at-the-table"
_OPTION: Final = "options.md#table-options"
_AT_TABLES: Final = ("join", "leave", "ready", "unready", "watch", "unwatch")
_SEATED: Final = ("leave", "ready", "unready")


def _option_case(name: str, what: str, option: str, value: int | str) -> ServerCase:
    """Return a case about a new table with a bad option."""
    run = partial(_bad_option, option=option, value=value)
    return _row(name, _OPTION, f"{what} gets bad_option, which names it", run)


def _create_case(name: str, what: str, code: Code, field: str, **fields: object) -> ServerCase:
    """Return a case about a new table that is refused."""
    run = partial(_refused_create, fields=fields, code=code, field=field)
    return _row(name, f"errors.md#{code}", f"{what} gets {code}", run)


CASES: Final[tuple[ServerCase, ...]] = (
    _case(_create, _TABLE),
    _option_case("option-unknown", "An unknown option", "flying", 1),
    _option_case("option-high", "A term above its bound", "decision_ms", 86_400_001),
    _option_case("option-low", "A term below its bound", "release_ms", 999),
    _option_case("option-type", "A term that is a word", "decision_ms", "soon"),
    _option_case("option-spectators", "A spectators delay above an hour", "spectators", 3_604),
    _option_case("option-word", "A house rule outside its list of words", "reveal", "never"),
    _option_case("option-target", "A target of 0", "target", 0),
    _create_case(
        "variant-unknown", "A game that the server lacks", Code.NO_SUCH_VARIANT, "variant", variant="whist"
    ),
    _create_case("seats-wrong", "A number of seats that the game lacks", Code.BAD_OPTION, "seats", seats=15),
    _create_case("seat-wrong", "A seat that the table lacks", Code.BAD_MESSAGE, "seat", seats=2, seat=2),
    _case(_options_many, _OPTION),
    *(
        _row(
            f"nowhere-{tag}",
            "errors.md#no_such_table",
            f"{tag} at a table that does not exist gets no_such_table",
            partial(_nowhere, tag=tag),
        )
        for tag in _AT_TABLES
    ),
    *(
        _row(
            f"not-seated-{tag}",
            "errors.md#not_seated",
            f"{tag} without a seat gets not_seated",
            partial(_not_seated, tag=tag),
        )
        for tag in _SEATED
    ),
    _case(_public, "messages.md#tables"),
    _case(_private, "views.md#who-sees-what"),
    _case(_joined, _TABLE),
    _case(_seat_taken, "errors.md#seat_taken"),
    _case(_table_full, "errors.md#table_full"),
    _case(_no_such_seat, "errors.md#bad_message"),
    _case(_join_race, "errors.md#seat_taken"),
    _case(_left, _TABLE),
    _case(_emptied, "errors.md#no_such_table"),
    _case(_ready, _TABLE),
    _case(_join_again, "session.md#coming-back"),
    _case(_no_guests, "errors.md#guests_not_allowed"),
    _case(_too_many_tables, "errors.md#too_many_tables"),
    _case(_rules, "session.md#the-games-of-a-server"),
    _case(_terms_other_key, "play.md#terms-and-setup"),
    _case(_terms_name, "limits.md#names"),
    _case(_terms_again, "session.md#coming-back"),
    _case(_terms_fixed, "errors.md#table_not_open"),
)
