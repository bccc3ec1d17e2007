"""Every command refuses a file without an end, and reads no more of it than such a file may have."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from truc_protocol.transcript import MAX_FILE, file_name
from truc_rules.variants.house import MAX_FILE as MAX_VARIANT

ENDLESS = Path("/dev/zero")
LITTLE_MEMORY = 1 << 30
MID = bytes(16)
TEXT = 1 << 20
SETTINGS = "data = '{0}/data'\nlisten.tls = true\nlisten.certificate = '{0}/cert.pem'\n"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="bounds the memory of another process"),
]


def ended(*command: str, home: Path) -> tuple[int, str]:
    """Run a command in little memory; return its status and what it says."""
    with subprocess.Popen(
        [sys.executable, "-m", *command],
        env={**os.environ, "TRUC_HOME": str(home), "LC_ALL": "C.UTF-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        resource.prlimit(process.pid, resource.RLIMIT_AS, (LITTLE_MEMORY, LITTLE_MEMORY))
        try:
            said, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    return process.returncode, said


@pytest.mark.parametrize(
    ("linked", "command", "status", "said"),
    [
        ("own.toml", "truc_terminal rules own.toml", 1, f"expected at most {MAX_VARIANT} bytes"),
        ("match.truc", "truc_terminal rules match.truc", 1, f"expected at most {MAX_FILE} bytes"),
        ("key.txt", "truc_terminal keys import key.txt", 1, "64 hex digits"),
        ("home/master.seed", "truc_terminal keys export", 1, "expected 32 bytes"),
        (f"home/transcripts/{file_name(MID)}", "truc_terminal show 0000", 2, f"at most {MAX_FILE} bytes"),
        ("truc.toml", "truc_server check --settings truc.toml", 2, f"expected at most {TEXT} bytes"),
        ("fair.scenario", "truc_rules.scenario fair.scenario", 1, f"more than {TEXT} bytes"),
        ("cert.pem", "truc_server run --settings tls.toml", 1, f"expected at most {TEXT} bytes"),
        ("data/restored.json", "truc_server run --settings plain.toml", 1, "restored.json: expected what"),
        ("data/revoked/a.txt", "truc_server run --settings tls.toml", 1, "expected a revocation"),
    ],
)
def test_file_without_an_end_is_refused(tmp_path, monkeypatch, *, linked, command, status, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / linked).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / linked).symlink_to(ENDLESS)
    (tmp_path / "plain.toml").write_text(f"data = '{tmp_path}/data'\nlisten.port = 0\n")
    (tmp_path / "tls.toml").write_text(SETTINGS.format(tmp_path))
    found, line = ended(*command.split(), home=tmp_path / "home")
    assert (found, "Traceback" in line, said in line) == (status, False, True), line
