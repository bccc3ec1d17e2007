"""The clients of docs/clients before the conformance kit: the guests at level C2, the one with a key at C4."""

import json
import subprocess
import sys

import pytest
from clients_elsewhere.programs import GUEST_JS, GUEST_PY, KEYED_JS, keyed, needs_jdk, needs_node

from truc_protocol.audit import verify

NEEDS_RULES = {"C3.cheat-score", "C3.cheat-options-forbidden"}
"""What a client that plays no rules cannot see."""


KIT = (sys.executable, "-c", "from truc_conform.main import main; main()", "client")


def not_passed(report, level, case, *command) -> set[str]:
    """Judge a client; returns the cases that it does not pass."""
    how = ("--level", level, "--case", case, "--jobs", "2", "--json", str(report))
    subprocess.run([*KIT, *how, "--", *command], capture_output=True, timeout=300, check=False)
    results = json.loads(report.read_text())["results"]
    assert len(results) > 10
    return {result["case"] for result in results if result["verdict"] not in ("PASS", "INFO")}


@pytest.mark.slow
@pytest.mark.parametrize(
    "guest", [pytest.param(GUEST_JS, marks=needs_node, id="javascript"), pytest.param(GUEST_PY, id="python")]
)
def test_guest_is_a_client_of_level_c2(tmp_path, guest) -> None:
    assert not_passed(tmp_path / "report.json", "C2", "*", *guest, "{url}") == set()


KEPT = ("--keep", "{home}/keep.json", "--out", "{home}/match.truc")


@pytest.mark.slow
@needs_node
def test_keyed_client_notices_every_cheat(tmp_path) -> None:
    kept = (*KEPT, "--revocation", "{revocation}")
    assert not_passed(tmp_path / "report.json", "C4", "C[34].*", *KEYED_JS, "{url}", *kept) == set()


@pytest.mark.slow
@needs_jdk
@pytest.mark.parametrize("level", ["C3", "C4"])
def test_client_by_the_page_alone_is_one_of_level_c4(tmp_path, level, keyed_java) -> None:
    """When a share is due the page does not say: only the rules do."""
    command = (*keyed_java, "{url}", *KEPT, "--revocation", "{revocation}")
    failed = not_passed(tmp_path / "report.json", level, f"{level}.*", *command)
    assert failed <= NEEDS_RULES | {"C4.cheat-unshared"}


def cheated(folder, cheat):
    """Let the keyed client meet a cheat; returns the transcript that it writes."""
    command = [*KIT, "--case", f"C3.cheat-{cheat}", "--", *KEYED_JS, "{url}", *keyed(folder)[2:]]
    subprocess.run(command, capture_output=True, timeout=60, check=True)
    return folder / "match.truc"


@pytest.mark.slow
@needs_node
def test_transcript_of_a_keyed_client_that_has_stopped_convicts_the_server(tmp_path) -> None:
    told = verify(cheated(tmp_path, "shuffle").read_bytes())
    assert (str(told.result), told.refutation.check, told.refutation.culprit) == ("refuted", "C25", "server")


@pytest.mark.slow
@needs_node
def test_keyed_client_stores_that_it_has_stopped_and_why(tmp_path) -> None:
    cheated(tmp_path, "shuffle")
    kept = json.loads((tmp_path / "keep.json").read_text())
    assert [table["stopped"] for table in kept["tables"].values()] == ["C25 fails, to blame: server"]
