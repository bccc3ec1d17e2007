"""Wherever somebody leaves, and however: the seat stays theirs, they are asked whether to go on, and the match goes on."""

import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from client.opponent import Opponent, bold, quiet, still
from client.serving import RealServer
from client.terminals import ASKED, CTRL_C, CTRL_D, HUP, KILL, QUIT, TERM, Terminal, leave

from truc_client import Table

pytestmark = pytest.mark.slow

GAME = ("--variant", "truco-argentino", "--option", "decision_ms=0", "--private")
ANOTHER = "Another match at this table? [Y/n]"
GO_ON = "Go on? [Y/n]"


class Seat:
    """A seat in a match for two, whose player leaves and comes back; `rests` tells whether the match does."""

    def __init__(self, url: str, home: Path, opponent: Opponent) -> None:
        self.url = url
        self.home = home
        self.opponent = opponent
        self.rests = False

    def visit(self, question: str = GO_ON) -> Terminal:
        """Start again; returns when the player is asked."""
        terminal = Terminal(self.home, "play", self.url, columns=80, rows=24)
        terminal.wait_shown(question)
        return terminal

    def go_on(self) -> Terminal:
        terminal = self.visit()
        terminal.answer("y")
        return terminal

    def plays_on(self, terminal: Terminal) -> None:
        """Check that the match goes on."""
        decide(self, terminal)
        at = len(terminal.seen)
        terminal.answer(_card(terminal))
        terminal.wait_for(b" plays ", after=at)


def _card(terminal: Terminal) -> str:
    return re.search(r" (\d+) play ", terminal.keys)[1]


def _first(terminal: Terminal) -> str:
    return re.search(r"(\d+) ", terminal.keys)[1]


def play(terminal: Terminal, until: Callable[[], bool]) -> None:
    """Play cards, and accept, until something stands at the foot."""
    while not until():
        if terminal.is_asked:
            terminal.answer(_card(terminal) if " play " in terminal.keys else _first(terminal))
        else:
            assert terminal.read(), terminal.shown


def decide(seat: Seat, terminal: Terminal) -> None:
    seat.opponent.plays(quiet)
    play(terminal, lambda: terminal.is_asked and " play " in terminal.keys)


def answer(seat: Seat, terminal: Terminal) -> None:
    seat.opponent.plays(bold)
    play(terminal, lambda: terminal.is_asked and " quiero" in terminal.keys)


def wait(seat: Seat, terminal: Terminal) -> None:
    seat.opponent.plays(still)
    play(terminal, lambda: terminal.foot.startswith("waiting for south"))


def rest(seat: Seat, terminal: Terminal) -> None:
    if not seat.rests:
        wait(seat, terminal)
        seat.opponent.does(Table.pause)
        terminal.wait_shown("To agree, type: pause.")
        terminal.answer("pause")
        seat.rests = True
    terminal.wait_shown("To go on, type: resume.")


def resign_at_first(seat: Seat, terminal: Terminal) -> None:
    decide(seat, terminal)
    terminal.answer("resign")
    terminal.wait_shown("Type resign once more")


def type_half(seat: Seat, terminal: Terminal) -> None:
    decide(seat, terminal)
    terminal.type(b"'good")
    terminal.wait_until(lambda: terminal.foot.endswith(f"{ASKED} 'good"))


@contextmanager
def seated(server: RealServer, folder: Path) -> Iterator[Seat]:
    """Seat a player in a match, and kill them before there is a question."""
    first = Terminal(folder / "home", "play", server.url, "--name", "north", *GAME)
    first.wait_for(b"#")
    code = re.search(rb"/(\w+)#", first.seen)[1].decode()
    with Opponent(server.url, folder / "south", code) as opponent:
        first.wait_for(b"is dealt 3 cards")
        leave(first, KILL)
        yield Seat(server.url, folder / "home", opponent)


@pytest.fixture
def seat(real_server, tmp_path) -> Iterator[Seat]:
    with seated(real_server, tmp_path) as seat:
        yield seat


def test_match_goes_on_after_its_player_has_left_anywhere_and_anyhow_and_come_back(seat) -> None:
    for stand, how in (
        (decide, HUP),
        (resign_at_first, TERM),
        (type_half, CTRL_C),
        (answer, CTRL_D),
        (wait, QUIT),
        (rest, KILL),
    ):
        terminal = seat.go_on()
        stand(seat, terminal)
        leave(terminal, how)
    terminal = seat.go_on()
    rest(seat, terminal)
    seat.opponent.does(Table.unpause)
    terminal.answer("resume")
    seat.plays_on(terminal)
    leave(terminal, KILL)


def test_whoever_leaves_at_the_question_whether_to_go_on_is_asked_again(seat) -> None:
    for how in (CTRL_C, CTRL_D, QUIT, KILL):
        leave(seat.visit(), how)


def test_whoever_leaves_at_the_question_after_a_match_may_play_another(seat) -> None:
    terminal = seat.go_on()
    decide(seat, terminal)
    seat.opponent.does(Table.resign)
    for how in (KILL, QUIT):
        terminal.wait_shown(ANOTHER)
        leave(terminal, how)
        terminal = seat.go_on()
    terminal.wait_shown(ANOTHER)
    terminal.answer("y")
    seat.plays_on(terminal)
    leave(terminal, KILL)


def test_server_that_is_silent_or_gone_keeps_nobody_from_news_nor_from_leaving(tmp_path) -> None:
    with RealServer(tmp_path / "server") as server, seated(server, tmp_path) as seat:
        terminal = seat.go_on()
        decide(seat, terminal)
        server.process.send_signal(signal.SIGSTOP)
        at = len(terminal.seen)
        terminal.answer(_card(terminal))
        terminal.wait_until(lambda: terminal.foot == "sent; waiting for the server >")
        server.kill()
        terminal.wait_until(lambda: terminal.foot.startswith("no connection; connecting again"))
        server.start()
        terminal.wait_for(b" plays ", after=at)
        decide(seat, terminal)
        server.process.send_signal(signal.SIGSTOP)
        terminal.answer(_card(terminal))
        leave(terminal, QUIT)
        server.process.send_signal(signal.SIGCONT)
        terminal = seat.go_on()
        decide(seat, terminal)
        server.kill()
        terminal.wait_shown("connecting again")
        leave(terminal, KILL)
        server.start()
        terminal = seat.go_on()
        seat.plays_on(terminal)
        leave(terminal, KILL)


def test_whoever_leaves_while_waiting_for_company_sits_there_again(real_server, tmp_path) -> None:
    alone = Terminal(tmp_path / "home", "play", real_server.url, *GAME)
    alone.wait_for(b"#")
    table = re.search(rb"/(\w+)#", alone.seen)[1]
    leave(alone, KILL)
    again = Terminal(tmp_path / "home", "play", real_server.url)
    again.wait_for(b"table " + table)
    leave(again, KILL)
