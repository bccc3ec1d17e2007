"""`truc verify` of many files: in parts, in several processes, with a bar; what comes of it is that of all together."""

import os
import re
import signal
import sys
from multiprocessing import active_children

import pytest
from client.running import truc
from client.terminals import CTRL_C, Terminal, leave
from protocol.forge import small
from protocol.peers import Table

from truc_client import verifying
from truc_client.verifying import examine_files
from truc_protocol.audit import examine
from truc_protocol.audit.cross_audit import examine_part
from truc_protocol.evidence_file import Complaint, read_refusal, write_evidence
from truc_protocol.transcript import write_transcript
from truc_terminal.commands import verify

PIPE_HOLDS = 65_536  # bytes, before whoever writes has to wait for a reader


def contents() -> list[bytes]:
    """Evidence of two matches, two histories of the first and copies of the other, others, and what is no transcript."""
    first, second = Table().to("hand"), Table(small(), seed=2).run()
    refusal = read_refusal(first.dealer.refuse(first.setup.mid, first.records[-1].body, "x"))
    complaint = Complaint(second.setup.mid, 9, 0, second.players[0].x.secret)
    ruling, abandon = first.dealer.move(first.ledger), first.dealer.abandon(first.ledger, "server")
    return [
        Table(small(), seed=3).run().file(),
        write_evidence((refusal, complaint)),
        write_transcript(first.document, (*first.records, abandon)),
        second.file(),
        b"nothing",
        write_transcript(second.document, second.records[:20]),
        write_transcript(first.document, (*first.records, ruling)),
        Table(small(), seed=4, guests=(1,)).run().file(),
        Table(small(), seed=4).run().file(),
    ]


@pytest.fixture
def paths(tmp_path):
    files = [tmp_path / f"{n}.truc" for n in range(len(contents()))]
    for path, content in zip(files, contents(), strict=True):
        path.write_bytes(content)
    return files


@pytest.mark.parametrize("processes", [1, 2])
def test_files_come_to_what_all_of_them_come_to_together(paths, monkeypatch, processes) -> None:
    monkeypatch.setattr(verifying, "_MIN_PARALLEL_BYTES", 0)
    together = examine(contents())
    assert examine_files(paths, processes=processes) == together
    assert {each.found.check for each in together.contradictions} == {"C33", "C36"}
    assert len(together.agreements) == 2
    assert active_children() == []


def test_no_more_than_what_is_tied_to_each_other_is_held_at_once(paths, monkeypatch) -> None:
    held = []
    monkeypatch.setattr(
        verifying,
        "examine_part",
        lambda files, *notes, threads: (held.append(len(files)), examine_part(files, *notes))[1],
    )
    examine_files(paths)
    assert sorted(held) == [1, 1, 2, 5]


def test_file_that_becomes_another_meanwhile_is_no_finding(paths, monkeypatch) -> None:
    read = verifying.read_beginning
    first, other = paths[0], paths[-1].read_bytes()
    monkeypatch.setattr(verifying, "read_beginning", lambda *what: (read(*what), first.write_bytes(other))[0])
    told = truc("verify", first)
    assert (told.exit_code, told.stdout) == (2, "")
    assert str(first) in told.stderr


def test_what_can_be_read_only_once_is_read_once(paths) -> None:
    pipes = []
    for path in (paths[3], paths[5]):
        read, written = os.pipe()
        pipes.append(read)
        with open(written, "wb") as pipe:
            assert pipe.write(path.read_bytes()) < PIPE_HOLDS
    told = truc("verify", *(f"/dev/fd/{pipe}" for pipe in pipes))
    for pipe in pipes:
        os.close(pipe)
    assert told.stdout.endswith("the last sound one of the shortest.\n"), told.stderr


def test_process_that_dies_is_no_finding(paths, monkeypatch) -> None:
    monkeypatch.setattr(verifying, "_MIN_PARALLEL_BYTES", 0)
    monkeypatch.setattr(verify, "cores", lambda: 2)
    monkeypatch.setattr(verifying, "_examine", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    told = truc("verify", *paths)
    assert (told.exit_code, told.stdout) == (2, "")
    assert "a process that was checking files has died" in told.stderr
    assert active_children() == []


def test_bar_is_for_a_terminal_alone(paths, monkeypatch) -> None:
    monkeypatch.setattr(verify, "_AFTER_S", 0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert truc("verify", *paths).stderr == ""


BEGUN = re.compile(rb"<(\d+)>")
INTERRUPTED = """
import os, signal, sys
from truc_client import verifying
from truc_terminal.commands import verify
from truc_terminal.main import main

def examine(_threads, _sources, heard):
    heard(40)
    print(f"<{os.getpid()}>", flush=True)
    signal.pause()

verify._AFTER_S, verifying._MIN_PARALLEL_BYTES, verifying._examine, verify.cores = 0, 0, examine, lambda: 2
main(["verify", *sys.argv[1:]])
"""


ANOTHER_THREAD_IS_GIVEN_IT = """
import signal, threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
"""


@pytest.mark.parametrize("before", ["", ANOTHER_THREAD_IS_GIVEN_IT])
def test_interrupted_in_the_middle_no_process_and_no_verdict_remains(paths, tmp_path, before) -> None:
    terminal = Terminal(tmp_path, *map(str, paths), program=(sys.executable, "-c", before + INTERRUPTED))
    terminal.wait_until(lambda: len(BEGUN.findall(terminal.seen)) == 2 and b"kB" in terminal.seen)
    leave(terminal, CTRL_C)
    assert b"proven" not in terminal.seen
    for process in BEGUN.findall(terminal.seen):
        with pytest.raises(ProcessLookupError):
            os.kill(int(process), 0)
