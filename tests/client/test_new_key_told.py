"""What the commands say about a server's key that is new to them, on standard error."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from client.serving import RealServer

pytestmark = pytest.mark.slow


@pytest.fixture
def own_server(tmp_path: Path):
    server = RealServer(tmp_path / "server").start()
    yield server
    server.stop()


@pytest.fixture
def roll(own_server):
    """Return a way to give the server a new key; returns the fingerprints before and after."""

    def rolled() -> tuple[str, str]:
        before = own_server.address.fingerprint
        own_server.stop()
        command = [sys.executable, "-m", "truc_server", "roll", "--data", str(own_server.data)]
        subprocess.run(command, check=True, capture_output=True)
        return before, own_server.start().address.fingerprint

    return rolled


def truc(home: Path, *arguments: str) -> str:
    """Run a command to its end; returns what it says on standard error."""
    environment = {**os.environ, "TRUC_HOME": str(home)}
    command = [sys.executable, "-m", "truc_client", *arguments]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, input=""
    ).stderr


@pytest.mark.parametrize(
    "command",
    [("tables",), ("play", "--table", "NOPE1"), ("play", "--guest", "--table", "NOPE1"), ("bot", "--table", "NOPE1")],
)  # fmt: skip
def test_changed_key_is_told_with_both_fingerprints(own_server, roll, tmp_path, command) -> None:
    name, *options = command
    first = truc(tmp_path / "home", name, own_server.url, *options)
    before, after = roll()
    assert f"{own_server.url}: first contact; its key {before} is remembered\n" in first
    told = truc(tmp_path / "home", name, own_server.url, *options)
    assert (
        f"{own_server.url} has a new key, signed by the one before: {before} -> {after}; it is remembered\n"
        in told
    )


def test_known_key_is_not_told(own_server, tmp_path) -> None:
    truc(tmp_path / "home", "tables", own_server.url)
    assert own_server.address.fingerprint not in truc(tmp_path / "home", "tables", own_server.url)
