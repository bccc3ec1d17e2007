"""The commands of players at a server with TLS."""

import pytest
from client.running import Process

from truc_protocol.crypto.keys import FINGERPRINT_CHARACTERS

pytestmark = pytest.mark.slow


def test_tables_says_how_to_open_one_encrypted(truc, tls_server) -> None:
    shown = truc("tables", tls_server.url, "--variant", "put")
    place = f"trucs://127.0.0.1:{tls_server.port}"
    assert (shown.exit_code, tls_server.url) == (0, place)
    assert shown.stdout == f"no public tables; to open one: truc create {place} VARIANT\n"


def test_tables_of_a_game_that_the_server_lacks_are_refused_and_not_none(truc, tls_server) -> None:
    shown = truc("tables", tls_server.url, "--variant", "puts")
    assert (shown.exit_code, shown.stdout.count("no public tables")) == (1, 0)
    assert "this server has no such game" in shown.stderr


def test_play_alone_goes_to_the_one_server_known_and_comes_encrypted(truc, tls_server) -> None:
    assert truc("tables", tls_server.url).exit_code == 0
    shown = truc("play", "--guest", "--table", "NOPE1")
    assert "expected TLS" not in shown.stderr
    assert "You play as a guest, without a key: others have only the server's word" in shown.stdout


def test_link_of_a_bot_s_table_is_encrypted(truc, tls_server, tmp_path) -> None:
    with Process(tmp_path / "bot", "bot", tls_server.url, "--create", "truc-french") as bot:
        link = bot.line().split()[1]
        listed = truc("tables", link)
    assert link.startswith(f"trucs://127.0.0.1:{tls_server.port}/")
    assert listed.stdout.startswith(link.partition("#")[0].rpartition("/")[2])


def test_web_opens_no_page_where_the_key_is_not_that_of_the_link(truc, tls_server) -> None:
    link = f"{tls_server.url}#{'A' * FINGERPRINT_CHARACTERS}"
    shown = truc("web", link, "--port", "0", "--no-browser")
    assert (shown.exit_code, shown.stdout) == (1, "")
    assert str(tls_server.address.fingerprint) in shown.stderr
