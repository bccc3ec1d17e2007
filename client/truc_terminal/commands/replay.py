"""`truc replay`: a match step by step, in both directions at a terminal."""

import os
import sys

import click

from truc_protocol.audit import Result
from truc_terminal.commands.kept_matches import transcript_meant
from truc_terminal.commands.language import lang_option, spoken
from truc_terminal.commands.output import FindingCommand, Output, UnusableError, tell
from truc_terminal.replay_model.stages import ReplayedMatch, replay_of
from truc_terminal.screen.glyphs import needs_ascii
from truc_terminal.screen.replaying import Replay, first_cards, hand_begins, page
from truc_terminal.verdicts import EXIT_CODES, shortened
from truc_words import Sentence, Speech


@click.command(cls=FindingCommand)
@click.argument("match", required=False, metavar="[FILE|MATCH]")
@click.option(
    "--seat", type=click.IntRange(min=0), help="Show it as this seat saw it, from 0; else all cards open."
)
@click.option("--hand", type=click.IntRange(min=1), help="Begin with this hand; with --plain print it alone.")
@click.option("--plain", is_flag=True, help="Print every stage, as is done where there is no terminal.")
@lang_option
def replay(match: str | None, *, seat: int | None, hand: int | None, plain: bool) -> None:
    """Step through a match record by record.

    FILE is a transcript, MATCH one of your matches by the first digits of its id; without either it is your newest match.

    Keys: n or space goes on, p back, ] and [ to the next hand and back, a number and Enter to that hand, < and > to the
    beginning and the end, s changes whose eyes see it, ? explains, q leaves. The arrows right and left go on and back too.
    It begins where the first cards are dealt; < is what was before.

    Every record is checked on the way; one that fails is the last that is shown.

    Exit status: 0 shown, 1 shown and refuted, 2 not readable to its end, or not written.
    """
    speech = Speech(spoken())
    replayed = replay_of(transcript_meant(match)[1], lang=speech.lang)
    _check(replayed, seat, hand)
    if plain or not (sys.stdin.isatty() and sys.stdout.isatty()):
        status = _print(Replay(replayed, speech.lang, is_plain=True, seat=seat), hand)
    else:
        is_ascii = needs_ascii(sys.stdout.encoding, os.environ.get("TERM", ""))
        status = _walk(Replay(replayed, speech.lang, is_ascii, seat), hand)
    if replayed.unreadable is not None:
        tell(f"truc: {shortened(str(replayed.unreadable))}", err=True)
        status = status or EXIT_CODES[Result.UNREADABLE]
    elif replayed.verdict.result is Result.REFUTED:
        status = status or EXIT_CODES[Result.REFUTED]
    raise click.exceptions.Exit(status)


def _check(replayed: ReplayedMatch, seat: int | None, hand: int | None) -> None:
    if not replayed.stages:
        why = shortened(str(replayed.unreadable))
        raise UnusableError(Sentence("replay.no_record", why=why))
    seats = replayed.terms.table.seats if replayed.terms else 0
    if seat is not None and seat >= seats:
        raise UnusableError(Sentence("replay.no_seat", n=seats - 1, got=seat))
    if hand is not None and hand_begins(replayed, hand) is None:
        raise UnusableError(Sentence("replay.no_hand", n=len(replayed.hands), got=hand))


def _walk(shown: Replay, hand: int | None) -> int:
    from truc_terminal.screen.replaying import step_through

    begins = None if hand is None else hand_begins(shown.match, hand)
    _, status = step_through(shown, first_cards(shown.match) if begins is None else begins)
    return status


def _print(shown: Replay, hand: int | None) -> int:
    console = Output(color_system=None)
    for stage in shown.match.stages:
        if hand in (None, stage.hand):
            console.print(page(shown, stage.number), soft_wrap=True)
            console.print()
    return 0
