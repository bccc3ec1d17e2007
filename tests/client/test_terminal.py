"""The demo and the client on a real terminal: a pseudo-terminal, typed into."""

import os
import re
import signal
import socket

import pytest
from client.terminals import Terminal

from truc_client.home.home import Home, kept_name

pytestmark = pytest.mark.slow

ANOTHER = "Another match at this table? [Y/n]"
DEMO = ("demo", "--variant", "truc-french", "--style", "careful")


def test_person_plays_a_short_match_of_the_demo_by_numbers_and_leaves_another(tmp_path) -> None:
    four = ("--variant", "truc-catalan", "--seats", "4")
    short = ("--option", "match=1", "--option", "target=2")
    terminal = Terminal(tmp_path / "home", *DEMO, *four, *short)
    terminal.wait_until(lambda: terminal.is_asked and terminal.keys)
    while terminal.foot != ANOTHER:
        terminal.answer(terminal.keys.split()[0])
        terminal.wait_until(lambda: (terminal.is_asked and terminal.keys) or terminal.foot == ANOTHER)
    terminal.answer("y")
    terminal.wait_until(lambda: terminal.is_asked and terminal.keys)
    terminal.answer("quit")
    assert terminal.end() == 0
    assert terminal.seen.count(b"Verified from the file alone: PROVEN") == 1
    assert "✓".encode() in terminal.seen
    assert b"You left; the demo ends here" in terminal.seen


def test_beginner_is_told_what_to_try_and_no_server_outlives_the_terminal(tmp_path, monkeypatch):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    terminal = Terminal(tmp_path / "home", *DEMO, "--teach", "--lang", "fr", columns=80, rows=24)
    terminal.wait_for(b"> Suggestion : ")
    terminal.wait_shown("Le second choix")
    while not terminal.screen.display[terminal.screen.cursor.y].startswith("Numéro, coup"):
        assert terminal.read()
    port = int(re.search(rb"127\.0\.0\.1:(\d+)", terminal.seen)[1])
    os.killpg(terminal.process.pid, signal.SIGHUP)  # as Ctrl-C does, and all that ends a client
    assert terminal.end() == 130
    assert "son serveur est arrêté".encode() in terminal.seen
    assert b"Traceback" not in terminal.seen
    assert list((tmp_path / "tmp").iterdir()) == []
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def test_who_is_new_is_asked_for_a_name_and_has_no_key_before_a_server_answers(real_server, tmp_path) -> None:
    home, asked = tmp_path / "home", "Com vols que et diguin els altres?"
    for address, told, kept in (
        ("truc://127.0.0.1:1", "no es pot arribar", []),
        (real_server.url, "El teu nom es desa a", ["master.seed", "name"]),
    ):
        terminal = Terminal(home, "play", address, "--private", "--lang", "ca", is_known=False)
        terminal.wait_for(asked.encode())
        terminal.type("Martí\n".encode())
        terminal.wait_for(told.encode())
        terminal.type(b"quit\n")
        terminal.end()
        assert [path.name for path in (Home(home).seed, Home(home).name) if path.exists()] == kept
    assert kept_name(Home(home)) == "Martí"
    terminal = Terminal(home, "play", real_server.url, "--lang", "ca")
    terminal.wait_for(b"tothom signa")
    assert asked.encode() not in terminal.seen
    terminal.type(b"quit\n")
    terminal.end()


def test_friends_meet_by_a_link_and_the_end_of_input_after_a_match_keeps_the_seat(real_server, tmp_path):
    create = ("create", real_server.url, "truc-french", "--private", "--clock", "40+100")
    north = Terminal(tmp_path / "north", *create)
    north.wait_for(b"40 s a move and 100 s in reserve")
    north.wait_for(b"This link works only on this machine")
    link = re.search(rb"truc join (truc://\S+)", north.seen)[1]
    south = Terminal(
        tmp_path / "south", "join", link.decode(), "--name", "migjorn"
    )  # nobody else is called so
    south.wait_for(b"everybody is dealt 3 cards")
    south.type(b"resign\n")
    south.wait_for(b"once more")
    south.type(b"resign\n")
    south.wait_shown("Another match at this table? [Y/n]")
    north.wait_shown("Another match at this table? [Y/n]")
    south.type(b"\n")
    north.wait_for(b"migjorn wants another match")
    north.type(b"\x04")
    north.wait_for(b"Your seat is kept. To come back: truc play")
    assert north.end() == 0
    south.type(b"quit\n")
    assert south.end() == 0
