"""Chat: who hears a line, who may say one, what may stand in it, and what is kept of it."""

import pytest
from rows import each_row
from server.clocks import pass_time
from server.conftest import QUICK, changed, play_on, running, under
from server.visitors import follower, guest, hang_up, heard, keyed, said, say, table_of
from structlog.testing import capture_logs

from truc_protocol.crypto import keys
from truc_server.settings.abilities import CHAT_LINES, CHAT_TOTAL
from truc_server.storage import KEPT_CHAT_LINES
from truc_server.table_data.options import WATCH_LATE


async def two_at_a_table(server, **fields):
    first, second = await guest(server, "north"), await guest(server, "east")
    code = await table_of(first, **fields)
    await second.ask({"t": "join", "table": code})
    return first, second, code


# Who hears it


async def test_line_comes_to_everybody_at_the_table_and_names_number_tag_name_and_seat_of_who_says_it(server):
    first, second, code = await two_at_a_table(server)
    other = await follower(server)
    await say(second, "bon dia", code)
    line = {"n": 0, "player": second.welcome["player"], "name": "east", "seat": 1, "text": "bon dia"}
    for client in (first, second):
        assert await heard(client, "chat") == [{"t": "chat", "table": code, **line}]
    assert await said(other) == []


async def test_line_in_the_lobby_comes_to_those_who_follow_it_and_is_not_kept(server):
    first, second, other = await follower(server), await follower(server), await guest(server)
    await say(first, "anybody?")
    assert [await said(client) for client in (first, second, other)] == [["anybody?"], ["anybody?"], []]
    (line,) = await heard(first, "chat")
    assert line.keys() == {"t", "player", "name", "text"}
    assert await said(await follower(server)) == []


# Who may speak


async def test_who_no_longer_follows_a_table_or_the_lobby_cannot_speak_there(server):
    _, second, code = await two_at_a_table(server)
    await second.ask({"t": "leave", "table": code})
    assert (await say(second, "hello", code))["code"] == "not_now"
    assert (await say(second, "hello", "ZZZZZ"))["code"] == "no_such_table"
    client = await follower(server)
    await client.ask({"t": "lobby", "off": True})
    assert (await say(client, "hello"))["code"] == "not_now"


async def test_older_connection_of_a_seat_still_speaks_for_it(server):
    key = keys.generate_signing_key()
    first = await keyed(server, "kay", key)
    code = await table_of(first)
    second = await keyed(server, "kay", key)
    await second.ask({"t": "join", "table": code})
    await first.ask({"t": "watch", "table": code})
    await say(first, "still here", code)
    assert (await heard(second, "chat"))[0]["seat"] == 0


# What may stand in it


@each_row(
    "text",
    [
        "a\ttab",
        "\x1b[2J",
        "gnol \u202edlrow",
        "isolated \u2067text\u2069",
        "left\u200eright",
        "a separator\u2028here",
        "nothing\u00adthere",
        "\u200d",
        "\ue000",
        "\ufb2c" * 100,  # too long when it is composed
    ],
)
async def test_text_that_cannot_be_shown_or_is_too_long_is_refused_naming_the_field(server, text):
    client = await follower(server)
    reply = await say(client, text)
    assert (reply["code"], reply["field"]) == ("bad_message", "text")


@each_row(
    "text, told",
    [
        *((text, text) for text in ("x" * 200, "què tal?", "سلام", "می‌خواهم", "👩‍🌾 🂡", "<b>&amp;")),
        ("  hello  ", "hello"),
        ("que\u0300", "què"),
    ],
)
async def test_text_of_any_language_comes_as_it_was_said_in_its_one_form(server, text, told):
    client = await follower(server)
    await say(client, text)
    assert await said(client) == [told]


# How much


