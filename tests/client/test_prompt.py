"""The prompt: lines come one by one, moves are completed, what is printed stands above it, and the terminal is left as it was."""

import io
import os
import pty
import queue
import sys
import termios
import threading
from pathlib import Path

import pyte
import pytest
from client.faked import turn
from client.test_absence import table
from client.test_screen import stands
from client.viewed import screen_of, seen, started
from msgspec.structs import replace
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import DummyInput, create_pipe_input
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.output import DummyOutput
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.utils import get_cwidth
from rows import each_row

from truc_client.happenings import Interrupted, MatchEnded, MatchWaits, Resumed, TableChanged
from truc_client.verifying import verify_file
from truc_terminal.screen.person import spelled
from truc_terminal.screen.prompt import LinesAbove, Prompt, TerminalWriter
from truc_terminal.screen.questions import OptionKey, Question, folded
from truc_terminal.screen.screen import Screen
from truc_words import Speech


class Rings(DummyOutput):
    """An output that counts the bells."""

    rung = 0

    def bell(self) -> None:
        self.rung += 1


class Typing:
    """A prompt in its thread, typed into."""

    def __init__(self, send, terminal, output) -> None:
        self.send = send
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.output = output
        self.prompt = Prompt(self.lines.put, terminal=terminal, output=output)
        started = threading.Event()
        self.thread = threading.Thread(target=self.prompt.run, args=(started.set,), daemon=True)
        self.thread.start()
        assert started.wait(10)

    def type(self, text: str) -> None:
        self.send(text)

    def next(self) -> str | None:
        return self.lines.get(timeout=10)

    def ask(self, *words: str, **more) -> None:
        """Ask, and return when the prompt asks."""
        posed = threading.Event()
        self.prompt.pose(Question(words=words, **more))
        self.prompt._soon(posed.set)
        assert posed.wait(10)

    def end(self) -> None:
        self.prompt.stop()
        self.thread.join(10)
        assert not self.thread.is_alive()


@pytest.fixture
def typing():
    with create_pipe_input() as terminal:
        typing = Typing(terminal.send_text, terminal, Rings())
        yield typing
        typing.end()


def test_lines_come_in_the_order_they_are_typed(typing) -> None:
    typing.type("1\rplay 3b\n\r")
    assert [typing.next() for _ in range(3)] == ["1", "play 3b", ""]


def test_key_means_the_option_that_was_shown_with_it(typing) -> None:
    typing.ask(at=1, text="?", keys=(OptionKey("1", "truco", "raise 2"),))
    typing.type("1\r2\r")
    assert [typing.next(), typing.next()] == ["raise 2", "2"]


@pytest.mark.parametrize(("typed", "line"), [("1", "2"), ("play ", "play 2"), ("12", "122")])
def test_key_typed_but_not_sent_is_no_answer_to_another_question(typing, typed, line) -> None:
    asked = {"text": "?", "keys": (OptionKey("1", "truco", "raise 2"),)}
    typing.ask(at=1, **asked)
    typing.type(typed)
    while typing.prompt._session.default_buffer.text != typed:
        typing.ask(at=2, **asked)
    typing.ask(at=3, text="?", keys=(OptionKey("1", "play 3b", "play 3b"),))
    typing.type("2\r")
    assert typing.next() == line


class Narrowing(Rings):
    """An output that can become narrower; it notes how far up it was cleared."""

    columns = 40

    def __init__(self) -> None:
        self.cleared: list[int] = []

    def get_size(self) -> Size:
        return Size(rows=24, columns=self.columns)

    def cursor_up(self, amount: int) -> None:
        self.cleared.append(amount)


