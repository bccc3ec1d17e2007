"""Cases S2: the lobby, who is there, chat, a quick seat, being forgotten, matches that have been played, and standings.

Each is tried only if the server announces it.
"""

from typing import Final

from truc_conform.expectations import (
    InconclusiveError,
    Map,
    UnexpectedError,
    check_refusal,
    check_too_soon,
    expect,
    expect_ok,
)
from truc_conform.raw_client import PAIR, RawClient
from truc_conform.raw_seat import RawSeat
from truc_conform.server_cases.watch import watching
from truc_conform.server_visit import ServerVisit, case, case_rows, play_on
from truc_protocol.errors import Code
from truc_protocol.messages import MESSAGES, Direction
from truc_protocol.wire.capabilities import BROUGHT_BY

_OPTIONAL: Final = BROUGHT_BY.keys() & {row.tag for row in MESSAGES if row.direction is Direction.TO_SERVER}
"""The requests that a capability brings."""
MOST_LINES: Final = 40  # more at once than anybody can read
_CHAT: Final = "lobby.md#chat"
_LOBBY: Final = "lobby.md#following-the-lobby"


@case("S2.unannounced", "errors.md#unknown_request")
async def _unannounced(visit: ServerVisit) -> None:
    """A request whose capability the server does not announce gets unknown_request."""
    client = await visit.player()
    # capabilities.md: a request that needs a missing capability is answered `unknown_request`.
    absent = sorted(tag for tag in _OPTIONAL if BROUGHT_BY[tag] not in client.info["caps"])
    for tag in absent:
        await client.refused(_sound(client, tag), Code.UNKNOWN_REQUEST, field="t")
    if not absent:
        raise InconclusiveError("the server announces every capability that brings a request")


def _sound(client: RawClient, tag: str) -> Map:
    """Return a request with every field that any of these requests needs."""
    named = {"text": "hello", "player": "guest-nobody", "do": "say", "variant": client.game()}
    return {"t": tag, "from": 0, "seats": 2, "table": "K7PQ", "match": bytes(32), **named}


async def say(client: RawClient, text: str, **fields: object) -> Map:
    """Say a line and return the reply."""
    return await client.ask({"t": "chat", "text": text, **fields})


async def _talking(visit: ServerVisit) -> list[RawSeat]:
    seats = await visit.seats()
    value = seats[0].client.need("chat")
    # capabilities.md, "chat": the value says where there is a chat.
    if isinstance(value, dict) and value.get("tables") is False:
        seats[0].client.need("chat at tables")
    return seats


@case("S2.chat", _CHAT)
async def _chat(visit: ServerVisit) -> None:
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


@case("S2.chat-tag", _CHAT)
async def _chat_tag(visit: ServerVisit) -> None:
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


@case("S2.chat-watcher", _CHAT)
async def _chat_watcher(visit: ServerVisit) -> None:
    """A watcher may speak, without a seat."""
    (first, _) = await _talking(visit)
    eye, _ = await watching(visit, first.table)
    await say(eye, "good game", table=first.table)
    line = await first.client.until("chat")
    expect("seat" not in line, "no seat for a watcher", line)


@case("S2.chat-outsider", _CHAT)
async def _chat_outsider(visit: ServerVisit) -> None:
    """Only those who follow may speak; others get not_now."""
    (first, _) = await _talking(visit)
    stranger = await visit.player()
    check_refusal(await say(stranger, "hello", table=first.table), Code.NOT_NOW)
    check_refusal(await say(stranger, "hello"), Code.NOT_NOW)


@case_rows(
    _CHAT,
    "{what} gets bad_message for text",
    ("S2.chat-empty", "An empty line", ""),
    ("S2.chat-blank", "A line of spaces", "   "),
    ("S2.chat-lines", "A text of two lines", "one\ntwo"),
    ("S2.chat-control", "A control character", "bell\x07"),
    ("S2.chat-long", "A text of 201 characters", "a" * 201),
)
async def _bad_text(visit: ServerVisit, *, text: str) -> None:
    (first, _) = await _talking(visit)
    check_refusal(await say(first.client, text, table=first.table), Code.BAD_MESSAGE, field="text")
    await first.client.check_alive()


