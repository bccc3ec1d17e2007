"""The host's commands to a running server, over its socket: what is answered, and what players see of it."""

import json
import os
import re
import socket
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import trio
from rows import each_row
from server.acting import paused
from server.admins import calling, host_says, host_types, hosting
from server.commands import call
from server.conftest import QUICK, changed, in_hand, no_more_files, play_on
from server.rawclient import bodies
from server.visitors import FRENCH, goodbye, greeted, guest, hang_up, keyed, say, table_of

from truc_protocol.audit import Result
from truc_protocol.bodies import End
from truc_protocol.crypto.keys import fingerprint, generate_signing_key
from truc_server.admin import audit
from truc_server.admin.desk import FIXED, Desk, changeable, differing, is_fixed
from truc_server.admin.requests import MAX_PATH, MAX_REQUEST, MOST_ROWS
from truc_server.main import main
from truc_server.parts import ServerParts
from truc_server.settings.settings import Settings
from truc_server.settings.settings_file import KEYS
from truc_server.tables.table import ACKS_S, Table
from truc_server.upkeep import sanction_watch

KEY = generate_signing_key()
OWN = fingerprint(KEY.public)


@pytest.fixture
async def server(path, monkeypatch):
    # what is imposed is heeded at once all the same
    monkeypatch.setattr(sanction_watch, "SANCTIONS_S", 3_600.0)
    async with hosting(path) as server:
        yield server


async def ask(server, command, **fields) -> dict:
    return await host_says(server.folder, command=command, **fields)


def noted(server) -> list[dict]:
    """Return the entries of the log of commands."""
    return [json.loads(line) for line in server.folder.admin_log.read_text().splitlines()]


class TestWho:
    async def test_row_names_player_address_and_tables_for_people_too(self, server):
        client = await keyed(server, "Kay", KEY)
        code = await table_of(client)
        (row,) = (await ask(server, "who"))["rows"]
        assert (row["name"], row["tag"], row["kind"]) == ("Kay", OWN, "key")
        assert (row["address"], row["tables"], row["connection"]) == ("127.0.0.1", [code], 1)
        head, line = (await host_types(server.folder, "who")).stdout.splitlines()
        assert head.split() == ["no", "name", "tag", "kind", "address", "since", "tables"]
        assert line.split()[:5] == ["1", "Kay", OWN, "key", "127.0.0.1"]
        await ask(server, "close", table=code)
        assert [row["tables"] for row in (await ask(server, "who"))["rows"]] == [[]]

    async def test_text_picks_by_name_and_whoever_is_not_logged_in_is_listed_without_one(self, server):
        assert (await host_types(server.folder, "who")).stdout == "none\n"
        await greeted(server)
        for name in ("Anna", "Berta"):
            await guest(server, name)
        assert [row["name"] for row in (await ask(server, "who"))["rows"]] == [None, "Anna", "Berta"]
        assert [row["name"] for row in (await ask(server, "who", text="bert"))["rows"]] == ["Berta"]

    async def test_more_rows_than_an_answer_has_are_counted(self, server, monkeypatch):
        monkeypatch.setattr("truc_server.admin.desk.MOST_ROWS", 1)
        for name in ("Anna", "Berta"):
            await guest(server, name)
        answer = await ask(server, "who")
        assert (len(answer["rows"]), answer["left_out"], MOST_ROWS) == (1, 1, 1_000)


class TestTables:
    async def test_private_table_has_its_whole_code(self, server):
        client = await guest(server)
        code = await table_of(client, private=True)
        (row,) = (await ask(server, "tables"))["rows"]
        assert (row["table"], row["private"], len(code)) == (code, True, 16)

    async def test_running_match_is_told_with_its_seats_and_who_is_away_and_counts(self, server):
        first, second = await in_hand(server)
        (row,) = (await ask(server, "tables", text=first.name))["rows"]
        assert (row["state"], row["variant"]) == ("playing", "truc-french")
        assert (row["match"], row["records"]) == (first.ledger.setup.mid.hex(), first.next)
        assert [seat["online"] for seat in row["seats"]] == [True, True]
        assert (await ask(server, "tables", text="mineiro"))["rows"] == []
        answer = await ask(server, "status")
        told = {name: answer[name] for name in ("connections", "players", "tables", "playing", "hands")}
        assert told == {"connections": 2, "players": 2, "tables": 1, "playing": 1, "hands": 1}
        assert (answer["port"], answer["draining"], answer["store"]) == (server.port, False, "ok")
        await hang_up(second.client)
        shown = (await host_types(server.folder, "tables")).stdout
        assert all(word in shown for word in (first.table, "playing", f"({second.name})"))