@pytest.mark.parametrize(
    ("environment", "cleared"),
    [
        ({"TERM": "xterm-256color"}, [2]),
        ({"TERM": "linux"}, []),
        ({"XTERM_VERSION": "XTerm(379)"}, []),
        ({"XTERM_VERSION": "XTerm(379)", "TMUX": "/tmp/tmux"}, [2]),
    ],
)
def test_lines_that_a_narrower_terminal_has_broken_are_cleared(monkeypatch, environment, cleared) -> None:
    for name in ("TERM", "TMUX", "XTERM_VERSION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    output = Narrowing()
    prompt = Prompt(lambda _line: None, output=output, terminal=DummyInput())
    keys = OptionKey("1", "x" * 30, "a"), OptionKey("2", "y" * 30, "b")
    prompt._question = Question(at=1, text="?", keys=keys)
    prompt._note_drawn(prompt._app)
    output.columns = 20
    prompt._clear_broken(prompt._app)
    prompt._clear_broken(prompt._app)
    assert output.cleared == cleared


def test_tab_completes_a_move(typing) -> None:
    typing.ask("play 3b", "raise 2")
    typing.type("PL\t\r")
    assert typing.next() == "play 3b"


def test_arrow_takes_what_is_suggested(typing) -> None:
    typing.ask("play 3b", "raise 2")
    typing.type("ra")
    while typing.prompt._session.default_buffer.suggestion is None:
        typing.ask("play 3b", "raise 2")
    typing.type("\x1b[C\r")
    assert typing.next() == "raise 2"


def test_paste_of_several_lines_is_one_line_without_what_a_terminal_obeys(typing) -> None:
    typing.type("\x1b[200~'one\r\ntwo\x07\n\x1b[201~")
    typing.type("\r")
    line = typing.next()
    assert line.startswith("'one two")
    assert line.isprintable()
    assert typing.lines.empty()
    typing.type("\x1b[200~" + "x" * 5000 + "\x1b[201~\r")
    assert len(typing.next()) == 1000


def test_end_of_the_input_is_told(typing) -> None:
    typing.type("\x04")
    assert typing.next() is None


def test_bell_rings_once_for_each_position_that_waits(typing) -> None:
    for at in (1, 1, None, 1, 2):
        typing.ask(at=at, text="?")
    assert typing.output.rung == 2


def test_prompt_that_has_ended_is_asked_nothing(typing) -> None:
    typing.end()
    typing.prompt.pose(Question(at=1))
    typing.prompt.stop()


LOST = "no connection; connecting again >"
SESSION = Path(__file__).parent.parent / "vectors/session.truc"
AT_THE_TABLE = table(claim="server")


def standing(*happenings) -> tuple[Screen, list[Question]]:
    """Return a screen at a prompt, and what has been asked there."""
    posed: list[Question] = []
    screen, _ = screen_of(terminal=True)
    screen.pose = posed.append
    for happening in (started(), stands(cards="7e 3b 1o"), *happenings):
        screen.show(happening)
        screen.offer(None)
    return screen, posed


def test_question_has_a_key_for_each_option_and_completes_more() -> None:
    screen, posed = standing()
    screen.offer(turn("concede", "play 7e", "order low"))
    screen.offer(None)
    asked, then = posed[-2:]
    assert [key.typed for key in asked.keys] == ["1", "0"]
    assert asked.keys[0].label.startswith("play 7")
    assert {"play 7e", "order low", "chat ", "? rules"} <= set(asked.words)
    assert (then.at, then.keys) == (None, ())


def test_prompt_says_who_is_waited_for_until_there_is_news() -> None:
    screen, posed = standing(MatchWaits((1,), None), seen())
    assert [question.text for question in posed[-2:]] == ["waiting for east >", ""]
    assert "waiting" not in screen._console.file.getvalue()


def test_table_stands_while_others_think_and_no_longer_than_the_match() -> None:
    screen, posed = standing(MatchWaits((1,), None))
    assert all(asked.draw for asked in posed)
    screen.offer(turn("play 3b"))
    titles = [next(iter(asked.draw(80, 24))).plain for asked in posed[-2:]]
    assert [title.split(" ─")[0] for title in titles] == ["── truc-catalan", "── your turn"]
    screen.show(MatchEnded(verify_file(SESSION), SESSION))
    screen.offer(None)
    assert posed[-1].draw is None


def marked(asked: Question) -> list[str]:
    """Return who decides, as the table marks them."""
    found = " ".join(line.plain for line in asked.draw(80, 24)).split("▸ ")[1:]
    return [name.split()[0] for name in found]


def test_those_are_marked_whom_the_server_says_it_waits_for() -> None:
    screen, posed = standing(MatchWaits((1,), None), MatchWaits((), None))
    screen.show(turn("play 3b"))
    screen.offer(turn("play 3b"))
    assert [marked(asked) for asked in posed[-3:]] == [["east"], [], ["north"]]


def test_table_that_stands_is_not_drawn_above_itself_when_it_is_asked_about() -> None:
    screen, _ = standing()
    screen.explain_one("table", None, {})
    assert "every player has a key" in (told := screen._console.file.getvalue())
    assert "score" not in told


@each_row(
    "state, asks, texts",
    [
        ("playing", False, [LOST, LOST]),
        ("over", False, [LOST, "waiting for east >"]),
        ("over", True, [LOST, "Another match at this table? [Y/n]"]),
    ],
)
def test_prompt_says_that_the_connection_is_lost_then_asks_again(state, asks, texts) -> None:
    screen, posed = standing(MatchWaits((1,), None))
    if asks:
        screen.ask("another")
    screen.show(Interrupted("the connection was lost"))
    lost = posed[-1]
    screen.show(TableChanged(replace(AT_THE_TABLE, state=state)))
    assert [lost.text, posed[-1].text] == texts
    screen.show(Resumed(3))
    assert "no connection" not in posed[-1].text


def test_connection_that_is_lost_again_and_again_is_told_once_until_something_comes_of_it() -> None:
    screen, out = screen_of()
    for happening in (Interrupted("lost"), Interrupted("moved"), Resumed(3), Interrupted("lost once more")):
        screen.show(happening)
    told = [line for line in out.getvalue().splitlines() if "connecting again" in line]
    assert [line.partition(";")[0] for line in told] == ["lost", "lost once more"]


def test_question_after_a_match_is_said_again_where_there_is_no_prompt() -> None:
    screen, out = screen_of()
    screen.ask("another")
    for happening in (Interrupted("lost"), TableChanged(replace(AT_THE_TABLE, state="over"))):
        screen.show(happening)
    asked = "connected; nothing is missing\nAnother match at this table? [Y/n]\n"
    assert out.getvalue().endswith(f"\n{asked}")


@each_row("columns, rows", [(80, 24), (100, 32), (120, 40), (40, 10)])
def test_table_leaves_room_for_what_is_told_and_asked_and_shows_one_s_cards_at_every_size(columns, rows):
    _, posed = standing(MatchWaits((1,), None))
    lines = [line.plain for line in posed[-1].draw(columns, rows)]
    assert len(lines) <= rows - rows // 4 - 2
    assert max(map(get_cwidth, lines)) <= columns
    assert all(any(part in line for line in lines) for part in ("7", "†", "◉", "stake", "east"))


def test_keys_are_folded_into_the_width() -> None:
    keys = tuple(OptionKey(str(n), "play 10c", "play 10c") for n in range(1, 5))
    assert [len(line) for line in folded(keys, 30, 12)] == [2, 2]
    assert [len(line) for line in folded(keys, 1, 12)] == [1, 1, 1, 1]


def test_label_longer_than_a_line_goes_on_in_the_next_or_is_cut_where_there_is_none() -> None:
    end = OptionKey("2", "end", "b")
    head, rest = OptionKey("1", "play 10c", "a"), OptionKey(" ", "and ask", "a")
    assert folded((OptionKey("1", "play 10c and ask", "a"), end), 16, 12) == [[head], [rest], [end]]
    assert folded((OptionKey("1", "play 10c", ""),), 11, 1) == [[OptionKey("1", "play …", "")]]


def test_lines_printed_are_kept_until_they_can_be_shown() -> None:
    shown, woken = io.StringIO(), []
    above = LinesAbove(shown, lambda: woken.append(shown.getvalue()))
    above.write("one\ntw")
    above.release()
    assert (shown.getvalue(), woken) == ("one\n", [""])
    above.write("o")
    above.close()
    assert shown.getvalue() == "one\ntwo"


def test_screenful_reaches_the_terminal_at_once() -> None:
    written: list[str] = []
    terminal = io.StringIO()
    terminal.write = lambda text: written.append(text) or len(text)
    writer = TerminalWriter(terminal)
    with writer.whole():
        writer.write("erased")
        writer.flush()
        LinesAbove(writer, str).close()
        writer.write("drawn")
        assert written == []
    writer.write("more")
    assert written == ["eraseddrawn", "more"]


@each_row(
    "typed, lang, line",
    [
        ("'hi there", "en", "chat hi there"),
        ("! come", "es", "say come"),
        ("*three", "en", "sign three"),
        ("1", "fr", "1"),
        ("Seña un tres", "es", "sign un tres"),
        ("sena un tres", "es", "sign un tres"),
        ("rendir-se", "ca", "resign"),
        ("reprendre", "fr", "resume"),
        ("REGRAS", "pt", "rules"),
        ("pause", "ca", "pause"),
        ("reclamar que Ana", "es", "reclamar que Ana"),
    ],
)
def test_command_is_a_mark_or_a_word_of_ones_language_or_english(typed, lang, line) -> None:
    assert spelled(typed, Speech(lang)) == line


def test_every_line_printed_while_somebody_types_stands_above_once_and_whole(monkeypatch) -> None:
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    screen = pyte.HistoryScreen(80, 24, history=5000)
    stream = pyte.ByteStream(screen)
    taken = threading.Thread(target=_feed, args=(master, stream), daemon=True)
    taken.start()
    with (
        os.fdopen(slave, "r+b", buffering=0) as file,
        io.TextIOWrapper(file, "utf-8", write_through=True) as terminal,
    ):
        monkeypatch.setattr(sys, "stdout", terminal)
        output = Vt100_Output.from_pty(terminal, term="xterm")
        output.enable_cpr = False
        typing = Typing(lambda text: os.write(master, text.encode()), Vt100Input(terminal), output)
        for n in range(300):
            typing.prompt.above.write(f"event {n}\n")
            if n % 50 == 0:
                typing.type("1\r")
                typing.next()
        typing.end()
        typing.prompt.above.close()
        assert termios.tcgetattr(terminal.fileno()) == before
        terminal.write("end\n")
        terminal.flush()
        monkeypatch.undo()
        taken.join(10)
    os.close(master)
    lines = [_text(row) for row in screen.history.top] + screen.display
    told = [line.rstrip() for line in lines]
    assert [line for line in told if line.startswith("event")] == [f"event {n}" for n in range(300)]
    assert set(told) <= {*(f"event {n}" for n in range(300)), "> 1", ">", "end", ""}


def _feed(master: int, stream: pyte.ByteStream) -> None:
    seen = b""
    while b"end\r\n" not in seen:
        received = os.read(master, 65536)
        seen = seen[-10:] + received
        stream.feed(received)


def _text(row) -> str:
    return "".join(row[column].data for column in range(80))
