"""What the commands say about a server's key that is new to them, on standard error."""

import subprocess
import sys

import pytest
from client.running import truc
from client.serving import RealServer
from rows import each_row

pytestmark = pytest.mark.slow

COMMANDS = (("tables",), ("bot", "--table", "NOPE1"))
"""One as the player of the home, as others are, and one with a home of its own."""


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Let each command meet a server from a home of its own, and again when the server has a new key; one of them between too.

    Returns:
        The server's address, its fingerprints, and of each command what it has said each time.
    """
    server = RealServer(tmp_path_factory.mktemp("server")).start()
    homes = {command: tmp_path_factory.mktemp("home") for command in COMMANDS}

    def complaint(command) -> str:
        environment = {"TRUC_HOME": str(homes[command]), "LC_ALL": "C.UTF-8"}
        return truc(command[0], server.url, *command[1:], env=environment).stderr

    said = {command: [complaint(command)] for command in COMMANDS}
    said["tables",].append(complaint(("tables",)))
    before = server.address.fingerprint
    server.stop()
    roll = [sys.executable, "-m", "truc_server", "key", "roll", "--data", str(server.data)]
    subprocess.run(roll, check=True, capture_output=True)
    after = server.start().address.fingerprint
    for command in COMMANDS:
        said[command].append(complaint(command))
    server.stop()
    return server.url, before, after, said


@each_row("command", COMMANDS)
def test_changed_key_is_told_with_both_fingerprints(told, command) -> None:
    url, before, after, said = told
    first, *_, last = said[command]
    assert f"{url}: first contact; its key {before} is remembered\n" in first
    assert f"{url} has a new key, signed by the one before: {before} -> {after}; it is remembered\n" in last


def test_known_key_is_not_told(told) -> None:
    _, before, _, said = told
    assert before not in said["tables",][1]
