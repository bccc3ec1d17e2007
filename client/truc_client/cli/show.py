"""`truc show`: a transcript record by record, in words, with every commitment opened."""

import json
import re
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console

from truc_client.cli.common import lang_option, language
from truc_client.cli.output import FindingCommand, Output, UnusableError, say
from truc_client.course.annotating import Annotated, Annotator, Commitment
from truc_client.course.retelling import commitment_lines, role_name, sentences
from truc_client.errors import HomeError
from truc_client.plain_values import refutation_facts
from truc_client.verifying import EXIT_CODES, read_file, refutation_line, shortened, trouble, verdict_lines
from truc_protocol.audit import Result
from truc_protocol.words import check_words, printable, shown_name

_WORD_START: Final = re.compile(r"(?<!^)(?=[A-Z])")


@click.command(cls=FindingCommand, short_help="Show a transcript record by record.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each record.")
@lang_option
def show(file: Path, as_json: bool, lang: str | None) -> None:
    """Show the transcript FILE record by record: who signed it, what it means, and what it opens.

    Every record is checked on the way; one that fails is the last that is shown.

    What players say and do is told in the language asked for, all else in English.

    Exit status: 0 shown, 2 not readable to its end, or not written.
    """
    try:
        annotator = Annotator(read_file(file))
    except (HomeError, OSError) as error:
        raise UnusableError(f"cannot read {file}: {trouble(error)}") from error
    console, spoken = Output(), language(lang)
    for each in annotator.records():
        if as_json:
            click.echo(json.dumps(_facts(each), default=_plain))
        else:
            _print(each, spoken, console)
    if annotator.unreadable is not None:
        click.echo(f"truc: {printable(shortened(str(annotator.unreadable)))}", err=True)
        raise click.exceptions.Exit(EXIT_CODES[Result.UNREADABLE])
    if not as_json:
        say(console, next(verdict_lines(annotator.verdict())), "bold")


def _print(each: Annotated, lang: str, console: Console) -> None:
    place = f"setup {each.place}" if each.is_setup else f"record {each.place}"
    say(console, f"{place}: {each.kind}, {_signature(each)}", "bold")
    for line in sentences(each, lang):
        say(console, f"  {line}")
    for commitment in each.commitments:
        for line in commitment_lines(commitment, each):
            say(console, f"    {line}", "dim")
    if each.refutation is not None:
        say(console, f"  FAILS: {refutation_line(each.refutation, each.names)}", "red")
        say(console, f"  {check_words(each.refutation.check)}", "red")


def _signature(each: Annotated) -> str:
    if each.refutation is not None:
        return f"in the name of {role_name(each, each.signer)}"
    if not each.is_signed:
        return "written down by the server for a guest, signed by nobody"
    return f"signed by {role_name(each, each.signer)}, the signature is valid"


def _facts(each: Annotated) -> dict[str, Any]:
    signature = "unchecked" if each.refutation else "valid" if each.is_signed else "none"
    return {
        "setup" if each.is_setup else "k": each.place,
        "kind": each.kind,
        "signer": each.signer,
        "name": _name(each),
        "signature": signature,
        "facts": each.facts,
        "commitments": [{"what": _what(it), **it._asdict()} for it in each.commitments],
        "refutation": refutation_facts(each.refutation),
    }


def _name(each: Annotated) -> str | None:
    """Return the name of the player who signs; None for the server, and where none is known."""
    is_known = 0 < each.signer <= len(each.names)
    return shown_name(each.names[each.signer - 1], each.signer - 1) if is_known else None


def _what(commitment: Commitment) -> str:
    return _WORD_START.sub("_", type(commitment).__name__).lower()


def _plain(value: object) -> str:
    """Return what JSON has no form for: bytes as hexadecimal digits."""
    if isinstance(value, bytes):
        return value.hex()
    raise TypeError(f"expected bytes, got {type(value).__name__}")
