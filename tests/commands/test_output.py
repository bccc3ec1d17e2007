"""What a program prints of its own accord, where it cannot be written: one line, and its status for that, never a traceback."""

import os
import subprocess
import sys

import pytest
from rows import each_row

SAID = {
    "truc_terminal": (1, "truc: cannot go on: No space left on device\n"),
    "truc_server": (1, "truc-server: No space left on device\n"),
    "truc_conform": (2, "Error: No space left on device\n"),
}
PRINTED = ("--help", "completion bash")
COMMANDS = [(program, words) for program in SAID for words in PRINTED]


def printed(program: str, words: str, stdout: int) -> tuple[int, str]:
    command = [sys.executable, "-m", program, *words.split()]
    ran = subprocess.run(
        command,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | {"LC_ALL": "C"},
    )
    return ran.returncode, ran.stderr


@pytest.mark.parametrize(("program", "words"), COMMANDS)
def test_output_that_cannot_be_written_is_one_line(program, words, full) -> None:
    assert printed(program, words, full) == SAID[program]


@each_row("program, words", COMMANDS)
def test_reader_that_has_gone_is_told_nothing(program, words) -> None:
    read, written = os.pipe()
    os.close(read)
    try:
        status, _ = SAID[program]
        assert printed(program, words, written) == (status, "")
    finally:
        os.close(written)


def test_text_in_another_encoding_is_one_line(tmp_path) -> None:
    command = [sys.executable, "-m", "truc_terminal", "demo", "--name", b"Pe\xf1a"]
    environment = os.environ | {"LC_ALL": "C.UTF-8", "TRUC_HOME": str(tmp_path)}
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)
    assert (ran.returncode, ran.stderr) == (1, "truc: cannot go on: expected UTF-8, got '\\udcf1'\n")


def test_help_of_a_command_with_a_verdict_that_cannot_be_written_is_none(full) -> None:
    told = printed("truc_terminal", "verify --help", full)
    assert told == (2, "truc: cannot write what was found: No space left on device\n")
