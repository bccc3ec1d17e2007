"""The styles of bot that the command line offers, by name, and what the best of them would advise a player.

`careless` and `careful` look at the options alone; `sharp` looks at the match as its seat knows it, with the rules that
truc_bots builds on. What sharp cannot read, such as a guest's match or an option newer than its rules, it leaves to
careful.

Advice is what sharp would do in a player's place, and how that fared in the hands it imagined. The same position gets
the same thought again, as far as the time for it is the same.
"""

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

import click
import trio

from truc_bots import LIVE, Effort, OptionResult, Sharp
from truc_client.bots import Chooser, careful, careless
from truc_client.happenings import MoveChoice, YourTurn
from truc_client.table import Table
from truc_rules import Match

BotStyle = Callable[[int, Table], Chooser]
"""Makes a chooser from a seed, for a table."""


def sharp(seed: int, table: Table) -> Chooser:
    """Return a chooser that plays its options out in imagined deals; it takes up to a second for a choice."""
    player, simpler = Sharp(seed), careful(seed)

    def choose(turn: YourTurn) -> MoveChoice:
        known = _known(table)
        place = None if known is None else player.choose(*known, _lines(turn))
        return simpler(turn) if place is None else turn.options[place]

    return choose


def _known(table: Table) -> tuple[Match, int] | None:
    """Return the match as the player's seat knows it, and the seat; None where there is nothing to think about."""
    match = None if table.match is None else table.match.ledger.match
    return None if match is None or table.seat is None else (match, table.seat)


def _lines(turn: YourTurn) -> list[str]:
    return [choice.line for choice in turn.options]


STYLES: Final[Mapping[str, BotStyle]] = MappingProxyType(
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


class Advice(NamedTuple):
    """The options of a turn that are worth comparing, best first, and how each fared; none where sharp cannot tell."""

    turn: YourTurn
    compared: tuple[tuple[MoveChoice, OptionResult], ...]


Advise = Callable[[Table, YourTurn], Awaitable[Advice]]
"""Thinks about a turn; it may be cancelled meanwhile."""


async def sharp_advice(table: Table, turn: YourTurn, effort: Effort = LIVE) -> Advice:
    """Return what sharp thinks of the options of a table's newest turn; it thinks in a worker thread."""
    known = _known(table)
    if known is None:
        return Advice(turn, ())
    # The position is the seed, so that the same position gets the same advice.
    compare = Sharp(turn.at, effort).compare
    # It thinks for up to a second, during which the screen must
    # go on; a thought about a turn that is over is dropped.
    tried = await trio.to_thread.run_sync(compare, *known, _lines(turn), abandon_on_cancel=True)
    return Advice(turn, tuple((turn.options[place], each) for place, each in tried.items()))