@case("S2.chat-later", _CHAT)
async def _chat_later(visit: ServerVisit) -> None:
    """A latecomer is sent the newest lines, with how long ago each was said."""
    (first, _) = await _talking(visit)
    for n in range(3):
        await say(first.client, f"line {n}", table=first.table)
    eye, _ = await watching(visit, first.table)
    await _line(eye, 2)
    lines = eye.came("chat")
    expect([line["n"] for line in lines] == [0, 1, 2], "the lines so far, each once and in order", lines)
    expect(all("ago_ms" in line for line in lines), "how long ago each was said", lines)


@case("S2.chat-flood", "errors.md#rate_limited")
async def _chat_flood(visit: ServerVisit) -> None:
    """Too many lines get rate_limited, with a time to wait."""
    (first, _) = await _talking(visit)
    for n in range(MOST_LINES):
        reply = await first.client.ask({"t": "chat", "text": f"line {n}", "table": first.table})
        if reply["t"] == "error":
            check_too_soon(reply)
            return
    raise UnexpectedError(f"expected rate_limited within {MOST_LINES} lines at once, got ok to all")


@case("S2.chat-lobby", _CHAT)
async def _chat_lobby(visit: ServerVisit) -> None:
    """The lobby has a chat for those who follow it."""
    value = (await visit.player()).need("chat")
    first, second = await _follower(visit), await _follower(visit)
    if isinstance(value, dict) and not value.get("lobby"):
        first.need("chat in the lobby")
    expect_ok(await say(first, "anybody?"), "ok to chat")
    line = await second.until("chat", text="anybody?")
    expect("table" not in line and "n" not in line, "a line without table or number", line)


@case("S2.ignore", "lobby.md#ignoring")
async def _ignore(visit: ServerVisit) -> None:
    """Ignoring a player hides their lines until it is taken back."""
    first, second = await _talking(visit)
    tag = first.client.welcome["player"]
    expect_ok(await second.client.ask({"t": "ignore", "player": tag}), "ok to ignore")
    await say(first.client, "unheard", table=first.table)
    await second.client.ask({"t": "ignore", "player": tag, "off": True})
    await say(first.client, "heard", table=first.table)
    line = await second.client.until("chat")
    expect(line["text"] == "heard", "only what was said after the ignoring ended", line)


@case("S2.ignore-self", "lobby.md#ignoring")
async def _ignore_self(visit: ServerVisit) -> None:
    """Nobody can ignore themselves: bad_message."""
    client = await visit.player()
    client.need("chat")
    await client.refused(
        {"t": "ignore", "player": client.welcome["player"]}, Code.BAD_MESSAGE, field="player"
    )


async def _follower(visit: ServerVisit) -> RawClient:
    """Return a player who follows the lobby."""
    client = await visit.player()
    client.need("lobby")
    expect_ok(await client.ask_patiently({"t": "lobby"}), "ok to lobby")
    return client


@case("S2.lobby", _LOBBY)
async def _lobby(visit: ServerVisit) -> None:
    """Followers of the lobby are told of public tables, and of no private ones."""
    client = await _follower(visit)
    seat, hidden = await visit.seat(0), await visit.seat(1)
    await hidden.open_table()
    await seat.open_table(private=False)
    state = await client.until("table", table=seat.table)
    expect(state["state"] == "open", "the public table, open", state)
    await seat.client.ask({"t": "leave", "table": seat.table})
    await client.until("closed", table=seat.table)
    told = [message for message in client.log if message.get("table") == hidden.table]
    expect(not told, "no word of a private table", told)


