"""`truc show`: a transcript record by record, in words, with every commitment opened."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, assert_never

import click
from rich.console import Console

from truc_client.annotating import (
    Annotated,
    Annotator,
    BegunChain,
    Commitment,
    CommittedHand,
    OpenedCard,
    OpenedDeal,
    OpenedLink,
    OpenedSecret,
)
from truc_client.cli.common import lang_option, language
from truc_client.cli.output import FindingCommand, Output, UnusableError, say
from truc_client.errors import HomeError
from truc_client.faces import short
from truc_client.happenings import Fact
from truc_client.plain_values import refutation_facts
from truc_client.verifying import (
    EXIT_CODES,
    game_name,
    named_seat,
    quoted,
    quoted_name,
    read_file,
    refutation_line,
    score_words,
    shortened,
    trouble,
    verdict_lines,
)
from truc_protocol.audit import Result
from truc_protocol.setup import Opts
from truc_protocol.words import ENGLISH, Speech, check_words, printable, shown_name, tell

_WORD_START: Final = re.compile(r"(?<!^)(?=[A-Z])")
_SCORED: Final = ("close", "end")


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
    console, speech = Output(), Speech(language(lang))
    for each in annotator.records():
        if as_json:
            click.echo(json.dumps(_facts(each), default=_plain))
        else:
            _print(each, speech, console)
    if annotator.unreadable is not None:
        click.echo(f"truc: {printable(shortened(str(annotator.unreadable)))}", err=True)
        raise click.exceptions.Exit(EXIT_CODES[Result.UNREADABLE])
    if not as_json:
        say(console, next(verdict_lines(annotator.verdict())), "bold")


def _print(each: Annotated, speech: Speech, console: Console) -> None:
    place = f"setup {each.place}" if each.is_setup else f"record {each.place}"
    say(console, f"{place}: {each.kind}, {_signature(each)}", "bold")
    for line in _told(each, Speech(speech.lang, each.words)):
        say(console, f"  {line}")
    for commitment in each.commitments:
        for line in _lines(commitment, each):
            say(console, f"    {line}", "dim")
    if each.refutation is not None:
        say(console, f"  FAILS: {refutation_line(each.refutation, each.names)}", "red")
        say(console, f"  {check_words(each.refutation.check)}", "red")


def _names(each: Annotated) -> tuple[str, ...]:
    return tuple(quoted_name(name, seat) for seat, name in enumerate(each.names))


def _role(each: Annotated, role: int) -> str:
    """Return a role as it is told: a player always with the seat, as a name may be anything."""
    if role == 0:
        return "the server"
    return named_seat(each.names[role - 1], role - 1) if role <= len(each.names) else f"seat {role - 1}"


def _signature(each: Annotated) -> str:
    if each.refutation is not None:
        return f"in the name of {_role(each, each.signer)}"
    if not each.is_signed:
        return "written down by the server for a guest, signed by nobody"
    return f"signed by {_role(each, each.signer)}, the signature is valid"


def _told(each: Annotated, speech: Speech) -> Iterator[str]:
    for fact in each.facts:
        sentence = tell(fact, _names(each), speech=speech) or _plainly(fact, each)
        if sentence:
            yield sentence


def _plainly(fact: Fact, each: Annotated) -> str:
    """Return what the catalogues have no sentence for, as a player's screen shows it in other ways; empty if nothing."""
    match fact["what"]:
        case "called":
            return _called(fact, each)
        case "released":
            return f"{_role(each, fact['seat'] + 1)} opens a secret number for this deal"
        case "acked":
            return f"{_role(each, fact['seat'] + 1)} confirms the end of the match"
        case "hand_closed":
            return "the hand is closed" if fact["reason"] == "hand" else "the hand is cut short"
        case "state":
            return _score(fact, each) if each.kind in _SCORED else ""
        case _:
            return _of_setup(fact, each)


def _called(fact: Fact, each: Annotated) -> str:
    if not fact["cards"]:
        return f"deal {fact['index']} is called: it draws the first dealer"
    cards = ENGLISH.counted("card", fact["cards"])
    return f"deal {fact['index']} is called: {_role(each, fact['dealer'] + 1)} deals {cards} to each seat"


def _score(fact: Fact, each: Annotated) -> str:
    names = [named_seat(name, seat) for seat, name in enumerate(each.names)]
    return f"score: {score_words(fact['score'], names)}"


def _of_setup(fact: Fact, each: Annotated) -> str:
    match fact["what"]:
        case "table_offered":
            terms = ", ".join(f"{name} {fact[name]}" for name in Opts._fields)
            played = game_name(fact["variant"], is_preset=fact["is_preset"])
            game = f"{played} for {fact['seats']}, cards open at the end of each {fact['reveal']}"
            return f"the terms of the server {quoted(fact['server'])}: {game}; {terms}"
        case "seat_taken":
            return f"{_role(each, fact['seat'] + 1)} joins these terms with the key {fact['key'].hex()}"
        case "guest_seated":
            return f"{_role(each, fact['seat'] + 1)} is seated as a guest, without a key"
        case "match_begun":
            return f"the match {fact['match'].hex()} begins, assurance level {fact['level']}"
        case _:
            return ""


def _lines(commitment: Commitment, each: Annotated) -> Iterator[str]:
    match commitment:
        case BegunChain(role, first, anchor):
            yield f"{_role(each, role)} commits to secret numbers for the deals from {first}: {anchor.hex()}"
        case OpenedLink(role, number, first, link):
            chain = f"of the chain for the deals from {first}"
            yield f"{_role(each, role)} opens number {number} {chain}: {link.hex()}"
        case CommittedHand():
            name = _role(each, commitment.seat + 1)
            cards = ENGLISH.counted("card", len(commitment.leaves))
            yield f"{cards} for {name}, bound by the digest {short(commitment.digest)}"
        case OpenedCard():
            name, slot = _role(each, commitment.seat + 1), commitment.slot + 1
            fits = f"with the salt {commitment.salt.hex()} it hashes to its leaf {short(commitment.leaf)}"
            yield f"{commitment.card}, card {slot} of {name}: {fits}"
        case OpenedDeal():
            yield from _deal_lines(commitment, each)
        case OpenedSecret():
            yield "the server's key of all sealed hands is open; each was made again, and is the same"
        case _:
            assert_never(commitment)


def _deal_lines(deal: OpenedDeal, each: Annotated) -> Iterator[str]:
    yield f"deal {deal.j}, seed from everybody's numbers: {deal.seed.hex()}"
    yield f"the pack, shuffled and cut: {' '.join(deal.pack)}"
    for d, hands in enumerate(deal.hands):
        held = "; ".join(f"{_role(each, seat + 1)} {' '.join(cards)}" for seat, cards in enumerate(hands))
        yield f"held{' after a redeal' if d else ''}: {held}"
    if deal.up:
        yield f"turned up: {' '.join(deal.up)}"
    left = [f"{_role(each, seat + 1)} {' '.join(cards)}" for seat, cards in enumerate(deal.unplayed) if cards]
    if left:
        yield f"not played: {'; '.join(left)}"


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
