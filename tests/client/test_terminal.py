"""The demo and the client on a real terminal: a pseudo-terminal, typed into."""

import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PROMPT = b"or ? for help"
DEADLINE_S = 40


class Terminal:
    """A process on a terminal."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self.master, slave = pty.openpty()
        environment = {**os.environ, "TRUC_HOME": str(home), "TERM": "xterm-256color", "COLUMNS": "100"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "truc_client", *arguments],
            env=environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self.seen = b""
        self.until = time.monotonic() + DEADLINE_S

    def read(self) -> bool:
        """Take what the process prints next; False at its end."""
        ready, _, _ = select.select([self.master], [], [], max(0, self.until - time.monotonic()))
        assert ready, self.seen[-2000:]
        try:
            received = os.read(self.master, 65536)
        except OSError:  # the other end is closed
            return False
        self.seen += received
        return bool(received)

    def wait_for(self, text: bytes, *, after: int = 0) -> None:
        while text not in self.seen[after:]:
            assert self.read(), self.seen[-2000:]

    def type(self, text: bytes) -> None:
        os.write(self.master, text)

    def end(self) -> int:
        while self.read():
            pass
        os.close(self.master)
        return self.process.wait(10)


def test_person_plays_the_demo_by_numbers(tmp_path) -> None:
    terminal = Terminal(tmp_path / "home", "demo", "--variant", "truc-french")
    at = 0
    while b"Verified from the file alone" not in terminal.seen:
        if PROMPT in terminal.seen[at:]:
            at = len(terminal.seen)
            terminal.type(b"1\n")
        if not terminal.read():
            break
    assert terminal.end() == 0
    assert "✓".encode() in terminal.seen
    assert b"PROVEN" in terminal.seen


def test_question_mark_explains_each_option(tmp_path) -> None:
    terminal = Terminal(tmp_path / "home", "demo", "--variant", "truc-french")
    terminal.wait_for(PROMPT)
    terminal.type(b"?\n")
    terminal.wait_for(b"resign: give the match up.")
    terminal.type(b"quit\n")
    assert terminal.end() == 0


def test_ctrl_c_ends_the_demo_and_its_server(tmp_path) -> None:
    terminal = Terminal(tmp_path / "home", "demo", "--variant", "truc-french")
    terminal.wait_for(PROMPT)
    os.killpg(terminal.process.pid, signal.SIGINT)
    assert terminal.end() == 130
    assert b"its server is stopped" in terminal.seen
    assert b"Traceback" not in terminal.seen


def test_closing_the_terminal_ends_the_demo_and_its_server(tmp_path, monkeypatch) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    terminal = Terminal(tmp_path / "home", "demo", "--variant", "truc-french")
    terminal.wait_for(PROMPT)
    port = int(re.search(rb"127\.0\.0\.1:(\d+)", terminal.seen)[1])
    terminal.process.send_signal(signal.SIGHUP)
    terminal.end()
    assert list((tmp_path / "tmp").iterdir()) == []
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def test_ctrl_c_at_a_table_says_how_to_come_back(real_server, tmp_path) -> None:
    terminal = Terminal(tmp_path / "home", "play", real_server.url, "--variant", "truc-french", "--private")
    terminal.wait_for(b"to invite:")
    os.killpg(terminal.process.pid, signal.SIGINT)
    assert terminal.end() == 130
    assert b"To come back: truc play" in terminal.seen


def test_person_who_left_is_asked_whether_to_go_on(real_server, tmp_path) -> None:
    bot = subprocess.Popen(
        [sys.executable, "-m", "truc_client", "bot", real_server.url, "--create", "truc-french", "--private"],
        env={**os.environ, "TRUC_HOME": str(tmp_path / "bot")},
        stdout=subprocess.PIPE,
        text=True,
    )
    code = bot.stdout.readline().split("/")[-1].split("#")[0]
    first = Terminal(tmp_path / "home", "play", real_server.url, "--table", code)
    first.wait_for(PROMPT)
    first.type(b"quit\n")
    assert first.end() == 0
    again = Terminal(tmp_path / "home", "play", real_server.url)
    again.wait_for(b"Go on? [Y/n]")
    again.type(b"y\n")
    again.wait_for(PROMPT)
    again.type(b"resign\n")
    again.wait_for(b"once more")
    again.type(b"resign\n")
    again.wait_for(b"(resigned)")
    again.type(b"n\n")
    assert again.end() == 0
    bot.communicate(timeout=20)
