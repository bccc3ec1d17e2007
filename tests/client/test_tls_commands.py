"""The commands of players at a server with TLS, as processes."""

import pytest
from client.running import Process, run
from client.serving import RealServer

from truc_protocol.crypto.keys import FINGERPRINT_CHARACTERS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tls_server(tmp_path_factory: pytest.TempPathFactory):
    """Return a server process that encrypts."""
    server = RealServer(tmp_path_factory.mktemp("server"), {"TRUC_LISTEN_TLS": "true"}).start()
    yield server
    server.stop()


def test_tables_says_how_to_open_one_encrypted(tls_server, tmp_path) -> None:
    shown = run(tmp_path, "tables", tls_server.url, "--variant", "put")
    place = f"trucs://127.0.0.1:{tls_server.port}"
    assert (shown.returncode, tls_server.url) == (0, place)
    assert shown.stdout == f"no public tables; to open one: truc create {place} NAME\n"


def test_play_alone_goes_to_the_one_server_known_and_comes_encrypted(tls_server, tmp_path) -> None:
    assert run(tmp_path, "tables", tls_server.url).returncode == 0
    shown = run(tmp_path, "play", "--guest", "--table", "NOPE1")
    assert "expected TLS" not in shown.stderr
    assert "You play as a guest, without a key: others have only the server's word" in shown.stdout


def test_link_of_a_bot_s_table_is_encrypted(tls_server, tmp_path) -> None:
    with Process(tmp_path / "bot", "bot", tls_server.url, "--create", "truc-french") as bot:
        link = bot.line().split()[1]
        listed = run(tmp_path / "home", "tables", link)
    assert link.startswith(f"trucs://127.0.0.1:{tls_server.port}/")
    assert listed.stdout.startswith(link.partition("#")[0].rpartition("/")[2])


def test_web_opens_no_page_where_the_key_is_not_that_of_the_link(tls_server, tmp_path) -> None:
    link = f"{tls_server.url}#{'A' * FINGERPRINT_CHARACTERS}"
    shown = run(tmp_path, "web", link, "--port", "0", "--no-browser")
    assert (shown.returncode, shown.stdout) == (1, "")
    assert str(tls_server.address.fingerprint) in shown.stderr
