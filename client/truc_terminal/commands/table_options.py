"""What a table is asked to have: the options of a new one, and its clock in short.

`30+120` is 30 seconds for a decision and 120 in the bank.
"""

import re
from typing import Final, NamedTuple

import click

from truc_client.errors import refused
from truc_protocol.errors import Code
from truc_protocol.records import BLIND, DEALT
from truc_protocol.setup import Opts, why_no_term
from truc_rules import TABLE_OPTIONS, Variant, VariantError, with_options
from truc_rules.errors import similar_names
from truc_terminal.commands.output import FailedError, usage_error
from truc_words import Sentence

_MOST_DIGITS: Final = 6  # of a number; longer ones are handed on as text, which the server refuses
_FORM: Final = re.compile(r"(?P<decision>[0-9]{1,5})(\+(?P<bank>[0-9]{1,5}))?")
_NONE: Final = "none"
_SECOND: Final = 1000
_LONGEST_S: Final = 86_400  # a day
_MODE: Final = "mode"
OPTION_NAMES: Final = (*Opts._fields, "transcript", "claim", _MODE, *TABLE_OPTIONS)
"""The options that a server of this release takes; another one may take more."""


ChosenOptions = dict[str, int | str]

options_option: Final = click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="A table option of a new table, such as target=24; may be given several times.",
)


deal_option: Final = click.option(
    "--deal",
    type=click.Choice([DEALT, BLIND]),
    help="Who deals: the server (dealt), or the seats among themselves, so that the host sees no card (blind, experimental).",
)


def with_deal(options: ChosenOptions, deal: str | None) -> ChosenOptions:
    """Return table options with who deals, if that is said by an option of the command."""
    if deal is None:
        return options
    if _MODE in options:
        raise usage_error(Sentence("commands.said_twice", option="--deal", name=_MODE))
    return {**options, _MODE: deal}


def table_options(pairs: tuple[str, ...]) -> ChosenOptions:
    """Read NAME=VALUE pairs."""
    options: ChosenOptions = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign or not name:
            raise FailedError(Sentence("commands.option_expected", got=repr(pair)))
        is_number = value.isascii() and value.isdigit() and len(value) <= _MOST_DIGITS
        options[name] = int(value) if is_number else value
    return options


def check_options(variant: Variant, seats: int, options: ChosenOptions) -> None:
    """Check options for a server of this release before it is started.

    Raises:
        FailedError: It takes no such option, or not that value in this game.
    """
    for name, value in options.items():
        if name not in OPTION_NAMES:
            known = ", ".join(similar_names(name, OPTION_NAMES) or OPTION_NAMES)
            raise FailedError(Sentence("commands.no_such_option", known=known, got=name))
        if name in Opts._fields and (why := why_no_term(name, value, seats)) is not None:
            raise FailedError(refused(Code.BAD_OPTION, why))
    try:
        with_options(variant, {name: value for name, value in options.items() if name in TABLE_OPTIONS})
    except VariantError as error:
        raise FailedError(refused(Code.BAD_OPTION, str(error))) from error


class TableClock(NamedTuple):
    """The times of a table, under the names of its options; 0 for a decision means no limit."""

    decision_ms: int
    bank_ms: int

    def __str__(self) -> str:
        if not self.decision_ms:
            return _NONE
        return "+".join(f"{ms / _SECOND:g}" for ms in self if ms)


def read_clock(text: str) -> TableClock:
    """Read a clock.

    Raises:
        ValueError: The text is no clock; the message says what was expected.
    """
    if text == _NONE:
        return TableClock(0, 0)
    if found := _FORM.fullmatch(text):
        decision, bank = int(found["decision"]), int(found["bank"] or 0)
        if 0 < decision <= _LONGEST_S and bank <= _LONGEST_S:
            return TableClock(decision * _SECOND, bank * _SECOND)
    raise ValueError(Sentence("commands.clock_expected", most=_LONGEST_S, none=_NONE, got=repr(text)))
