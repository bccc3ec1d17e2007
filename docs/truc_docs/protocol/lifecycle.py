"""The life of a table and of a match, step by step, for the reference.

A server moves its tables by the steps listed here, as `state` of the notice `table` shows. The phases of a match follow
from its records as the ledger takes them; the steps here are the outcome. The states of a connection are in
`connection`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from truc_protocol.records import Phase


class Step(NamedTuple):
    """What brings a table or a match from one state to another."""

    before: str
    event: str
    after: str


TABLE_STATES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "open": "Seats may be taken and given up. There is no match yet, or its terms were dropped.",
        "terms": "The terms are out; every seat with a key must sign its `seat` record.",
        "playing": "A match is being played.",
        "over": "The newest match has ended; seats may change, and the next match may be agreed on.",
        "closed": "The table is gone; the notice `closed` says so.",
    }
)
TABLE_STEPS: Final = (
    Step("open", "every seat is taken and ready", "terms"),
    Step("terms", "every seat with a key has signed", "playing"),
    Step("terms", "somebody did not sign in time, or the setup fails a check", "open"),
    Step("terms", "the server was restarted", "open"),
    Step("playing", "the record `end`", "over"),
    Step("over", "every seat is taken and ready", "terms"),
    Step("open", "nobody starts in time, or everybody leaves", "closed"),
    Step("over", "nobody starts in time, or everybody leaves", "closed"),
)
PHASES: Final[Mapping[Phase, str]] = MappingProxyType(
    {
        Phase.SETUP: "Before position 0: the terms, the seats, and the record that lists them.",
        Phase.BETWEEN: "No deal is open; in a game with a cut the seat before the dealer, and after a tap the dealer, decides.",
        Phase.CALLED: "A deal has been called; releases are awaited.",
        Phase.HAND: "Cards have been dealt and are being played.",
        Phase.OVER: "The match is decided; its `end` is still to be written.",
        Phase.ENDED: "The `end` is written; each seat with a key acknowledges it.",
    }
)
PHASE_STEPS: Final = (
    Step("setup", "match", "between"),
    Step("between", "call", "called"),
    Step("called", "draw", "between"),
    Step("called", "void", "between"),
    Step("called", "deal", "hand"),
    Step("hand", "close", "between"),
    Step("hand", "close that wins the match", "over"),
    Step("between", "resign, or rule that ends the match", "over"),
    Step("hand", "resign, or rule that ends the match", "over"),
    Step("over", "end", "ended"),
)
