"""Cases S2: the lobby, who is there, chat, a quick seat, being forgotten; each only if the server announces it."""

from functools import partial
from typing import Final

from truc_conform.raw_client import Map, RawClient, UnexpectedError
from truc_conform.raw_seat import Seat
from truc_conform.server_cases.play import in_hand
from truc_conform.server_cases.watch import watching
from truc_conform.server_visit import (
    InconclusiveError,
    ServerCase,
    Visit,
    check_alive,
    check_refusal,
    check_too_soon,
    create,
    expect,
    expect_ok,
    game_of,
    listed,
    need,
    refused,
    server_case,
    server_row,
)
from truc_protocol.errors import Code
from truc_protocol.messages import Direction
from truc_protocol.messages.exchanges import COURSES
from truc_protocol.wire.capabilities import BROUGHT_BY

_OPTIONAL: Final = BROUGHT_BY.keys() & COURSES[Direction.TO_SERVER].keys()
"""The requests that a capability brings."""
MOST_LINES: Final = 40
_BAD_TEXTS: Final = (
    ("chat-empty", "An empty line", ""),
    ("chat-blank", "A line of spaces", "   "),
    ("chat-lines", "A text of two lines", "one\ntwo"),
    ("chat-control", "A control character", "bell\x07"),
    ("chat-long", "A text of 201 characters", "a" * 201),
)


async def _unannounced(visit: Visit) -> None:
    """A request whose capability the server does not announce gets unknown_request."""
    client = await visit.player()
    absent = sorted(tag for tag in _OPTIONAL if BROUGHT_BY[tag] not in client.info["caps"])
    for tag in absent:
        await refused(client, _sound(client, tag), Code.UNKNOWN_REQUEST, field="t")
    if not absent:
        raise InconclusiveError("the server announces every capability that brings a request")


def _sound(client: RawClient, tag: str) -> Map:
    """Return a request with every field that any of these requests needs."""
    named = {"text": "hello", "player": "guest-nobody", "variant": game_of(client), "match": bytes(32)}
    return {"t": tag, "from": 0, "seats": 2, "table": "K7PQ", **named}


async def say(client: RawClient, text: str, **fields: object) -> Map:
    """Say a line and return the reply."""
    return await client.ask({"t": "chat", "text": text, **fields})


async def _talking(visit: Visit) -> list[Seat]:
    seats = await visit.seats()
    value = need(seats[0].client, "chat")
    if isinstance(value, dict) and value.get("tables") is False:
        need(seats[0].client, "chat at tables")
    return seats


async def _chat(visit: Visit) -> None:
    """A line goes, numbered, to everybody who follows the table."""
    first, second = await _talking(visit)
    eye, _ = await watching(visit, first.table)
    for n, text in enumerate(("Bon dia", "Truc?")):
        expect_ok(await say(first.client, text, table=first.table), "ok to chat")
        for client in (first.client, second.client, eye):
            line = await _line(client, n)
            came = (line["text"], line.get("table"), line.get("seat"), line["name"])
            expect(
                came == (text, first.table, first.seat, first.name), "the line, its seat and its name", line
            )


async def _line(client: RawClient, n: int) -> Map:
    """Return the chat line with a number, whether it has come already or is still to come."""
    came = client.came("chat", n=n)
    return came[0] if came else await client.until("chat", n=n)


async def _chat_tag(visit: Visit) -> None:
    """A line has its speaker's tag, the same as in welcome and at the seat."""
    first, second = await _talking(visit)
    await say(first.client, "hello", table=first.table)
    line = await second.client.until("chat")
    expect_ok(await second.client.ask_patiently({"t": "ready", "table": second.table}), "ok to ready")
    shown = (await second.client.until("table"))["seats"][first.seat].get("player")
    own = first.client.welcome.get("player")
    expect(
        own is not None and line["player"] == own == shown,
        f"the tag {own} from welcome everywhere",
        [line, shown],
    )


async def _chat_watcher(visit: Visit) -> None:
    """A watcher may speak, without a seat."""
    (first, _) = await _talking(visit)
    eye, _ = await watching(visit, first.table)
    await say(eye, "good game", table=first.table)
    line = await first.client.until("chat")
    expect("seat" not in line, "no seat for a watcher", line)