class TestKick:
    async def test_player_is_cut_with_kicked_and_may_come_back_to_their_seat(self, server):
        client = await keyed(server, key=KEY)
        await client.ask(FRENCH)
        answer = await ask(server, "kick", subject=OWN)
        bye = await goodbye(client)
        assert (answer["connections"], bye["code"], bye["retryable"]) == (1, "kicked", False)
        assert len((await keyed(server, key=KEY)).welcome["seats"]) == 1

    async def test_address_means_every_connection_from_it(self, server):
        clients = [await guest(server), await server.connect()]
        await clients[1].hello()
        assert (await ask(server, "kick", subject="127.0.0.0/8"))["connections"] == 2
        assert [(await goodbye(client))["code"] for client in clients] == ["kicked", "kicked"]

    async def test_nobody_to_kick_is_an_error(self, server):
        answer = await ask(server, "kick", subject=OWN)
        assert answer == {"ok": False, "error": f"nobody is connected who is {OWN}"}
        for subject in ("Kay", "7", "-1"):
            refused = await ask(server, "kick", subject=subject)
            assert "expected a number or a name in `who`" in refused["error"]

    @pytest.mark.parametrize(
        ("command", "subject"),
        [("kick", "2"), ("ban", "kay"), ("mute", OWN.lower())],
        ids=["number", "name", "tag"],
    )
    async def test_number_or_name_of_who_means_that_player_and_is_noted_as_such(
        self, server, command, subject
    ):
        await guest(server, "Other")
        await keyed(server, "Kay", KEY)
        answer = await ask(server, command, subject=subject)
        assert (answer["subject"], answer["connections"]) == (OWN, 1)
        (entry,) = noted(server)
        assert entry["arguments"]["subject"] == OWN

    async def test_number_of_who_is_not_logged_in_means_the_address(self, server):
        await greeted(server)
        assert (await ask(server, "kick", subject="1"))["subject"] == "127.0.0.1"


class TestSay:
    async def test_everybody_who_is_logged_in_is_told(self, server):
        clients = [await guest(server), await keyed(server, key=KEY)]
        await greeted(server)
        assert (await ask(server, "say", text="  the cellar  floods ")) == {"ok": True, "connections": 2}
        assert [(await client.until("host_says"))["text"] for client in clients] == ["the cellar  floods"] * 2
        assert (await host_types(server.folder, "say", "at nine")).stdout == "said to 2 connections\n"

    @each_row("text", [" ", "x" * 201, "one\ntwo", "\u202e"])
    async def test_text_that_is_no_line_of_chat_is_refused(self, server, text):
        assert "printable characters" in (await ask(server, "say", text=text))["error"]


class TestSanctions:
    async def test_ban_cuts_before_it_is_answered_and_unban_lets_in_at_once(self, server):
        client = await keyed(server, key=KEY)
        answer = await ask(server, "ban", subject=OWN, hours=2)
        assert (answer["connections"], (await goodbye(client))["code"]) == (1, "banned")
        (imposed,) = server.store.sanctions()
        assert (imposed.subject, imposed.until_ms) == (OWN, answer["until_ms"])
        assert (await ask(server, "unban", subject=OWN))["ok"]
        await keyed(server, key=KEY)

    async def test_mute_and_unmute_hold_at_once(self, server):
        client = await keyed(server, key=KEY)
        await client.ask({"t": "lobby"})
        await ask(server, "mute", subject=OWN)
        muted = await say(client, "hello")
        await ask(server, "unmute", subject=OWN)
        assert (muted["code"], (await say(client, "hello"))["t"]) == ("muted", "ok")
        assert "was not muted by command" in (await ask(server, "unmute", subject=OWN))["error"]

    async def test_what_stands_in_the_settings_is_not_lifted(self, path):
        async with hosting(path, changed(QUICK, access={"banned": (OWN,)})) as server:
            answer = await ask(server, "unban", subject=OWN)
        assert answer["error"] == f"{OWN} stands in access.banned: take it out of the settings, then reload"


