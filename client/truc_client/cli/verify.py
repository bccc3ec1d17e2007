"""`truc verify`: the verdict on transcript files."""

import json
from pathlib import Path

import click

from truc_client.verifying import EXIT_CODES, verdict_facts, verdict_lines, verify_file
from truc_protocol.audit import Verdict

_SEVERITY = (1, 2, 3)


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each file.")
def verify(files: tuple[Path, ...], as_json: bool) -> None:
    """Check transcript FILES, every record of them.

    Exit status: 0 proven, 1 refuted, 2 unreadable, 3 incomplete.
    """
    codes = []
    for file in files:
        verdict = verify_file(file)
        click.echo(_as_json(file, verdict) if as_json else _as_text(file, verdict))
        codes.append(EXIT_CODES[verdict.result])
    raise click.exceptions.Exit(next((code for code in _SEVERITY if code in codes), 0))


def _as_text(file: Path, verdict: Verdict) -> str:
    first, *rest = verdict_lines(verdict)
    return "\n".join((f"{file}: {first}", *(f"  {line}" for line in rest)))


def _as_json(file: Path, verdict: Verdict) -> str:
    return json.dumps({"file": str(file), **verdict_facts(verdict)})
