"""`truc watch` and `truc forget`: what is printed, and what a wrong command line says."""

import pytest
from client.running import Process
from client.serving import RealServer
from client.terminals import Terminal

from truc_client.verifying import verify_file


@pytest.mark.slow
def test_watch_tells_a_match_of_bots_to_its_verdict_on_a_terminal_and_without(tmp_path) -> None:
    short = ("--create", "truc-french", "--option", "match=1", "--option", "target=4")
    with RealServer(tmp_path / "server", {"TRUC_MATCH_SPECTATORS": "live"}) as server:
        first = Process(tmp_path / "bots", "bot", server.url, *short)
        code = first.code()
        link = f"{server.url}/{code}"
        piped = Process(tmp_path / "home", "watch", link)
        terminal = Terminal(tmp_path / "eyes", "watch", link, "--lang", "ca", "--follow")
        terminal.wait_shown("sortir per deixar-ho:")
        assert piped.line() == f"table {code}: 1 of 2 seats taken: bot\n"
        second = Process(tmp_path / "bots", "bot", server.url, "--table", code)
        terminal.wait_shown("── truc-french ─")
        told, _, piped_status = piped.finish()
        terminal.wait_for(b"De nou: truc replay ")
        terminal.type(b"sortir\r")
        status = terminal.end()
        first.finish()
        second.finish()
    (kept,) = (tmp_path / "home" / "transcripts").glob("*.truc")
    match = kept.name[:6]
    assert piped_status == 0
    assert "PROVEN" in told
    assert f"See it again: truc replay {match}; as a page: truc report {match} -o {match}.html" in told
    assert verify_file(kept).result == "proven"
    assert (status, terminal.was_restored) == (0, True)


def test_forget_says_who_was_forgotten(truc, real_server) -> None:
    assert truc("tables", real_server.url).exit_code == 0
    told = truc("forget", real_server.url, "--yes")
    assert (told.exit_code, told.stdout.startswith(f"{real_server.url} has forgotten ")) == (0, True)


def test_watch_of_a_table_that_is_not_there_is_one_line(truc, real_server) -> None:
    told = truc("watch", real_server.url, "NOPE1")
    assert told.exit_code == 1
    assert told.stderr.strip().splitlines()[-1].endswith("(no_such_table)")
