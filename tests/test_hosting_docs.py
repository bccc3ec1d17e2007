"""The pages for hosts: every command line on them is one of the server's, and the way to a public server is walked.

What needs root or systemd is not run: of that the files it names are looked at. Every other line of the first page is run, in its order.
"""

import ast
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest
from rows import each_row

import truc_server
from truc_protocol.errors import Code
from truc_server.main import main as host
from truc_terminal.main import main as player

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "hosting"
PAGES = sorted(FOLDER.glob("*.md"))
INDEX = (FOLDER / "README.md").read_text("utf-8")
TROUBLE = (FOLDER / "trouble.md").read_text("utf-8")
SOURCE = sorted(Path(truc_server.__file__).parent.rglob("*.py"))
PROGRAMS = {"truc-server": host, "truc": player}
MODULES = {"truc-server": "truc_server", "truc": "truc_terminal"}
SYSTEM = {"apt", "git", "install", "journalctl", "systemctl", "ufw", "useradd"}
INSTALLED = (
    "python3 -m venv /opt/truc",
    '/opt/truc/bin/pip install ".[server]"',
    "/opt/truc/bin/pip wheel -q --no-deps -w . .",
)
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`((?:truc|truc-server) [^`]*)`")
PATIENCE_S = 120


def lines_of(page: str) -> list[str]:
    """Return the command lines of a page's blocks, comments and continued lines as a shell has them."""
    text = "".join(BLOCK.findall(page)).replace("\\\n", " ")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def commands_of(page: str) -> list[str]:
    """Return the command lines of a page, those within its sentences too, of the server's and the players' programs."""
    blocks = [line for line in lines_of(page) if line.split()[0] in PROGRAMS]
    return blocks + [span for span in SPAN.findall(page) if ":" not in span.split()[0]]


def problem(line: str) -> str | None:
    """Say what is wrong with a command line: which command or flag there is not."""
    program, *words = shlex.split(re.split(r"\s[|>&]", line)[0])
    found: click.Command = PROGRAMS[program]
    while words and isinstance(found, click.Group) and not words[0].startswith("-"):
        word = words.pop(0)
        if word not in found.commands:
            return f"{line}: no command {word}"
        found = found.commands[word]
    known = {flag for parameter in found.params for flag in (*parameter.opts, *parameter.secondary_opts)}
    flags = {word.split("=")[0] for word in words if word.startswith("-") and word != "-"}
    unknown = flags - known - {"-h", "--help"}
    return f"{line}: no flag {', '.join(sorted(unknown))}" if unknown else None


def leaves(group: click.Group, words: tuple[str, ...]) -> Iterator[str]:
    """Find every command that does something, by its words."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from leaves(command, (*words, name))
        else:
            yield " ".join((*words, name))


@each_row("page", PAGES)
def test_every_command_line_is_one_of_the_programs(page):
    text = page.read_text("utf-8")
    assert [found for line in commands_of(text) if (found := problem(line))] == []


def test_every_command_of_the_server_is_on_a_page():
    text = "\n".join(page.read_text("utf-8") for page in PAGES)
    missing = [words for words in leaves(host, ("truc-server",)) if words not in text]
    assert [words for words in missing if not is_in_line(words)] == []


@each_row("line", lambda: (line for page in PAGES for line in lines_of(page.read_text("utf-8"))))
def test_file_of_the_source_that_a_line_names_is_there(line):
    named = re.findall(r"(?<![\w/.])server/service/[\w.-]+", line)
    assert [name for name in named if not (ROOT / name).exists()] == []


def is_in_line(words: str) -> bool:
    """Tell whether the line of a group in the index names a command of it."""
    program, group, *names = words.split()
    row = next((line for line in INDEX.splitlines() if line.startswith(f"* `{program} {group}`:")), "")
    return all(re.search(rf"`{name}\b", row) for name in names)


def test_every_page_is_in_the_list():
    listed = INDEX.split("## The pages")[1]
    linked = set(re.findall(r"^\* \[\w+\]\((\w+\.md)\):", listed, re.MULTILINE))
    assert linked == {page.name for page in PAGES} - {"README.md"}


def listed(title: str) -> list[str]:
    """Return what each line of the list is about that stands in trouble.md under a title."""
    part = TROUBLE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    return re.findall(r"^\* ((?:`[^`]*`|[^`:])*):", part, re.MULTILINE)


