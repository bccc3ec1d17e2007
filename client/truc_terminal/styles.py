"""The styles of bot that the command line offers, by name, and how each makes a chooser for its table.

`careless` and `careful` look at the options alone; `sharp` looks at the match as its seat knows it, with the rules that
truc_bots builds on. What sharp cannot read, such as a guest's match or an option newer than its rules, it leaves to
careful.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import click

from truc_bots import Sharp
from truc_client.bots import Chooser, careful, careless
from truc_client.happenings import Choice, YourTurn
from truc_client.table import Table

Style = Callable[[int, Table], Chooser]
"""Makes a chooser from a seed, for a table."""


def sharp(seed: int, table: Table) -> Chooser:
    """Return a chooser that plays its options out in imagined deals; it takes up to a second for a choice."""
    player, simpler = Sharp(seed), careful(seed)

    def choose(turn: YourTurn) -> Choice:
        match = None if table.match is None else table.match.ledger.match
        if match is None or table.seat is None:
            return simpler(turn)
        place = player.choose(match, table.seat, [choice.line for choice in turn.options])
        return simpler(turn) if place is None else turn.options[place]

    return choose


STYLES: Final[Mapping[str, Style]] = MappingProxyType(
    {
        "careless": lambda seed, _table: careless(seed),
        "careful": lambda seed, _table: careful(seed),
        "sharp": sharp,
    }
)


def style_option(default: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return the option `--style` of a command that seats bots."""
    return click.option(
        "--style",
        type=click.Choice([*STYLES]),
        default=default,
        show_default=True,
        help="How bots play: careless takes any option, careful looks at its options alone, sharp imagines the hidden cards.",
    )
