"""Commands of `truc`, run in this process or as processes of their own, without a terminal."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

from click.testing import CliRunner, Result

from truc_terminal.main import main

TRUC = (sys.executable, "-m", "truc_terminal")


def truc(*words: object, **options) -> Result:
    """Run a command in this process, to its end."""
    return CliRunner().invoke(main, [str(word) for word in words], prog_name="truc", **options)


class Process:
    """A command that runs with a home of its own; left to the block, it is killed."""

    def __init__(self, home: Path, *words: object, program: tuple[str, ...] = TRUC, **more: str) -> None:
        self.process = subprocess.Popen(
            [*program, *map(str, words)],
            env={**os.environ, "TRUC_HOME": str(home), **more},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.kill()

    def line(self) -> str:
        """Return the next line that it prints."""
        return self.process.stdout.readline()

    def code(self) -> str:
        """Return the code of the table whose link the next line tells."""
        return self.line().split("/")[-1].split("#")[0].strip()

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()

    def end(self) -> tuple[str, str, int]:
        """End it as whoever has started it does; returns as `finish` does."""
        self.process.send_signal(signal.SIGTERM)
        return self.finish()

    def finish(self, typed: str = "") -> tuple[str, str, int]:
        """Type something, and return all that it prints then, what it complains of, and its status."""
        try:
            told, complaint = self.process.communicate(typed, timeout=60)
        except subprocess.TimeoutExpired:
            self.kill()  # left running, it would be a warning in another test
            raise
        return told, complaint, self.process.returncode


def run(home: Path, *words: object, typed: str = "", **more) -> subprocess.CompletedProcess[str]:
    """Run a command as a process with a home of its own, to its end; what is not an environment variable is for `run`."""
    variables = {name: more.pop(name) for name in list(more) if name.isupper()}
    taken = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    environment = {**os.environ, "TRUC_HOME": str(home), **variables}
    command = [*TRUC, *map(str, words)]
    return subprocess.run(command, env=environment, input=typed, text=True, timeout=60, check=False, **taken)
