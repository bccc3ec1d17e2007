import ast
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
