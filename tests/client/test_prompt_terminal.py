"""`truc play` on a real terminal: what a person sees there, and that they have their terminal back whatever happens."""

from functools import partial

import pytest
from client.running import Process
from client.serving import RealServer
from client.terminals import ASKED, CTRL_C, Terminal, leave

pytestmark = pytest.mark.slow


@pytest.fixture
def bot(real_server, tmp_path, request):
    """Return the code of a table where a bot waits; the parameter is how long there is for a decision."""
    clock = ("--option", f"decision_ms={getattr(request, 'param', 0)}", "--option", "bank_ms=0")
    created = ("--create", "truc-french", "--private", *clock)
    with Process(tmp_path / "bot", "bot", real_server.url, *created) as waiting:
        yield waiting.code()


def test_person_asks_completes_and_resizes_at_a_prompt(real_server, bot, tmp_path) -> None:
    terminal = Terminal(tmp_path / "home", "play", real_server.url, "--table", bot, rows=24, NO_COLOR="1")
    terminal.wait_shown("or ? for help:")
    assert b"\a" in terminal.seen
    assert not any(b"\x1b[%dm" % colour in terminal.seen for colour in range(30, 50))
    terminal.type(b"? stake\r")
    terminal.wait_shown("* ")
    for columns, rows in ((40, 10), (120, 40), (80, 24)):
        terminal.resize(columns, rows)
        title = "── your turn ".ljust(columns, "─")
        terminal.wait_until(partial(stands_once, terminal, title))
    terminal.type(b"'good lu")
    terminal.wait_shown("'good lu")
    terminal.type(b"ck\r")
    terminal.wait_shown('": good luck')
    terminal.type(b"qui\t\r")
    assert terminal.end() == 0
    assert terminal.was_restored


def test_prompt_on_a_terminal_with_ascii_alone_is_spelled_without_accents(real_server, bot, tmp_path) -> None:
    words = ("--lang", "fr", "play", real_server.url, "--table", bot)
    terminal = Terminal(tmp_path / "home", *words, LC_ALL="C", PYTHONIOENCODING="ascii")
    terminal.wait_shown("Numero, coup ou ? pour de l'aide")
    terminal.type(b"quit\r")
    assert terminal.end() == 0


def stands_once(terminal: Terminal, title: str) -> bool:
    """Tell whether there is one table, with this title, and one question below it."""
    counted = [terminal.shown.count(text) for text in (title, "your turn", ASKED)]
    return counted == [1, 1, 1] and terminal.foot.endswith(ASKED)


@pytest.mark.parametrize("bot", [6000], indirect=True)
def test_clock_that_runs_out_leaves_nothing_of_its_question(real_server, bot, tmp_path) -> None:
    terminal = Terminal(tmp_path / "home", "play", real_server.url, "--table", bot, columns=80, rows=24)
    terminal.wait_until(lambda: terminal.is_asked)
    terminal.type(b"1")
    terminal.wait_until(lambda: terminal.foot.endswith(f"{ASKED} 1"))
    terminal.wait_for(b"time ran out")
    terminal.wait_until(lambda: terminal.is_asked)
    assert terminal.shown.count(ASKED) == 1
    key = terminal.keys.split()[0]
    terminal.answer(key)
    terminal.wait_shown(f"> {key}")
    terminal.type(b"quit\r")
    assert terminal.end() == 0
    assert terminal.was_restored


def alone(server: RealServer) -> tuple[str, ...]:
    """Return what makes a table where nobody else sits."""
    return "play", server.url, "--variant", "truc-french", "--private"


def test_terminal_is_restored_and_the_way_back_told_even_where_ctrl_c_was_ignored(real_server, tmp_path):
    ignoring = ("sh", "-c", 'trap "" INT; exec "$@"', "sh")
    terminal = Terminal(tmp_path / "home", *alone(real_server), within=ignoring)
    terminal.wait_for(b"to invite:")
    terminal.wait_until(lambda: terminal.foot == ">")
    leave(terminal, CTRL_C)
    assert b"To come back: truc play" in terminal.seen
    assert b"Traceback" not in terminal.seen


def test_plain_is_text_alone_and_takes_a_line_at_any_time(real_server, tmp_path) -> None:
    terminal = Terminal(tmp_path / "home", *alone(real_server), "--plain")
    terminal.wait_for(b"to invite:")
    assert terminal.is_restored
    terminal.type(b"?\n")
    terminal.wait_for(b"you may type")
    terminal.type(b"quit\n")
    assert terminal.end() == 0
    assert b"\x1b" not in terminal.seen


def test_line_half_typed_is_there_once_whatever_the_size_and_a_paste_is_one_line(real_server, tmp_path):
    terminal = Terminal(tmp_path / "home", *alone(real_server), columns=80, rows=24)
    terminal.wait_for(b"to invite:")
    terminal.type(b"'good")
    for columns, rows in ((120, 40), (80, 24)):
        terminal.wait_until(lambda: terminal.foot == "> 'good")
        terminal.resize(columns, rows)
        at = len(terminal.seen)
        terminal.wait_for(b"'good", after=at)
        assert terminal.shown.count("'good") == 1
    terminal.type(b"\x1b[200~ evening\r\nto all\n\x1b[201~\r")
    terminal.wait_shown('": good evening to all')
    terminal.wait_until(lambda: terminal.foot == ">")
    assert terminal.shown.count("evening") == 2  # as it was typed, and as it was said
    terminal.type(b"quit\r")
    assert terminal.end() == 0


def test_terminal_is_sane_while_the_client_is_stopped_and_drawn_again_after(real_server, tmp_path) -> None:
    job = ("sh", "-c", 'set -m; "$@"; echo it has stopped; read answer; fg; exit $?', "sh")
    terminal = Terminal(tmp_path / "home", *alone(real_server), within=job)
    terminal.wait_for(b"to invite:")
    terminal.type(b"'good")
    terminal.wait_until(lambda: terminal.foot == "> 'good")
    terminal.type(b"\x1a")
    terminal.wait_for(b"it has stopped")
    assert terminal.is_cooked
    assert "'good" not in terminal.shown
    terminal.type(b"\n")
    terminal.wait_until(lambda: terminal.foot == "> 'good")
    terminal.type(b" evening\r")
    terminal.wait_shown('": good evening')
    terminal.type(b"quit\r")
    assert terminal.end() == 0
    assert terminal.was_restored
