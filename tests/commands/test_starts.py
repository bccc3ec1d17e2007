"""What a program imports before it knows what it is to do: counted, as a clock would judge the machine."""

import os
import subprocess
import sys

import pytest
from rows import each_row

from truc_conform.main import main as conform
from truc_server.main import main as server
from truc_terminal.main import main as truc

PROGRAMS = {"truc": truc, "truc-server": server, "truc-conform": conform}
MODULES = {"truc": "truc_terminal", "truc-server": "truc_server", "truc-conform": "truc_conform"}
SLOW = "trio cryptography prompt_toolkit rich jinja2 msgpack sqlalchemy structlog alembic openskill h11"
OWN = "truc_client truc_server.server truc_protocol truc_rules truc_bots"
CALL = """
import sys
from {module}.main import main
try:
    main({words}, prog_name={program!r})
except SystemExit as end:
    assert not end.code
print(*sorted({{*{unwanted}}} & {{*sys.modules}}), file=sys.stderr)
"""


def imported(program: str, words: list[str], unwanted: str, **environment: str) -> tuple[str, str]:
    """Return what a call prints, and which of the modules that it should not need it has imported."""
    code = CALL.format(
        module=MODULES[program], words=words, program=program, unwanted=(unwanted + " " + OWN).split()
    )
    told = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return told.stdout, told.stderr.strip()


@pytest.mark.slow
@pytest.mark.parametrize("words", [["--version"], ["--help"], ["completion", "bash"]], ids=" ".join)
@pytest.mark.parametrize("program", PROGRAMS)
def test_what_needs_no_command_imports_none(program, words) -> None:
    printed, slow = imported(program, words, SLOW)
    assert (bool(printed), slow) == (True, "")


@pytest.mark.slow
@each_row("program", PROGRAMS)
def test_completing_the_name_of_a_command_imports_none(program) -> None:
    variable = f"_{program.replace('-', '_').upper()}_COMPLETE"
    printed, slow = imported(
        program, [], SLOW, **{variable: "bash_complete", "COMP_WORDS": program, "COMP_CWORD": "1"}
    )
    assert ("plain,completion" in printed, slow) == (True, "")
