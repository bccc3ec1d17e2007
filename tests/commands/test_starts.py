"""What a program imports before it knows what it is to do: counted, as a clock would judge the machine."""

import subprocess
import sys

import pytest
from rows import each_row

PROGRAMS = {"truc": "truc_terminal", "truc-server": "truc_server", "truc-conform": "truc_conform"}
SLOW = "trio cryptography prompt_toolkit rich jinja2 msgpack sqlalchemy structlog alembic openskill h11"
OWN = "truc_client truc_server.server truc_protocol truc_rules truc_bots"
CALLS = (["--version"], ["--help"], ["completion", "bash"], [])
"""What is called; the last is asked what may be completed."""
CALL = """
import os, sys
from {module}.main import main
for words in {calls}:
    if not words:
        os.environ |= {{{variable!r}: "bash_complete", "COMP_WORDS": {program!r}, "COMP_CWORD": "1"}}
    try:
        main(words, prog_name={program!r})
    except SystemExit as end:
        assert not end.code
    print({end!r})
print(*sorted({{*{unwanted}}} & {{*sys.modules}}), file=sys.stderr)
"""
END = "the end of a call"


@pytest.mark.slow
@each_row("program", PROGRAMS)
def test_what_needs_no_command_and_completing_the_name_of_one_import_none(program) -> None:
    code = CALL.format(
        module=PROGRAMS[program],
        calls=CALLS,
        variable=f"_{program.replace('-', '_').upper()}_COMPLETE",
        program=program,
        end=END,
        unwanted=f"{SLOW} {OWN}".split(),
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *shown, completed, _ = told.stdout.split(END)
    assert [bool(text.strip()) for text in shown] == [True] * 3
    assert ("plain,completion" in completed, told.stderr.strip()) == (True, "")