async def _chat_outsider(visit: Visit) -> None:
    """Only those who follow may speak; others get not_now."""
    (first, _) = await _talking(visit)
    stranger = await visit.player()
    check_refusal(await say(stranger, "hello", table=first.table), Code.NOT_NOW)
    check_refusal(await say(stranger, "hello"), Code.NOT_NOW)


async def _bad_text(visit: Visit, *, text: str) -> None:
    (first, _) = await _talking(visit)
    check_refusal(await say(first.client, text, table=first.table), Code.BAD_MESSAGE, field="text")
    await check_alive(first.client)


async def _chat_later(visit: Visit) -> None:
    """A latecomer is sent the newest lines, with how long ago each was said."""
    (first, _) = await _talking(visit)
    for n in range(3):
        await say(first.client, f"line {n}", table=first.table)
    eye, _ = await watching(visit, first.table)
    await _line(eye, 2)
    lines = eye.came("chat")
    expect([line["n"] for line in lines] == [0, 1, 2], "the lines so far, each once and in order", lines)
    expect(all("ago_ms" in line for line in lines), "how long ago each was said", lines)


async def _chat_flood(visit: Visit) -> None:
    """Too many lines get rate_limited, with a time to wait."""
    (first, _) = await _talking(visit)
    for n in range(MOST_LINES):
        reply = await first.client.ask({"t": "chat", "text": f"line {n}", "table": first.table})
        if reply["t"] == "error":
            check_too_soon(reply)
            return
    raise UnexpectedError(f"expected rate_limited within {MOST_LINES} lines at once, got ok to all")


async def _chat_lobby(visit: Visit) -> None:
    """The lobby has a chat for those who follow it."""
    value = need(await visit.player(), "chat")
    first, second = await _follower(visit), await _follower(visit)
    if isinstance(value, dict) and not value.get("lobby"):
        need(first, "chat in the lobby")
    expect_ok(await say(first, "anybody?"), "ok to chat")
    line = await second.until("chat", text="anybody?")
    expect("table" not in line and "n" not in line, "a line without table or number", line)


async def _ignore(visit: Visit) -> None:
    """Ignoring a player hides their lines until it is taken back."""
    first, second = await _talking(visit)
    tag = first.client.welcome["player"]
    expect_ok(await second.client.ask({"t": "ignore", "player": tag}), "ok to ignore")
    await say(first.client, "unheard", table=first.table)
    await second.client.ask({"t": "ignore", "player": tag, "off": True})
    await say(first.client, "heard", table=first.table)
    line = await second.client.until("chat")
    expect(line["text"] == "heard", "only what was said after the ignoring ended", line)


async def _ignore_self(visit: Visit) -> None:
    """Nobody can ignore themselves: bad_message."""
    client = await visit.player()
    need(client, "chat")
    await refused(
        client, {"t": "ignore", "player": client.welcome["player"]}, Code.BAD_MESSAGE, field="player"
    )


async def _follower(visit: Visit) -> RawClient:
    """Return a player who follows the lobby."""
    client = await visit.player()
    need(client, "lobby")
    expect_ok(await client.ask_patiently({"t": "lobby"}), "ok to lobby")
    return client


async def _lobby(visit: Visit) -> None:
    """Followers of the lobby are told of public tables, and of no private ones."""
    client = await _follower(visit)
    seat, hidden = await visit.seat(0), await visit.seat(1)
    await create(hidden)
    await create(seat, private=False)
    state = await client.until("table", table=seat.table)
    expect(state["state"] == "open", "the public table, open", state)
    await seat.client.ask({"t": "leave", "table": seat.table})
    await client.until("closed", table=seat.table)
    told = [message for message in client.log if message.get("table") == hidden.table]
    expect(not told, "no word of a private table", told)


async def _lobby_state(visit: Visit) -> None:
    """Followers of the lobby are told how full the server is."""
    client = await _follower(visit)
    came = client.came("lobby")
    state = came[0] if came else await client.until("lobby")
    expect(state["online"] >= 1 and state["playing"] <= state["tables"], "figures that can be true", state)


async def _lobby_off(visit: Visit) -> None:
    """After off nothing more comes from the lobby."""
    client = await _follower(visit)
    expect_ok(await client.ask_patiently({"t": "lobby", "off": True}), "ok to lobby")
    client.log.clear()
    seat = await visit.seat()
    await create(seat, private=False)
    await check_alive(client)
    told = [message for message in client.log if message["t"] in ("table", "lobby")]
    expect(not told, "no more word of the lobby", told)