async def test_more_than_a_thousand_characters_in_ten_seconds_are_refused_for_now(server):
    client = await follower(server)
    replies = [await say(client, "x" * 200) for _ in range(CHAT_TOTAL // 200 + 1)]
    assert [reply.get("code") for reply in replies] == [None] * 5 + ["rate_limited"]


async def test_lines_are_counted_over_all_connections_and_places_of_a_player_and_on_after_coming_back(server):
    key = keys.generate_signing_key()
    first, second = await keyed(server, "kay", key), await keyed(server, "kay", key)
    code = await table_of(first)
    await second.ask({"t": "lobby"})
    for _ in range(CHAT_LINES):
        await say(first, "hello", code)
    assert (await say(second, "hello"))["code"] == "rate_limited"
    for client in (first, second):
        await hang_up(client)
    again = await keyed(server, "kay", key)
    await again.ask({"t": "join", "table": code})
    assert (await say(again, "hello", code))["code"] == "rate_limited"


async def test_line_that_is_refused_does_not_count(server):
    client = await follower(server)
    for _ in range(CHAT_LINES + 5):
        await say(client, "\x07")
    assert (await say(client, "hello"))["t"] == "ok"


# Who comes later


async def test_who_resumes_is_sent_what_was_said_before(server):
    seats = await server.match(2)
    await play_on(seats, lambda seat: seat.auditor is not None)
    await say(seats[0].client, "one", seats[0].table)
    await seats[1].client.stream.aclose()
    await seats[1].come_back(await server.connect())
    assert await said(seats[1].client) == ["one"]


async def test_nobody_is_sent_more_than_the_newest_fifty_lines(server, mock_clock):
    first = await guest(server)
    code = await table_of(first)
    for n in range(KEPT_CHAT_LINES + 3):
        await say(first, f"line {n}", code)
        mock_clock.jump(1.1)
    second = await guest(server)
    await second.ask({"t": "join", "table": code})
    lines = await heard(second, "chat")
    assert [line["n"] for line in lines] == list(range(3, KEPT_CHAT_LINES + 3))
    assert all(line["ago_ms"] < 60_000 for line in lines)


async def test_no_line_is_sent_twice_on_a_connection(server):
    first, second, code = await two_at_a_table(server)
    await say(first, "one", code)
    await second.ask({"t": "leave", "table": code})
    await say(first, "two", code)
    await second.ask({"t": "join", "table": code})
    assert await said(second) == ["one", "two"]


async def test_table_chat_goes_on_after_a_restart_under_the_next_number(path):
    key = keys.generate_signing_key()
    async with running(path) as server:
        client = await keyed(server, "kay", key)
        code = await table_of(client)
        await say(client, "before", code)
    async with running(path) as server:
        client = await keyed(server, "kay", key)
        await client.ask({"t": "join", "table": code})
        await say(client, "after", code)
        lines = await heard(client, "chat")
        assert [(line["n"], line["text"], line["seat"]) for line in lines] == [
            (0, "before", 0),
            (1, "after", 0),
        ]


# Where those who watch are shown a match late


async def late_match(server):
    """Return the seats of a match that is shown twenty seconds late, and one who watches it."""
    seats = await server.match(2, guests=(0, 1), boxed=False, options={"spectators": WATCH_LATE + 20})
    await play_on(seats, lambda seat: seat.auditor is not None)
    watcher = await guest(server, "Wat")
    await watcher.ask({"t": "watch", "table": seats[0].table})
    return seats, watcher


async def test_line_comes_to_the_seats_at_once_and_to_who_watches_as_late_as_the_match(server, mock_clock):
    seats, watcher = await late_match(server)
    await say(seats[0].client, "hello", seats[0].table)
    assert (await said(seats[1].client), await said(watcher)) == (["hello"], [])
    await pass_time(mock_clock, 20.1)
    assert await said(watcher) == ["hello"]


async def test_who_comes_to_watch_a_late_match_is_not_sent_the_newest_lines(server, mock_clock):
    seats, _ = await late_match(server)
    await say(seats[0].client, "one", seats[0].table)
    mock_clock.jump(10)
    await say(seats[0].client, "two", seats[0].table)
    mock_clock.jump(11)
    watcher = await guest(server)
    await watcher.ask({"t": "watch", "table": seats[0].table})
    assert await said(watcher) == ["one"]


async def test_line_before_a_match_that_would_be_late_comes_at_once(server):
    first, _, code = await two_at_a_table(server, options={"spectators": WATCH_LATE + 20})
    watcher = await guest(server)
    await watcher.ask({"t": "watch", "table": code})
    await say(first, "hello", code)
    assert await said(watcher) == ["hello"]


# What a host has left out


@pytest.mark.parametrize(("off", "place"), [("tables", "table"), ("lobby", "lobby")])
async def test_chat_that_the_host_has_turned_off_in_one_place_is_refused_there(path, off, place):
    async with running(path, changed(QUICK, chat={off: False})) as server:
        client = await follower(server)
        code = await table_of(client)
        refused = await say(client, "hello", code if place == "table" else None)
        taken = await say(client, "hello", None if place == "table" else code)
        assert (refused["code"], taken["t"]) == ("not_now", "ok")


@pytest.mark.parametrize("is_logged", [False, True])
async def test_what_is_said_is_in_the_log_only_where_the_host_announces_that(path, is_logged):
    with capture_logs() as logged:
        async with running(path, changed(QUICK, chat={"log": is_logged})) as server:
            client = await follower(server)
            code = await table_of(client)
            await say(client, "hello")
            await say(client, "bon dia", code)
    told = [(entry["table"], entry["player"], entry["text"]) for entry in logged if entry["event"] == "chat"]
    tag = client.welcome["player"]
    assert told == ([(None, tag, "hello"), (code, tag, "bon dia")] if is_logged else [])
    assert client.info["caps"]["chat"].get("logged", False) is is_logged
    assert ("bon dia" in str(logged)) is is_logged


@under(chat={"tables": False, "lobby": False})
async def test_server_without_any_chat_does_not_know_the_request(server):
    client = await follower(server)
    replies = [await say(client, "hello"), await client.ask({"t": "ignore", "player": "guest-A"})]
    assert {reply["code"] for reply in replies} == {"unknown_request"}
    assert "chat" not in client.info["caps"]