@case("S2.lobby-state", _LOBBY)
async def _lobby_state(visit: ServerVisit) -> None:
    """Followers of the lobby are told how full the server is."""
    client = await _follower(visit)
    came = client.came("lobby")
    state = came[0] if came else await client.until("lobby")
    expect(state["online"] >= 1 and state["playing"] <= state["tables"], "figures that can be true", state)


@case("S2.lobby-off", _LOBBY)
async def _lobby_off(visit: ServerVisit) -> None:
    """After off nothing more comes from the lobby."""
    client = await _follower(visit)
    expect_ok(await client.ask_patiently({"t": "lobby", "off": True}), "ok to lobby")
    client.log.clear()
    seat = await visit.seat()
    await seat.open_table(private=False)
    # Its reply stands behind whatever was sent before it.
    await client.check_alive()
    told = [message for message in client.log if message["t"] in ("table", "lobby")]
    expect(not told, "no more word of the lobby", told)


@case("S2.players", "lobby.md#who-is-there")
async def _players(visit: ServerVisit) -> None:
    """Each player is listed once, ascending by tag."""
    seat = await visit.seat()
    seat.client.need("lobby")
    await visit.player(seat.key)
    tags = await seat.client.listed("players", "player")
    own = seat.client.welcome["player"]
    # Two connections of one key are one player (session.md, "Login").
    expect(tags.count(own) == 1, "a player once, however many their connections", tags.count(own))
    expect(tags == sorted(tags), "tags in ascending order", tags)


