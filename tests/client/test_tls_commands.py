"""The commands of players at a server with TLS, as processes."""

import os
import subprocess
import sys

import pytest
from client.serving import RealServer

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tls_server(tmp_path_factory: pytest.TempPathFactory):
    """Return a server process that encrypts."""
    server = RealServer(tmp_path_factory.mktemp("server"), {"TRUC_LISTEN_TLS": "true"}).start()
    yield server
    server.stop()


def truc(home, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `truc` with nothing to read."""
    return subprocess.run(
        [sys.executable, "-m", "truc_terminal", *words],
        env={**os.environ, "TRUC_HOME": str(home), "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_tables_says_how_to_open_one_encrypted(tls_server, tmp_path) -> None:
    shown = truc(tmp_path, "tables", tls_server.url, "--variant", "put")
    place = f"trucs://127.0.0.1:{tls_server.port}"
    assert (shown.returncode, tls_server.url) == (0, place)
    assert shown.stdout == f"no public tables; to open one: truc create {place} NAME\n"


def test_address_in_clear_leads_to_the_server_all_the_same(tls_server, tmp_path) -> None:
    shown = truc(tmp_path, "tables", f"127.0.0.1:{tls_server.port}", "--variant", "put")
    assert (shown.returncode, shown.stdout.startswith("no public tables")) == (0, True)


def test_play_alone_goes_to_the_one_server_known_and_comes_encrypted(tls_server, tmp_path) -> None:
    assert truc(tmp_path, "tables", tls_server.url).returncode == 0
    shown = truc(tmp_path, "play", "--guest", "--table", "NOPE1")
    assert "expected TLS" not in shown.stderr
    assert "You play as a guest, without a key: others have only the server's word" in shown.stdout


def test_link_of_a_bot_s_table_is_encrypted(tls_server, tmp_path) -> None:
    command = [sys.executable, "-m", "truc_terminal", "bot", tls_server.url, "--create", "truc-french"]
    with subprocess.Popen(
        command, env={**os.environ, "TRUC_HOME": str(tmp_path / "bot")}, stdout=subprocess.PIPE, text=True
    ) as bot:
        link = next(line for line in bot.stdout if line.startswith("table")).split()[1]
        code = link.partition("#")[0].rpartition("/")[2]
        listed = truc(tmp_path / "home", "tables", link)
        bot.terminate()
    assert link.startswith(f"trucs://127.0.0.1:{tls_server.port}/")
    assert listed.stdout.startswith(code)


def test_watch_without_a_table_names_the_command_that_lists_them(tls_server, tmp_path) -> None:
    shown = truc(tmp_path, "watch", tls_server.url)
    assert f"truc tables {tls_server.url}" in shown.stderr