class TestClose:
    @pytest.mark.parametrize("state", ["open", "terms"])
    async def test_table_that_is_open_or_has_terms_out_is_closed_by_the_host(self, server, state):
        first, _ = await (server.seats(2) if state == "open" else server.match())
        await first.client.until("table", state=state)
        answer = await ask(server, "close", table=first.table)
        closed = await first.client.until("closed")
        assert (answer["closed"], answer["was"]) == (True, state)
        assert (closed["table"], closed["reason"]) == (first.table, "server")

    async def test_match_ends_abandoned_and_proven_before_the_table_goes(self, server):
        seats = await in_hand(server)
        answer = await ask(server, "close", table=seats[0].table)
        await play_on(seats, lambda seat: seat.done)
        assert (answer["was"], (await seats[0].client.until("closed"))["reason"]) == ("playing", "server")
        (end,) = [body for body in bodies(seats[0].records) if isinstance(body, End)]
        assert (end.reason, end.winner) == ("abandoned", None)
        assert {seat.auditor.verdict().result for seat in seats} == {Result.PROVEN}

    async def test_match_in_a_pause_ends_too(self, server):
        seats = await paused(server)
        await ask(server, "close", table=seats[0].table)
        assert (await seats[0].client.until("closed"))["reason"] == "server"

    async def test_table_given_to_another_node_before_it_is_closed_stays_stored(
        self, server, mock_clock, monkeypatch
    ):
        seats = await in_hand(server)
        wanted, close = [], Table.close_for_host
        monkeypatch.setattr(Table, "close_for_host", lambda table: wanted.append(table) or close(table))
        await ask(server, "close", table=seats[0].table)
        wanted[0].give("two")
        mock_clock.jump(ACKS_S)
        await (await guest(server)).ask(FRENCH)
        assert seats[0].table in server.store.table_codes()