@case("S2.seek", "lobby.md#a-quick-seat")
async def _seek(visit: ServerVisit) -> None:
    """Two who seek the same find each other; a full table is passed over."""
    first, second = await visit.seat(0), await visit.seat(1)
    first.client.need("seek")
    wanted: Map = {
        "t": "seek",
        "variant": first.client.game(),
        # A clock that nobody else asks for, so that no other table fits.
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


@case("S2.forget-playing", "lobby.md#being-forgotten")
async def _forget_playing(visit: ServerVisit) -> None:
    """A player in a match cannot be forgotten: not_now."""
    mover, _ = await visit.in_hand()
    mover.client.need("forget")
    check_refusal(await mover.ask({"t": "forget"}), Code.NOT_NOW)


@case("S2.forget-guest", "lobby.md#being-forgotten")
async def _forget_guest(visit: ServerVisit) -> None:
    """A guest is forgotten, and so is the token."""
    seats = await visit.seats(guests=(0,))
    guest = seats[0]
    guest.client.need("forget")
    expect_ok(await guest.client.ask({"t": "forget"}), "ok to forget")
    rest = await guest.client.closed()
    expect(
        rest and rest[-1]["t"] == "bye" and rest[-1]["code"] == "forgotten", "bye forgotten to a guest", rest
    )
    again = await visit.connect()
    error = await again.login_token(guest.token)
    check_refusal(error, Code.BAD_TOKEN, closes=True)


@case("S2.forget-key", "lobby.md#being-forgotten")
async def _forget_key(visit: ServerVisit) -> None:
    """A key is forgotten, gives its seats up and stays logged in."""
    seat = await visit.seat()
    seat.client.need("forget")
    await seat.open_table()
    expect_ok(await seat.client.ask({"t": "forget"}), "ok to forget")
    await seat.client.check_alive()
    await visit.stranger_refused({"t": "join", "table": seat.table}, Code.NO_SUCH_TABLE)


_CLAUSE: Final = "views.md#ones-own-matches"
_UNPLAYED: Final = 3  # seats: no game has three
_PAGES: Final = 200  # a server that always says `more` must not keep the kit for ever
_BOARD: Final = "ratings.md#the-board"


async def _own(client: RawClient, **fields: object) -> list[Map]:
    client.need("matches")
    reply = await client.ask_patiently({"t": "matches", **fields})
    found: list[Map] = expect_ok(reply, "ok with matches", "matches")["matches"]
    return found


@case("S2.matches", _CLAUSE)
async def _matches(visit: ServerVisit) -> None:
    """A match is listed for those who played it, and for nobody else."""
    loser, winner = await visit.in_hand()
    before = await _own(loser.client)
    await loser.resign()
    await play_on((loser, winner))
    for seat in (loser, winner):
        (match, *others) = await _own(seat.client)
        expect(not others, "only the match played with this key", others)
        known = {"match": seat.ledger.setup.mid, "seat": seat.seat, "variant": seat.client.game()}
        told = {name: match.get(name) for name in known}
        expect(told == known, f"{known}", told)
        expect(match.get("reason") and match.get("ended_ms"), "how it ended, and when", match)
    expect(len(before) == 1 and "ended_ms" not in before[0], "no end of a match in play", before)
    strangers = await _own(await visit.player())
    expect(not strangers, "no matches for a player who has played none", strangers)


@case("S2.matches-none", _CLAUSE)
async def _matches_none(visit: ServerVisit) -> None:
    """A list after a match that one has not played gets no_such_match."""
    client = await visit.player()
    client.need("matches")
    reply = await client.ask_patiently({"t": "matches", "after": bytes(32)})
    check_refusal(reply, Code.NO_SUCH_MATCH, field="after")


@case("S2.leaderboard", _BOARD)
async def _leaderboard(visit: ServerVisit) -> None:
    """A match counts for both; the board has the best first."""
    loser, winner = await visit.in_hand(await visit.seats(private=False))
    loser.client.need("ratings")
    await loser.resign()
    await play_on((loser, winner))
    (won, lost) = [await _standings(seat.client) for seat in (winner, loser)]
    # ratings.md leaves to the host which matches count.
    if not won and not lost:
        raise InconclusiveError("the server does not count a match that ends by resignation")
    expect(len(won) == len(lost) == 1, "one standing of each player", [won, lost])
    counts = [(each["matches"], each["won"]) for each in won + lost]
    expect(counts == [(1, 1), (1, 0)], "a match for both, won by one", counts)
    expect(won[0]["points"] > lost[0]["points"], "more points for the winner", [won, lost])
    await _check_board(winner.client)


async def _standings(client: RawClient, **fields: object) -> list[Map]:
    """Return the standings of one player."""
    reply = await client.ask_patiently({"t": "profile", **fields})
    found: list[Map] = expect_ok(reply, "ok with standings", "standings")["standings"]
    return found


async def _check_board(client: RawClient) -> None:
    """Check every page of the board; it may change while it is read."""
    known = 0
    for _ in range(_PAGES):
        asked = {"variant": client.game(), "seats": PAIR, "from": known}
        page = await client.ask_patiently({"t": "leaderboard", **asked})
        reply = expect_ok(page, "ok with standings", "standings")
        points = [each["points"] for each in reply["standings"]]
        expect(points == sorted(points, reverse=True), "the best first", points)
        ranks = [each["rank"] for each in reply["standings"]]
        expect(ranks == sorted(ranks) and min(ranks, default=1) >= 1, "ranks that ascend from 1", ranks)
        known += len(points)
        if not reply.get("more"):
            break
    expect(known > 0, "a board that lists the rated players", known)


@case("S2.leaderboard-none", _BOARD)
async def _leaderboard_none(visit: ServerVisit) -> None:
    """A board for a game or number of seats not offered is refused."""
    client = await visit.player()
    client.need("ratings")
    board = {"t": "leaderboard", "variant": client.game(), "seats": PAIR}
    await client.refused(board | {"variant": "no-such-game"}, Code.NO_SUCH_VARIANT)
    await client.refused(board | {"seats": _UNPLAYED}, Code.BAD_OPTION)


@case("S2.profile-none", "ratings.md#one-player")
async def _profile_none(visit: ServerVisit) -> None:
    """A player who has not played has no standings."""
    client = await visit.player()
    client.need("ratings")
    for fields in ({}, {"player": "guest-nobody"}):
        standings = await _standings(client, **fields)
        expect(not standings, "no standings for a player who has not played", standings)
