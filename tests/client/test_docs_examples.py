import ast
import re
import shlex
import sys
from pathlib import Path

import click
import pytest
from chaos.servers import free_port
from client.running import Process
from client.serving import RealServer
from rows import each_row

import truc_client
from truc_protocol.audit import examine
from truc_terminal.commands.verify import verify
from truc_terminal.main import main

DOCS = Path(__file__).parents[2] / "docs"
CLIENTS = DOCS / "clients"
BOT = CLIENTS / "bot.py"
PAGES = ("playing.md", "clients/README.md")


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)


def command_lines() -> list[str]:
    lines = [line for page in PAGES for block in blocks(page, "sh") for line in block.splitlines()]
    return [line for line in lines if line.startswith("truc ")]


@each_row("line", command_lines())
def test_command_line_of_the_docs_is_understood(line) -> None:
    command, arguments = main, shlex.split(line)[1:]
    while isinstance(command, click.Group):
        command, arguments = command.commands[arguments[0]], arguments[1:]
    context = click.Context(command)
    _, left, _ = command.make_parser(context).parse_args(arguments)
    assert left == []


def test_every_command_is_in_the_docs() -> None:
    named = {line.split()[1] for line in command_lines()}
    assert named == set(main.commands)


def test_exit_statuses_of_the_docs_are_those_of_verify() -> None:
    rows = re.findall(r"^\| (\d) \| (\w+)", (DOCS / "playing.md").read_text(), re.MULTILINE)
    told = re.search(r"Exit status: (.*)\.", verify.help)[1]
    assert ", ".join(f"{status} {verdict}" for status, verdict in rows) == told


def test_every_happening_and_error_of_the_docs_is_exported() -> None:

    page = (DOCS / "clients" / "README.md").read_text()
    named = {
        name
        for row in re.findall(r"^\* (`[A-Z].*?`)(?: itself)?: ", page, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    }
    assert named <= set(truc_client.__all__)


def test_bot_of_the_page_is_the_one_that_is_run_and_has_ten_lines() -> None:
    (example,) = blocks("clients/README.md", "python")
    assert code_of(BOT.read_text()) == code_of(example)
    assert len(code_of(example)) == 10


def code_of(source: str) -> list[str]:
    """Return the lines of a program without its docstring and what is empty."""
    tree = ast.parse(source)
    begin = tree.body[0].end_lineno if ast.get_docstring(tree) else 0
    return [line for line in source.splitlines()[begin:] if line.strip()]


class Program(Process):
    """An example that runs, with a home of its own."""

    def __init__(self, name: str, *arguments: object) -> None:
        super().__init__(CLIENTS, *arguments, program=(sys.executable, "-u", str(CLIENTS / name)))

    def wait(self) -> str:
        """Return all that it prints, once it has ended well."""
        told, complaint, status = self.finish()
        assert status == 0, complaint
        return told

    def until(self, start: str) -> str:
        """Return the next line that starts like this."""
        return next(line for line in self.process.stdout if line.startswith(start)).strip()


@pytest.fixture(scope="module")
def watched_server(tmp_path_factory):
    """Return a server of one's own, where every table may be watched."""
    with RealServer(tmp_path_factory.mktemp("server"), {"TRUC_MATCH_SPECTATORS": "live"}) as server:
        yield server


@pytest.mark.slow
def test_bench_for_client_authors_works_word_by_word(tmp_path) -> None:
    """Run the three commands of the page, each with the guest of the page where it says ./myclient."""
    port, home = str(free_port()), tmp_path / "home"
    guest = (sys.executable, str(CLIENTS / "guest.py"))
    given = {"/tmp/bench": str(tmp_path / "bench"), "localhost": f"localhost:{port}"}
    block = next(block for block in blocks("clients/README.md", "sh") if "--grease" in block)
    run, bot, judge = ([given.get(word, word) for word in shlex.split(line)] for line in block.splitlines())
    with Process(home, *run[1:], program=beside(run), TRUC_LISTEN_PORT=port) as server:
        assert server.line().startswith("listening")
        with Process(home, *bot[1:], program=beside(bot)) as playing:
            link = playing.line().split()[1]
            with Process(home, link, program=guest) as client:
                assert client.finish()[2] == 0
            told, complaint, _ = playing.finish()
            assert told.startswith("proven"), complaint
    at = judge.index("./myclient")
    words = ("--case", "C2.plays", *judge[2:at], *guest, *judge[at + 1 :])
    with Process(home, judge[1], *words, program=beside(judge)) as kit:
        assert re.search(r"^1 of \d+ cases of C2: passed \(1 PASS\)$", kit.finish()[0], re.MULTILINE)


def beside(words: list[str]) -> tuple[str, ...]:
    """Return the program of a command line, as this Python runs it."""
    return (sys.executable, "-m", {"truc": "truc_terminal"}.get(words[0], words[0].replace("-", "_")))


@pytest.mark.slow
def test_player_and_spectator_of_the_docs_see_the_same_match(watched_server, tmp_path) -> None:
    player = Program("player.py", watched_server.url, tmp_path / "player")
    player.process.stdin.write("0\n" * 500)
    player.process.stdin.flush()
    code = player.until("table").split()[1]
    spectator = Program("spectator.py", watched_server.url, tmp_path / "spectator", code)
    spectator.until("watching")  # else the match may be over, and the table gone, before
    bot = Program("bot.py", watched_server.url, tmp_path / "bot")
    bot.wait()
    shown = [program.wait().splitlines()[-1].split() for program in (player, spectator)]
    assert [line[0] for line in shown] == ["proven", "proven"]
    agreed = examine([Path(line[-1]).read_bytes() for line in shown]).agreements[0]
    assert agreed.is_whole


@pytest.mark.slow
def test_spectator_of_the_docs_finds_a_match_in_the_lobby(watched_server, tmp_path) -> None:
    spectator = Program("spectator.py", watched_server.url, tmp_path / "spectator")
    bot, short = ("bot", watched_server.url), ("--option", "match=1", "--option", "target=3")
    with Process(tmp_path / "first", *bot, "--create", "truc-french", *short) as first:
        code = first.code()
        spectator.until(f"watching {code}")
        with Process(tmp_path / "second", *bot, "--table", code) as second:
            assert [each.finish()[0].splitlines()[-1][:6] for each in (first, second)] == ["proven"] * 2
    assert spectator.wait().splitlines()[-1].startswith("proven")


@pytest.mark.slow
def test_tournament_of_the_docs_proves_every_match(watched_server, tmp_path) -> None:
    *table, last = Program("tournament.py", watched_server.url, tmp_path, 2).wait().splitlines()
    assert last == "2 matches, every transcript proven"
    assert sum(int(line.split()[2]) for line in table) == 2