def warnings(tree: ast.AST) -> Iterator[str]:
    """Find the events that a module logs as warnings or errors, by itself or through what it is handed."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr=level), args=[ast.Constant(value=str(event)), *_]):
                pass
            case ast.Call(args=[ast.Attribute(attr=level), ast.Constant(value=str(event)), *_]):
                pass
            case _:
                continue
        if event.isidentifier() and level in {"warning", "error", "exception", "critical"}:
            yield event


def texts(tree: ast.AST) -> Iterator[str]:
    """Find the texts of a module, with dots where something is filled in."""
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)):
                yield text
            case ast.JoinedStr(values=parts):
                yield "".join(part.value if isinstance(part, ast.Constant) else "..." for part in parts)


@cache
def trees() -> list[ast.AST]:
    return [ast.parse(path.read_text("utf-8")) for path in SOURCE]


@cache
def said() -> list[str]:
    """Return every text of the server."""
    return [text for tree in trees() for text in texts(tree)]


def test_every_warning_of_the_server_has_a_line_and_no_other():
    rows = [cell.strip("`") for cell in listed("Lines of the log")]
    assert rows == sorted({event for tree in trees() for event in warnings(tree)})


@each_row("cell", listed("It does not start"))
def test_line_of_a_start_that_fails_is_one_of_the_servers(cell):
    line = re.sub(r"[;,.] \.\.\.$", "", cell.strip("`"))
    assert any(line in text for text in said()), f"expected a text of the server with {line!r}"


def test_codes_that_players_report_are_codes():
    codes = re.findall(r"`(\w+)`", "\n".join(listed("What players report")))
    assert len(codes) > 5
    assert set(codes) <= {str(code) for code in Code}


@pytest.fixture
def walked(tmp_path):
    """Prepare a machine for whoever walks the first page: folders, the port, and where the commands are."""
    data, backups = tmp_path / "data", tmp_path / "backups"
    for folder in (data, backups):
        folder.mkdir(mode=0o700)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TRUC_")}
    return {
        **clean,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path / "player"),
        "TRUC_DATA": str(data),
        "TRUC_LISTEN_HOSTS": "127.0.0.1",
        "TRUC_LISTEN_PORT": str(port),
        "TRUC_TABLES_DRAIN_S": "0",
    }


def run(line: str, environment: dict[str, str]) -> str:
    """Run a command line as the reader of the page does; return what it printed. A shell runs what asks for one."""
    where = Path(environment["HOME"])
    there = line.replace("/var/backups/truc", str(where / "backups"))
    program, *words = shlex.split(there)
    plainly = [sys.executable, "-m", MODULES[program], *words]
    ran = subprocess.run(
        ["/bin/sh", "-c", there] if {">", "|", "&"} & {*there} else plainly,
        env=environment,
        cwd=where,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ran.returncode == 0, f"{line}: {ran.stdout}{ran.stderr}"
    return ran.stdout


def start(environment: dict[str, str]) -> subprocess.Popen[str]:
    """Start the server as its unit does, and wait until it listens."""
    unit = (ROOT / "server" / "service" / "truc.service").read_text()
    (line,) = re.findall(r"^ExecStart=\S*/(truc-server .*)$", unit, re.MULTILINE)
    server = subprocess.Popen(
        ["/bin/sh", "-c", f"exec {line}"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert server.stdout is not None
    assert server.stdout.readline().startswith("listening trucs://truc.example.org:")
    return server


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("truc-server", path=str(Path(sys.executable).parent)) is None,
    reason="needs the programs installed",
)
def test_way_from_nothing_to_a_public_server_is_walked(walked):
    way = INDEX.split("## From nothing to a public server")[1].split("\n## ")[0]
    printed, server = {}, None
    try:
        for line in lines_of(way):
            if line.split()[0] in PROGRAMS:
                printed[line] = run(line, walked)
            elif line.startswith("systemctl enable"):
                server = start(walked)
            else:
                assert line.split()[0] in SYSTEM or line in INSTALLED, f"expected a known command: {line}"
        address = printed["truc-server invite"].strip()
        local = address.replace("truc.example.org", "127.0.0.1")
        assert re.fullmatch(rf"trucs://127\.0\.0\.1:{walked['TRUC_LISTEN_PORT']}#[A-Z2-7]{{26}}", local)
        run(f"truc tables '{local}'", walked)
        assert "wrong" not in printed["truc-server check"]
        assert (Path(walked["HOME"]) / "revocation.txt").stat().st_size > 0
        assert (Path(walked["HOME"]) / "backups" / "first" / "truc.db").stat().st_size > 0
    finally:
        if server is not None:
            server.send_signal(signal.SIGTERM)
            assert server.wait(PATIENCE_S) == 0
            server.stdout.close()