class TestReload:
    async def test_what_newcomers_are_told_changes(self, server):
        server.host.settings = changed(QUICK, name="La Penya", motd="hello")
        answer = await ask(server, "reload")
        info = (await (await server.connect()).hello())["info"]
        assert answer == {"ok": True, "changed": ["name", "motd"], "left": [], "certificate_until_ms": None}
        assert b"La Penya" in info

    async def test_who_is_shut_out_by_it_is_cut(self, server):
        client = await keyed(server, key=KEY)
        server.host.settings = changed(QUICK, access={"banned": (OWN,)})
        assert (await ask(server, "reload"))["changed"] == ["access.banned"]
        assert (await goodbye(client))["code"] == "banned"

    async def test_guests_and_chat_are_shut_at_once(self, server):
        client = await guest(server)
        server.host.settings = changed(QUICK, guests=False, chat={"lobby": False, "tables": False})
        await ask(server, "reload")
        newcomer = await server.connect()
        assert (await newcomer.login_guest("Late"))["code"] == "guests_not_allowed"
        assert (await say(client, "hello"))["code"] == "unknown_request"

    async def test_new_tables_have_the_new_terms_and_limits_and_old_ones_theirs(self, server):
        client = await guest(server)
        old = await table_of(client)
        server.host.settings = changed(QUICK, match={"decision_ms": 7_000}, limits={"tables_per_player": 2})
        await ask(server, "reload")
        new = await table_of(client)
        opts = {row["table"]: row["opts"][0] for row in (await client.ask({"t": "tables"}))["tables"]}
        assert opts == {old: 30_000, new: 7_000}
        assert (await client.ask(FRENCH))["code"] == "too_many_tables"

    async def test_disk_is_looked_at_again_with_what_is_to_be_spared_now(self, server):
        client = await guest(server)
        server.host.settings = changed(QUICK, store={"spare_mb": 1_000_000})
        assert (await ask(server, "reload"))["changed"] == ["store.spare_mb"]
        assert (await client.ask(FRENCH))["code"] == "too_many_tables"
        server.host.settings = changed(QUICK, store={"spare_mb": 0})
        await ask(server, "reload")
        assert (await client.ask(FRENCH))["t"] == "ok"

    async def test_level_of_the_log_changes(self, server, shown):
        server.host.settings = changed(QUICK, log={"level": "error"})
        await ask(server, "reload")
        shown.truncate(0)
        await guest(server)
        assert "login" not in shown.getvalue()

    async def test_wrong_file_changes_nothing_and_is_told(self, server):
        server.host.wrong = "truc.toml line 2: listen.port expected a whole number from 0 to 65535, got 'abc'"
        answer = await ask(server, "reload")
        assert answer == {"ok": False, "error": f"{server.host.wrong}; nothing has changed"}
        assert (await ask(server, "status"))["name"] == "Truc"

    async def test_settings_that_were_read_first_do_not_come_into_force_last(self, server, monkeypatch):
        may_end, found = threading.Event(), list[ServerParts]()

        def slow_reread():
            settings = server.host.settings
            if settings.motd == "one":
                assert may_end.wait(20)
            return settings

        async def slow_reload(desk):
            found.append(desk.parts)
            return await reload(desk._replace(control=desk.control._replace(reread=slow_reread)))

        async def second_reload():
            server.host.settings = changed(QUICK, motd="two")
            await ask(server, "reload")
            may_end.set()

        reload = Desk.reload
        monkeypatch.setattr(Desk, "reload", slow_reload)
        server.host.settings = changed(QUICK, motd="one")
        async with trio.open_nursery() as tasks:
            tasks.start_soon(ask, server, "reload")
            while not found:
                await trio.lowlevel.checkpoint()
            tasks.start_soon(second_reload)
            while not (may_end.is_set() or found[0].reloading.statistics().tasks_waiting):
                await trio.lowlevel.checkpoint()
            may_end.set()
        assert found[0].settings.now.motd == "two"

    @each_row("name", KEYS)
    def test_setting_is_changed_or_left(self, name):
        wanted = _with_another(name)
        taken = changeable(Settings(), wanted)
        assert differing(Settings(), taken) == ([] if is_fixed(name) else [name])
        assert differing(taken, wanted) == ([name] if is_fixed(name) else [])


def _with_another(name) -> Settings:
    """Return settings that differ from the defaults in one."""
    section, _, field = name.rpartition(".")
    value = KEYS[name].default
    other = not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else f"{value}x"
    if isinstance(value, tuple):
        other = (*value, "127.0.0.9")
    return changed(Settings(), **({section: {field: other}} if section else {field: other}))