async def _players(visit: Visit) -> None:
    """Each player is listed once, ascending by tag."""
    seat = await visit.seat()
    need(seat.client, "lobby")
    await visit.player(seat.key)
    tags = await listed(seat.client, "players", "player")
    own = seat.client.welcome["player"]
    expect(tags.count(own) == 1, "a player once, however many their connections", tags.count(own))
    expect(tags == sorted(tags), "tags in ascending order", tags)


async def _seek(visit: Visit) -> None:
    """Two who seek the same find each other; a full table is passed over."""
    first, second = await visit.seat(0), await visit.seat(1)
    need(first.client, "seek")
    wanted: Map = {
        "t": "seek",
        "variant": game_of(first.client),
        "options": {"decision_ms": 100_000 + visit.seed},
    }
    taken = []
    for seat in (first, second):
        asked = await seat.client.ask_patiently(wanted)
        reply = expect_ok(asked, "ok with table and seat", "table", "seat")
        seat.table, seat.seat = reply["table"], reply["seat"]
        taken.append((seat.table, seat.seat))
    expect(first.table == second.table and first.seat != second.seat, "two seats at one table", taken)
    third = await visit.seat(2)
    reply = await third.client.ask_patiently(wanted)
    third.table = reply.get("table", "")
    expect(reply["t"] == "ok" and third.table != first.table, "another table for the third player", reply)


async def _forget_playing(visit: Visit) -> None:
    """A player in a match cannot be forgotten: not_now."""
    mover, _ = await in_hand(visit)
    need(mover.client, "forget")
    check_refusal(await mover.ask({"t": "forget"}), Code.NOT_NOW)


async def _forget_guest(visit: Visit) -> None:
    """A guest is forgotten, and so is the token."""
    seats = await visit.seats(guests=(0,))
    guest = seats[0]
    need(guest.client, "forget")
    expect_ok(await guest.client.ask({"t": "forget"}), "ok to forget")
    rest = await guest.client.closed()
    expect(
        rest and rest[-1]["t"] == "bye" and rest[-1]["code"] == "forgotten", "bye forgotten to a guest", rest
    )
    again = await visit.connect()
    error = await again.login_token(guest.token)
    check_refusal(error, Code.BAD_TOKEN, closes=True)


async def _forget_key(visit: Visit) -> None:
    """A key is forgotten, gives its seats up and stays logged in."""
    seat = await visit.seat()
    need(seat.client, "forget")
    await create(seat)
    expect_ok(await seat.client.ask({"t": "forget"}), "ok to forget")
    await check_alive(seat.client)
    await refused(await visit.player(), {"t": "join", "table": seat.table}, Code.NO_SUCH_TABLE)


_case: Final = partial(server_case, "S2")
_row: Final = partial(server_row, "S2")
_CHAT: Final = "lobby.md#chat"
_LOBBY: Final = "lobby.md#following-the-lobby"

CASES: Final[tuple[ServerCase, ...]] = (
    _case(_unannounced, "errors.md#unknown_request"),
    _case(_chat, _CHAT),
    _case(_chat_tag, _CHAT),
    _case(_chat_watcher, _CHAT),
    _case(_chat_outsider, _CHAT),
    *(
        _row(name, _CHAT, f"{text} gets bad_message for text", partial(_bad_text, text=line))
        for name, text, line in _BAD_TEXTS
    ),
    _case(_chat_later, _CHAT),
    _case(_chat_flood, "errors.md#rate_limited"),
    _case(_chat_lobby, _CHAT),
    _case(_ignore, "lobby.md#ignoring"),
    _case(_ignore_self, "lobby.md#ignoring"),
    _case(_lobby, _LOBBY),
    _case(_lobby_state, _LOBBY),
    _case(_lobby_off, _LOBBY),
    _case(_players, "lobby.md#who-is-there"),
    _case(_seek, "lobby.md#a-quick-seat"),
    _case(_forget_playing, "lobby.md#being-forgotten"),
    _case(_forget_guest, "lobby.md#being-forgotten"),
    _case(_forget_key, "lobby.md#being-forgotten"),
)
