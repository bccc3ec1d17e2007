"""`truc show`: a transcript record by record, in words, with every commitment opened."""

import json
from typing import Any

import click
from rich.console import Console

from truc_protocol.audit import Result
from truc_protocol.ledger.facts import fact_name
from truc_terminal.commands.kept_matches import transcript_meant
from truc_terminal.commands.language import lang_option, spoken
from truc_terminal.commands.output import FindingCommand, Output, UnusableError
from truc_terminal.plain_values import failure_facts
from truc_terminal.replay_model.annotating import Annotated, Annotator
from truc_terminal.replay_model.retelling import RecordTelling
from truc_terminal.screen.wrapping import say
from truc_terminal.verdicts import EXIT_CODES, refutation_line, shortened, verdict_lines
from truc_words import Speech, in_language, shown_name, words_of_check


@click.command(cls=FindingCommand)
@click.argument("match", required=False, metavar="[FILE|MATCH]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each record.")
@lang_option
def show(match: str | None, as_json: bool) -> None:
    """Show a match record by record: who signed it, what it means, and what it opens.

    FILE is a transcript, MATCH one of your matches by the first digits of its id; without either it is your newest match.

    Every record is checked on the way; one that fails is the last that is shown.

    Exit status: 0 shown, 1 shown and refuted, 2 not readable to its end, or not written.
    """
    console, speech = Output(), Speech(spoken())
    annotator = Annotator(transcript_meant(match)[1])
    for each in annotator.records():
        if as_json:
            click.echo(json.dumps(_facts(each), default=_plain))
        else:
            _print(each, speech, console)
    # Only now: what could be read up to there has been shown.
    if annotator.unreadable is not None:
        raise UnusableError(shortened(str(annotator.unreadable)))
    verdict = annotator.verdict()
    if not as_json:
        say(console, next(verdict_lines(verdict, speech)), "bold")
    if verdict.result is Result.REFUTED:
        raise click.exceptions.Exit(EXIT_CODES[Result.REFUTED])


def _print(each: Annotated, speech: Speech, console: Console) -> None:
    said, telling = speech.catalogue.records, RecordTelling(each, speech.lang)
    place = said["setup" if each.is_setup else "record"].format(n=each.place)
    say(console, f"{place}: {each.kind}, {_signature(telling)}", "bold")
    for line in telling.sentences():
        say(console, f"  {line}")
    for line in telling.opened():
        say(console, f"    {line}", "dim")
    if each.refutation is not None:
        failed = refutation_line(each.refutation, each.names, speech)
        say(console, f"  {said['fails'].format(failed=failed)}", "red")
        say(console, f"  {in_language(str(words_of_check(each.refutation.check)), speech.lang)}", "red")


def _signature(telling: RecordTelling) -> str:
    each, said = telling.record, telling.speech.catalogue.records
    if each.refutation is None and not each.is_signed:
        return said["unsigned"]
    who = telling.role(each.signer)
    return said["unchecked" if each.refutation else "signed"].format(who=who)


def _facts(each: Annotated) -> dict[str, Any]:
    signature = "unchecked" if each.refutation else "valid" if each.is_signed else "none"
    return {
        **failure_facts(each.refutation),
        "record": None if each.is_setup else each.place,
        "setup": each.place if each.is_setup else None,
        "kind": each.kind,
        "signer": each.signer,
        "name": _name(each),
        "signature": signature,
        "facts": each.facts,
        "commitments": [{"what": fact_name(type(it).__name__), **it._asdict()} for it in each.commitments],
    }


def _name(each: Annotated) -> str | None:
    """Return the name of the player who signs; None for the server, or if it is not known."""
    is_known = 0 < each.signer <= len(each.names)
    return shown_name(each.names[each.signer - 1], each.signer - 1) if is_known else None


def _plain(value: object) -> str:
    """Return a value that JSON cannot express: bytes, as hexadecimal digits."""
    if isinstance(value, bytes):
        return value.hex()
    raise TypeError(f"expected bytes, got {type(value).__name__}")
