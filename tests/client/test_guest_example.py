import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

GUEST = Path(__file__).parents[2] / "docs" / "clients" / "guest.py"
LONGEST = 60


def test_guest_client_has_at_most_60_lines() -> None:
    assert len(GUEST.read_text().splitlines()) <= LONGEST


def test_guest_client_uses_sockets_and_msgpack_only() -> None:
    imported = {
        name.name
        for node in ast.walk(ast.parse(GUEST.read_text()))
        if isinstance(node, ast.Import)
        for name in node.names
    }
    assert imported == {"itertools", "msgpack", "os", "random", "socket", "sys"}


@pytest.mark.slow
def test_two_guest_clients_play_a_match(real_server) -> None:
    command = [sys.executable, str(GUEST), real_server.address.host, str(real_server.port)]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    first.stdout.readline()
    code = first.stdout.readline().split()[1]
    second = subprocess.run([*command, code], capture_output=True, text=True, timeout=30, check=True)
    told, _ = first.communicate(timeout=30)
    assert told.splitlines()[-1] == second.stdout.splitlines()[-1]
    assert told.splitlines()[-1].startswith("won by side")


@pytest.mark.slow
def test_guest_client_passes_by_a_table_that_admits_no_guest(real_server, tmp_path) -> None:
    bot = subprocess.Popen(
        [sys.executable, "-m", "truc_client", "bot", real_server.url, "--create", "truc-french"],
        env={**os.environ, "TRUC_HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    taken = bot.stdout.readline().split("/")[-1].split("#")[0]
    command = [sys.executable, str(GUEST), real_server.address.host, str(real_server.port)]
    guest = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    guest.stdout.readline()
    _, code, said = guest.stdout.readline().split()
    for process in (guest, bot):
        process.kill()
        process.communicate()
    assert (said, code == taken) == ("ok", False)
