"""`truc play` on a real terminal: what a person sees there, and that they have their terminal back whatever happens."""

import os
import signal
import subprocess
import sys

import pytest
from client.serving import RealServer
from client.terminals import Terminal

pytestmark = pytest.mark.slow


@pytest.fixture
def bot(real_server, tmp_path):
    """Return the code of a table where a bot waits."""
    process = subprocess.Popen(
        [sys.executable, "-m", "truc_client", "bot", real_server.url, "--create", "truc-french", "--private"],
        env={**os.environ, "TRUC_HOME": str(tmp_path / "bot")},
        stdout=subprocess.PIPE,
        text=True,
    )
    yield process.stdout.readline().split("/")[-1].split("#")[0]
    process.terminate()
    process.communicate(timeout=20)


def test_person_asks_completes_and_resizes_at_a_prompt(real_server, bot, tmp_path) -> None:
    terminal = Terminal(tmp_path / "home", "play", real_server.url, "--table", bot, rows=24, NO_COLOR="1")
    terminal.wait_shown("or ? for help:")
    assert b"\a" in terminal.seen
    assert not any(b"\x1b[%dm" % colour in terminal.seen for colour in range(30, 50))
    terminal.type(b"? stake\r")
    terminal.wait_shown("* ")
    terminal.resize(120, 40)
    terminal.type(b"'good lu")
    terminal.wait_shown("'good lu")
    terminal.type(b"ck\r")
    terminal.wait_shown("): good luck")
    terminal.type(b"qui\t\r")
    assert terminal.end() == 0
    assert terminal.was_restored


@pytest.mark.parametrize("how", ["key", signal.SIGTERM])
def test_terminal_is_restored_and_the_way_back_told(real_server, tmp_path, how) -> None:
    terminal = Terminal(tmp_path / "home", "play", real_server.url, "--variant", "truc-french", "--private")
    terminal.wait_for(b"to invite:")
    terminal.wait_shown("\n> ")
    if how == "key":
        terminal.type(b"\x03")
    else:
        terminal.process.send_signal(how)
    assert terminal.end() == 130
    assert terminal.was_restored
    assert b"To come back: truc play" in terminal.seen
    assert b"Traceback" not in terminal.seen


def test_terminal_of_a_lost_line_is_restored(tmp_path) -> None:
    server = RealServer(tmp_path / "server").start()
    terminal = Terminal(tmp_path / "home", "play", server.url, "--variant", "truc-french", "--private")
    terminal.wait_for(b"to invite:")
    terminal.type(b"?\r")
    terminal.wait_for(b"You may type")
    server.kill()
    terminal.wait_for(b"connecting again")
    terminal.type(b"quit\r")
    assert terminal.end() == 0
    assert terminal.was_restored


def test_plain_is_text_alone_and_takes_a_line_at_any_time(real_server, tmp_path) -> None:
    arguments = ("--variant", "truc-french", "--private", "--plain")
    terminal = Terminal(tmp_path / "home", "play", real_server.url, *arguments)
    terminal.wait_for(b"to invite:")
    assert terminal.is_restored
    terminal.type(b"?\n")
    terminal.wait_for(b"You may type")
    terminal.type(b"quit\n")
    assert terminal.end() == 0
    assert b"\x1b" not in terminal.seen