class TestSocket:
    async def test_it_is_its_owners_alone_and_gone_at_the_end(self, tmp_path):
        async with hosting(tmp_path / "data") as server:
            path = server.folder.admin_socket
            mode = stat.S_IMODE(path.stat().st_mode)
        assert (mode, path.exists()) == (0o600, False)

    async def test_what_a_killed_server_left_is_replaced(self, path):
        path.mkdir(mode=0o700)
        with socket.socket(socket.AF_UNIX) as stale:
            stale.bind(str(path / "admin.sock"))
        async with hosting(path) as server:
            assert (await ask(server, "status"))["ok"]

    async def test_server_runs_without_it_where_something_else_stands(self, path, shown):
        path.mkdir(mode=0o700)
        (path / "admin.sock").write_text("mine")
        async with hosting(path) as server:
            await guest(server)
        assert "no_admin_socket" in shown.getvalue()
        assert (path / "admin.sock").read_text() == "mine"

    async def test_server_runs_without_it_where_the_path_is_too_long(self, tmp_path, shown):
        data = tmp_path / ("d" * MAX_PATH)
        async with hosting(data) as server:
            await guest(server)
        assert f"at most {MAX_PATH}: move the data folder to a shorter path" in shown.getvalue()

    @each_row(
        "line, told",
        [
            (b"status", "expected a command as one JSON object"),
            (b"[]", "Expected `object`"),
            (b'{"command":"dance"}', "Invalid value 'dance'"),
            (b'{"command":"kick"}', "missing required field `subject`"),
            (b'{"command":"status","more":1}', "unknown field `more`"),
            (b'{"command":"ban","subject":"x","hours":0}', ">= 1"),
            (b"\xff\xfe", "expected a command"),
            (b"", "expected a command"),
        ],
    )
    async def test_wrong_line_is_answered_and_the_next_one_taken(self, server, line, told):
        async with calling(server.folder) as caller:
            await caller.stream.send_all(line + b"\n")
            wrong = await caller.line()
            right = await caller.ask(command="status")
        assert (wrong["ok"], told in wrong["error"], right["ok"]) == (False, True, True)

    async def test_line_without_end_is_cut(self, server):
        async with calling(server.folder) as caller:
            await caller.stream.send_all(b"x" * (MAX_REQUEST + 1))
            assert f"at most {MAX_REQUEST} bytes" in (await caller.line())["error"]
            assert await caller.stream.receive_some(1) == b""

    async def test_callers_who_say_nothing_are_let_go(self, server, monkeypatch):
        monkeypatch.setattr("truc_server.admin.command_socket.IDLE_S", 0.05)
        monkeypatch.setattr("truc_server.admin.command_socket.CALLERS", 1)
        async with calling(server.folder) as silent:
            assert (await ask(server, "status"))["ok"]
            assert await silent.stream.receive_some(1) == b""

    async def test_status_is_told_when_no_more_files_can_be_opened(self, server):
        async with calling(server.folder) as caller:
            await caller.ask(command="status")
            with no_more_files():
                assert (await caller.ask(command="status"))["ok"]

    async def test_fault_of_a_command_is_answered_and_harms_nobody(self, server, monkeypatch):
        monkeypatch.setattr("truc_server.admin.desk.connections", lambda *_: 1 // 0)
        assert "has failed; its log has it as incident" in (await ask(server, "who"))["error"]
        assert (await ask(server, "status"))["ok"]


class TestLog:
    async def test_command_is_noted_with_who_gave_it_and_what_came_of_it(self, server):
        await ask(server, "ban", subject=OWN, hours=3)
        await ask(server, "kick", subject=OWN)
        ban, kick = noted(server)
        assert (ban["uid"], ban["pid"]) == (os.getuid(), os.getpid())
        assert (ban["command"], ban["arguments"]) == ("ban", {"subject": OWN, "hours": 3})
        assert (ban["outcome"], kick["outcome"]) == ("ok", f"nobody is connected who is {OWN}")
        assert stat.S_IMODE(server.folder.admin_log.stat().st_mode) == 0o600

    async def test_code_of_a_private_table_is_nowhere_whole(self, server, shown):
        code = await table_of(await guest(server), private=True)
        await ask(server, "tables", text=code)
        await ask(server, "close", table=code)
        told = server.folder.admin_log.read_text() + shown.getvalue()
        assert (code in told, f"{code[:4]}..." in told) == (False, True)

    async def test_what_was_no_command_is_noted(self, server):
        async with calling(server.folder) as caller:
            await caller.stream.send_all(b"dance\n")
            await caller.line()
        (entry,) = noted(server)
        assert (entry["command"], entry["outcome"][:18]) == ("?", "expected a command")

    async def test_full_log_makes_room_once(self, server, monkeypatch):
        monkeypatch.setattr(audit, "MAX_BYTES", 400)
        for _ in range(12):
            await ask(server, "status")
        sizes = [path.stat().st_size for path in server.folder.root.glob("admin.log*")]
        assert (len(sizes), max(sizes) <= 400) == (2, True)

    def test_commands_that_fill_the_file_at_once_are_all_in_the_two(self, tmp_path, monkeypatch):
        monkeypatch.setattr(audit, "MAX_BYTES", 2_000)
        entry = audit.AdminLogEntry(audit.Caller(0, 0), "status", {}, "ok")
        together = threading.Barrier(8)

        def note_at_once(log):
            together.wait()
            audit.note(log, entry)

        with ThreadPoolExecutor(8) as threads:
            for n in range(300):  # one in some forty found two in each other's way
                folder = tmp_path / str(n)
                folder.mkdir()
                (folder / "admin.log").write_text("{}\n" * 640)
                list(threads.map(note_at_once, [folder / "admin.log"] * 8))
                assert sum(len(path.read_text().splitlines()) for path in folder.iterdir()) == 648

    async def test_command_is_done_where_it_cannot_be_noted(self, server, shown):
        server.folder.admin_log.mkdir()
        assert (await ask(server, "status"))["ok"]
        assert "admin_not_noted" in shown.getvalue()


class TestCommands:
    async def test_json_is_the_servers_answer_and_a_refusal_one_line_and_status_1(self, server):
        assert json.loads((await host_types(server.folder, "status", "--json")).stdout)["port"] == server.port
        refused = await host_types(server.folder, "close", "NOPE", "--json")
        assert (refused.exit_code, json.loads(refused.stdout)["ok"]) == (1, False)
        refused = await host_types(server.folder, "close", "NOPE")
        assert (refused.exit_code, refused.stdout) == (1, "")
        assert refused.stderr == "truc-server: expected the code of a table, got 'NOPE'\n"

    async def test_what_was_done_is_said(self, server):
        server.host.settings = changed(QUICK, name="Other", listen={"port": 5})
        code = await table_of(await keyed(server))
        for arguments, told in (
            (("ban", OWN, "--days", "2"), f"{OWN} is shut out until "),
            (("unban", OWN), f"{OWN} is not shut out any more\n"),
            (("mute", OWN), f"{OWN} is muted; 1 connection met\n"),
            (("unmute", OWN), f"{OWN} is not muted any more\n"),
            (("kick", OWN), f"{OWN} is cut: 1 connection\n"),
            (("close", code), f"table {code} is closed\n"),
            (("status",), "Truc, truc "),
            (("reload",), "changed: name\nleft until the next start: listen.port\n"),
        ):
            if arguments[0] == "mute":
                await keyed(server, key=KEY)
            result = await host_types(server.folder, *arguments)
            assert (result.exit_code, result.stdout.startswith(told)) == (0, True)

    @pytest.mark.parametrize("is_stale", [False, True], ids=["no socket", "a socket that was left"])
    def test_no_server_is_one_line(self, tmp_path, is_stale):
        if is_stale:
            with socket.socket(socket.AF_UNIX) as stale:
                stale.bind(str(tmp_path / "admin.sock"))
        result = call(tmp_path, "admin who")
        assert (result.exit_code, result.stderr) == (
            1,
            f"truc-server: no server is running in {tmp_path}: nobody answers at {tmp_path}/admin.sock\n",
        )

    def test_path_that_is_too_long_is_one_line(self, tmp_path):
        result = call(tmp_path / ("d" * MAX_PATH), "admin who")
        assert (result.exit_code, f"at most {MAX_PATH}: move the data folder" in result.stderr) == (1, True)

    @each_row("words", ["kick", "ban", "unmute", "close", "say", "move", "move TABLE"])
    def test_argument_that_is_missing_is_named(self, tmp_path, words):
        result = call(tmp_path, f"admin {words}")
        assert (result.exit_code, "Missing argument" in result.stderr) == (2, True), result.stderr

    def test_days_and_hours_are_not_both_taken(self, tmp_path):
        assert call(tmp_path, "admin ban", OWN, "--days", "1", "--hours", "1").exit_code == 2


PAGE = (Path(__file__).parents[2] / "docs" / "hosting" / "admin.md").read_text("utf-8")


def test_page_names_every_command():
    named = re.findall(r"^\* `truc-server admin (\w+)", PAGE, re.MULTILINE)
    assert sorted(named) == sorted(main.commands["admin"].commands)


def test_page_says_of_every_setting_when_it_changes():
    table = PAGE.partition("has to wait for the next start:\n\n")[2].partition("\n\n")[0]
    named = set(re.findall(r"`([a-z_.]+)`", table))
    assert [name for name in KEYS if name not in named and name.partition(".")[0] not in named] == []
    fixed = set(re.findall(r"`([a-z_.]+)`", table.strip().splitlines()[-1]))
    assert fixed == {name.rstrip(".") for name in FIXED}
