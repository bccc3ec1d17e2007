"""What a host's commands print where nothing can be written."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("command", ["settings", "completion bash"])
def test_output_that_cannot_be_written_is_one_line_and_status_1(full, command) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "truc_server", *command.split()],
        stdout=full,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (1, "truc-server: No space left on device\n")
